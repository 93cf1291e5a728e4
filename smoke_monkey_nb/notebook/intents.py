"""What a person may tell a run, from whatever view: the only ways back into the agent.

An intent only hands over: ``agent`` methods that are safe from any thread, twice or late. No user
code runs here.
"""

from __future__ import annotations

import contextlib
from typing import Any, Protocol

from ..errors import AgentErrorInfo

STOP_REASON = "stopped by the user"


class RunControls(Protocol):
    """What a view needs of an agent; all callable from any thread."""

    def abort(self, reason: str | None = None) -> None:
        """End the run."""

    def resolve_permission(
        self,
        tool_call_id: str,
        decision: str,
        remember: str | None = None,
        feedback: str | None = None,
        input: Any = None,  # noqa: A002 - the public name
    ) -> None:
        """Answer a permission question."""

    def respond(self, tool_call_id: str, text: str) -> None:
        """Answer a question of the agent."""

    def warn(self, info: AgentErrorInfo) -> None:
        """Show a warning."""


def answer(agent: RunControls, call_id: str, action: str, text: str | None = None) -> None:
    """Pass an answer on: ``allow``, ``allow-session``, ``deny`` (with a reason as text), or
    ``answer``.

    An answer that comes too late, or to a question that never was, is dropped.
    """
    with contextlib.suppress(LookupError):
        if action == "allow":
            agent.resolve_permission(call_id, "allow")
        elif action == "allow-session":
            agent.resolve_permission(call_id, "allow", remember="session")
        elif action == "deny":
            agent.resolve_permission(call_id, "deny", feedback=text or None)
        elif action == "answer":
            agent.respond(call_id, text or "")
