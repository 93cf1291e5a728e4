"""Lifecycle hooks: what a company puts between the agent and the world.

Four kinds. *Before* hooks may change or block and fail closed; *after* hooks only watch and fail
open. Every hook gets copies, so that changing a context in place changes nothing. ``hook_runner``
calls them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from .errors import AgentErrorInfo
from .usage import Usage

HookFunction = Callable[[Any], Any]
F = TypeVar("F", bound=HookFunction)

#: Both spellings of each hook's name -> the attribute.
SPELLINGS = {
    "before_model_call": "before_model_call",
    "beforeModelCall": "before_model_call",
    "after_model_call": "after_model_call",
    "afterModelCall": "after_model_call",
    "before_tool_call": "before_tool_call",
    "beforeToolCall": "before_tool_call",
    "after_tool_call": "after_tool_call",
    "afterToolCall": "after_tool_call",
}


@dataclass(frozen=True)
class Block:
    """Returned by a before hook: do not go on; ``reason`` is shown, and for a tool told to the
    model.
    """

    reason: str = "no reason given"


@dataclass
class HookContext:
    """What every hook is told."""

    run_id: str
    session_id: str
    user_id: str | None
    workspace: str  # absolute path
    step: int


@dataclass
class BeforeModelCall(HookContext):
    """Once a step, before its first attempt. ``messages`` and ``tools`` are what will be sent."""

    provider: str
    model: str
    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]]


@dataclass
class AfterModelCall(HookContext):
    """After every attempt, failed ones included. ``response`` is the assistant message, ``None``
    when it failed.
    """

    provider: str
    model: str
    response: dict[str, Any] | None
    usage: Usage | None
    cost_usd: float | None
    duration_ms: float
    attempt: int
    error: AgentErrorInfo | None


@dataclass
class BeforeToolCall(HookContext):
    """Before the permission prompt of a valid call to a known tool."""

    tool_call_id: str
    tool_name: str
    input: dict[str, Any]


@dataclass
class AfterToolCall(HookContext):
    """After every tool call, whatever became of it. ``result`` is the text for the model, ``None``
    when it failed.
    """

    tool_call_id: str
    tool_name: str
    input: Any
    result: str | None
    error: AgentErrorInfo | None
    duration_ms: float
    blocked: bool


HookArgument = HookFunction | Iterable[HookFunction] | None


class Hooks:
    """A set of hooks, each kind in registration order.

    ``Hooks(before_tool_call=fn)`` or a list of callables; the methods register one more and serve
    as decorators: ``@agent.hooks.before_tool_call``. Sync and async callables with one parameter
    (the context) are accepted.

    Raises:
        TypeError: a hook is not callable with one argument.
        ValueError: an unknown hook name.
    """

    def __init__(self, **hooks: HookArgument) -> None:
        self._functions: dict[str, list[HookFunction]] = {k: [] for k in SPELLINGS.values()}
        for name, value in hooks.items():
            for function in _as_functions(value):
                self._register(name, function)

    def before_model_call(self, function: F) -> F:
        """Register a hook that may replace messages and tools, or block; takes
        ``BeforeModelCall``.
        """
        return self._register("before_model_call", function)

    def after_model_call(self, function: F) -> F:
        """Register a hook that sees every attempt; takes ``AfterModelCall``."""
        return self._register("after_model_call", function)

    def before_tool_call(self, function: F) -> F:
        """Register a hook that may replace a tool's input, or block it; takes
        ``BeforeToolCall``.
        """
        return self._register("before_tool_call", function)

    def after_tool_call(self, function: F) -> F:
        """Register a hook that sees every finished call; takes ``AfterToolCall``."""
        return self._register("after_tool_call", function)

    beforeModelCall = before_model_call  # noqa: N815 - the hooks' own spelling
    afterModelCall = after_model_call  # noqa: N815
    beforeToolCall = before_tool_call  # noqa: N815
    afterToolCall = after_tool_call  # noqa: N815

    def functions(self, kind: str) -> tuple[HookFunction, ...]:
        """The hooks of one kind, in the order they run."""
        return tuple(self._functions[kind])

    def extend(self, other: Hooks) -> None:
        """Append all hooks of ``other``."""
        for kind, functions in other._functions.items():
            self._functions[kind].extend(functions)

    def _register(self, name: str, function: F) -> F:
        if name not in SPELLINGS:
            raise ValueError(f"unknown hook {name!r}; known: {', '.join(SPELLINGS)}")
        _check_callable(name, function)
        self._functions[SPELLINGS[name]].append(function)
        return function

    def __repr__(self) -> str:
        counts = ", ".join(f"{k}={len(v)}" for k, v in self._functions.items() if v)
        return f"Hooks({counts})"


def collect_hooks(value: Any) -> Hooks:
    """``create_agent``'s ``hooks`` argument (Hooks, dict, or a list of either) as one new
    ``Hooks``.

    Raises:
        TypeError: neither of those.
        ValueError: a dict names an unknown hook.
    """
    collected = Hooks()
    for part in value if isinstance(value, (list, tuple)) else [value]:
        if isinstance(part, Hooks):
            collected.extend(part)
        elif isinstance(part, Mapping):
            for name, functions in part.items():
                for function in _as_functions(functions):
                    collected._register(name, function)
        elif part is not None:
            raise TypeError(
                f"hooks must be Hooks, a dict or a list of them, got {type(part).__name__}"
            )
    return collected


def hook_name(function: HookFunction) -> str:
    """How a hook is named in messages."""
    return getattr(function, "__qualname__", None) or type(function).__name__


def _as_functions(value: HookArgument) -> list[HookFunction]:
    if value is None:
        return []
    return [value] if callable(value) else list(value)


def _check_callable(name: str, function: Any) -> None:
    if not callable(function):
        raise TypeError(f"hook {name} must be callable, got {type(function).__name__}")
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some builtins have none
        return
    try:
        signature.bind(object())
    except TypeError:
        raise TypeError(
            f"hook {name} must take one argument, the context: {hook_name(function)}{signature}"
        ) from None
