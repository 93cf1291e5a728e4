"""The order of a run, its endings, and what it leaves behind."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import pytest

from smoke_monkey_nb import AgentError, Usage, create_agent, tool
from smoke_monkey_nb.errors import error_info
from smoke_monkey_nb.providers.base import Completed, ModelResponse, TextDelta, ThoughtDelta
from smoke_monkey_nb.testing import ScriptedProvider, calls

from .helpers import FAST, check_invariants, make, of, run, types


@tool(read_only=True)
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@tool(read_only=True)
async def wait_long() -> str:
    """Wait until cancelled."""
    await asyncio.sleep(60)
    return "done"


async def test_an_answer_without_calls_completes_the_run() -> None:
    result, events, agent = await run(["Hello there"])
    assert (result.status, result.text, result.steps) == ("completed", "Hello there", 1)
    assert types(events) == [
        "run.started", "step.started", "text.delta", "text.delta", "text.end", "step.ended",
        "run.completed",
    ]  # fmt: skip
    assert agent.messages == [
        {"role": "user", "content": "do it"},
        {"role": "assistant", "content": "Hello there"},
    ]


async def test_a_tool_result_goes_back_to_the_model() -> None:
    replies = [calls(("add", {"a": 2, "b": 3})), "It is 5"]
    result, events, agent = await run(replies, tools=[add])
    assert result.text == "It is 5"
    assert of(events, "tool.started")[0]["input"] == {"a": 2, "b": 3}
    assert of(events, "tool.completed")[0]["result"] == "5"
    assert [m["role"] for m in agent.messages] == ["user", "assistant", "tool", "assistant"]
    check_invariants(events, agent.messages)


async def test_calls_of_one_step_run_concurrently_and_answer_in_order() -> None:
    together = threading.Barrier(3, timeout=5)

    @tool(read_only=True)
    def meet(name: str) -> str:
        together.wait()
        time.sleep(0.02 if name == "a" else 0)
        return name

    replies = [
        calls(("meet", {"name": "a"}), ("meet", {"name": "b"}), ("meet", {"name": "c"})),
        "ok",
    ]
    _, _, agent = await run(replies, tools=[meet])
    assert [m["content"] for m in agent.messages if m["role"] == "tool"] == ["a", "b", "c"]


async def test_thoughts_stay_out_of_answer_and_conversation() -> None:
    deltas = [
        ThoughtDelta("hmm"),
        TextDelta("yes"),
        Completed(ModelResponse(text="yes", thought="hmm")),
    ]
    result, events, agent = await run([deltas])
    assert result.text == "yes"
    assert of(events, "text.thought") == [{"text": "hmm"}]
    assert "hmm" not in str(agent.messages)


async def test_a_retryable_failure_is_announced_voids_the_text_and_is_retried() -> None:
    broken = error_info("provider_stream_interrupted", "The stream broke.")

    async def half(request: Any) -> Any:
        yield TextDelta("half an ")
        raise AgentError(broken)

    provider = ScriptedProvider(["whole answer"])
    whole = provider.stream
    attempts = iter([half, whole])
    provider.stream = lambda request: next(attempts)(request)  # type: ignore[method-assign]
    agent = create_agent(model=provider, tools=[], retry=FAST)
    events: list[Any] = []
    agent.attach(events.append)
    result = await agent.run("do it")
    assert result.text == "whole answer"
    names = types(events)
    assert names.index("text.reset") < names.index("run.warning") < names.index("text.end")
    warning = of(events, "run.warning")[0]
    assert (warning["error_info"].code, warning["attempt"], warning["max_attempts"]) == (
        "provider_stream_interrupted", 1, 5,
    )  # fmt: skip
    check_invariants(events, agent.messages)


async def test_after_the_last_attempt_the_run_fails_with_the_provider_error_as_fatal() -> None:
    busy = error_info("provider_rate_limited", "Slow down.", details={"status": 429})
    result, events, agent = await run([busy] * 5)
    assert result.status == "failed"
    assert result.error is not None
    assert (result.error.code, result.error.severity) == ("provider_rate_limited", "fatal")
    assert dict(result.error.details or {}) == {"status": 429, "attempts": 5}
    assert len(of(events, "run.warning")) == 4
    assert agent.messages == []


async def test_a_failure_that_is_not_retryable_is_not_retried() -> None:
    result, events, _ = await run([error_info("provider_auth", "No key.")])
    assert result.error is not None
    assert result.error.code == "provider_auth"
    assert of(events, "run.warning") == []


async def test_three_empty_answers_end_the_run() -> None:
    result, events, _ = await run(["", "  ", ""])
    assert result.error is not None
    assert result.error.code == "run_empty_responses"
    assert [w["attempt"] for w in of(events, "run.warning")] == [1, 2]


async def test_an_empty_answer_is_asked_again() -> None:
    result, events, agent = await run(["", "there"])
    assert result.text == "there"
    check_invariants(events, agent.messages)


async def test_max_steps_stops_the_run() -> None:
    replies = [calls(("add", {"a": n, "b": 1})) for n in range(5)]
    result, _, _ = await run(replies, tools=[add], max_steps=3)
    assert result.error is not None
    assert (result.error.code, result.steps) == ("run_hard_stop", 3)


async def test_the_same_call_with_the_same_result_gets_a_note_then_ends_the_run() -> None:
    replies = [calls(("add", {"a": 1, "b": 1})) for _ in range(9)]
    result, events, agent = await run(replies, tools=[add])
    assert result.error is not None
    assert (result.error.code, result.steps) == ("run_hard_stop", 5)
    noted = ["third time" in m["content"] for m in agent.messages if m["role"] == "tool"]
    assert noted == [False, False, True, False, False]
    check_invariants(events, agent.messages)


async def test_the_same_error_three_times_in_a_row_ends_the_run() -> None:
    @tool(read_only=True)
    def broken(n: int) -> str:
        raise RuntimeError("always")

    replies = [calls(("broken", {"n": n})) for n in range(9)]
    result, events, agent = await run(replies, tools=[broken])
    assert result.error is not None
    assert (result.error.code, result.steps) == ("run_repeated_error", 3)
    check_invariants(events, agent.messages)


async def test_different_errors_do_not_end_the_run() -> None:
    @tool(read_only=True)
    def broken(n: int) -> str:
        raise RuntimeError(f"number {n}")

    replies = [*(calls(("broken", {"n": n})) for n in range(4)), "gave up"]
    result, _, _ = await run(replies, tools=[broken])
    assert result.text == "gave up"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ('{"a": 1, "b"', "line 1 column"),
        ('{"a": NaN, "b": 2}', "NaN"),
        ('"{\\"a\\": 1}"', "a string"),
        ("[1]", "an array"),
        ('{"a": "x", "b": 2}', "a"),
        ('{"a": 1, "b": 2, "c": 3}', "c"),
        ("", "a"),
    ],
)
async def test_arguments_that_break_the_schema_are_told_to_the_model(
    arguments: str, says: str
) -> None:
    _, events, agent = await run([calls(("add", arguments)), "sorry"], tools=[add])
    failure = of(events, "tool.failed")[0]
    assert failure["error_info"].code == "tool_invalid_input"
    assert says in failure["error_info"].message
    check_invariants(events, agent.messages)


async def test_an_unknown_tool_is_told_to_the_model() -> None:
    _, events, agent = await run([calls(("nope", {"x": 1})), "sorry"], tools=[add])
    assert of(events, "tool.started")[0]["input"] == '{"x": 1}'
    assert of(events, "tool.failed")[0]["error_info"].code == "tool_not_found"
    check_invariants(events, agent.messages)


async def test_an_error_that_a_tool_returns_counts_as_raised() -> None:
    @tool(read_only=True)
    def careful() -> Any:
        return RuntimeError("not today")

    _, events, _ = await run([calls(("careful", {})), "ok"], tools=[careful])
    info = of(events, "tool.failed")[0]["error_info"]
    assert (info.code, "not today" in info.message) == ("tool_failed", True)


async def test_a_tool_that_runs_too_long_is_ended() -> None:
    _, events, _ = await run(
        [calls(("wait_long", {})), "ok"], tools=[wait_long], tool_timeout_s=0.05
    )
    assert of(events, "tool.failed")[0]["error_info"].code == "tool_timeout"


async def test_abort_while_a_tool_runs_leaves_a_valid_conversation() -> None:
    agent, events = make([calls(("wait_long", {}))], tools=[wait_long])
    agent.on("tool.started", lambda e: agent.abort("enough"))
    result = await agent.run("do it")
    assert result.status == "interrupted"
    assert of(events, "tool.failed")[0]["error_info"].code == "tool_cancelled"
    assert of(events, "run.interrupted") == [{"reason": "enough"}]
    check_invariants(events, agent.messages)


async def test_abort_keeps_the_answer_as_far_as_it_got() -> None:
    agent, events = make(["one two three four five six"])
    agent.on("text.delta", lambda e: agent.abort())
    result = await agent.run("do it")
    assert (result.status, result.text) == ("interrupted", "one two ")
    assert agent.messages[-1] == {"role": "assistant", "content": "one two "}
    check_invariants(events, agent.messages)


async def test_abort_from_another_thread_ends_a_retry_wait() -> None:
    busy = error_info("provider_rate_limited", "Slow.", details={"retry_after_s": 60})
    agent, events = make([busy])
    agent.on("run.warning", lambda e: threading.Thread(target=agent.abort).start())
    result = await agent.run("do it")
    assert result.status == "interrupted"
    assert of(events, "run.warning")[0]["delay_s"] == 60


async def test_cancelling_the_awaiting_task_interrupts_the_run_and_re_raises() -> None:
    agent, events = make([calls(("wait_long", {}))], tools=[wait_long])
    started = asyncio.Event()
    agent.on("tool.started", lambda e: started.set())
    task = asyncio.ensure_future(agent.run("do it"))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert events[-1].type == "run.interrupted"
    check_invariants(events, agent.messages)


async def test_a_second_run_on_a_busy_agent_is_refused() -> None:
    agent, _ = make([calls(("wait_long", {}))], tools=[wait_long])
    task = asyncio.ensure_future(agent.run("do it"))
    await asyncio.sleep(0)
    with pytest.raises(AgentError) as caught:
        await agent.run("again")
    assert caught.value.info.code == "run_busy"
    agent.abort()
    assert (await task).status == "interrupted"


async def test_the_conversation_goes_on_in_the_next_run() -> None:
    agent, _ = make(["first", "second"])
    await agent.run("one")
    await agent.run("two")
    assert [m["content"] for m in agent.messages] == ["one", "first", "two", "second"]


async def test_a_failed_first_prompt_leaves_the_conversation_as_it_was() -> None:
    agent, _ = make(["first", error_info("provider_context_overflow", "Too long."), "third"])
    await agent.run("one")
    before = agent.messages
    await agent.run("much too long")
    assert agent.messages == before


async def test_retry_says_the_prompt_once() -> None:
    agent, events = make([error_info("provider_auth", "No key."), "now it works"])
    first = await agent.run("do it")
    second = await agent.retry()
    assert second.text == "now it works"
    assert [m["content"] for m in agent.messages] == ["do it", "now it works"]
    assert of(events, "run.started")[1]["retry_of"] == first.run_id


async def test_retry_after_a_step_goes_on_with_the_same_turn() -> None:
    replies = [calls(("add", {"a": 1, "b": 1})), error_info("provider_auth", "No."), "It is 2"]
    agent, _ = make(replies, tools=[add])
    await agent.run("do it")
    await agent.retry()
    assert [m["role"] for m in agent.messages] == ["user", "assistant", "tool", "assistant"]


async def test_the_budget_is_checked_before_each_model_call() -> None:
    from smoke_monkey_nb.telemetry.pricing import Price

    reply = calls(("add", {"a": 1, "b": 1}))
    reply = ModelResponse(
        tool_calls=reply.tool_calls, usage=Usage(prompt_tokens=1000, total_tokens=1000)
    )
    prices = {"script": Price(input_per_mtok=10.0, output_per_mtok=10.0)}
    result, _, _ = await run([reply, "never"], tools=[add], budget_usd=0.005, prices=prices)
    assert result.error is not None
    assert (result.error.code, result.steps) == ("run_budget_exceeded", 1)
    assert result.cost_usd == pytest.approx(0.01)


async def test_an_unknown_price_warns_once_and_leaves_the_cost_null() -> None:
    agent, events = make([ModelResponse(text="a", usage=Usage(5, 5, 10))] * 2)
    first = await agent.run("one")
    await agent.run("two")
    assert first.cost_usd is None
    codes = [w["error_info"].code for w in of(events, "run.warning")]
    assert codes == ["run_price_unknown"]


async def test_stream_yields_every_event_of_the_run() -> None:
    agent, events = make(["hello"])
    streamed = [e async for e in agent.stream("do it")]
    assert streamed == events
    assert streamed[-1].type == "run.completed"


async def test_leaving_the_stream_early_interrupts_the_run() -> None:
    agent, events = make([calls(("wait_long", {}))], tools=[wait_long])
    stream = agent.stream("do it")
    async for event in stream:
        if event.type == "tool.started":
            break
    await stream.aclose()
    assert events[-1].type == "run.interrupted"
    assert not agent.active_run


@pytest.mark.parametrize(
    ("prompt", "error"), [("", ValueError), ("  ", ValueError), (3, TypeError)]
)
async def test_a_wrong_prompt_raises(prompt: Any, error: type[Exception]) -> None:
    agent, _ = make([])
    with pytest.raises(error):
        await agent.run(prompt)


def test_run_sync_without_a_loop() -> None:
    agent, _ = make(["hello"])
    assert agent.run_sync("do it").text == "hello"


async def test_run_sync_where_a_loop_runs() -> None:
    agent, _ = make(["hello"])
    assert agent.run_sync("do it").text == "hello"


def test_one_agent_on_one_loop_and_then_another() -> None:
    agent, _ = make(["one", "two"])
    assert asyncio.run(agent.run("a")).text == "one"
    assert asyncio.run(agent.run("b")).text == "two"


async def test_images_follow_the_results_for_models_that_take_them() -> None:
    from smoke_monkey_nb.tools.base import Image, ToolOutput

    @tool(read_only=True)
    def picture() -> Any:
        return ToolOutput("a picture", (Image("image/png", b"png"),))

    provider = ScriptedProvider([calls(("picture", {})), "nice"], takes_images=True)
    agent = create_agent(model=provider, tools=[picture])
    await agent.run("do it")
    assert [m["role"] for m in agent.messages] == ["user", "assistant", "tool", "user", "assistant"]
    assert agent.messages[3]["content"][1]["image_url"]["url"].startswith("data:image/png;base64,")
