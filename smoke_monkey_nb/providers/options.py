"""The parts of a request that a server may not know, and sending it again without them.

OpenAI-compatible servers refuse what they have never heard of (``stream_options`` by
Mistral-compatible ones with 422, by older Azure with 400; ``strict``; the ``developer`` role;
pictures), each in its own words but always by name. What was refused is remembered for the base
URL, for the life of the process.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .base import ModelRequest

#: option -> how a refusal names it
_NAMED = {
    "stream_options": re.compile(r"stream_?options|include_usage", re.IGNORECASE),
    "strict": re.compile(r"\bstrict\b"),
    "developer": re.compile(r"\bdeveloper\b"),
    "images": re.compile(
        r"image(?:_url| input|s)?\b[^.]{0,60}(?:not support|unsupported|mmproj)"
        r"|(?:not support|unsupported|no endpoints found)[^.]{0,60}(?:image|vision|multimodal)",
        re.IGNORECASE,
    ),
}
NO_IMAGE = "[image left out: this model takes no images]"

_refused: dict[str, frozenset[str]] = {}
_lock = threading.Lock()


def refused_by(base_url: str) -> frozenset[str]:
    """The options that this server has refused before."""
    return _refused.get(base_url, frozenset())


def remember_refusal(base_url: str, options: Iterable[str]) -> None:
    """Leave these out from now on. May be called from any thread."""
    with _lock:
        _refused[base_url] = refused_by(base_url) | frozenset(options)


def request_body(request: ModelRequest, without: frozenset[str]) -> dict[str, Any]:
    """The request's JSON, beside ``model`` and ``stream``; an empty list of tools is never sent."""
    messages: Sequence[Mapping[str, Any]] = request.messages
    if "developer" in without or "images" in without:
        messages = [_plainer(message, without) for message in messages]
    body: dict[str, Any] = {"messages": messages if isinstance(messages, list) else list(messages)}
    if request.tools:
        body["tools"] = [_loose(t) if "strict" in without else t for t in request.tools]
    if "stream_options" not in without:
        body["stream_options"] = {"include_usage": True}
    return body


def refused_option(
    status: int, text: str, request: ModelRequest, without: frozenset[str]
) -> str | None:
    """The option that this answer refuses, if it is one that the request had."""
    if status not in (400, 404, 415, 422, 500, 501):
        return None
    for name, words in _NAMED.items():
        if name in without or not words.search(text) or not _has(request, name):
            continue
        if status in (400, 422) or name == "images":
            return name
    return None


def _has(request: ModelRequest, name: str) -> bool:
    if name == "strict":
        return any("strict" in (tool.get("function") or {}) for tool in request.tools)
    if name == "developer":
        return any(message.get("role") == "developer" for message in request.messages)
    if name == "images":
        return any(_is_image(part) for m in request.messages for part in _parts(m))
    return True


def _loose(tool: Mapping[str, Any]) -> dict[str, Any]:
    function = {key: value for key, value in tool["function"].items() if key != "strict"}
    return {**tool, "function": function}


def _plainer(message: Mapping[str, Any], without: frozenset[str]) -> Mapping[str, Any]:
    if "developer" in without and message.get("role") == "developer":
        message = {**message, "role": "system"}
    parts = _parts(message)
    if "images" in without and any(_is_image(part) for part in parts):
        no_image = {"type": "text", "text": NO_IMAGE}
        message = {**message, "content": [no_image if _is_image(p) else p for p in parts]}
    return message


def _parts(message: Mapping[str, Any]) -> Sequence[Any]:
    content = message.get("content")
    return content if isinstance(content, list) else ()


def _is_image(part: Any) -> bool:
    return isinstance(part, Mapping) and part.get("type") == "image_url"
