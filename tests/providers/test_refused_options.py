"""What a server refuses is left out, at once and from then on."""

from __future__ import annotations

import pytest

from smoke_monkey_nb.providers.base import ModelRequest

from ..fault_server import (
    FaultServer,
    Reply,
    error_status,
    json_reply,
    refuse_parameter,
    text,
)
from .helpers import HI, ask, collect, provider_at

TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
STRICT = {"type": "function", "function": {**TOOL["function"], "strict": True}}  # type: ignore[dict-item]
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}


@pytest.mark.parametrize(
    "refusal",
    [
        refuse_parameter("stream_options"),
        refuse_parameter("stream_options", status=422),
        error_status(400, "Unknown parameter: 'stream_options.include_usage'."),
        json_reply(
            {"detail": [{"type": "extra_forbidden", "loc": ["body", "stream_options"]}]}, status=422
        ),
    ],
)
async def test_stream_options_are_left_out_where_they_are_refused(refusal: Reply) -> None:
    outcome = await ask(refusal, text("Hello", usage=None))
    assert outcome.response.text == "Hello"
    first, second = (request.json for request in outcome.requests)
    assert "stream_options" in first
    assert second == {key: value for key, value in first.items() if key != "stream_options"}


async def test_what_was_refused_is_remembered_for_the_base_url() -> None:
    with FaultServer([refuse_parameter("stream_options"), text(), text()]) as server:
        for _ in range(2):  # another provider for the same server knows it too
            provider = provider_at(server)
            assert (await collect(provider, ModelRequest("m", HI))).error is None
            await provider.aclose()
        sent = ["stream_options" in request.json for request in server.requests]
    assert sent == [True, False, False]


async def test_a_refusal_is_not_remembered_when_leaving_it_out_did_not_help() -> None:
    script = [refuse_parameter("stream_options"), error_status(400, "something else"), text()]
    with FaultServer(script) as server:
        provider = provider_at(server)
        assert (await collect(provider, ModelRequest("m", HI))).code == "provider_bad_request"
        assert (await collect(provider, ModelRequest("m", HI))).error is None
        assert "stream_options" in server.requests[2].json
        await provider.aclose()


async def test_strict_is_left_out_where_it_is_refused() -> None:
    outcome = await ask(refuse_parameter("tools[0].function.strict"), text(), tools=[STRICT])
    assert outcome.error is None
    assert outcome.requests[1].json["tools"] == [TOOL]


async def test_the_developer_role_becomes_system_where_it_is_refused() -> None:
    messages = [{"role": "developer", "content": "be kind"}, *HI]
    refusal = error_status(400, "'developer' is not one of ['system', 'assistant', 'user']")
    outcome = await ask(refusal, text(), messages=messages)
    assert [m["role"] for m in outcome.requests[1].json["messages"]] == ["system", "user"]


async def test_pictures_are_left_out_where_they_are_refused() -> None:
    messages = [{"role": "user", "content": [{"type": "text", "text": "look"}, PICTURE]}]
    refusal = error_status(404, "No endpoints found that support image input")
    outcome = await ask(refusal, text(), messages=messages)
    assert outcome.error is None
    sent = outcome.requests[1].json["messages"][0]["content"]
    assert [part["type"] for part in sent] == ["text", "text"]


async def test_several_refusals_one_after_another() -> None:
    refusals = [refuse_parameter("strict"), refuse_parameter("stream_options")]
    outcome = await ask(*refusals, text("Hello"), tools=[STRICT])
    assert outcome.response.text == "Hello"


async def test_a_server_that_refuses_for_ever_is_asked_no_further() -> None:
    outcome = await ask(*[refuse_parameter("stream_options")] * 2)
    assert (outcome.code, len(outcome.requests)) == ("provider_bad_request", 2)
