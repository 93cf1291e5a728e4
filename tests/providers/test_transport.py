"""The provider over real HTTP: what is sent, errors, time limits."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from smoke_monkey_nb.errors import AgentError
from smoke_monkey_nb.providers.base import Completed, ModelRequest, TextDelta, UsageDelta
from smoke_monkey_nb.providers.catalog import resolve_provider
from smoke_monkey_nb.usage import Usage

from ..fault_server import (
    FaultServer,
    Gate,
    Hang,
    Reply,
    Reset,
    context_overflow,
    delta,
    dropped,
    error_status,
    finish,
    hang,
    html_200,
    html_502,
    model_not_found,
    not_a_completion,
    quota_exhausted,
    rate_limited,
    reset_in_arguments,
    reset_midway,
    sse,
    stall,
    text,
    truncated,
    unauthorized,
)
from .helpers import HI, ask, collect, provider_at

TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
STRICT = {"type": "function", "function": {**TOOL["function"], "strict": True}}  # type: ignore[dict-item]
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}


async def test_an_answer_over_http() -> None:
    outcome = await ask(text("Hello there."))
    assert outcome.response.text == "Hello there."
    assert outcome.response.usage == Usage(10, 5, 15)


async def test_what_is_sent() -> None:
    (request,) = (await ask(text(), messages=HI, tools=[TOOL])).requests
    assert request.json == {
        "model": "test-model",
        "messages": HI,
        "tools": [TOOL],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    assert request.headers["authorization"] == "Bearer key-1"


async def test_an_empty_tools_list_is_never_sent() -> None:
    (request,) = (await ask(text(), tools=[])).requests
    assert "tools" not in request.json


async def test_pictures_pass_through() -> None:
    messages = [{"role": "user", "content": [{"type": "text", "text": "look"}, PICTURE]}]
    (request,) = (await ask(text(), messages=messages)).requests
    assert request.json["messages"] == messages


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (rate_limited(), "provider_rate_limited"),
        (error_status(529), "provider_rate_limited"),
        (quota_exhausted(), "provider_quota_exhausted"),
        (error_status(402), "provider_quota_exhausted"),
        (unauthorized(), "provider_auth"),
        (error_status(403), "provider_auth"),
        (model_not_found(), "provider_model_not_found"),
        (context_overflow(), "provider_context_overflow"),
        (error_status(400), "provider_bad_request"),
        (error_status(422), "provider_bad_request"),
        (error_status(408), "provider_timeout"),
        (error_status(504), "provider_timeout"),
        (error_status(500), "provider_unavailable"),
        (html_502(), "provider_unavailable"),
        (html_200(), "provider_bad_response"),
        (not_a_completion(), "provider_bad_response"),
        (reset_midway(), "provider_stream_interrupted"),
        (reset_in_arguments(), "provider_stream_interrupted"),
        (dropped(), "provider_stream_interrupted"),
        (truncated(), "provider_stream_interrupted"),
    ],
    ids=lambda value: value.name if isinstance(value, Reply) else value,
)
async def test_a_failure_is_a_typed_error_and_is_not_retried_here(reply: Reply, code: str) -> None:
    outcome = await ask(reply)
    assert (outcome.code, len(outcome.requests)) == (code, 1)


async def test_a_reset_before_the_headers_is_unavailable() -> None:
    assert (await ask(Reply("reset", before=(Reset(),)))).code == "provider_unavailable"


async def test_a_reset_after_the_finish_reason_is_a_good_end() -> None:
    reply = sse(delta(content="Hello"), finish(), Reset(), done=False)
    assert (await ask(reply)).response.text == "Hello"


async def test_the_wait_that_the_server_asks_for_is_in_the_details() -> None:
    error = (await ask(rate_limited(retry_after_ms="1500"))).error
    assert error and error.details and error.details["retry_after_s"] == 1.5


async def test_no_key_gets_into_an_error() -> None:
    key = "my-own-secret-key"
    with FaultServer(unauthorized(key)) as server:
        provider = resolve_provider("m", base_url=server.base_url, api_key=key).provider
        with pytest.raises(AgentError) as caught:
            await anext(aiter(provider.stream(ModelRequest("m", HI))))
        await provider.aclose()
    error: BaseException | None = caught.value
    while error is not None:
        assert key not in repr(error) + str(error)
        error = error.__cause__ or error.__context__
    assert key not in repr(provider) + repr(vars(provider))


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/v1", "http://no-such-host.invalid/v1"])
async def test_a_server_that_is_not_there_is_unavailable(url: str) -> None:
    provider = resolve_provider("m", base_url=url, api_key="k").provider
    assert (await collect(provider, ModelRequest("m", HI))).code == "provider_unavailable"
    await provider.aclose()


async def test_a_key_that_no_header_can_hold_is_an_auth_error() -> None:
    with FaultServer() as server:
        for key in ("bad\nkey-1", "schlüssel-1"):
            provider = resolve_provider("m", base_url=server.base_url, api_key=key).provider
            outcome = await collect(provider, ModelRequest("m", HI))
            assert outcome.code in ("provider_auth", "provider_bad_request")
            assert key not in str(outcome.error)
            await provider.aclose()


async def test_messages_that_cannot_be_encoded_are_a_bad_request() -> None:
    broken = [{"role": "user", "content": float("nan")}]
    with FaultServer(text()) as server:
        provider = provider_at(server)
        outcome = await collect(provider, ModelRequest("m", broken))
        assert outcome.code == "provider_bad_request"
        await provider.aclose()


async def test_usage_is_told_as_soon_as_it_is_seen() -> None:
    grown = [
        delta(content=str(n), top={"usage": {"prompt_tokens": 3, "completion_tokens": n}})
        for n in (1, 2)
    ]
    outcome = await ask(sse(*grown, Reset(), done=False))
    assert outcome.code == "provider_stream_interrupted"
    assert outcome.of(UsageDelta)[-1] == Usage(3, 2, 5)


async def test_two_thousand_deltas_cost_little() -> None:
    with FaultServer(text("", chunks=["word "] * 2000, pack=20)) as server:
        provider = provider_at(server)
        request = ModelRequest("m", HI)
        await collect(provider, request)  # imports, connections
        begun = time.thread_time()
        outcome = await collect(provider, request)
        spent = time.thread_time() - begun
        await provider.aclose()
    assert outcome.response.text == "word " * 2000
    assert spent < 0.1  # 0.01 when measured; the bare client needs 0.25


async def test_no_headers_in_time_is_a_timeout() -> None:
    with FaultServer(hang()) as server:
        provider = provider_at(server, request_timeout_s=0.5, stall_timeout_s=30)
        outcome = await collect(provider, ModelRequest("m", HI))
        assert outcome.code == "provider_timeout"
        assert await asyncio.to_thread(server.requests[0].gone.wait, 5)
        await provider.aclose()


async def test_silence_within_the_answer_is_a_timeout() -> None:
    with FaultServer(stall("Hello")) as server:
        provider = provider_at(server, request_timeout_s=30, stall_timeout_s=0.2)
        outcome = await collect(provider, ModelRequest("m", HI))
        assert (outcome.of(TextDelta), outcome.code) == (["Hello"], "provider_timeout")
        assert await asyncio.to_thread(server.requests[0].gone.wait, 5)
        await provider.aclose()


async def test_silence_after_the_finish_reason_is_a_good_end() -> None:
    reply = sse(delta(content="Hello"), finish(), Hang(), done=False)
    assert (await ask(reply, stall_timeout_s=0.2)).response.text == "Hello"


async def test_a_comment_is_a_sign_of_life() -> None:
    gates = [threading.Event() for _ in range(3)]
    alive = [step for gate in gates for step in (b": still here\n\n", Gate(gate))]
    with FaultServer(sse(*alive, delta(content="x"), finish())) as server:
        provider = provider_at(server, stall_timeout_s=1)
        asking = asyncio.create_task(collect(provider, ModelRequest("m", HI)))
        for gate in gates:
            await asyncio.sleep(0.4)  # together longer than the limit, each shorter
            gate.set()
        assert (await asking).response.text == "x"
        await provider.aclose()


async def test_a_slow_reader_is_no_stall() -> None:
    with FaultServer(text("a b")) as server:
        provider = provider_at(server, stall_timeout_s=0.1)
        pieces = []
        async for one in provider.stream(ModelRequest("m", HI)):
            await asyncio.sleep(0.15)
            pieces.append(one)
        assert isinstance(pieces[-1], Completed)
        await provider.aclose()
