"""Retry schedule for model calls.

Decides *whether* and *how long* to wait; never sleeps itself, so the loop can announce the wait
(``run.warning``) before it happens and an interrupt can cut it short. The wait curve is tenacity's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from .errors import AgentErrorInfo

#: A provider that asks for a longer wait than this is not waited for: the run fails and says so.
MAX_RETRY_AFTER_S = 600.0


@dataclass(frozen=True)
class RetryPolicy:
    """How retryable failures of a model call are retried.

    ``max_attempts`` counts the first one too (1: never retry). Waits double from
    ``initial_delay_s`` up to ``max_delay_s`` with jitter; a wait that the provider names
    (``Retry-After``) counts instead of the curve.

    Raises:
        ValueError: a number is out of range.
    """

    max_attempts: int = 5
    initial_delay_s: float = 1.0
    max_delay_s: float = 60.0

    def __post_init__(self) -> None:
        if self.max_attempts < 1:
            raise ValueError(f"max_attempts must be at least 1, got {self.max_attempts}")
        if self.initial_delay_s < 0 or self.max_delay_s < 0:
            raise ValueError("delays must not be negative")

    def delay_s(self, info: AgentErrorInfo, attempt: int) -> float | None:
        """Seconds to wait after failed attempt number ``attempt``; ``None``: do not try again."""
        if not info.retryable or attempt >= self.max_attempts:
            return None
        asked = (info.details or {}).get("retry_after_s")
        if asked is not None:
            return float(asked) if asked <= MAX_RETRY_AFTER_S else None
        return self.backoff_s(attempt)

    def backoff_s(self, attempt: int) -> float:
        """The curve's wait after attempt number ``attempt``, jitter included."""
        from tenacity import RetryCallState, wait_exponential, wait_random

        state = RetryCallState(cast(Any, None), None, (), {})
        state.attempt_number = attempt
        curve = wait_exponential(multiplier=self.initial_delay_s, max=self.max_delay_s)
        jitter = wait_random(0, self.initial_delay_s / 4)
        return min(float(curve(state)) + float(jitter(state)), self.max_delay_s)
