"""Who may do what: requests, rules, and the broker that suspends a call until somebody answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Effect = Literal["allow", "deny", "ask"]


@dataclass(frozen=True)
class PermissionRequest:
    """A call that wants to run. ``input`` is a copy; ``preview`` is the whole of what will happen, for a person."""

    tool_call_id: str
    tool_name: str
    input: Mapping[str, Any]
    preview: str
    preview_kind: str  # "text" | "diff" | "python" | "shell" | "json"
    read_only: bool
    reason: str | None  # why a read-only call asks, e.g. that the file usually holds secrets
    run_id: str
    session_id: str


@dataclass(frozen=True)
class Rule:
    """``Rule("allow", "run_command", "git status*")``: effect, tool (a glob), and a glob on the call's subject."""

    effect: Effect
    tool: str
    pattern: str | None = None
