"""Finds tool calls that a model writes into its text as ``<tool_call>{…}</tool_call>``.

Qwen, Hermes and their kin call tools this way, and an in-process model has no server in front that
would turn the tags into ``tool_calls``.
"""

from __future__ import annotations

import json
from typing import Any

from .think import overlap

_OPEN, _CLOSE = "<tool_call>", "</tool_call>"


class TaggedCalls:
    """Feed it text; it returns what is answer, and the calls that are complete. Not thread-safe."""

    def __init__(self) -> None:
        self._held = ""
        self._inside = False
        self._count = 0

    def feed(self, piece: str) -> tuple[str, list[dict[str, Any]]]:
        """(answer text, fragments of ``tool_calls``)."""
        text, answer, calls = self._held + piece, [], []
        self._held = ""
        while text:
            tag = _CLOSE if self._inside else _OPEN
            before, found, rest = text.partition(tag)
            if not found:
                keep = len(text) if self._inside else overlap(text, tag)
                self._held = text[len(text) - keep :]
                answer.append(text[: len(text) - keep])
                break
            if self._inside:
                calls.append(self._fragment(before))
            else:
                answer.append(before)
            self._inside = not self._inside
            text = rest
        return "".join(answer), calls

    def flush(self) -> tuple[str, list[dict[str, Any]]]:
        """What was held back, once the model has ended."""
        held, self._held = self._held, ""
        if self._inside and held.strip():
            return "", [self._fragment(held)]
        return held, []

    def _fragment(self, raw: str) -> dict[str, Any]:
        self._count += 1
        try:
            call = json.loads(raw)
        except ValueError:
            call = None
        if not isinstance(call, dict):
            call = {"name": "", "arguments": raw.strip()}
        arguments = call.get("arguments", call.get("parameters", {}))
        function = {"name": call.get("name"), "arguments": arguments}
        return {"index": self._count, "function": function}
