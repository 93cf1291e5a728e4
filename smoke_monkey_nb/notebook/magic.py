"""The magics: they parse their line and hand over."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, line_magic, magics_class, no_var_expand

from .options import cell_parser, parse_cell, parse_pairs, split_prompt
from .outcomes import QuietInterrupt

if TYPE_CHECKING:
    import pandas as pd

    from .bridge import MainThreadBridge
    from .session import NotebookSession

F = TypeVar("F", bound=Callable[..., Any])

_COSTS_HELP = """%agent_costs [--session NAME | --all]

The cost of every model call of this kernel's agents as a pandas DataFrame, one row an attempt.
--session NAME: that session's, from the store on disk. --all: everything in the store."""
_CELL_HELP = cell_parser("%%agent").format_help()
_RESET_HELP = """%agent_reset

Forget the current conversation and what was allowed for it. The accounts stay."""
_CONFIG_HELP = """%agent_config [key=value ...]

Set defaults for agent cells; the keys are the options of create_agent, view and retry_offer_s.
Without any, show what is set (keys masked). A value may be the name of a variable, as in
%agent_config hooks=my_hooks"""


def _helped(text: str) -> Callable[[F], F]:
    """Give a magic the text that IPython's own ``%magic?`` shows."""

    def set_doc(function: F) -> F:
        function.__doc__ = text
        return function

    return set_doc


@magics_class
class AgentMagics(Magics):
    """``%%agent`` and its companions, for one shell."""

    def __init__(self, shell: Any, session: NotebookSession, bridge: MainThreadBridge) -> None:
        super().__init__(shell)
        self.session = session
        self.bridge = bridge

    @no_var_expand
    @line_cell_magic
    @_helped(_CELL_HELP)
    def agent(self, line: str, cell: str | None = None) -> None:
        """Run an agent in this cell."""
        if _wants_help(line):
            _say(_CELL_HELP)
        elif cell is not None:
            self._run(parse_cell(line), cell)
        elif line.strip():
            options, prompt = split_prompt(line)
            self._run(parse_cell(options, "%agent"), prompt)
        else:
            _say(self._status())

    @no_var_expand
    @line_magic
    @_helped(_COSTS_HELP)
    def agent_costs(self, line: str) -> pd.DataFrame | None:
        """The cost of every model call."""
        if _wants_help(line):
            _say(_COSTS_HELP)
            return None
        from ..telemetry.queries import costs

        try:
            words = shlex.split(line)
        except ValueError as error:
            raise UsageError(f"%agent_costs: {error}") from None
        if not words:
            return costs()
        if words == ["--all"]:
            return costs(all_time=True)
        if len(words) == 2 and words[0] == "--session":
            return costs(session=words[1])
        raise UsageError("%agent_costs takes --session NAME, --all, or nothing")

    @line_magic
    @_helped(_RESET_HELP)
    def agent_reset(self, line: str) -> None:
        """Forget the current conversation."""
        if _wants_help(line):
            _say(_RESET_HELP)
        elif line.strip():
            raise UsageError("%agent_reset takes no arguments")
        else:
            done = self.session.reset()
            _say("The conversation was reset." if done else "There is no conversation yet.")

    @no_var_expand
    @line_magic
    @_helped(_CONFIG_HELP)
    def agent_config(self, line: str) -> None:
        """Set or show defaults of agent cells."""
        if _wants_help(line):
            _say(_CONFIG_HELP)
            return
        if line.strip():
            self.session.configure(parse_pairs(line))
        _say(self._shown_config())

    def _run(self, options: Any, prompt: str) -> None:
        from .cell_run import CellRunner

        try:
            CellRunner(self.shell, self.session, self.bridge).run(options, prompt)
        except KeyboardInterrupt:  # wherever it came: one line, no traceback
            raise QuietInterrupt from None

    def _status(self) -> str:
        agent = self.session.current
        if agent is None:
            return "No agent yet. Write a prompt after %agent, or below %%agent; %agent ? helps."
        return (
            f"{agent.model} · session {agent.session_id} · {len(agent.messages)} messages · "
            f"${agent.spent_usd:.4f}"
        )

    def _shown_config(self) -> str:
        config = self.session.shown_config()
        if not config:
            return "Nothing is set; the defaults of create_agent count. %agent_config ? helps."
        return "\n".join(f"{key} = {_shown(value)}" for key, value in config.items())


def _wants_help(line: str) -> bool:
    return line.strip() in ("?", "-h", "--help")


def _say(text: str) -> None:
    print(text)  # noqa: T201 - a magic's answer is its output


def _shown(value: Any) -> str:
    """A value in one line; a tool by its name, anything large by its type."""
    if isinstance(value, list):
        return f"[{', '.join(_shown(v) for v in value)}]"
    name = getattr(value, "name", None) or getattr(value, "__name__", None)
    if isinstance(name, str):
        return f"<{name}>"
    text = repr(value)
    return text if len(text) <= 120 else f"<{type(value).__name__}>"
