"""How a run ended."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from .errors import AgentError, AgentErrorInfo
from .usage import Usage


@dataclass(frozen=True)
class RunResult:
    """The outcome of one run.

    ``text`` is the last answer (as far as it got when interrupted). ``usage`` sums every attempt
    whose usage is known. ``cost_usd`` is ``None`` as soon as one attempt's price is unknown.
    ``messages`` is the conversation after the run in OpenAI chat format.
    """

    run_id: str
    session_id: str
    status: Literal["completed", "failed", "interrupted"]
    text: str
    error: AgentErrorInfo | None
    steps: int
    usage: Usage
    cost_usd: float | None
    started_at: datetime
    ended_at: datetime
    messages: list[dict[str, Any]]

    def raise_for_error(self) -> RunResult:
        """Return itself, or raise ``AgentError`` when the run failed or was interrupted."""
        if self.error is not None:
            raise AgentError(self.error)
        return self

    def __repr__(self) -> str:
        cost = "unknown" if self.cost_usd is None else f"${self.cost_usd:.4f}"
        text = self.text if len(self.text) <= 60 else self.text[:59] + "…"
        return f"RunResult({self.status}, {text!r}, steps={self.steps}, cost={cost})"
