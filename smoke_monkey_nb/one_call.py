"""One tool call from the model's words to its result: checked, hooked, permitted, run, recorded.

Whatever happens to it becomes its result; exactly one ``tool.started`` and one ``tool.completed``
or ``tool.failed`` say so.
"""

from __future__ import annotations

import asyncio
import base64
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from .errors import AgentErrorInfo, error_info
from .events import now
from .gate import Denied, Gate, Permitted
from .hook_runner import HookBlocked
from .hooks import AfterToolCall, BeforeToolCall
from .messages import BadArguments, parse_arguments
from .model_call import ABORT_HOOK_S
from .providers.base import ToolCall
from .records import ToolRecord
from .scope import RunScope
from .tool_run import ToolFailure, execute
from .tools.base import Tool, ToolInputError, ToolOutput


@dataclass(frozen=True)
class CallResult:
    """What became of one call. ``text`` is what the model is told."""

    call: ToolCall
    input: Any
    text: str
    output: ToolOutput | None
    error: AgentErrorInfo | None


class _CallFailed(Exception):
    """Ends a call with ``info``; ``blocked`` when policy or a person kept it from running."""

    def __init__(self, info: AgentErrorInfo, *, blocked: bool = False) -> None:
        super().__init__(info.message)
        self.info = info
        self.blocked = blocked


class OneCall:
    """One tool call from the model's words to its result."""

    def __init__(
        self, scope: RunScope, gate: Gate, call: ToolCall, turn: asyncio.Future[None] | None
    ) -> None:
        self._scope = scope
        self._gate = gate
        self._call = call
        self._turn = turn  # done when the main-thread call before this one is
        self._tool: Tool | None = None
        self._input: Any = call.arguments
        self._announced = False
        self._permit: Permitted | None = None
        self._denied: Denied | None = None
        self._started_at: datetime = now()
        self._started = time.perf_counter()

    async def run(self) -> CallResult:
        """Never raises: whatever happens becomes the call's result."""
        output: ToolOutput | None = None
        error: AgentErrorInfo | None = None
        blocked = False
        text: str | None = None
        try:
            output = await self._attempt()
            text = output.text
        except _CallFailed as failure:
            error, blocked = failure.info, failure.blocked
        except ToolFailure as failure:
            error = failure.info
            text = f"Error ({error.code}): {failure.text}" if failure.text else None
        except asyncio.CancelledError:
            error = error_info(
                "tool_cancelled", "The run was interrupted before the tool was done."
            )
        except Exception as failure:  # our own mistake must not break the conversation
            error = error_info("tool_failed", f"{type(failure).__name__}: {failure}")
        return await self._finish(text or _error_text(error), output, error, blocked)

    async def _attempt(self) -> ToolOutput:
        tool = self._find_tool()
        call_input = self._read_input(tool)
        call_input = await self._before_hooks(tool, call_input)
        outcome = await self._gate.pass_through(tool, self._call.id, call_input)
        if isinstance(outcome, Denied):
            self._denied = outcome
            raise _CallFailed(outcome.info, blocked=True)
        self._permit = outcome
        if outcome.input is not None:
            call_input = dict(outcome.input)
        arguments = self._validate(tool, call_input)
        self._confirm(tool, call_input, outcome)
        self._input = call_input
        if tool.where == "main" and self._turn is not None:
            await self._turn
        if self._scope.aborting:  # the answer and the abort came together: nothing starts any more
            raise asyncio.CancelledError
        self._announce()
        self._started = time.perf_counter()
        return await execute(self._scope, tool, self._call.id, arguments)

    def _confirm(self, tool: Tool, call_input: dict[str, Any], permit: Permitted) -> None:
        denied = self._gate.confirm(tool, self._call.id, call_input, permit)
        if denied is not None:
            self._denied = denied
            raise _CallFailed(denied.info, blocked=True)

    def _find_tool(self) -> Tool:
        tool = self._scope.tools.get(self._call.name)
        if tool is None:
            known = ", ".join(sorted(self._scope.tools)) or "none"
            message = f"There is no tool named {self._call.name!r}. Tools: {known}."
            raise _CallFailed(error_info("tool_not_found", message))
        self._tool = tool
        return tool

    def _read_input(self, tool: Tool) -> dict[str, Any]:
        try:
            call_input = parse_arguments(self._call.arguments)
        except BadArguments as error:
            raise _CallFailed(_invalid(tool.name, str(error))) from None
        self._input = call_input
        self._validate(tool, call_input)
        return call_input

    def _validate(self, tool: Tool, call_input: Mapping[str, Any]) -> dict[str, Any]:
        try:
            return tool.validate(call_input)
        except ToolInputError as error:
            raise _CallFailed(_invalid(tool.name, str(error))) from None

    async def _before_hooks(self, tool: Tool, call_input: dict[str, Any]) -> dict[str, Any]:
        scope = self._scope
        if not scope.hooks.any("before_tool_call"):
            return call_input
        try:
            values = await scope.hooks.before(
                "before_tool_call",
                lambda v: BeforeToolCall(
                    **scope.hook_facts(), tool_call_id=self._call.id, tool_name=tool.name, **v
                ),
                {"input": call_input},
                {"input": _check_input},
            )
        except HookBlocked as block:
            info = error_info("tool_blocked", f"A hook blocked {tool.name}: {block}")
            raise _CallFailed(info, blocked=True) from None
        replaced: dict[str, Any] = values["input"]
        self._validate(tool, replaced)
        return replaced

    def _announce(self) -> None:
        if self._announced:
            return
        self._announced = True
        tool = self._tool
        self._scope.emit(
            "tool.started",
            tool_call_id=self._call.id,
            tool_name=self._call.name,
            input=self._input,
            summary=summary_line(tool, self._input),
            read_only=bool(tool and tool.read_only),
        )

    async def _finish(
        self, text: str, output: ToolOutput | None, error: AgentErrorInfo | None, blocked: bool
    ) -> CallResult:
        duration_ms = (time.perf_counter() - self._started) * 1000
        self._announce()
        self._record(text, error, blocked, duration_ms)
        ids = {"tool_call_id": self._call.id, "tool_name": self._call.name}
        if output is not None:
            images = [
                {"media_type": i.media_type, "data": base64.b64encode(i.data).decode("ascii")}
                for i in output.images
            ]
            self._scope.emit(
                "tool.completed", **ids, result=text, images=images, duration_ms=duration_ms
            )
        else:
            self._scope.emit(
                "tool.failed", **ids, error_info=error, duration_ms=duration_ms, blocked=blocked
            )
        await self._after_hooks(text if error is None else None, error, blocked, duration_ms)
        return CallResult(self._call, self._input, text, output, error)

    def _record(
        self, text: str, error: AgentErrorInfo | None, blocked: bool, duration_ms: float
    ) -> None:
        scope = self._scope
        decided = self._denied or (self._permit if self._permit and self._permit.by else None)
        record = ToolRecord(
            run_id=scope.run_id,
            session_id=scope.session_id,
            user_id=scope.user_id,
            step=scope.step or 0,
            tool_call_id=self._call.id,
            tool_name=self._call.name,
            input=json.dumps(self._input, default=str),
            started_at=self._started_at,
            duration_ms=duration_ms,
            status="completed" if error is None else "failed",
            blocked=blocked,
            error_code=error.code if error else None,
            decision=None if decided is None else ("deny" if self._denied else "allow"),
            decided_by=decided.by if decided else None,
            result=text,
            cell_id=scope.cell_id,
        )
        scope.warn(scope.recorder.tool_call(record))

    async def _after_hooks(
        self, result: str | None, error: AgentErrorInfo | None, blocked: bool, duration_ms: float
    ) -> None:
        scope = self._scope
        if not scope.hooks.any("after_tool_call"):
            return
        frozen_input = json.dumps(self._input, default=str)
        failures = await scope.hooks.after(
            "after_tool_call",
            lambda: AfterToolCall(
                **scope.hook_facts(),
                tool_call_id=self._call.id,
                tool_name=self._call.name,
                input=json.loads(frozen_input),
                result=result,
                error=error,
                duration_ms=duration_ms,
                blocked=blocked,
            ),
            ABORT_HOOK_S if scope.aborting else None,
        )
        for failure in failures:
            scope.warn(failure)


def _check_input(value: Any) -> str | None:
    return None if isinstance(value, dict) else f"it must be a dict, got {type(value).__name__}"


def _invalid(tool_name: str, problem: str) -> AgentErrorInfo:
    return error_info(
        "tool_invalid_input",
        f"Invalid input for {tool_name}: {problem}",
        hint="Call it again with arguments that fit its schema.",
    )


def _error_text(error: AgentErrorInfo | None) -> str:
    """What the model is told of a failed call."""
    if error is None:
        return ""
    text = f"Error ({error.code}): {error.message}"
    return f"{text} {error.hint}" if error.hint else text


def summary_line(tool: Tool | None, call_input: Any) -> str:
    """The tool's one-line summary of a call; empty when it has none."""
    if tool is None or tool.summary is None or not isinstance(call_input, Mapping):
        return ""
    try:
        return tool.summary(call_input)
    except Exception:
        return ""
