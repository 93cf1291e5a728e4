"""One run for each error code, over real HTTP where the code is a provider's."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from smoke_monkey_nb import AgentError, AgentErrorInfo, Hooks, RetryPolicy, create_agent, tool
from smoke_monkey_nb.errors import CODES
from tests import fault_server as fs

from .helpers import FAST, check_invariants, make, of, run

KEY = "sk-test-0123456789abcdef"


async def wire(script: Any, **options: Any) -> tuple[Any, list[Any], Any]:
    """Run one turn against the misbehaving server, through the real client."""
    options = {"tools": [], "retry": RetryPolicy(2, 0.001, 0.002), **options}
    with fs.FaultServer(script) as server:
        agent = create_agent("openai:gpt-5-mini", base_url=server.base_url, api_key=KEY, **options)
        events: list[Any] = []
        agent.attach(events.append)
        result = await agent.run("do it")
        await agent.aclose()
    check_invariants(events, agent.messages)
    assert KEY not in str([e.to_dict() for e in events])
    return result, events, agent


PROVIDER_FAILURES = [
    (fs.rate_limited(), "provider_rate_limited", 2),
    (fs.error_status(529, "Overloaded", type="overloaded_error"), "provider_rate_limited", 2),
    (fs.quota_exhausted(), "provider_quota_exhausted", 1),
    (fs.error_status(402, "Payment required"), "provider_quota_exhausted", 1),
    (fs.unauthorized(KEY), "provider_auth", 1),
    (fs.error_status(403, "Forbidden"), "provider_auth", 1),
    (fs.model_not_found(), "provider_model_not_found", 1),
    (fs.context_overflow(), "provider_context_overflow", 1),
    (fs.filtered(), "provider_content_filtered", 1),
    (fs.error_status(422, "Unprocessable"), "provider_bad_request", 1),
    (fs.error_status(408, "Timeout"), "provider_timeout", 2),
    (fs.error_status(504, "Timeout"), "provider_timeout", 2),
    (fs.error_status(500, "Oops"), "provider_unavailable", 2),
    (fs.html_502(), "provider_unavailable", 2),
    (fs.truncated(), "provider_stream_interrupted", 2),
    (fs.reset_midway(), "provider_stream_interrupted", 2),
    (fs.reset_in_arguments(), "provider_stream_interrupted", 2),
    (fs.dropped(), "provider_stream_interrupted", 2),
    (fs.error_in_stream(), "provider_stream_interrupted", 2),
    (fs.html_200(), "provider_bad_response", 2),
    (fs.not_a_completion(), "provider_bad_response", 2),
]


@pytest.mark.parametrize(
    ("reply", "code", "attempts"),
    PROVIDER_FAILURES,
    ids=[f"{r.name}-{c}" for r, c, _ in PROVIDER_FAILURES],
)
async def test_provider_failures(reply: Any, code: str, attempts: int) -> None:
    result, events, agent = await wire([reply] * attempts)
    assert result.status == "failed"
    assert (result.error.code, result.error.severity) == (code, "fatal")
    assert len(of(events, "run.warning")) == attempts - 1
    assert list(agent.costs["error_code"]) == [code] * attempts
    assert list(agent.costs["failed"]) == [True] * attempts
    assert agent.messages == []


async def test_a_server_that_never_answers_times_out() -> None:
    result, _, _ = await wire([fs.hang()], retry=RetryPolicy(1), request_timeout_s=0.1)
    assert result.error.code == "provider_timeout"


async def test_a_stream_that_stalls_times_out() -> None:
    result, events, _ = await wire([fs.stall()], retry=RetryPolicy(1), stall_timeout_s=0.1)
    assert result.error.code == "provider_timeout"
    assert of(events, "text.reset")


async def test_a_refused_connection_is_unavailable() -> None:
    agent = create_agent(
        "openai:gpt-5-mini", base_url="http://127.0.0.1:9/v1", api_key=KEY, tools=[], retry=FAST
    )
    result = await agent.run("do it")
    assert result.error is not None
    assert result.error.code == "provider_unavailable"


async def test_without_a_key_the_run_fails_and_names_the_variable() -> None:
    result = await create_agent("openai:gpt-5-mini", tools=[]).run("do it")
    assert result.error is not None
    assert result.error.code == "provider_auth"
    assert "OPENAI_API_KEY" in str(result.error.hint)


async def test_retry_after_is_honoured_and_announced() -> None:
    _, events, _ = await wire([fs.rate_limited(retry_after_ms="30"), fs.text("ok")])
    assert of(events, "run.warning")[0]["delay_s"] == pytest.approx(0.03)


async def test_an_attempt_that_fails_midway_is_void_and_retried() -> None:
    result, events, agent = await wire([fs.reset_midway(), fs.text("whole")])
    assert result.text == "whole"
    assert len(of(events, "text.reset")) == 1
    assert list(agent.costs["failed"]) == [True, False]


@tool(read_only=True)
def fail() -> None:
    """Fail."""
    raise RuntimeError("no luck")


@tool(read_only=True)
async def linger() -> None:
    """Wait."""
    await asyncio.sleep(60)


@tool
def change() -> str:
    """Change something."""
    return "changed"


TOOL_FAILURES = [
    ("fail", "{}", {}, "tool_failed"),
    ("fail", "{}", {"hooks": Hooks(before_tool_call=lambda c: {"block": True})}, "tool_blocked"),
    ("nope", "{}", {}, "tool_not_found"),
    ("fail", "{", {}, "tool_invalid_input"),
    ("linger", "{}", {"tool_timeout_s": 0.02}, "tool_timeout"),
    ("change", "{}", {}, "permission_denied"),
]


@pytest.mark.parametrize(("name", "arguments", "options", "code"), TOOL_FAILURES)
async def test_tool_failures(name: str, arguments: str, options: Any, code: str) -> None:
    replies = [fs.tool_calls(fs.call(name, arguments)), fs.text("I see.")]
    result, events, agent = await wire(replies, tools=[fail, linger, change], **options)
    assert result.status == "completed"
    info = of(events, "tool.failed")[0]["error_info"]
    assert (info.code, info.layer, info.severity, info.retryable) == (code, *CODES[code])
    assert agent.messages[2]["content"].startswith(f"Error ({code})")


async def test_the_other_codes_have_their_tests_beside_what_they_are_about() -> None:
    covered = {c for _, c, _ in PROVIDER_FAILURES} | {c for *_, c in TOOL_FAILURES}
    elsewhere = {
        "tool_cancelled", "hook_blocked", "hook_failed", "run_repeated_error", "run_hard_stop",
        "run_empty_responses", "run_budget_exceeded", "run_price_unknown", "run_busy",
        "run_interrupted", "transport_render_failed", "transport_store_failed",
    }  # fmt: skip
    assert covered | elsewhere == set(CODES)


async def test_an_interrupted_result_carries_the_error() -> None:
    agent, _ = make(["some text that is long enough"])
    agent.on("text.delta", lambda e: agent.abort())
    result = await agent.run("do it")
    assert result.error is not None
    assert (result.error.code, result.error.severity) == ("run_interrupted", "info")
    with pytest.raises(AgentError):
        result.raise_for_error()


async def test_a_completed_result_raises_nothing() -> None:
    result, _, _ = await run(["fine"])
    assert result.raise_for_error() is result


def test_an_error_info_is_frozen_and_reads_like_a_mapping() -> None:
    info = AgentErrorInfo("run_busy", "run", "error", "Busy.", True)
    with pytest.raises(AttributeError):
        info.code = "other"  # type: ignore[misc]
    assert dict(info)["code"] == info["code"] == "run_busy"


def test_an_agent_error_survives_pickle_and_copy() -> None:
    import copy
    import pickle

    error = AgentError(AgentErrorInfo("run_busy", "run", "error", "Busy.", True))
    assert pickle.loads(pickle.dumps(error)).info == error.info
    assert copy.deepcopy(error).info == error.info
