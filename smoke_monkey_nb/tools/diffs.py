"""Unified diffs that stay fast: what both ends share is cut off first, and a rewrite is shown as
one.

``difflib`` takes minutes for two long texts without a line in common.
"""

from __future__ import annotations

from collections.abc import Sequence

_CONTEXT = 3
_DIFFLIB_LINES = 3_000


def unified(old: str, new: str, path: str) -> str:
    """The whole change of one file; empty when nothing changes. ``old`` empty: a new file."""
    if old == new:
        return ""
    import difflib

    before, after = old.splitlines(), new.splitlines()
    head = _common(before, after)
    tail = _common(before[head:][::-1], after[head:][::-1])
    skipped = max(0, head - _CONTEXT)
    keep = max(0, tail - _CONTEXT)
    old_part = before[skipped : len(before) - keep]
    new_part = after[skipped : len(after) - keep]
    names = f"a/{path}" if old else "/dev/null", f"b/{path}"
    if max(len(old_part), len(new_part)) <= _DIFFLIB_LINES:
        lines = list(difflib.unified_diff(old_part, new_part, *names, lineterm="", n=_CONTEXT))
        lines = [_moved(line, skipped) for line in lines]
    else:
        lines = [f"--- {names[0]}", f"+++ {names[1]}"]
        lines.append(f"@@ -{skipped + 1},{len(old_part)} +{skipped + 1},{len(new_part)} @@")
        lines += [f"-{line}" for line in old_part] + [f"+{line}" for line in new_part]
    if not lines:  # only line ends differ
        lines = [f"--- {names[0]}", f"+++ {names[1]}", "(only line ends change)"]
    return "\n".join(lines)


def _common(left: Sequence[str], right: Sequence[str]) -> int:
    shared = 0
    for a, b in zip(left, right, strict=False):
        if a != b:
            break
        shared += 1
    return shared


def _moved(line: str, by: int) -> str:
    """A hunk header with its line numbers moved down."""
    if not by or not line.startswith("@@ "):
        return line
    ranges = [_range(part, by) for part in line.split()[1:3]]
    return f"@@ {ranges[0]} {ranges[1]} @@"


def _range(text: str, by: int) -> str:
    start, comma, length = text[1:].partition(",")
    return f"{text[0]}{int(start) + by}{comma}{length}"
