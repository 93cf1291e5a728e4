"""Whatever tools, hooks, policies, subscribers and providers raise: the run ends in order."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from smoke_monkey_nb import Hooks, RunResult, tool
from smoke_monkey_nb.providers.base import Completed, Delta, ModelResponse, TextDelta, ToolCall
from smoke_monkey_nb.testing import calls

from .helpers import check_invariants, make, of


class Odd(BaseException):
    """No Exception."""


class Speechless(Exception):
    """An error that cannot even be read."""

    def __str__(self) -> str:
        raise Odd("no words")


ERRORS = [
    Odd("odd"), SystemExit(3), KeyboardInterrupt(), GeneratorExit(), asyncio.CancelledError(),
    StopIteration(1), StopAsyncIteration(), Speechless(), RecursionError(), MemoryError(),
]  # fmt: skip
KINDS = ["sync", "async"]


def raising(error: BaseException, kind: str) -> Callable[..., Any]:
    def now(*_: Any) -> Any:
        raise error

    async def later(*_: Any) -> Any:
        raise error

    return later if kind == "async" else now


def tool_of(function: Callable[..., Any], *, read_only: bool = True) -> Any:
    def t() -> Any:
        """Do it."""
        return function()

    async def at() -> Any:
        """Do it."""
        return await function()

    chosen = at if asyncio.iscoroutinefunction(function) else t
    return tool(read_only=read_only, name="t")(chosen)


def outcome(provider: Any = None, watch: Any = None, **options: Any) -> tuple[RunResult, Any]:
    """Run a call of the tool ``t`` and an answer on a thread of its own, as a notebook does: there
    no KeyboardInterrupt is a person's.
    """
    found: dict[str, Any] = {}

    async def turn() -> None:
        agent, events = make([calls(("t", {})), "done"], **options)
        if provider is not None:
            agent.configure(model=provider)
        if watch is not None:
            agent.on_any(watch)
        found["result"], found["events"] = await agent.run("do it"), events
        check_invariants(events, agent.messages)
        json.dumps([e.to_dict() for e in events])

    thread = threading.Thread(target=lambda: asyncio.run(turn()))
    thread.start()
    thread.join(20)
    assert "result" in found, "the run broke"
    return found["result"], found["events"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("error", ERRORS, ids=repr)
def test_a_tool_may_raise_anything(error: BaseException, kind: str) -> None:
    result, events = outcome(tools=[tool_of(raising(error, kind))])
    assert result.status == "completed"
    assert of(events, "tool.failed")[0]["error_info"].code == "tool_failed"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("error", ERRORS, ids=[type(e).__name__ for e in ERRORS])
def test_hooks_may_raise_anything(error: BaseException, kind: str) -> None:
    ran: list[int] = []
    hook, tools = raising(error, kind), [tool_of(lambda: ran.append(1))]
    result, events = outcome(tools=tools, hooks=Hooks(before_tool_call=hook))
    assert of(events, "tool.failed")[0]["error_info"].code == "tool_blocked"
    assert ran == []
    result, _ = outcome(tools=tools, hooks=Hooks(before_model_call=hook), provider=Says([]))
    assert result.error is not None
    assert result.error.code == "hook_blocked"
    for after in ("after_tool_call", "after_model_call"):
        result, events = outcome(tools=tools, hooks=Hooks(**{after: hook}))
        assert result.status == "completed"
        assert [e["error_info"].code for e in of(events, "run.warning")] == ["hook_failed"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("error", ERRORS, ids=[type(e).__name__ for e in ERRORS])
def test_a_policy_or_a_subscriber_may_raise_anything(error: BaseException, kind: str) -> None:
    ran: list[int] = []
    tools = [tool_of(lambda: ran.append(1), read_only=False)]
    _, events = outcome(tools=tools, permissions=raising(error, kind))
    assert of(events, "tool.failed")[0]["error_info"].code == "permission_denied"
    assert ran == []
    result, _ = outcome(tools=tools, permissions="allow", watch=raising(error, kind))
    assert (result.status, ran) == ("completed", [1])


class Says:
    """A provider that gives what it was given, garbage included, and then raises."""

    name = "says"
    model = "m"
    takes_images = False

    def __init__(self, deltas: list[Any], error: BaseException | None = None) -> None:
        self._deltas = deltas
        self._error = error

    async def stream(self, request: Any) -> AsyncIterator[Delta]:
        """Say it."""
        for delta in self._deltas:
            yield delta
        if self._error is not None:
            raise self._error

    async def aclose(self) -> None:
        """Nothing to free."""


@pytest.mark.parametrize("error", ERRORS, ids=[type(e).__name__ for e in ERRORS])
def test_a_provider_may_raise_anything(error: BaseException) -> None:
    provider = Says([TextDelta("a")], error)
    agent_options: dict[str, Any] = {"tools": []}
    found: dict[str, Any] = {}

    async def turn() -> None:
        agent, events = make([], **agent_options)
        agent.configure(model=provider)
        found["result"] = await agent.run("do it")
        check_invariants(events, agent.messages)

    thread = threading.Thread(target=lambda: asyncio.run(turn()))
    thread.start()
    thread.join(20)
    assert found["result"].status != "completed"


@pytest.mark.parametrize(
    "deltas",
    [
        [None], ["x"], [1], [TextDelta(None)], [TextDelta(5)], [TextDelta(b"x")],  # type: ignore[arg-type]
        [Completed(None)], [Completed(ModelResponse(text=None))],  # type: ignore[arg-type]
        [Completed(ModelResponse(tool_calls=(ToolCall(None, None, None),)))],  # type: ignore[arg-type]
        [TextDelta("a"), Completed(ModelResponse(text="other"))],
        [Completed(ModelResponse(text="a")), TextDelta("b")],
    ],
)  # fmt: skip
async def test_a_provider_may_give_garbage(deltas: list[Any]) -> None:
    agent, events = make([], tools=[], max_steps=2)
    agent.configure(model=Says(deltas))
    await agent.run("do it")
    check_invariants(events, agent.messages)
    json.dumps([e.to_dict() for e in events])


class Unreadable:
    """Raises at any look."""

    def __repr__(self) -> str:
        raise Odd("repr")


class Untouchable:
    """Raises at any touch."""

    def __getattribute__(self, name: str) -> Any:
        raise Odd(name)


@pytest.mark.parametrize("kind", [Unreadable, Untouchable])
def test_a_tool_may_return_what_cannot_be_looked_at(kind: type) -> None:
    result, _ = outcome(tools=[tool_of(kind)])
    assert result.status == "completed"
