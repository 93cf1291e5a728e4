"""One run: model call → tool calls → model call … until an answer without calls.

The only place that knows the order of things. Everything a run does comes out as events; it ends
with exactly one of ``run.completed``, ``run.failed`` and ``run.interrupted``, and leaves the
conversation valid.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from .errors import AgentError, AgentErrorInfo, error_info
from .events import now
from .foreign import told
from .limits import (
    CORRECTION,
    SAME_CALLS_NOTE,
    SAME_CALLS_STOP,
    RepeatedErrors,
    SameCalls,
    budget_stop,
    max_steps_stop,
    same_call_stop,
)
from .messages import (
    Conversation,
    Message,
    assistant_message,
    images_message,
    tool_message,
    user_message,
)
from .model_call import ModelCaller
from .one_call import CallResult
from .providers.base import ModelResponse, ToolCall
from .run_result import RunResult
from .scope import RunScope
from .toolcalls import StepCancelled, ToolCaller

logger = logging.getLogger("smoke_monkey_nb")


@dataclass(frozen=True)
class Turn:
    """What a run is to do. ``prompt_is_new`` is false when a retried turn's prompt is in the
    conversation already.

    Raises:
        TypeError, ValueError: ``prompt`` is no text, or empty.
    """

    prompt: str
    prompt_is_new: bool = True
    retry_of: str | None = None
    model_reason: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.prompt, str):
            raise TypeError(f"prompt must be a string, got {type(self.prompt).__name__}")
        if not self.prompt.strip():
            raise ValueError("prompt must not be empty")


class Run:
    """Executes one turn. ``abort`` may be called from any thread, everything else on the run's
    loop.
    """

    def __init__(
        self,
        scope: RunScope,
        conversation: Conversation,
        system: str | None,
        turn: Turn,
        save: Callable[[], AgentErrorInfo | None],
    ) -> None:
        self.scope = scope
        self._conversation = conversation
        self._system = system
        self._turn = turn
        self._save = save
        self._loop = asyncio.get_running_loop()
        self._work: asyncio.Task[None] | None = None
        self._abort_reason: str | None = None
        self._model = ModelCaller(scope)
        self._tools = ToolCaller(scope)
        self._pending: list[Message] = [user_message(turn.prompt)] if turn.prompt_is_new else []
        self._same_calls = SameCalls()
        self._repeated_errors = RepeatedErrors()
        self._steps = 0
        self._text = ""

    @property
    def prompt_committed(self) -> bool:
        """Whether the turn's prompt is part of the conversation."""
        return not self._pending

    def abort(self, reason: str | None) -> None:
        """End the run as interrupted, soon."""
        self._abort_reason = self._abort_reason or reason or "stopped"
        # Streams that never wait would not notice a cancellation; they look at this flag.
        self.scope.aborting = True
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._cancel)

    def _cancel(self) -> None:
        if self._work is not None and not self._work.done():
            self._work.cancel()

    async def execute(self) -> RunResult:
        """Run the turn to its end; never raises for what goes wrong in it."""
        scope = self.scope
        scope.emit(
            "run.started",
            prompt=self._turn.prompt,
            model=scope.provider.model,
            provider=scope.provider.name,
            tools=list(scope.tools),
            model_reason=self._turn.model_reason,
            retry_of=self._turn.retry_of,
        )
        self._work = asyncio.ensure_future(self._run_steps())
        try:
            await asyncio.wait({self._work})
        except asyncio.CancelledError:  # the loop is being torn down under us
            self.abort("cancelled")
            self._cancel()
            await asyncio.wait({self._work})
        result = self._end(self._work)
        await scope.bus.drain()
        return result

    async def _run_steps(self) -> None:
        while True:
            self._check_limits()
            self._steps += 1
            if await self._step(self._steps):
                return

    def _check_limits(self) -> None:
        limits = self.scope.limits
        if self.scope.aborting:
            raise asyncio.CancelledError
        if self._steps >= limits.max_steps:
            raise AgentError(max_steps_stop(limits.max_steps))
        if limits.budget_usd is not None and self.scope.spent_usd >= limits.budget_usd:
            raise AgentError(budget_stop(limits.budget_usd, self.scope.spent_usd))

    async def _step(self, number: int) -> bool:
        """One step; true when it was the last."""
        scope = self.scope
        scope.step = number
        started = time.perf_counter()
        scope.emit("step.started", step=number)
        response = await self._ask_model()
        calls = self._conversation.unique_ids(response.tool_calls)
        self._end_text(response)
        verdict: AgentErrorInfo | None = None
        if calls:
            verdict = await self._call_tools(response, calls)
        else:
            self._commit([assistant_message(self._text)])
        scope.emit(
            "step.ended",
            step=number,
            duration_ms=(time.perf_counter() - started) * 1000,
            finish_reason=response.finish_reason,
            usage=response.usage,
            total_usage=scope.totals.usage,
            total_cost_usd=scope.totals.cost_usd,
        )
        if verdict is not None:
            raise AgentError(verdict)
        return not calls

    async def _ask_model(self) -> ModelResponse:
        try:
            return await self._model.call(self._conversation.wire(self._system, self._pending))
        except asyncio.CancelledError:
            if self._model.partial_text:
                self._text = self._model.partial_text
                self._commit([assistant_message(self._text)])
            raise

    def _end_text(self, response: ModelResponse) -> None:
        # What was streamed is what was said; a provider that streams nothing says it at the end.
        text = self._model.partial_text
        if not text and response.text:
            text = response.text
            self.scope.emit("text.delta", text=text)
        self._text = text
        self._model.partial_text = ""
        if text:
            self.scope.emit("text.end", text=text)

    async def _call_tools(
        self, response: ModelResponse, calls: Sequence[ToolCall]
    ) -> AgentErrorInfo | None:
        """Run the calls, commit the step, and return the reason to stop, if any."""
        assistant = assistant_message(self._text, calls)
        try:
            results = await self._tools.run_step(calls)
        except StepCancelled as cancelled:
            self._commit([assistant, *_result_messages(cancelled.results)])
            raise asyncio.CancelledError from None
        notes, verdict = self._judge(results)
        messages = _result_messages(results, notes)
        images = [(r.call.name, i) for r in results if r.output for i in r.output.images]
        if images and self.scope.provider.takes_images:
            messages.append(images_message(images))
        self._commit([assistant, *messages])
        return verdict

    def _judge(self, results: Sequence[CallResult]) -> tuple[set[str], AgentErrorInfo | None]:
        """The calls whose result gets a corrective note, and the reason to stop."""
        verdict = self._repeated_errors.step([(r.call.name, r.error) for r in results])
        notes: set[str] = set()
        for result in results:
            count = self._same_calls.seen(result.call.name, result.input, result.text)
            if count == SAME_CALLS_NOTE:
                notes.add(result.call.id)
            elif count >= SAME_CALLS_STOP and verdict is None:
                verdict = same_call_stop(result.call.name, count)
        return notes, verdict

    def _commit(self, messages: Sequence[Message]) -> None:
        self._conversation.commit([*self._pending, *messages])
        self._pending = []
        self.scope.warn(self._save())  # a killed kernel loses no step

    def _end(self, work: asyncio.Task[None]) -> RunResult:
        """Say how the run ended, once."""
        scope = self.scope
        scope.step = None
        error: AgentErrorInfo | None = None
        if work.cancelled():
            reason = self._abort_reason or "cancelled"
            error = error_info("run_interrupted", f"The run was interrupted: {reason}.")
            scope.emit("run.interrupted", reason=reason)
        elif (failure := work.exception()) is not None:
            error = _as_info(failure)
            scope.emit("run.failed", error_info=error)
        else:
            scope.emit(
                "run.completed",
                text=self._text,
                usage=scope.totals.usage,
                cost_usd=scope.totals.cost_usd,
                steps=self._steps,
            )
        return RunResult(
            run_id=scope.run_id,
            session_id=scope.session_id,
            status=_status(error),
            text=self._text,
            error=error,
            steps=self._steps,
            usage=scope.totals.usage,
            cost_usd=scope.totals.cost_usd,
            started_at=scope.started_at,
            ended_at=now(),
            messages=self._conversation.snapshot(),
        )


def _status(error: AgentErrorInfo | None) -> Literal["completed", "failed", "interrupted"]:
    if error is None:
        return "completed"
    return "interrupted" if error.code == "run_interrupted" else "failed"


def _as_info(failure: BaseException) -> AgentErrorInfo:
    if isinstance(failure, AgentError):
        info = failure.info
        return info if info.severity == "fatal" else info.as_fatal()
    logger.error("the run broke", exc_info=failure)
    return error_info(
        "run_hard_stop",
        f"The run broke with {told(failure)}",
        hint="This is a mistake in smoke_monkey_nb or in a part handed to it; please report it.",
    )


def _result_messages(
    results: Sequence[CallResult], notes: set[str] | frozenset[str] = frozenset()
) -> list[Message]:
    return [
        tool_message(r.call.id, r.text + (CORRECTION if r.call.id in notes else ""))
        for r in results
    ]
