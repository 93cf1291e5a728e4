"""The conversation in OpenAI chat format, valid to send at every moment.

A step is committed whole: the assistant message together with one result for each of its calls.
What a run has not committed leaves no trace, so a failed prompt poisons nothing.
"""

from __future__ import annotations

import base64
import copy
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from .providers.base import ToolCall
from .tools.base import Image

Message = dict[str, Any]


class Conversation:
    """The committed messages of one agent, without the system message. Used on the run's loop."""

    def __init__(self, messages: Sequence[Mapping[str, Any]] = ()) -> None:
        self._messages: list[Message] = [dict(m) for m in messages]
        self._call_ids = {c["id"] for m in self._messages for c in m.get("tool_calls", ())}

    def __len__(self) -> int:
        return len(self._messages)

    def commit(self, messages: Sequence[Message]) -> None:
        """Append a whole step."""
        self._messages.extend(messages)

    def wire(self, system: str | None, pending: Sequence[Message]) -> list[Message]:
        """What to send: system text, the conversation, and messages not committed yet. Shares the
        messages.
        """
        head = [{"role": "system", "content": system}] if system else []
        return [*head, *self._messages, *pending]

    def unique_ids(self, calls: Sequence[ToolCall]) -> list[ToolCall]:
        """The calls with ids that this conversation has not seen; proxies reuse theirs."""
        unique: list[ToolCall] = []
        for call in calls:
            call_id, n = call.id, 1
            while not call_id or call_id in self._call_ids:
                n += 1
                call_id = f"{call.id or 'call'}_{n}"
            self._call_ids.add(call_id)
            unique.append(call if call_id == call.id else replace(call, id=call_id))
        return unique

    def snapshot(self) -> list[Message]:
        """A deep copy."""
        return copy.deepcopy(self._messages)

    def clear(self) -> None:
        """Forget what was said. Call ids stay taken: a late answer must not fit a new question."""
        self._messages.clear()


def user_message(text: str) -> Message:
    """A prompt."""
    return {"role": "user", "content": valid_text(text)}


def assistant_message(text: str, calls: Sequence[ToolCall] = ()) -> Message:
    """An answer; ``content`` is always text, and ``tool_calls`` is left out when there are none."""
    message: Message = {"role": "assistant", "content": valid_text(text)}
    if calls:
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": valid_arguments(call.arguments)},
            }
            for call in calls
        ]
    return message


def tool_message(call_id: str, text: str) -> Message:
    """A result. Strict servers refuse empty content."""
    return {"role": "tool", "tool_call_id": call_id, "content": valid_text(text) or "(no output)"}


def images_message(images: Sequence[tuple[str, Image]]) -> Message:
    """Images of a step's results (tool name, image): tool messages take text alone, so they follow
    as the user's.
    """
    parts: list[dict[str, Any]] = []
    for tool_name, image in images:
        data = base64.b64encode(image.data).decode("ascii")
        parts.append({"type": "text", "text": f"Image from {tool_name}:"})
        parts.append(
            {"type": "image_url", "image_url": {"url": f"data:{image.media_type};base64,{data}"}}
        )
    return {"role": "user", "content": parts}


class BadArguments(ValueError):
    """Tool arguments that are no JSON object; the text says where."""


def parse_arguments(text: str) -> dict[str, Any]:
    """The arguments object; empty text counts as ``{}``.

    Raises:
        BadArguments: no JSON, NaN or infinity (which JSON has not), or no object.
    """
    if not text.strip():
        return {}
    try:
        value = json.loads(text, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise BadArguments(
            f"the arguments are not valid JSON: {error.msg} at line {error.lineno} "
            f"column {error.colno} (character {error.pos} of {len(text)})"
        ) from None
    except RecursionError:
        raise BadArguments("the arguments are nested too deeply") from None
    if not isinstance(value, dict):
        raise BadArguments(
            f"the arguments must be a JSON object, got {_JSON_NAMES.get(type(value), 'a value')}"
        )
    return value


_JSON_NAMES = {
    str: "a string",
    list: "an array",
    int: "a number",
    float: "a number",
    bool: "a boolean",
}


def _no_constant(name: str) -> Any:
    raise BadArguments(f"the arguments are not valid JSON: {name} is no JSON value")


def valid_arguments(text: str) -> str:
    """The arguments as they may be stored: as they came if they are a JSON object, else ``{}``."""
    try:
        parse_arguments(text)
    except BadArguments:
        return "{}"
    return valid_text(text) if text.strip() else "{}"


def valid_text(text: str) -> str:
    """``text`` without lone surrogates, which UTF-8 cannot carry."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode("utf-8")
    return text


def repair(messages: Sequence[Mapping[str, Any]]) -> list[Message]:
    """A stored conversation made valid: unanswered calls get a result, orphaned and doubled results
    go.
    """
    fixed: list[Message] = []
    open_ids: list[str] = []

    def close_open() -> None:
        fixed.extend(tool_message(i, "(no result was recorded)") for i in open_ids)
        open_ids.clear()

    for message in messages:
        message = dict(message)
        if message.get("role") == "tool":
            if message.get("tool_call_id") in open_ids:
                open_ids.remove(message["tool_call_id"])
                fixed.append(message)
            continue
        close_open()
        if not message.get("tool_calls"):
            message.pop("tool_calls", None)
            if message.get("content") is None:
                message["content"] = ""
        open_ids.extend(c["id"] for c in message.get("tool_calls", ()))
        fixed.append(message)
    close_open()
    return fixed
