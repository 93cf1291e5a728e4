"""Named answers of well- and misbehaving chat-completion servers, built of ``wire``.

text("Hello there", chunks=["Hel", "lo there"])          a good answer
tool_calls(call("read_file", {"path": "a.txt"}))         a good answer that calls a tool
error_status(429, "slow down", headers={"Retry-After": "1"})
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .wire import (
    HTML,
    USAGE,
    Drop,
    Hang,
    Pause,
    Reply,
    Reset,
    chunk,
    delta,
    finish,
    pieces,
    sse,
)

# -- good answers --------------------------------------------------------------


def text(
    content: str = "Hello there.",
    *,
    chunks: int | Sequence[str] | None = None,
    usage: Mapping[str, Any] | None = USAGE,
    finish_reason: str | None = "stop",
    done: bool = True,
    pack: int = 1,
) -> Reply:
    """A streamed answer; its usage comes in a last chunk without choices (``None``: not at all)."""
    items = [delta(role="assistant", content="")]
    items += [delta(content=piece) for piece in pieces(content, chunks)]
    items.append(finish(finish_reason))
    if usage is not None:
        items.append(chunk(usage=dict(usage)))
    return sse(*items, done=done, name="text", pack=pack)


def long_text(count: int = 2000, *, pack: int = 1) -> Reply:
    """``count`` small text deltas, for measurements."""
    return text("", chunks=[f"tok{at % 10} " for at in range(count)], pack=pack)


@dataclass(frozen=True)
class Call:
    """A tool call to send. ``arguments`` is the text on the wire."""

    name: str
    arguments: str
    id: str | None


def call(name: str, arguments: Any = None, id: str | None = "call_1") -> Call:
    """A tool call; a dict becomes JSON, a string stays as it is, ``None`` is ``{}``."""
    arguments = {} if arguments is None else arguments
    return Call(name, arguments if isinstance(arguments, str) else json.dumps(arguments), id)


def tool_calls(
    *calls: Call,
    content: str = "",
    style: str = "openai",
    finish_reason: str | None = "tool_calls",
    usage: Mapping[str, Any] | None = USAGE,
) -> Reply:
    """An answer that calls tools, in one of ``TOOL_STYLES``."""
    items = [delta(role="assistant", content=content or None)]
    for at, one in enumerate(calls):
        items += [delta(tool_calls=[part]) for part in TOOL_STYLES[style](at, one)]
    items.append(finish(finish_reason))
    if usage is not None:
        items.append(chunk(usage=dict(usage)))
    return sse(*items, name=f"tool_calls:{style}")


def _fragments(at: int, one: Call, size: int) -> list[dict[str, Any]]:
    text = one.arguments
    head = {
        "index": at,
        "id": one.id,
        "type": "function",
        "function": {"name": one.name, "arguments": ""},
    }
    cuts = [text[i : i + size] for i in range(0, len(text), size)]
    return [head, *({"index": at, "function": {"arguments": cut}} for cut in cuts)]


def _without(parts: list[dict[str, Any]], key: str) -> list[dict[str, Any]]:
    return [{k: v for k, v in part.items() if k != key} for part in parts]


def _whole(at: int, one: Call) -> list[dict[str, Any]]:
    function = {"name": one.name, "arguments": one.arguments}
    return [{"index": at, "id": one.id, "type": "function", "function": function}]


#: how servers cut a call into fragments: (position, call) -> the ``tool_calls`` entries of its
#: chunks
TOOL_STYLES = {
    "openai": lambda at, one: _fragments(at, one, 7),
    "letters": lambda at, one: _fragments(at, one, 1),
    "whole": _whole,
    "no_index": lambda at, one: _without(_fragments(at, one, 7), "index"),
    "no_id": lambda at, one: _without(_fragments(at, one, 7), "id"),
    "index_zero": lambda at, one: _fragments(0, one, 7),  # every call says index 0
    "id_everywhere": lambda at, one: [{**part, "id": one.id} for part in _fragments(at, one, 7)],
    "dict_arguments": lambda at, one: [
        {
            **_whole(at, one)[0],
            "function": {"name": one.name, "arguments": json.loads(one.arguments)},
        }
    ],
    "no_arguments": lambda at, one: [{"index": at, "id": one.id, "function": {"name": one.name}}],
}


def thinking(thought: str, content: str, *, style: str = "reasoning_content") -> Reply:
    """Reasoning, then an answer. Style: the delta's field name, or ``tags`` for
    ``<think>…</think>``."""
    if style == "tags":
        return text("", chunks=pieces(f"<think>{thought}</think>{content}", 9))
    items = [delta(**{style: piece}) for piece in pieces(thought, None)]
    items += [delta(content=piece) for piece in pieces(content, None)]
    return sse(*items, finish(), name=f"thinking:{style}")


def refusal(content: str = "I can't help with that.") -> Reply:
    """A refusal as OpenAI streams it: in ``delta.refusal``."""
    return sse(*(delta(refusal=p) for p in pieces(content, None)), finish(), name="refusal")


def completion(
    content: str | None = "Hello there.", *, usage: Any = USAGE, **message: Any
) -> Reply:
    """A whole, unstreamed chat completion, as some servers answer a request for a stream."""
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": "test",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": content, **message},
                "finish_reason": "stop",
            }
        ],
        "usage": usage,
    }
    return json_reply(body, name="completion")


# -- errors before the stream --------------------------------------------------


def json_reply(body: Any, *, status: int = 200, name: str = "json", **headers: str) -> Reply:
    """Any JSON body; keyword ``Retry_After="1"`` is the header ``Retry-After``."""
    head = {"Content-Type": "application/json"}
    head.update({key.replace("_", "-"): value for key, value in headers.items()})
    return Reply(name, (json.dumps(body).encode(),), status=status, headers=head)


def error_status(
    status: int,
    message: str = "it failed",
    *,
    code: Any = None,
    type: str | None = None,
    param: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Reply:
    """An error as OpenAI words it: ``{"error": {"message", "type", "param", "code"}}``."""
    body = {"error": {"message": message, "type": type, "param": param, "code": code}}
    head = {"Content-Type": "application/json", **(headers or {})}
    return Reply(f"error:{status}", (json.dumps(body).encode(),), status=status, headers=head)


def rate_limited(**headers: str) -> Reply:
    """429 with these headers (``Retry_After="2"``, ``retry_after_ms="30"``)."""
    head = {key.replace("_", "-"): value for key, value in headers.items()}
    return error_status(429, "Rate limit reached", code="rate_limit_exceeded", headers=head)


def quota_exhausted() -> Reply:
    """The 429 that no waiting cures."""
    return error_status(429, "You exceeded your current quota", code="insufficient_quota")


def unauthorized(key: str = "sk-abcdef1234567890") -> Reply:
    """401 whose text shows a part of the key, as OpenAI's does."""
    return error_status(401, f"Incorrect API key provided: {key}.", code="invalid_api_key")


def model_not_found(model: str = "nope") -> Reply:
    """404 for the model."""
    return error_status(404, f"The model `{model}` does not exist", code="model_not_found")


def context_overflow() -> Reply:
    """OpenAI's own wording of a prompt that is too long."""
    return error_status(
        400,
        "This model's maximum context length is 4096 tokens. "
        "However, your messages resulted in 6010 tokens.",
        code="context_length_exceeded",
        type="invalid_request_error",
    )


def refuse_parameter(name: str, *, status: int = 400) -> Reply:
    """A server that does not know an optional parameter."""
    message = f"Unrecognized request argument supplied: {name}"
    return error_status(status, message, type="invalid_request_error", param=name)


def html_502() -> Reply:
    """A gateway's error page."""
    return Reply("html:502", (HTML,), status=502, headers={"Content-Type": "text/html"})


def html_200() -> Reply:
    """A login page where the API should be."""
    return Reply("html:200", (HTML,), headers={"Content-Type": "text/html"})


def not_a_completion() -> Reply:
    """JSON with status 200 that is no chat completion."""
    return json_reply({"hello": "world"}, name="not_a_completion")


def hang() -> Reply:
    """Takes the request and never answers."""
    return Reply("hang", before=(Hang(),))


# -- streams that go wrong -----------------------------------------------------


def reset_midway(content: str = "Hello the") -> Reply:
    """Some text, then the connection is reset."""
    return sse(delta(content=content), Pause(0.02), Reset(), done=False, name="reset_midway")


def reset_in_arguments(name: str = "read_file") -> Reply:
    """Half of a tool call, then the connection is reset."""
    parts = _fragments(0, call(name, {"path": "a.txt"}), 7)[:2]
    items = [delta(tool_calls=[part]) for part in parts]
    return sse(*items, Pause(0.02), Reset(), done=False, name="reset_in_arguments")


def dropped(content: str = "Hello the") -> Reply:
    """Some text, then an incomplete HTTP body."""
    return sse(delta(content=content), Drop(), done=False, name="dropped")


def truncated(content: str = "Hello the") -> Reply:
    """A stream that just ends: no finish reason, no ``[DONE]``, a well-formed HTTP body."""
    return sse(delta(content=content), done=False, name="truncated")


def stall(content: str = "Hello the") -> Reply:
    """Some text, then silence with the connection open."""
    return sse(delta(content=content), Hang(), done=False, name="stall")


def error_in_stream(message: str = "Provider returned error", *, code: Any = 502) -> Reply:
    """OpenRouter's way: some text, then an error object inside the 200 stream."""
    failure = {"error": {"message": message, "code": code}}
    return sse(delta(content="Hello the"), failure, name="error_in_stream")


def filtered(content: str = "Hello the") -> Reply:
    """The content filter stopped the answer."""
    return sse(delta(content=content), finish("content_filter"), name="filtered")
