"""What a misbehaving server does on the wire: steps, and the replies that are made of them.

A ``Reply`` is data: a status, headers and a list of steps (bytes to write, or something that
happens on the connection). ``sse`` builds any event stream:

    sse(delta(content="Hel"), Reset())                                 reset in mid-text
    sse(delta(content="Hel"), Gate(event), delta(content="lo"), finish("stop"))
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
HTML = b"<html><head><title>502 Bad Gateway</title></head><body><h1>nginx</h1></body></html>"


@dataclass(frozen=True)
class Pause:
    """Wait so many seconds before the next step."""

    seconds: float


@dataclass(frozen=True)
class Gate:
    """Wait until the test sets this event (or the client goes away)."""

    event: threading.Event


@dataclass(frozen=True)
class Hang:
    """Send nothing more until the client goes away."""


@dataclass(frozen=True)
class Reset:
    """Reset the connection (RST), as a crashed server or load balancer does."""


@dataclass(frozen=True)
class Drop:
    """Close the connection without the closing chunk: an incomplete HTTP body."""


Step = bytes | Pause | Gate | Hang | Reset | Drop


@dataclass(frozen=True)
class Reply:
    """One HTTP answer. ``before`` happens before the status line, ``steps`` are its chunked
    body."""

    name: str
    steps: tuple[Step, ...] = ()
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    before: tuple[Step, ...] = ()


# -- building blocks -----------------------------------------------------------


def chunk(choices: Any = (), **more: Any) -> dict[str, Any]:
    """A ``chat.completion.chunk``; keyword ``usage=…`` and other top-level fields go in as they
    are."""
    choices = list(choices) if isinstance(choices, tuple) else choices
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "test"}
    return {**head, "choices": choices, **more}


def delta(finish_reason: str | None = None, *, top: Any = None, **fields: Any) -> dict[str, Any]:
    """A chunk of one choice whose delta has these fields; ``top`` adds top-level fields."""
    choice = {"index": 0, "delta": fields, "finish_reason": finish_reason}
    return chunk((choice,), **(top or {}))


def finish(reason: str | None = "stop") -> dict[str, Any]:
    """The chunk that ends the choice."""
    return delta(reason)


def event(payload: Any) -> bytes:
    """One server-sent event around a dict (as JSON) or a string."""
    text = payload if isinstance(payload, str) else json.dumps(payload, ensure_ascii=False)
    return f"data: {text}\n\n".encode()


DONE = event("[DONE]")


def sse(
    *items: Any,
    done: bool = True,
    name: str = "sse",
    pack: int = 1,
    headers: Mapping[str, str] | None = None,
) -> Reply:
    """A 200 event stream: dicts become events, bytes go out as they are, other steps happen.

    ``pack`` puts so many events into one write; ``done`` ends with ``[DONE]``.
    """
    steps = [event(item) if isinstance(item, dict) else item for item in items]
    if done:
        steps.append(DONE)
    if pack > 1:
        assert all(isinstance(step, bytes) for step in steps)
        steps = [b"".join(steps[at : at + pack]) for at in range(0, len(steps), pack)]
    head = {"Content-Type": "text/event-stream; charset=utf-8", **(headers or {})}
    return Reply(name, tuple(steps), headers=head)


def raw(*steps: Step, name: str = "raw", content_type: str = "text/event-stream") -> Reply:
    """A 200 answer of exactly these steps."""
    return Reply(name, steps, headers={"Content-Type": content_type})


def pieces(text: str, chunks: int | Sequence[str] | None) -> list[str]:
    """``text`` cut into so many pieces (default: into words), or the pieces given."""
    if chunks is None:
        words = text.split(" ")
        return [word if at == 0 else " " + word for at, word in enumerate(words)]
    if not isinstance(chunks, int):
        return list(chunks)
    size = max(1, -(-len(text) // chunks))
    return [text[at : at + size] for at in range(0, len(text), size)]
