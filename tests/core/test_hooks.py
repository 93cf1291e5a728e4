"""Hooks: before hooks fail closed, after hooks fail open, everybody gets copies."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from smoke_monkey_nb import Block, Hooks, create_agent, tool
from smoke_monkey_nb.errors import error_info
from smoke_monkey_nb.testing import ScriptedProvider, calls

from .helpers import FAST, check_invariants, make, of, run

ran: list[str] = []


@tool(read_only=True)
def echo(text: str) -> str:
    """Say it back."""
    ran.append(text)
    return text


ECHO = [calls(("echo", {"text": "hi"})), "done"]


@pytest.fixture(autouse=True)
def fresh() -> None:
    ran.clear()


def echo_once() -> list[Any]:
    return [calls(("echo", {"text": "hi"})), "done"]


async def test_before_tool_call_that_blocks_tells_the_model_why() -> None:
    hooks = Hooks(before_tool_call=lambda c: Block("not today"))
    _, events, agent = await run(echo_once(), tools=[echo], hooks=hooks)
    failure = of(events, "tool.failed")[0]
    assert (failure["error_info"].code, failure["blocked"]) == ("tool_blocked", True)
    assert "not today" in agent.messages[2]["content"]
    assert ran == []
    check_invariants(events, agent.messages)


async def test_a_dict_blocks_too() -> None:
    hooks = {"beforeToolCall": lambda c: {"block": True, "reason": "policy"}}
    _, events, _ = await run(echo_once(), tools=[echo], hooks=hooks)
    assert "policy" in of(events, "tool.failed")[0]["error_info"].message


async def test_before_tool_call_replaces_the_input() -> None:
    hooks = Hooks(before_tool_call=lambda c: {"input": {"text": "replaced"}})
    _, events, _ = await run(echo_once(), tools=[echo], hooks=hooks)
    assert of(events, "tool.started")[0]["input"] == {"text": "replaced"}
    assert ran == ["replaced"]


async def test_a_replaced_input_is_validated_again() -> None:
    hooks = Hooks(before_tool_call=lambda c: {"input": {"text": "x", "extra": 1}})
    _, events, _ = await run(echo_once(), tools=[echo], hooks=hooks)
    assert of(events, "tool.failed")[0]["error_info"].code == "tool_invalid_input"
    assert ran == []


async def test_hooks_run_in_order_each_seeing_what_the_earlier_left() -> None:
    seen: list[str] = []

    def first(context: Any) -> Any:
        seen.append(context.input["text"])
        return {"input": {"text": "one"}}

    async def second(context: Any) -> Any:
        seen.append(context.input["text"])
        return {"input": {"text": "two"}}

    await run(
        echo_once(),
        tools=[echo],
        hooks=[Hooks(before_tool_call=first), {"before_tool_call": second}],
    )
    assert (seen, ran) == (["hi", "one"], ["two"])


async def test_after_a_block_later_hooks_do_not_run() -> None:
    later: list[Any] = []
    hooks = Hooks(before_tool_call=[lambda c: Block("no"), later.append])
    await run(echo_once(), tools=[echo], hooks=hooks)
    assert later == []


def raises(context: Any) -> Any:
    raise RuntimeError("hook is broken")


async def times_out(context: Any) -> Any:
    await asyncio.sleep(60)


def times_out_sync(context: Any) -> Any:
    time.sleep(0.5)


@pytest.mark.parametrize(
    "hook",
    [
        raises, times_out, times_out_sync, lambda c: True, lambda c: "yes",
        lambda c: {"inputs": {}},
        lambda c: {"input": "text"}, lambda c: {"block": "maybe"}, lambda c: {"reason": "why"},
        lambda c: {"input": {"text": object()}},
    ],
)  # fmt: skip
async def test_before_tool_call_that_fails_or_talks_nonsense_blocks(hook: Any) -> None:
    _, events, _ = await run(
        echo_once(), tools=[echo], hooks=Hooks(before_tool_call=hook), hook_timeout_s=0.05
    )
    info = of(events, "tool.failed")[0]["error_info"]
    assert info.code == "tool_blocked"
    assert hook.__name__ in info.message
    assert ran == []


@pytest.mark.parametrize(
    "hook",
    [
        raises, times_out, lambda c: True, lambda c: Block("no"),
        lambda c: {"messages": "none"}, lambda c: {"messages": []},
    ],
)  # fmt: skip
async def test_before_model_call_that_blocks_or_fails_ends_the_run(hook: Any) -> None:
    result, events, agent = await run(
        ["x"], hooks=Hooks(before_model_call=hook), hook_timeout_s=0.05
    )
    assert result.error is not None
    assert (result.status, result.error.code, result.error.severity) == (
        "failed",
        "hook_blocked",
        "fatal",
    )
    assert agent.messages == []
    check_invariants(events, agent.messages)


async def test_what_before_model_call_returns_is_sent_and_nothing_else_changes() -> None:
    provider = ScriptedProvider([error_info("provider_unavailable", "down"), "ok"])
    count: list[int] = []

    def redact(context: Any) -> Any:
        count.append(context.step)
        return {"messages": [{"role": "user", "content": "[redacted]"}], "tools": []}

    agent = create_agent(
        model=provider, tools=[echo], hooks=Hooks(before_model_call=redact), retry=FAST
    )
    await agent.run("secret")
    assert [list(r.messages) for r in provider.requests] == [
        [{"role": "user", "content": "[redacted]"}]
    ] * 2
    assert [list(r.tools) for r in provider.requests] == [[], []]
    assert agent.messages[0]["content"] == "secret"
    assert count == [1]


async def test_changing_a_context_in_place_changes_nothing() -> None:
    def vandal(context: Any) -> None:
        for message in getattr(context, "messages", []):
            message["content"] = "vandalised"
        if hasattr(context, "input"):
            context.input["text"] = "vandalised"

    hooks = Hooks(before_model_call=vandal, before_tool_call=vandal, after_tool_call=vandal)
    _, _, agent = await run(echo_once(), tools=[echo], hooks=hooks)
    assert ran == ["hi"]
    assert "vandalised" not in str(agent.messages)


async def test_after_model_call_fires_for_every_attempt() -> None:
    seen: list[Any] = []
    hooks = Hooks(after_model_call=lambda c: seen.append((c.attempt, c.error and c.error.code)))
    await run([error_info("provider_unavailable", "down"), "ok"], hooks=hooks)
    assert seen == [(1, "provider_unavailable"), (2, None)]


async def test_after_tool_call_fires_for_every_call() -> None:
    seen: list[Any] = []
    replies = [
        calls(
            ("echo", {"text": "fine"}),
            ("nope", {}),
            ("echo", {"wrong": 1}),
            ("echo", {"text": "block"}),
        ),
        "done",
    ]
    hooks = Hooks(
        before_tool_call=lambda c: Block("no") if c.input["text"] == "block" else None,
        after_tool_call=lambda c: seen.append(
            (c.tool_name, c.result, c.error and c.error.code, c.blocked)
        ),
    )
    await run(replies, tools=[echo], hooks=hooks)
    assert sorted(seen, key=str) == sorted(
        [
            ("echo", "fine", None, False),
            ("nope", None, "tool_not_found", False),
            ("echo", None, "tool_invalid_input", False),
            ("echo", None, "tool_blocked", True),
        ],
        key=str,
    )


async def test_an_after_hook_that_fails_is_reported_once_and_ignored() -> None:
    hooks = Hooks(after_tool_call=raises, after_model_call=raises)
    replies = [calls(("echo", {"text": "a"})), calls(("echo", {"text": "b"})), "done"]
    result, events, _ = await run(replies, tools=[echo], hooks=hooks)
    assert result.status == "completed"
    kinds = [w["error_info"].details["kind"] for w in of(events, "run.warning")]
    assert sorted(kinds) == ["after_model_call", "after_tool_call"]
    assert {w["error_info"].code for w in of(events, "run.warning")} == {"hook_failed"}


async def test_a_slow_after_hook_is_let_go() -> None:
    result, _, _ = await run(["ok"], hooks=Hooks(after_model_call=times_out), hook_timeout_s=0.05)
    assert result.status == "completed"


async def test_hooks_can_be_registered_by_decorator() -> None:
    agent, events = make(echo_once(), tools=[echo])

    @agent.hooks.before_tool_call
    def guard(context: Any) -> Block:
        return Block("decorated")

    await agent.run("do it")
    assert "decorated" in of(events, "tool.failed")[0]["error_info"].message


async def test_hook_contexts_say_where_they_are(tmp_path: Any) -> None:
    seen: list[Any] = []
    agent, _ = make(
        ["hi"], tmp_path, hooks=Hooks(before_model_call=seen.append), session="s1", user_id="u1"
    )
    result = await agent.run("do it")
    context = seen[0]
    assert (context.run_id, context.session_id, context.user_id) == (result.run_id, "s1", "u1")
    assert (context.workspace, context.step) == (str(tmp_path), 1)


@pytest.mark.parametrize("hooks", [{"beforeLunch": print}, {"before_lunch": print}])
def test_an_unknown_hook_name_is_refused_at_once(hooks: Any) -> None:
    with pytest.raises(ValueError, match="unknown hook"):
        create_agent(model=ScriptedProvider([]), tools=[], hooks=hooks)


def test_a_hook_that_cannot_take_the_context_is_refused_at_once() -> None:
    with pytest.raises(TypeError, match="one argument"):
        Hooks(before_tool_call=lambda: None)


def test_a_hook_that_is_not_callable_is_refused_at_once() -> None:
    with pytest.raises(TypeError):
        Hooks(before_tool_call=3)  # type: ignore[arg-type]
