"""Calls the hooks: order, copies, time limits, fail-closed and fail-open.

Sync hooks run on a worker thread, one at a time, so that they may block without stalling the stream
and need no locks of their own; async hooks are awaited on the run's loop.
"""

from __future__ import annotations

import asyncio
import copy
import json
import logging
from collections.abc import Callable, Mapping
from typing import Any

from .aio import TimedOut, being_cancelled, call, is_async, limited
from .errors import AgentErrorInfo, error_info
from .foreign import told
from .hooks import Block, HookFunction, Hooks, hook_name

logger = logging.getLogger("smoke_monkey_nb")


class HookBlocked(Exception):
    """A before hook said no, or failed and therefore counts as no. The text says which and why."""


class HookRunner:
    """Runs the hooks of one run, on its loop."""

    def __init__(self, hooks: Hooks, timeout_s: float | None) -> None:
        self._hooks = hooks
        self._timeout_s = timeout_s
        self._sync_turn = asyncio.Lock()
        self._reported: set[tuple[str, int]] = set()

    def any(self, kind: str) -> bool:
        """Whether a hook of this kind is registered (contexts are only built then)."""
        return bool(self._hooks.functions(kind))

    async def before(
        self,
        kind: str,
        make_context: Callable[[dict[str, Any]], Any],
        values: dict[str, Any],
        allowed: Mapping[str, Callable[[Any], str | None]],
    ) -> dict[str, Any]:
        """Run the before hooks of ``kind`` in order and return ``values`` as they leave them.

        ``make_context`` builds a context from the current values (copied for each hook);
        ``allowed`` maps each replaceable key to a check that returns what is wrong with a new
        value.

        Raises:
            HookBlocked: a hook blocked, raised, timed out, or returned what it may not.
        """
        for function in self._hooks.functions(kind):
            context = make_context(copy.deepcopy(values))
            answer = await self._call_closed(kind, function, context)
            values = {**values, **_read_answer(function, answer, allowed)}
        return values

    async def after(
        self, kind: str, make_context: Callable[[], Any], timeout_s: float | None = None
    ) -> list[AgentErrorInfo]:
        """Run the after hooks of ``kind``; returns a ``hook_failed`` for each hook failing for the
        first time.
        """
        failures = []
        for function in self._hooks.functions(kind):
            try:
                await self._call(function, make_context(), timeout_s or self._timeout_s)
            except Exception as error:
                info = self._report_once(kind, function, error)
                failures.extend([info] if info else [])
        return failures

    async def _call_closed(self, kind: str, function: HookFunction, context: Any) -> Any:
        try:
            return await self._call(function, context, self._timeout_s)
        except TimedOut:
            reason = f"did not answer within {self._timeout_s:g} s"
        except Exception as error:
            logger.warning("hook %s failed", hook_name(function), exc_info=error)
            reason = f"failed with {told(error)}"
        raise HookBlocked(f"The {kind} hook {hook_name(function)} {reason}.")

    async def _call(self, function: HookFunction, context: Any, timeout_s: float | None) -> Any:
        try:
            if is_async(function):
                return await limited(function(context), timeout_s)
            async with self._sync_turn:
                return await limited(call(function, context), timeout_s)
        except asyncio.CancelledError:
            if being_cancelled():
                raise
            raise RuntimeError("the hook was cancelled") from None

    def _report_once(
        self, kind: str, function: HookFunction, error: Exception
    ) -> AgentErrorInfo | None:
        key = (kind, id(function))
        if key in self._reported:
            return None
        self._reported.add(key)
        logger.warning("hook %s failed", hook_name(function), exc_info=error)
        what = (
            f"did not end within {self._timeout_s} s"
            if isinstance(error, TimedOut)
            else f"failed with {told(error)}"
        )
        return error_info(
            "hook_failed",
            f"The {kind} hook {hook_name(function)} {what}.",
            hint="The run goes on without it; mend the hook.",
            details={"hook": hook_name(function), "kind": kind},
        )


def _read_answer(
    function: HookFunction, answer: Any, allowed: Mapping[str, Callable[[Any], str | None]]
) -> dict[str, Any]:
    """The replaced values that a before hook's answer names; raises HookBlocked for a block or
    nonsense.
    """
    if answer is None:
        return {}
    if isinstance(answer, Block):
        raise HookBlocked(answer.reason)
    name = hook_name(function)
    if not isinstance(answer, Mapping):
        raise HookBlocked(f"The hook {name} returned {_short(answer)}, which means nothing here.")
    known = {*allowed, *(("block", "reason") if "block" in answer else ())}
    if not known.issuperset(answer) or not isinstance(answer.get("block", False), bool):
        raise HookBlocked(f"The hook {name} returned {_short(answer)}, which means nothing here.")
    if answer.get("block"):
        raise HookBlocked(str(answer.get("reason") or "no reason given"))
    replaced = {k: copy.deepcopy(answer[k]) for k in allowed if answer.get(k) is not None}
    for key, value in replaced.items():
        problem = allowed[key](value) or _not_json(value)
        if problem:
            raise HookBlocked(f"The hook {name} returned {key} that cannot be used: {problem}.")
    return replaced


def _not_json(value: Any) -> str | None:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError) as error:
        return f"it is not JSON ({error})"
    return None


def _short(value: Any) -> str:
    try:
        text = repr(value)
    except Exception:
        text = f"a {type(value).__name__}"
    return text if len(text) <= 80 else text[:79] + "…"
