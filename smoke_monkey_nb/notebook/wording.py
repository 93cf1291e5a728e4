"""The words and numbers of a run, the same in the live view, the transcript and the terminal."""

from __future__ import annotations

from typing import Any

STATUS_WORDS = {
    "starting": "Starting",
    "running": "Running",
    "waiting": "Waiting for you",
    "completed": "Completed",
    "failed": "Failed",
    "interrupted": "Interrupted",
}
STATUS_SIGNS = {
    "starting": "●",
    "running": "●",
    "waiting": "◆",
    "completed": "✓",
    "failed": "✕",
    "interrupted": "■",
}
TOOL_SIGNS = {"running": "●", "completed": "✓", "failed": "✕"}
_DECIDERS = {
    "user": "by you",
    "rule": "by a rule",
    "callback": "by your permission callback",
    "timeout": "because nobody answered in time",
    "remembered": "as you decided before",
    "nobody": "because nobody was there to ask",
    "interrupted": "because the run was interrupted",
}
_REMEMBERED = {"run": " for this run", "session": " for this session"}


def money(usd: float | None) -> str:
    """A price in US dollars; ``None`` is an unknown one, which is not the same as free."""
    if usd is None:
        return "price unknown"
    if usd == 0:
        return "$0.00"
    return f"${usd:.2f}" if usd >= 1 else f"${usd:.4f}" if usd >= 0.0001 else "<$0.0001"


def duration(seconds: float) -> str:
    """A time span as a person says it: ``40 ms``, ``1.4 s``, ``12 s``, ``2 min 05 s``."""
    if seconds < 0.995:
        return f"{max(0, round(seconds * 1000))} ms"
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes} min {rest:02d} s"


def count(number: int, noun: str) -> str:
    """``1 step``, ``1,234 tokens``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def decision(verdict: str, by: str, remember: str | None = None) -> str:
    """What became of a permission question: ``Allowed by you for this session``."""
    word = "Allowed" if verdict == "allow" else "Denied"
    who = _DECIDERS.get(by, by)
    return f"{word} {who}".rstrip() + _REMEMBERED.get(remember or "", "")


def one_line(text: Any, limit: int = 120) -> str:
    """The text on one line, cut at ``limit`` characters."""
    line = " ".join(str(text).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def bounded(text: str, limit: int) -> str:
    """Head and tail of a long text, saying how much was left out."""
    if len(text) <= limit:
        return text
    head, tail = limit * 2 // 3, limit // 3
    left_out = len(text) - head - tail
    return f"{text[:head]}\n… {left_out:,} characters left out …\n{text[-tail:]}"
