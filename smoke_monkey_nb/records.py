"""What is written down of a run: one record an attempt, one a tool call; and the ports that take
them.

The loop makes the records; telemetry stores, prices and shows them. Plain data, no pandas.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from .errors import AgentErrorInfo
from .usage import Cost, Usage


@dataclass(frozen=True)
class AttemptRecord:
    """One model attempt, failed ones included. ``None`` means unknown, never zero."""

    run_id: str
    session_id: str
    user_id: str | None
    step: int
    attempt: int
    provider: str
    model: str
    started_at: datetime  # aware, UTC
    duration_ms: float
    ttft_ms: float | None  # to the first token of any kind
    usage: Usage | None
    cost: Cost | None
    finish_reason: str | None
    tool_calls: int
    failed: bool
    error_code: str | None
    cell_id: str | None


@dataclass(frozen=True)
class ToolRecord:
    """One tool call of the model, blocked, denied and failed ones included."""

    run_id: str
    session_id: str
    user_id: str | None
    step: int
    tool_call_id: str
    tool_name: str
    input: str  # JSON
    started_at: datetime  # aware, UTC
    duration_ms: float
    status: str  # "completed" | "failed"
    blocked: bool
    error_code: str | None
    decision: str | None  # "allow" | "deny" where somebody or something decided, else None
    decided_by: str | None
    result: str  # the text that the model was given
    cell_id: str | None


class Pricer(Protocol):
    """Knows what tokens cost."""

    def price(self, provider: str, model: str, usage: Usage) -> Cost | None:
        """Price of ``usage``, or ``None`` when no price is known. Must not raise."""


class Recorder(Protocol):
    """Takes records; called on the loop's thread before the event that reports the same fact."""

    def attempt(self, record: AttemptRecord) -> AgentErrorInfo | None:
        """Keep an attempt; returns a warning to show (once) when it could not be stored durably."""

    def tool_call(self, record: ToolRecord) -> AgentErrorInfo | None:
        """Keep a tool call; returns a warning as ``attempt`` does."""
