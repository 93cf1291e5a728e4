"""Reads the error object of a failed answer, whatever shape its server gives it.

Seen: ``{"error": {…}}`` (OpenAI), ``[{"error": {…}}]`` (Gemini), ``{"error": "text"}`` (Ollama),
``{"object": "error", …}`` (vLLM), ``{"detail": …}`` (FastAPI), an upstream's error as a string
inside ``metadata.raw`` (OpenRouter), a second code in ``innererror`` (Azure), HTML."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_MAX_TEXT = 20_000  # wording is looked for in so many characters of a body
_MARKUP = re.compile(r"<(?:!doctype|html|head|body|div|p|h1)\b", re.IGNORECASE)
# Line breaks, control characters, and those that turn the direction of writing.
_BLANK = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069]+")


@dataclass(frozen=True)
class ErrorBody:
    """What an error body says. ``codes`` are its codes and types in lower case, ``text`` all its
    wording."""

    message: str = ""
    codes: frozenset[str] = frozenset()
    text: str = ""
    status: int | None = None  # a status given inside the body
    fields: Mapping[str, Any] = field(default_factory=dict)  # the innermost error object
    kind: str = "json"  # or "html", "text", "empty"

    def has(self, *codes: str) -> bool:
        """Whether one of its codes is among these."""
        return not self.codes.isdisjoint(codes)


def read_error_body(body: Any) -> ErrorBody:
    """``body`` may be bytes, text, or already parsed JSON; never raises."""
    if isinstance(body, (bytes, bytearray)):
        body = bytes(body[:_MAX_TEXT]).decode("utf-8", "replace")
    if isinstance(body, str):
        stripped = body.strip()[:_MAX_TEXT]
        try:
            body = json.loads(stripped)
        except ValueError:
            return _plain_text(stripped)
    if isinstance(body, list) and body:
        body = body[0]
    if isinstance(body, str):
        return _plain_text(body)
    return _object(body) if isinstance(body, Mapping) else ErrorBody(kind="empty")


def one_sentence(text: str, limit: int = 180) -> str:
    """Its first sentence on one line, for a message; empty where it is markup or too long."""
    if "<" in text and _MARKUP.search(text):
        return ""
    text = _BLANK.sub(" ", text).strip()
    first = re.match(r".*?[.!?](?=\s+[A-Z]|$)", text)
    text = (first.group(0) if first else text).strip()
    return "" if len(text) > limit or text.startswith(("{", "[")) else text.rstrip(".")


def _plain_text(text: str) -> ErrorBody:
    if not text:
        return ErrorBody(kind="empty")
    is_html = text.lstrip().startswith("<")
    return ErrorBody(message="" if is_html else text, text=text, kind="html" if is_html else "text")


def _object(body: Mapping[str, Any]) -> ErrorBody:
    error = body.get("error")
    if error is None or error is True:
        error = body
    if isinstance(error, str):
        error = {**body, "message": body.get("message") or error}
    if not isinstance(error, Mapping):
        error = body
    message = _message(error) or _message(body)
    text = json.dumps(body, ensure_ascii=False, default=str)[:_MAX_TEXT]
    metadata = error.get("metadata")
    raw = metadata.get("raw") if isinstance(metadata, Mapping) else None
    if isinstance(raw, str) and raw.strip():
        upstream = read_error_body(raw)
        message = upstream.message or message
        text = f"{text} {upstream.text}"
    return ErrorBody(message, _codes(error, body), text, _status(error), error)


def _message(error: Mapping[str, Any]) -> str:
    for name in ("message", "detail", "msg", "error_description", "title", "error"):
        value = error.get(name)
        if isinstance(value, str) and value.strip():
            return value
        if isinstance(value, list) and value:  # FastAPI: a list of {"loc", "msg"}
            found = [_message(one) if isinstance(one, Mapping) else str(one) for one in value[:3]]
            return "; ".join(text for text in found if text)
        if isinstance(value, Mapping) and (inner := _message(value)):
            return inner
    return ""


def _codes(*objects: Mapping[str, Any]) -> frozenset[str]:
    found: set[str] = set()
    for one in objects:
        inner = one.get("innererror") or one.get("inner_error")
        for source in (one, inner):
            if isinstance(source, Mapping):
                values = (source.get(name) for name in ("code", "type", "status", "error_type"))
                found.update(
                    str(value).lower() for value in values if isinstance(value, (str, int))
                )
        for detail in one.get("details") or () if isinstance(one.get("details"), list) else ():
            if isinstance(detail, Mapping) and isinstance(detail.get("reason"), str):  # Google
                found.add(detail["reason"].lower())
    return frozenset(found)


def _status(error: Mapping[str, Any]) -> int | None:
    for name in ("status", "status_code", "code"):
        value = error.get(name)
        if isinstance(value, str) and value.isdigit():
            value = int(value)
        if isinstance(value, int) and 400 <= value < 600:
            return value
    return None
