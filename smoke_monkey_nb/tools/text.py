"""Text that may be sent to a model: valid Unicode, no control codes, bounded, both ends kept.

The cost depends on the limit, not on the length: of 50 MB only the two ends are looked at.
"""

from __future__ import annotations

import re

from .base import RESULT_LIMIT

# CSI and OSC sequences (colours, cursor, titles, links), then any other two-character escape.
_ANSI = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)"
    r"|\x1b[ -/]*[0-~]|\x9b[0-?]*[ -/]*[@-~]"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
#: Room for the words that say how much was left out.
_NOTE_ROOM = 80
#: Share of the limit that the beginning gets; the end often holds what matters (an error, a total).
_HEAD_SHARE = 0.6


def clean(text: str) -> str:
    """Without ANSI sequences and control characters (tab and newline stay); lone surrogates become
    ``\\ufffd``, every line end is a newline.
    """
    if "\x1b" in text or "\x9b" in text:
        text = _ANSI.sub("", text)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _SURROGATE.sub("\ufffd", _CONTROL.sub("\ufffd", text))


def as_terminal(text: str) -> str:
    """Of a line that is written over with carriage returns (a progress bar) the last state."""
    if "\r" not in text:
        return text
    return re.sub(r"[^\n]*\r(?=[^\n])", "", re.sub(r"\r+\n", "\n", text))


def bounded(text: str, limit: int = RESULT_LIMIT) -> str:
    """``text`` cleaned and cut in the middle to at most ``limit`` characters; the cut says how many
    are gone.
    """
    if len(text) <= 4 * limit:
        text = clean(text)
        if len(text) <= limit:
            return text
    room = max(limit - _NOTE_ROOM, 0)
    head_length = int(room * _HEAD_SHARE)
    tail_length = room - head_length
    # A margin, as cleaning takes characters away. What is cut off an escape sequence at the edge is
    # noise of a few characters.
    head = clean(text[: 2 * head_length])[:head_length]
    tail = clean(text[-2 * tail_length :])[-tail_length:] if tail_length else ""
    left_out = len(text) - len(head) - len(tail)
    return f"{head}\n… [{left_out:,} characters left out] …\n{tail}"


def one_line(text: str, limit: int = 80) -> str:
    """The first words of a text on a single line."""
    line = " ".join(clean(text[: 4 * limit]).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def count(number: int, noun: str) -> str:
    """``1 row``, ``2,000 rows``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
