"""The conversation as the rules see it: the prompt to answer and what the tools have said since.

A turn begins at the last user message that a person wrote (pictures of tool results come as user
messages, too) and consists of rounds: the calls of one assistant message with their results, in the
order of the calls.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .previews import without_previews

# How the loop words a failed call; without a code it is a result like any other.
_ERROR_CODE = re.compile(r"Error \(((?:tool|permission)_\w+)\)")
_NOTHING = "(no result was recorded)"


@dataclass(frozen=True)
class Outcome:
    """A call and what came of it. ``error`` is its error code, or ``None`` when it went well."""

    name: str
    arguments: Mapping[str, Any]
    text: str
    error: str | None = None

    @property
    def refused(self) -> bool:
        """Whether a person, a rule or a hook said no, rather than the work going wrong."""
        return self.error in ("tool_blocked", "permission_denied")


@dataclass(frozen=True)
class Turn:
    """A prompt, the prompts before it (oldest first), and the rounds since."""

    prompt: str
    earlier: tuple[str, ...] = ()
    rounds: tuple[tuple[Outcome, ...], ...] = ()


def read_turn(messages: Sequence[Mapping[str, Any]]) -> Turn:
    """The turn that the last message belongs to."""
    written = [(i, text) for i, m in enumerate(messages) if (text := _written(m)) is not None]
    if not written:
        return Turn(prompt="")
    start, prompt = written[-1]
    earlier = tuple(text for _, text in written[:-1])
    return Turn(prompt, earlier, _rounds(messages[start + 1 :]))


def text_of(content: Any) -> str:
    """The text of a message's content, which may be a string or a list of parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [p.get("text") for p in parts if isinstance(p, dict) and p.get("type") == "text"]
    return "\n".join(t for t in texts if isinstance(t, str))


def _written(message: Mapping[str, Any]) -> str | None:
    """What a person wrote in this message, or ``None`` if nobody did."""
    content = message.get("content")
    if message.get("role") != "user":
        return None
    parts = [p for p in content if isinstance(p, dict)] if isinstance(content, list) else []
    if any(part.get("type") == "image_url" for part in parts):
        return None
    return without_previews(text_of(content))


def _rounds(messages: Sequence[Mapping[str, Any]]) -> tuple[tuple[Outcome, ...], ...]:
    results = {m.get("tool_call_id"): m for m in messages if m.get("role") == "tool"}
    rounds = []
    for message in messages:
        found = message.get("tool_calls") if message.get("role") == "assistant" else None
        calls = [c for c in found if isinstance(c, dict)] if isinstance(found, list) else []
        if calls:
            rounds.append(tuple(_outcome(call, results.get(call.get("id"))) for call in calls))
    return tuple(rounds)


def _outcome(call: Mapping[str, Any], result: Mapping[str, Any] | None) -> Outcome:
    function = call.get("function") or {}
    text = text_of(result.get("content")) if result else _NOTHING
    return Outcome(
        str(function.get("name", "")), _arguments(function.get("arguments")), text, _error(text)
    )


def _arguments(text: Any) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (TypeError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _error(text: str) -> str | None:
    if text == _NOTHING:
        return "tool_cancelled"
    found = _ERROR_CODE.match(text)
    return found.group(1) if found else None
