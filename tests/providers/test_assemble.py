"""What the chunks of one answer become."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smoke_monkey_nb.providers.base import Completed, TextDelta, ThoughtDelta, UsageDelta
from smoke_monkey_nb.usage import Usage

from ..fault_server import (
    DONE,
    Reply,
    call,
    chunk,
    completion,
    delta,
    error_in_stream,
    event,
    filtered,
    finish,
    html_200,
    json_reply,
    not_a_completion,
    raw,
    refusal,
    sse,
    text,
    thinking,
    tool_calls,
    truncated,
)
from .helpers import parse, parse_reply


def test_text_streams_as_it_comes_and_is_whole_at_the_end() -> None:
    outcome = parse_reply(text("", chunks=["Hel", "lo", " 😀"]))
    assert outcome.of(TextDelta) == ["Hel", "lo", " 😀"]
    assert outcome.response.text == "Hello 😀"
    assert outcome.response.finish_reason == "stop"
    assert outcome.response.model == "test"


def test_a_burst_in_one_read_becomes_one_piece() -> None:
    items = [delta(reasoning="h") for _ in range(50)]
    items += [*[delta(content="ab") for _ in range(100)], finish()]
    burst = parse(b"".join(event(item) for item in items) + DONE)
    assert (burst.of(ThoughtDelta), burst.of(TextDelta)) == (["h" * 50], ["ab" * 100])


def test_content_as_a_list_of_parts_is_text() -> None:
    parts = [{"type": "text", "text": "Hel"}, {"type": "text", "text": "lo"}, "!"]
    assert parse_reply(sse(delta(content=parts), finish())).response.text == "Hello!"


@pytest.mark.parametrize("style", ["reasoning_content", "reasoning", "tags"])
def test_reasoning_is_kept_out_of_the_answer(style: str) -> None:
    outcome = parse_reply(thinking("let me see", "It is 4.", style=style))
    assert (outcome.response.thought, outcome.response.text) == ("let me see", "It is 4.")
    assert "".join(outcome.of(ThoughtDelta)) == "let me see"
    assert "".join(outcome.of(TextDelta)) == "It is 4."


def test_reasoning_sent_under_two_names_counts_once() -> None:
    both = delta(reasoning="hm", reasoning_content="hm")
    assert parse_reply(sse(both, delta(content="x"), finish())).response.thought == "hm"


def test_thinking_parts_are_reasoning() -> None:
    part = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    response = parse_reply(sse(delta(content=[part, "yes"]), finish())).response
    assert (response.thought, response.text) == ("hm", "yes")


@pytest.mark.parametrize(
    "content", ["a <think>b</think>", "<thin>", "<", "  <b>x</b>", "<think", "x</think>y"]
)
def test_a_tag_that_does_not_begin_the_answer_is_text(content: str) -> None:
    response = parse_reply(text("", chunks=list(content))).response
    assert (response.text, response.thought) == (content, "")


def test_a_thought_that_never_closes_is_all_thought() -> None:
    response = parse_reply(text("", chunks=["<think>", "a", "b</th"])).response
    assert (response.text, response.thought) == ("", "ab</th")


@given(st.text("ab<>/think \n", max_size=30), st.lists(st.integers(0, 60), max_size=8))
def test_any_split_of_the_content_gives_the_same_answer(content: str, cuts: list[int]) -> None:
    content = f"<think>{content}"
    edges = [0, *sorted(min(cut, len(content)) for cut in cuts), len(content)]
    pieces = [content[a:b] for a, b in pairwise(edges)]
    cut = parse_reply(text("", chunks=[p for p in pieces if p])).response
    whole = parse_reply(text("", chunks=[content])).response
    assert (cut.text, cut.thought) == (whole.text, whole.thought)


def test_a_refusal_is_the_answer_and_marked() -> None:
    response = parse_reply(refusal("I can't.")).response
    assert (response.text, response.refusal) == ("I can't.", True)


# -- usage ---------------------------------------------------------------------


def test_no_usage_is_none() -> None:
    assert parse_reply(text(usage=None)).response.usage is None


def test_the_last_usage_counts_never_the_sum() -> None:
    items = [
        delta(content=str(n), top={"usage": {"prompt_tokens": 10, "completion_tokens": n}})
        for n in (1, 2, 3)
    ]
    outcome = parse_reply(sse(*items, finish()))
    assert outcome.response.usage == Usage(10, 3, 13)
    assert [usage.completion_tokens for usage in outcome.of(UsageDelta)] == [1, 2, 3]


def test_a_null_usage_does_not_replace_an_earlier_one() -> None:
    items = [delta(content="x", top={"usage": {"prompt_tokens": 1, "completion_tokens": 2}})]
    items += [delta(content="y", top={"usage": None}), finish()]
    assert parse_reply(sse(*items)).response.usage == Usage(1, 2, 3)


@pytest.mark.parametrize(
    ("raw_usage", "expected"),
    [
        (
            {
                "prompt_tokens": 100,
                "completion_tokens": 20,
                "total_tokens": 120,
                "prompt_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 10},
                "completion_tokens_details": {"reasoning_tokens": 5},
            },
            Usage(100, 20, 120, 60, 10, 5),
        ),
        (
            {"prompt_tokens": 9, "completion_tokens": 1, "prompt_cache_hit_tokens": 4},
            Usage(9, 1, 10, 4),
        ),
        (
            {"input_tokens": 9, "output_tokens": 1, "cache_read_input_tokens": 4,
             "cache_creation_input_tokens": 3},
            Usage(9, 1, 10, 4, 3),
        ),
        # xAI counts reasoning beside the completion; each token is to be priced once
        (
            {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 115,
             "completion_tokens_details": {"reasoning_tokens": 100}},
            Usage(10, 105, 115, 0, 0, 100),
        ),
        ({"prompt_tokens": 10.0, "completion_tokens": None}, Usage(10, 0, 10)),
        ({"prompt_tokens": "many"}, None),
        ({}, None),
    ],
)  # fmt: skip
def test_usage_in_the_dialects_of_providers(raw_usage: Any, expected: Usage | None) -> None:
    assert parse_reply(text(usage=raw_usage)).response.usage == expected


def test_usage_is_told_before_an_error_so_that_a_failed_attempt_is_billed() -> None:
    items = [delta(content="x", top={"usage": {"prompt_tokens": 7, "completion_tokens": 1}})]
    outcome = parse_reply(raw(b"".join(event(i) for i in [*items, {"error": {"message": "no"}}])))
    assert outcome.code == "provider_stream_interrupted"
    assert outcome.of(UsageDelta) == [Usage(7, 1, 8)]


# -- odd chunks ----------------------------------------------------------------


@pytest.mark.parametrize(
    "odd",
    [
        chunk(None),
        chunk(),
        chunk(prompt_filter_results=[{"prompt_index": 0}]),
        chunk(({"index": 0, "delta": None, "finish_reason": None},)),
        chunk(({"index": 0, "finish_reason": None},)),
        chunk(({"index": 1, "delta": {"content": "another choice"}},)),
        {"id": "x"},
        {},
    ],
)
def test_a_chunk_without_news_is_ignored(odd: dict[str, Any]) -> None:
    assert parse_reply(sse(odd, delta(content="x"), odd, finish(), odd)).response.text == "x"


@pytest.mark.parametrize("odd", [b"data: 5\n\n", b"data: no json\n\n", b'data: {"choices": 3}\n\n'])
def test_an_event_that_is_no_chunk_is_a_bad_response(odd: bytes) -> None:
    assert parse(event(delta(content="x")), odd).code == "provider_bad_response"


def test_an_emoji_cut_into_two_escapes_is_whole_again() -> None:
    halves = (json.dumps("😀")[1:7], json.dumps("😀")[7:13])
    events = [
        b'data: {"choices":[{"delta":{"content":"%b"}}]}\n\n' % half.encode() for half in halves
    ]
    assert parse(*events, event(finish()), DONE).response.text == "😀"


# -- how an answer ends --------------------------------------------------------


@pytest.mark.parametrize(
    "reply",
    [
        text("x", done=False),
        text("x", finish_reason=None),
        text("x", finish_reason=""),
        text("x", finish_reason=None, done=False),  # the closing usage chunk is an end too
        raw(event(delta(content="x")), event(finish()).rstrip()),
    ],
    ids=["no [DONE]", "no finish reason", "empty finish reason", "usage only", "no blank line"],
)
def test_a_good_end(reply: Reply) -> None:
    assert parse_reply(reply).response.text == "x"


@pytest.mark.parametrize(
    "reply",
    [
        truncated("x"),
        raw(event(delta(content="x")), b'data: {"choices": [{"del'),
        raw(event(delta(tool_calls=[{"index": 0, "id": "a", "function": {"name": "f"}}]))),
        raw(event(delta(content="x", finish_reason=""))),
        raw(b": only a comment\n\n"),
    ],
)
def test_a_stream_that_just_ends_is_interrupted(reply: Reply) -> None:
    assert parse_reply(reply).code == "provider_stream_interrupted"


def test_done_alone_is_an_empty_answer() -> None:
    assert parse_reply(raw(DONE)).response.text == ""


def test_nothing_is_read_after_done() -> None:
    outcome = parse(event(delta(content="x")), DONE + event(delta(content="y")))
    assert outcome.response.text == "x"


@pytest.mark.parametrize("reason", ["content_filter", "SAFETY"])
def test_a_filtered_answer_is_an_error(reason: str) -> None:
    outcome = parse_reply(sse(delta(content="x"), finish(reason)))
    assert outcome.code == "provider_content_filtered"
    assert parse_reply(filtered()).code == "provider_content_filtered"


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        (
            {"error": {"message": "Provider returned error", "code": 502}},
            "provider_stream_interrupted",
        ),
        ({"error": {"message": "slow down", "code": 429}}, "provider_stream_interrupted"),
        ({"error": "it broke"}, "provider_stream_interrupted"),
        ({"object": "error", "message": "it broke", "code": 500}, "provider_stream_interrupted"),
        ({"type": "error", "error": {"type": "overloaded_error"}}, "provider_stream_interrupted"),
        (
            {"error": {"code": "server_error"}, "choices": [{"delta": {}}]},
            "provider_stream_interrupted",
        ),
        ({"choices": [{"delta": {}, "finish_reason": "error"}]}, "provider_stream_interrupted"),
        (
            {"error": {"message": "x", "code": "context_length_exceeded"}},
            "provider_context_overflow",
        ),
        ({"error": {"message": "x", "code": "insufficient_quota"}}, "provider_quota_exhausted"),
        ({"error": {"message": "bad key", "code": 401}}, "provider_auth"),
    ],
)
def test_an_error_object_in_the_stream_is_typed(failure: dict[str, Any], code: str) -> None:
    assert parse(event(delta(content="x")), event(failure)).code == code


def test_an_error_event_is_an_error_whatever_its_data() -> None:
    outcome = parse(b'event: error\ndata: {"code": "Throttled", "message": "slow down"}\n\n')
    assert outcome.code == "provider_stream_interrupted"
    assert outcome.error and "slow down" in outcome.error.message


def test_an_error_in_the_stream_comes_after_the_text_before_it() -> None:
    outcome = parse_reply(error_in_stream())
    assert outcome.of(TextDelta) == ["Hello the"]
    assert outcome.error and outcome.error.details and outcome.error.details["status"] == 502


# -- answers that are no stream ------------------------------------------------


def test_a_whole_completion_is_taken_for_an_answer() -> None:
    outcome = parse_reply(completion("Hello"))
    assert (outcome.response.text, outcome.response.usage) == ("Hello", Usage(10, 5, 15))
    assert isinstance(outcome.deltas[-1], Completed)


def test_a_whole_completion_may_call_tools() -> None:
    wire = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    response = parse_reply(completion(None, tool_calls=[wire])).response
    assert [(one.id, one.name) for one in response.tool_calls] == [("a", "f")]


@pytest.mark.parametrize(
    "reply",
    [
        not_a_completion(),
        html_200(),
        json_reply([]),
        json_reply({"choices": []}),
        json_reply({"choices": [{}]}),
        json_reply({"error": "something"}),
        raw(b"{broken"),
        raw(b""),
        raw(b"  \n"),
    ],
)
def test_an_answer_that_is_no_completion_is_a_bad_response(reply: Reply) -> None:
    assert parse_reply(reply).code == "provider_bad_response"


def test_an_error_object_with_status_200_is_typed_by_its_own_code() -> None:
    limited = {"error": {"message": "slow down", "code": 429}}
    assert parse_reply(json_reply(limited)).code == "provider_rate_limited"


@given(st.lists(st.integers(0, 2000), max_size=20))
def test_any_split_of_the_body_gives_the_same_response(cuts: list[int]) -> None:
    reply = tool_calls(call("f", {"x": "ä€😀"}), content="Gern: 😀")
    body = b"".join(step for step in reply.steps if isinstance(step, bytes))
    edges = [0, *sorted(min(cut, len(body)) for cut in cuts), len(body)]
    parts = [body[a:b] for a, b in pairwise(edges)]
    assert parse(*parts).response == parse(body).response
