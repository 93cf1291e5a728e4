"""One model call of a step: its attempts, each recorded, priced and shown to the after hooks;
retries between them.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from .errors import AgentError, AgentErrorInfo, agent_error, error_info
from .events import now
from .foreign import is_interrupt, told
from .hook_runner import HookBlocked
from .hooks import AfterModelCall, BeforeModelCall
from .limits import EMPTY_ANSWERS
from .messages import Message, assistant_message
from .providers.base import (
    Completed,
    ModelRequest,
    ModelResponse,
    TextDelta,
    ThoughtDelta,
    UsageDelta,
)
from .records import AttemptRecord
from .scope import RunScope
from .usage import Usage

logger = logging.getLogger("smoke_monkey_nb")

#: After hooks get this long once the run is being ended, so that an interrupt ends the cell in
#: time.
ABORT_HOOK_S = 1.0


@dataclass
class _Attempt:
    """What is known of the attempt under way."""

    number: int
    started_at: datetime = field(default_factory=now)
    started: float = field(default_factory=time.perf_counter)
    ttft_ms: float | None = None
    usage: Usage | None = None
    text: list[str] = field(default_factory=list)
    shown: bool = False  # something was streamed that a retry makes void
    response: ModelResponse | None = None

    def elapsed_ms(self) -> float:
        return (time.perf_counter() - self.started) * 1000


class ModelCaller:
    """Makes the model calls of one run, one at a time."""

    def __init__(self, scope: RunScope) -> None:
        self._scope = scope
        self.partial_text = ""  # what an interrupted attempt had streamed

    async def call(self, messages: Sequence[Message]) -> ModelResponse:
        """The step's answer, retried as the policy says.

        Raises:
            AgentError: ``hook_blocked``, or the provider's error once nothing more is tried.
        """
        request = await self._prepare(messages)
        retry = self._scope.retry
        failures = empties = 0
        attempt_number = 0
        while True:
            attempt_number += 1
            attempt = _Attempt(attempt_number)
            error = await self._attempt(request, attempt)
            if error is None and attempt.response is not None:
                if not _is_empty(attempt.response):
                    return attempt.response
                empties += 1
                self._void(attempt, "The answer was empty.")
                await self._wait_after_empty(empties)
                continue
            assert error is not None
            failures += 1
            self._void(attempt, error.message)
            delay_s = retry.delay_s(error, failures)
            if delay_s is None:
                raise AgentError(error.as_fatal(attempts=attempt_number))
            self._scope.warn(
                error, attempt=failures, max_attempts=retry.max_attempts, delay_s=delay_s
            )
            await asyncio.sleep(delay_s)

    def _void(self, attempt: _Attempt, reason: str) -> None:
        self.partial_text = ""
        if attempt.shown:
            self._scope.emit("text.reset", reason=reason)

    async def _prepare(self, messages: Sequence[Message]) -> ModelRequest:
        scope = self._scope
        tools = [t.wire() for t in scope.tools.values()]
        if scope.hooks.any("before_model_call"):
            values: dict[str, Any] = {"messages": list(messages), "tools": tools}
            try:
                values = await scope.hooks.before(
                    "before_model_call",
                    lambda v: BeforeModelCall(
                        **scope.hook_facts(),
                        provider=scope.provider.name,
                        model=scope.provider.model,
                        **v,
                    ),
                    values,
                    {"messages": _check_messages, "tools": _check_tools},
                )
            except HookBlocked as block:
                raise agent_error(
                    "hook_blocked",
                    f"A before_model_call hook stopped the run: {block}",
                    hint="Ask whoever set the policy, or change what the hook objects to.",
                ) from None
            messages, tools = values["messages"], values["tools"]
        return ModelRequest(scope.provider.model, messages, tools)

    async def _attempt(self, request: ModelRequest, attempt: _Attempt) -> AgentErrorInfo | None:
        """Run one attempt to its end and account for it; returns the error, if any."""
        error: AgentErrorInfo | None = None
        cancelled = False
        try:
            await self._stream(request, attempt)
        except AgentError as failure:
            error = failure.info
        except asyncio.CancelledError:
            cancelled = True
            error = error_info("run_interrupted", "The run was interrupted.")
        except GeneratorExit:
            raise
        except BaseException as failure:  # a provider of the user's own that breaks the protocol
            if is_interrupt(failure):
                raise
            logger.exception("the provider %s failed", self._scope.provider.name)
            error = error_info("provider_bad_response", f"The provider failed with {told(failure)}")
        self.partial_text = "".join(attempt.text) if error is None or cancelled else ""
        await self._account(attempt, error)
        if cancelled:
            raise asyncio.CancelledError
        return error

    async def _stream(self, request: ModelRequest, attempt: _Attempt) -> None:
        scope = self._scope
        emit, text = scope.emit, attempt.text
        async with aclosing(scope.provider.stream(request)) as deltas:  # type: ignore[type-var]
            async for delta in deltas:
                if scope.aborting:
                    raise asyncio.CancelledError
                if isinstance(delta, UsageDelta):
                    attempt.usage = delta.usage
                    continue
                if attempt.ttft_ms is None:
                    attempt.ttft_ms = attempt.elapsed_ms()
                attempt.shown = True
                if isinstance(delta, TextDelta):
                    if type(delta.text) is not str:
                        raise _no_text(delta.text)
                    text.append(delta.text)
                    emit("text.delta", text=delta.text)
                elif isinstance(delta, ThoughtDelta):
                    emit("text.thought", text=delta.text)
                elif isinstance(delta, Completed):
                    attempt.response = delta.response
                    attempt.usage = delta.response.usage or attempt.usage
        if attempt.response is None:
            raise agent_error("provider_bad_response", "The provider ended without an answer.")

    async def _account(self, attempt: _Attempt, error: AgentErrorInfo | None) -> None:
        scope = self._scope
        response = attempt.response if error is None else None
        duration_ms = attempt.elapsed_ms()
        cost = scope.price(attempt.usage)
        scope.totals.add(attempt.usage, cost, answered=response is not None)
        record = AttemptRecord(
            run_id=scope.run_id,
            session_id=scope.session_id,
            user_id=scope.user_id,
            step=scope.step or 0,
            attempt=attempt.number,
            provider=scope.provider.name,
            model=scope.provider.model,
            started_at=attempt.started_at,
            duration_ms=duration_ms,
            ttft_ms=attempt.ttft_ms,
            usage=attempt.usage,
            cost=cost,
            finish_reason=response.finish_reason if response else None,
            tool_calls=len(response.tool_calls) if response else 0,
            failed=error is not None,
            error_code=error.code if error else None,
            cell_id=scope.cell_id,
        )
        scope.warn(scope.recorder.attempt(record))
        if not scope.hooks.any("after_model_call"):
            return
        failures = await scope.hooks.after(
            "after_model_call",
            lambda: AfterModelCall(
                **scope.hook_facts(),
                provider=record.provider,
                model=record.model,
                response=assistant_message(response.text, response.tool_calls)
                if response
                else None,
                usage=attempt.usage,
                cost_usd=cost.total_usd if cost else None,
                duration_ms=duration_ms,
                attempt=attempt.number,
                error=error,
            ),
            ABORT_HOOK_S if scope.aborting else None,
        )
        for failure in failures:
            scope.warn(failure)

    async def _wait_after_empty(self, empties: int) -> None:
        hint = "Try again, word the task differently, or choose another model."
        info = error_info("run_empty_responses", "The model gave an empty answer.", hint=hint)
        if empties >= EMPTY_ANSWERS:
            message = f"The model gave {empties} empty answers in a row."
            raise agent_error(
                "run_empty_responses", message, hint=hint, details={"attempts": empties}
            )
        delay_s = self._scope.retry.backoff_s(empties)
        self._scope.warn(info, attempt=empties, max_attempts=EMPTY_ANSWERS, delay_s=delay_s)
        await asyncio.sleep(delay_s)


def _no_text(value: Any) -> AgentError:
    message = f"The provider gave {type(value).__name__} where text belongs."
    return agent_error("provider_bad_response", message)


def _is_empty(response: ModelResponse) -> bool:
    return not response.tool_calls and not response.text.strip()


def _check_messages(value: Any) -> str | None:
    if not isinstance(value, list) or not value:
        return "it must be a list of messages that is not empty"
    for message in value:
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            return "each message must be a dict with a role"
    return None


def _check_tools(value: Any) -> str | None:
    if not isinstance(value, list) or not all(isinstance(t, dict) for t in value):
        return "it must be a list of tool definitions (dicts)"
    return None
