"""The guards that end a run going nowhere: repeated errors, the same call again and again, empty
answers.
"""

from __future__ import annotations

import json
from typing import Any

from .errors import AgentErrorInfo, error_info

REPEATED_ERRORS = 3
SAME_CALLS_NOTE = 3
SAME_CALLS_STOP = 5
EMPTY_ANSWERS = 3

CORRECTION = (
    "\n\n[Note: this is the third time in a row that this very call gave this very result. Calling "
    "it again will not change anything: use the result, try something else, or answer.]"
)


class RepeatedErrors:
    """Ends a run when one tool fails with the same error three steps in a row.

    Counts a step once, so that parallel calls that fail for one reason are not three strikes.
    """

    def __init__(self) -> None:
        self._streaks: dict[str, tuple[tuple[str, str], int]] = {}

    def step(self, outcomes: list[tuple[str, AgentErrorInfo | None]]) -> AgentErrorInfo | None:
        """Take a step's (tool, error) outcomes in order; returns the reason to stop, if any."""
        verdict = None
        before = dict(self._streaks)
        for tool_name, error in outcomes:
            if error is None:
                self._streaks.pop(tool_name, None)
                before.pop(tool_name, None)
                continue
            key = (error.code, error.message)
            last, count = before.get(tool_name, (None, 0))
            count = count + 1 if last == key else 1
            self._streaks[tool_name] = (key, count)
            if count >= REPEATED_ERRORS:
                verdict = verdict or _repeated(tool_name, error, count)
        return verdict


def _repeated(tool_name: str, error: AgentErrorInfo, count: int) -> AgentErrorInfo:
    return error_info(
        "run_repeated_error",
        f"The tool {tool_name} failed {count} times in a row with the same error: {error.message}",
        hint=error.hint or "Mend what the error says, or word the task differently, and run again.",
        details={"tool": tool_name, "count": count, "code": error.code},
    )


class SameCalls:
    """Notices the same call with the same result: a note to the model first, the end of the run
    later.
    """

    def __init__(self) -> None:
        self._last: tuple[str, str, str] | None = None
        self._count = 0

    def seen(self, tool_name: str, call_input: Any, result: str) -> int:
        """How many times in a row this call gave this result, this one included."""
        key = (tool_name, json.dumps(call_input, sort_keys=True, default=str), result)
        self._count = self._count + 1 if key == self._last else 1
        self._last = key
        return self._count


def same_call_stop(tool_name: str, count: int) -> AgentErrorInfo:
    """The verdict on a model that keeps calling in spite of the note."""
    return error_info(
        "run_hard_stop",
        f"The model called {tool_name} {count} times in a row with equal input and result.",
        hint="Word the task differently or choose another model.",
        details={"tool": tool_name, "count": count},
    )


def max_steps_stop(max_steps: int) -> AgentErrorInfo:
    """The verdict on a run that used up its steps."""
    return error_info(
        "run_hard_stop",
        f"The run reached its limit of {max_steps} steps.",
        hint="Raise max_steps (--max-steps) or give a smaller task; what was done is kept.",
        details={"max_steps": max_steps},
    )


def budget_stop(budget_usd: float, spent_usd: float) -> AgentErrorInfo:
    """The verdict on a run whose budget is spent."""
    return error_info(
        "run_budget_exceeded",
        f"The budget of ${budget_usd:g} is spent (${spent_usd:.4f} so far).",
        hint="Raise budget_usd (--budget) to go on.",
        details={"budget_usd": budget_usd, "spent_usd": spent_usd},
    )
