"""How a cell ends badly: as an error that stops *Run All*, in one line instead of a traceback."""

from __future__ import annotations

from ..errors import AgentError, AgentErrorInfo


class QuietInterrupt(KeyboardInterrupt):
    """The user interrupted the kernel; the run has ended."""

    def __init__(self) -> None:
        super().__init__("the agent was interrupted")

    def _render_traceback_(self) -> list[str]:
        return ["KeyboardInterrupt: the agent was interrupted"]


class CellFailed(AgentError):
    """The run of this cell failed; its card says more."""

    def __init__(self, info: AgentErrorInfo) -> None:
        super().__init__(info)

    def _render_traceback_(self) -> list[str]:
        return [f"AgentError: {self}"]


# What nbclient and papermill report as the error's name.
QuietInterrupt.__name__ = "KeyboardInterrupt"
CellFailed.__name__ = "AgentError"
