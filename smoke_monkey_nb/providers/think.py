"""Tells reasoning in ``<think>…</think>`` from the answer that follows it.

Qwen, DeepSeek R1 and others on servers without a reasoning parser write their reasoning into the
content. Only a tag at the very start of the answer counts (a later one may be quoted text), and a
tag may be split over chunks, so a piece that could be the beginning of a tag is held back until it
is clear."""

from __future__ import annotations

_OPEN = ("<think>", "<thinking>", "<thought>")
_LONGEST = max(len(tag) for tag in _OPEN)


class ThinkSplitter:
    """Feed it content pieces; it returns ``(thought, answer)`` pieces. Not thread-safe."""

    def __init__(self) -> None:
        self.in_answer = False  # nothing will be thought any more: the caller may stop feeding
        self._close = ""  # the closing tag while inside
        self._held = ""
        self._trim = False  # the blank lines between the tag and the answer are no answer

    def feed(self, piece: str) -> tuple[str, str]:
        """What of the text so far is now known to be thought, and answer."""
        if self.in_answer:
            return "", piece
        text = self._held + piece
        self._held = ""
        if self._close:
            return self._inside(text)
        if self._trim:
            return "", self._begin(text.lstrip())
        start = text.lstrip()
        for tag in _OPEN:
            if start.startswith(tag):
                self._close = "</" + tag[1:]
                return self._inside(start[len(tag) :])
        if len(start) < _LONGEST and any(tag.startswith(start) for tag in _OPEN):
            self._held = text
            return "", ""
        return "", self._begin(text)

    def flush(self) -> tuple[str, str]:
        """What was held back, once the stream has ended."""
        held, self._held = self._held, ""
        return (held, "") if self._close else ("", held)

    def _inside(self, text: str) -> tuple[str, str]:
        thought, closed, rest = text.partition(self._close)
        if closed:
            self._close, self._trim = "", True
            return thought, self._begin(rest.lstrip())
        keep = overlap(text, self._close)
        self._held = text[len(text) - keep :]
        return text[: len(text) - keep], ""

    def _begin(self, answer: str) -> str:
        self.in_answer = bool(answer)
        return answer


def overlap(text: str, tag: str) -> int:
    """Length of the longest end of ``text`` that begins ``tag``."""
    for size in range(min(len(tag) - 1, len(text)), 0, -1):
        if tag.startswith(text[-size:]):
            return size
    return 0
