"""The demo's wire form: from a request's JSON to ``DemoRequest``, from a ``Reply`` to
chat-completion chunks.

Text goes word by word and tool arguments in fragments, the way the busiest providers send them, so
that a view is exercised as in earnest. Token counts are estimates (four characters a token), the
usage comes in the last chunk.
"""

from __future__ import annotations

import json
import re
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_CHARACTERS_A_TOKEN = 4
_FRAGMENT = 24  # characters of arguments in one chunk
_WORD = re.compile(r"\s*\S+\s*|\s+")


@dataclass(frozen=True)
class DemoRequest:
    """What the rules need of a request. ``tools`` maps an offered tool's name to its parameter
    schema.
    """

    model: str
    messages: Sequence[Mapping[str, Any]]
    tools: Mapping[str, Mapping[str, Any]]
    stream: bool
    prompt_tokens: int


@dataclass(frozen=True)
class Call:
    """A tool call that the rules decided on."""

    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class Reply:
    """One answer: what is said, why (``thought``), and which tools are to be called."""

    text: str = ""
    thought: str = ""
    calls: tuple[Call, ...] = ()


@dataclass(frozen=True)
class Chunk:
    """One server-sent event, and how many words it stands for in the pace."""

    data: dict[str, Any]
    words: float = 0.0


def read_request(body: Any) -> DemoRequest:
    """Check and read a request's JSON.

    Raises:
        ValueError: it is no chat-completions request.
    """
    if not isinstance(body, dict):
        raise ValueError("the body is no JSON object")
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise ValueError("messages must be a list and not empty")
    if not all(isinstance(m, dict) and isinstance(m.get("role"), str) for m in messages):
        raise ValueError("every message must be an object with a role")
    return DemoRequest(
        model=str(body.get("model") or "demo-rules"),
        messages=messages,
        tools=_tools(body.get("tools")),
        stream=bool(body.get("stream")),
        prompt_tokens=_tokens(json.dumps([messages, body.get("tools") or []])),
    )


def _tools(offered: Any) -> dict[str, Mapping[str, Any]]:
    found: dict[str, Mapping[str, Any]] = {}
    for entry in offered if isinstance(offered, list) else []:
        function = entry.get("function") if isinstance(entry, dict) else None
        if isinstance(function, dict) and isinstance(function.get("name"), str):
            found[function["name"]] = function.get("parameters") or {}
    return found


def error_body(message: str, code: str | None = None) -> dict[str, Any]:
    """An error in OpenAI's form."""
    return {"error": {"message": message, "type": "invalid_request_error", "code": code}}


def completion(request: DemoRequest, reply: Reply) -> dict[str, Any]:
    """The whole answer as one JSON object, for ``stream: false``."""
    message: dict[str, Any] = {"role": "assistant", "content": reply.text or None}
    if reply.calls:
        message["tool_calls"] = [_whole(call) for call in reply.calls]
    choice = {"index": 0, "message": message, "finish_reason": _finish(reply)}
    return {
        **_frame(request.model, "chat.completion"),
        "choices": [choice],
        "usage": _usage(request, reply),
    }


def stream(request: DemoRequest, reply: Reply) -> Iterator[Chunk]:
    """The answer as chunks: thought, text, tool calls, finish reason, usage."""
    frame = _frame(request.model, "chat.completion.chunk")

    def chunk(delta: dict[str, Any], words: float = 0.0, finish: str | None = None) -> Chunk:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return Chunk({**frame, "choices": [choice]}, words)

    yield chunk({"role": "assistant", "content": ""})
    for word in _WORD.findall(reply.thought):
        yield chunk({"reasoning_content": word}, 1)
    for word in _WORD.findall(reply.text):
        yield chunk({"content": word}, 1)
    for index, call in enumerate(reply.calls):
        for delta in _fragments(index, call):
            yield chunk({"tool_calls": [delta]}, 1)
    yield chunk({}, finish=_finish(reply))
    yield Chunk({**frame, "choices": [], "usage": _usage(request, reply)})


def _frame(model: str, kind: str) -> dict[str, Any]:
    name = f"chatcmpl-demo-{secrets.token_hex(6)}"
    return {"id": name, "object": kind, "created": int(time.time()), "model": model}


def _finish(reply: Reply) -> str:
    return "tool_calls" if reply.calls else "stop"


def _call_id() -> str:
    return f"call_{secrets.token_hex(8)}"


def _whole(call: Call) -> dict[str, Any]:
    function = {"name": call.name, "arguments": json.dumps(dict(call.arguments))}
    return {"id": _call_id(), "type": "function", "function": function}


def _fragments(index: int, call: Call) -> Iterator[dict[str, Any]]:
    head = _whole(call)
    arguments = head["function"]["arguments"]
    yield {"index": index, **head, "function": {"name": call.name, "arguments": ""}}
    for start in range(0, len(arguments), _FRAGMENT):
        yield {"index": index, "function": {"arguments": arguments[start : start + _FRAGMENT]}}


def _tokens(text: str) -> int:
    return max(1, round(len(text) / _CHARACTERS_A_TOKEN)) if text else 0


def _usage(request: DemoRequest, reply: Reply) -> dict[str, Any]:
    thought = _tokens(reply.thought)
    calls = "".join(call.name + json.dumps(dict(call.arguments)) for call in reply.calls)
    answered = thought + _tokens(reply.text) + _tokens(calls)
    return {
        "prompt_tokens": request.prompt_tokens,
        "completion_tokens": answered,
        "total_tokens": request.prompt_tokens + answered,
        "completion_tokens_details": {"reasoning_tokens": thought},
    }
