"""Runs one permitted tool call where it belongs (loop, worker thread, main thread), with its time
limit.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .aio import TimedOut, call_in_thread, is_async, limited
from .errors import AgentErrorInfo, error_info
from .foreign import tamed, told
from .gate import somebody_answers
from .redact import scrub
from .scope import RunScope
from .tools.base import RESULT_LIMIT, Tool, ToolContext, ToolOutput
from .tools.results import to_output

#: Characters of a tool's error message that people see; the model gets the whole text.
MESSAGE_LIMIT = 300


class ToolFailure(Exception):
    """The tool gave no result: ``info`` is for people, ``text`` (longer, perhaps a traceback) for
    the model.
    """

    def __init__(self, info: AgentErrorInfo, text: str | None = None) -> None:
        super().__init__(info.message)
        self.info = info
        self.text = text


async def execute(
    scope: RunScope, tool: Tool, call_id: str, arguments: Mapping[str, Any]
) -> ToolOutput:
    """Call the tool and turn what it returns into a bounded result.

    Raises:
        ToolFailure: it raised (``tool_failed``) or ran too long (``tool_timeout``).
        asyncio.CancelledError: the run is being interrupted.
    """
    interaction = LiveInteraction(scope, call_id)
    timeout_s = _timeout_s(scope, tool)
    try:
        return await limited(_invoke(scope, tool, interaction, dict(arguments)), timeout_s)
    except TimedOut:
        raise ToolFailure(_timed_out(tool.name, timeout_s)) from None
    except asyncio.CancelledError:
        if scope.aborting:
            raise
        raise ToolFailure(error_info("tool_failed", f"{tool.name} was cancelled.")) from None
    except KeyboardInterrupt:
        raise asyncio.CancelledError from None
    except Exception as error:
        raise _failure(tool.name, error) from None
    finally:
        interaction.close()


async def _invoke(
    scope: RunScope, tool: Tool, interaction: LiveInteraction, kwargs: dict[str, Any]
) -> ToolOutput:
    if tool.context_parameter:
        kwargs[tool.context_parameter] = context_for(scope, interaction)
    if tool.where == "loop" and is_async(tool.function):
        return _convert(await tool.function(**kwargs))
    # Converted where it ran: a result that touches the user's objects is read on the thread that
    # owns them.
    work: Callable[[], Any] = functools.partial(_call_and_convert, tool.function, kwargs)
    result = await (scope.host.on_main(work) if tool.where == "main" else call_in_thread(work))
    return result if isinstance(result, ToolOutput) else _convert(await result)


def _call_and_convert(function: Callable[..., Any], kwargs: dict[str, Any]) -> Any:
    try:
        result = function(**kwargs)
        return result if inspect.isawaitable(result) else _convert(result)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise tamed(error) from None


def _convert(result: Any) -> ToolOutput:
    """A result for the model; an exception that was returned counts as raised."""
    if isinstance(result, Exception):
        raise result
    return to_output(result)


def context_for(scope: RunScope, interaction: LiveInteraction) -> ToolContext:
    """What a tool function is told of the run around it."""
    return ToolContext(
        tool_call_id=interaction.call_id,
        workspace=scope.workspace,
        run_id=scope.run_id,
        session_id=scope.session_id,
        interaction=interaction,
        namespace=scope.host.namespace,
    )


class LiveInteraction:
    """A running call's voice: live output, questions, todos. Deaf and mute once the call is
    over.
    """

    def __init__(self, scope: RunScope, call_id: str) -> None:
        self.call_id = call_id
        self._scope = scope
        self._loop = asyncio.get_running_loop()
        self._open = True

    def close(self) -> None:
        """The call is over; later output has no place to go."""
        self._open = False

    def output(self, text: str) -> None:
        """Show live output. Any thread."""
        if text:
            self._emit("tool.output", tool_call_id=self.call_id, text=text)

    def todos(self, items: Sequence[Mapping[str, Any]]) -> None:
        """Publish the todo list. Any thread."""
        self._emit("todo.updated", items=[dict(i) for i in items])

    async def ask(self, question: str, choices: Sequence[str] | None) -> str | None:
        """Ask the person; ``None`` when nobody is there or the time to answer passed. On the
        loop.
        """
        scope = self._scope
        if not await somebody_answers(scope, "ask_user.required"):
            return None
        answer = scope.prompts.asks.open(self.call_id)
        options = list(choices) if choices else None
        scope.emit(
            "ask_user.required", tool_call_id=self.call_id, question=question, choices=options
        )
        try:
            text: str | None = await limited(answer, scope.limits.permission_timeout_s)
        except TimedOut:
            text = None
        finally:
            scope.prompts.asks.close(self.call_id)
        scope.emit("ask_user.response", tool_call_id=self.call_id, answer=text)
        return text

    def _emit(self, event_type: str, **data: Any) -> None:
        def emit() -> None:
            if self._open:
                self._scope.emit(event_type, **data)

        try:
            running = asyncio.get_running_loop()
        except RuntimeError:
            running = None
        if running is self._loop:
            emit()
        elif not self._loop.is_closed():
            self._loop.call_soon_threadsafe(emit)


def _timeout_s(scope: RunScope, tool: Tool) -> float | None:
    timeout_s = tool.timeout_s if tool.timeout_s is not None else scope.limits.tool_timeout_s
    return None if timeout_s is None or math.isinf(timeout_s) else timeout_s


def _timed_out(tool_name: str, timeout_s: float | None) -> AgentErrorInfo:
    return error_info(
        "tool_timeout",
        f"{tool_name} ran longer than {timeout_s:g} s and was ended.",
        hint="Do less at once, or raise tool_timeout_s.",
        details={"timeout_s": timeout_s},
    )


def _failure(tool_name: str, error: Exception) -> ToolFailure:
    said = str(error) if getattr(error, "is_tool_error", False) else ""
    said = scrub(said or told(error))
    lines = [line for line in said.splitlines() if line.strip()] or [said]
    # The last line of a traceback names the error; any other text says the most important thing
    # first.
    message = lines[-1] if lines[0].startswith("Traceback") else lines[0]
    if len(message) > MESSAGE_LIMIT:
        message = message[: MESSAGE_LIMIT - 1] + "…"
    info = error_info("tool_failed", f"{tool_name} failed: {message}")
    return ToolFailure(info, to_output(said).text[: RESULT_LIMIT + 200])
