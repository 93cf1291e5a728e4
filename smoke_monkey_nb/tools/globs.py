"""Glob patterns on ``/``-separated paths: ``*``, ``?``, ``[…]``, ``{a,b}`` and ``**`` for any
folders.

Matched name by name, and with a table over the names where ``**`` stands, so that no pattern takes
more than (its parts × the path's parts) steps. ``fnmatch`` itself does not backtrack.
"""

from __future__ import annotations

import re
from fnmatch import translate

_MAX_ALTERNATIVES = 100


class Glob:
    """A compiled pattern.

    Raises:
        ValueError: the pattern is empty, absolute, or goes up.
    """

    def __init__(self, pattern: str, *, at_any_depth: bool = False) -> None:
        pattern = pattern.replace("\\", "/").removeprefix("./")
        if not pattern.strip() or "\x00" in pattern:
            raise ValueError("the pattern is empty")
        if pattern.startswith("/") or ".." in pattern.split("/"):
            raise ValueError("the pattern must be relative and may not go up ('..')")
        if at_any_depth and "/" not in pattern.rstrip("/"):
            pattern = f"**/{pattern}"
        self._alternatives = [_parts(p) for p in _braces(pattern)]

    def matches(self, path: str) -> bool:
        """Whether the whole path fits."""
        names = path.split("/")
        return any(_fits(parts, names) for parts in self._alternatives)


_Part = re.Pattern[str] | None  # None: "**"


def _parts(pattern: str) -> list[_Part]:
    parts: list[_Part] = []
    for part in pattern.strip("/").split("/"):
        if part == "**":
            if not parts or parts[-1] is not None:
                parts.append(None)
        else:
            parts.append(re.compile(translate(part)))
    return parts


def _fits(parts: list[_Part], names: list[str]) -> bool:
    """``reach`` holds for each number of names whether the parts so far can use up just these."""
    reach = [True] + [False] * len(names)
    for part in parts:
        following = [False] * (len(names) + 1)
        if part is None:
            first = reach.index(True) if True in reach else len(reach)
            following = [index >= first for index in range(len(reach))]
        else:
            for index, name in enumerate(names):
                following[index + 1] = reach[index] and part.match(name) is not None
        reach = following
    return reach[-1]


def _braces(pattern: str) -> list[str]:
    """``{a,b}`` written out, innermost first; unbalanced ones stay as they are."""
    waiting, done = [pattern], list[str]()
    while waiting and len(waiting) + len(done) <= _MAX_ALTERNATIVES:
        current = waiting.pop(0)
        found = re.search(r"\{([^{}]*,[^{}]*)\}", current)
        if found is None:
            done.append(current)
            continue
        start, end = found.span()
        waiting += [current[:start] + part + current[end:] for part in found[1].split(",")]
    if waiting:
        raise ValueError(f"the pattern has more than {_MAX_ALTERNATIVES} alternatives")
    return done
