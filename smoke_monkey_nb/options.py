"""The options of ``create_agent``, checked once and for all."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from .permissions import Policy
from .redact import scrub
from .retry import RetryPolicy

_MASKED = "(set)"


@dataclass(frozen=True)
class AgentOptions:
    """See ``create_agent``. Times in seconds; ``None`` means no limit where a limit may be off.

    Raises:
        TypeError: a value of the wrong kind.
        ValueError: a value out of range, or a workspace that is no directory.
    """

    model: Any = None
    api_key: str | None = field(default=None, repr=False)
    base_url: str | None = field(default=None, repr=False)  # may hold a password
    workspace: Any = "."
    tools: Any = "default"
    hooks: Any = None
    permissions: Any = "ask"
    instructions: str | None = None
    session: str | None = None
    user_id: str | None = None
    max_steps: int = 100
    budget_usd: float | None = None
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    request_timeout_s: float | None = 120
    stall_timeout_s: float | None = 60
    hook_timeout_s: float | None = 30
    tool_timeout_s: float | None = 300
    permission_timeout_s: float | None = None
    prices: Any = None

    def __post_init__(self) -> None:
        for name in ("api_key", "base_url", "instructions", "session", "user_id"):
            _check(name, getattr(self, name), str)
        _check("max_steps", self.max_steps, int, optional=False)
        if self.max_steps < 1:
            raise ValueError(f"max_steps must be at least 1, got {self.max_steps}")
        if not isinstance(self.retry, RetryPolicy):
            raise TypeError(f"retry must be a RetryPolicy, got {type(self.retry).__name__}")
        for name in _NUMBERS:
            _check_number(name, getattr(self, name))
        if self.session is not None and not self.session.strip():
            raise ValueError("session must not be empty")
        Policy(self.permissions)

    def with_changes(self, **changes: Any) -> AgentOptions:
        """A copy with some options changed.

        Raises:
            TypeError: there is no such option.
        """
        unknown = sorted(set(changes) - set(OPTION_NAMES))
        if unknown:
            raise TypeError(f"unknown option {unknown[0]!r}; known: {', '.join(OPTION_NAMES)}")
        return replace(self, **changes)

    def shown(self) -> dict[str, Any]:
        """The options as they may be shown: keys masked."""
        values = {name: getattr(self, name) for name in OPTION_NAMES}
        values["api_key"] = None if self.api_key is None else _MASKED
        values["base_url"] = None if self.base_url is None else scrub(self.base_url)
        return values

    def resolved_workspace(self) -> Path:
        """The workspace as an absolute path without symlinks."""
        if not isinstance(self.workspace, (str, Path)):
            raise TypeError(f"workspace must be a path, got {type(self.workspace).__name__}")
        path = Path(self.workspace).expanduser()
        if not path.is_dir():
            raise ValueError(f"workspace {str(self.workspace)!r} is not a directory")
        return path.resolve()


_NUMBERS = (
    "budget_usd",
    "request_timeout_s",
    "stall_timeout_s",
    "hook_timeout_s",
    "tool_timeout_s",
    "permission_timeout_s",
)
OPTION_NAMES = tuple(f.name for f in fields(AgentOptions))


def _check(name: str, value: Any, kind: type, *, optional: bool = True) -> None:
    if value is None and optional:
        return
    if not isinstance(value, kind) or isinstance(value, bool):
        raise TypeError(f"{name} must be {kind.__name__}, got {type(value).__name__}")


def _check_number(name: str, value: Any) -> None:
    if value is None:
        return
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise TypeError(f"{name} must be a number, got {type(value).__name__}")
    if math.isnan(value) or value < 0:
        raise ValueError(f"{name} must not be negative, got {value}")
