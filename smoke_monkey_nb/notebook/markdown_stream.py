"""Markdown that grows: rendered block by block, so that only the open block is rendered again.

``feed`` cuts the text at top-level blocks. A block is closed once another one has begun for sure (a
line that reads ``2`` so far may become ``2. item`` of the list above); closed blocks are never
parsed again. The open one is rendered anew at each ``feed`` while it is short; a long one
(a big table, a paragraph of 40 KB) each time it has grown by half, and a fence only at its end,
with plain text added in between: the work stays linear. Where a new rendering only lengthens the
last one, the change says just that (``Added``) instead of the whole block again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html import unescape
from itertools import pairwise
from typing import Any

from .render import OPEN, markdown, parser, plain

#: An open block up to this many characters is rendered at every ``feed``.
SHORT = 2_000
_CLOSERS = re.compile(r"(?:</[a-z0-9]+>\n?)+$")
_LIST_SIGNS = frozenset(" \t-+*0123456789")
# A line after a blank one that goes on with no list, quote or table.
_NEW_BLOCK = re.compile(r"\n\n[^\s\-+*>|0-9]")


@dataclass(frozen=True)
class Piece:
    """Block number ``at`` now has this HTML."""

    at: int
    html: str


@dataclass(frozen=True)
class Added:
    """The innermost last element of block number ``at`` now ends with this text as well."""

    at: int
    text: str


Change = Piece | Added


@dataclass
class MarkdownStream:
    """One answer as it streams in. Not thread-safe: it belongs to the run's loop."""

    pieces: list[str] = field(default_factory=list)  # HTML of the closed blocks
    _sources: list[str] = field(default_factory=list)  # their Markdown
    _tail: str = ""  # Markdown from the open block on
    _held: str = ""  # a carriage return that may be half of a line end
    _shown: str = ""  # HTML of the open block as last rendered
    _added: str = ""  # plain text added to it since
    _next_render: int = SHORT
    _fence_end: re.Pattern[str] | None = None  # while a fence is open: the line that closes it
    _env: dict[str, Any] = field(default_factory=dict)

    def feed(self, text: str) -> list[Change]:
        """Take more text; returns what changed for the reader."""
        text = self._held + text
        self._held = "\r" if text.endswith("\r") else ""
        text = text.removesuffix("\r").replace("\r\n", "\n").replace("\r", "\n")
        if not text:
            return []
        before = len(self._tail)
        self._tail += text
        if self._may_wait(before):
            return [Added(len(self.pieces), self._plain_addition(before))]
        changes = self._close_blocks()
        changes += self._render_open()
        self._next_render = max(SHORT, len(self._tail) * 3 // 2)
        return changes

    def finish(self) -> list[Change]:
        """The text is complete: close what is open, and resolve links that were defined late."""
        changes = self._close_blocks()
        if self._tail.strip():
            changes += self._close(self._tail)
        self._tail = ""
        if self._env.get("references"):
            changes += self._resolve_late_links()
        return changes

    def html(self) -> list[str]:
        """The HTML of every block, the open one included."""
        if not self._tail.strip():
            return list(self.pieces)
        return [*self.pieces, markdown(self._tail, self._open_env())]

    def _may_wait(self, before: int) -> bool:
        if self._fence_end is not None:
            line_start = self._tail.rfind("\n", 0, before) + 1
            return not self._fence_end.search(self._tail, line_start)
        if len(self._tail) <= SHORT or len(self._tail) >= self._next_render:
            return False
        blank = self._tail.rfind("\n\n", 0, before)
        return not _NEW_BLOCK.search(self._tail, blank if blank >= 0 else max(0, before - 1))

    def _plain_addition(self, before: int) -> str:
        text = self._tail[before:]
        if not self._added and self._fence_end is None:  # blanks at the end were lost in rendering
            head = self._tail[:before]
            text = head[len(head.rstrip()) :] + text
        self._added += plain(text)
        return plain(text)

    def _close_blocks(self) -> list[Change]:
        tokens = _blocks(self._tail, self._env)
        starts = [token.map[0] for token in tokens]
        lines = self._tail.split("\n")
        if len(starts) > 1 and starts[-1] == len(lines) - 1 and not _is_apart(tokens[-2], lines):
            starts.pop()  # that line is not complete and may still become a part of the block above
        self._fence_end = _fence_end(tokens[len(starts) - 1], lines) if starts else None
        if len(starts) < 2:
            return []
        bounds = [0, *starts[1:]]
        changes: list[Change] = []
        for begin, end in pairwise(bounds):
            changes += self._close("\n".join(lines[begin:end]) + "\n")
        self._tail = "\n".join(lines[starts[-1] :])
        return changes

    def _close(self, source: str) -> list[Change]:
        html = markdown(source, self._env)
        change = self._change(html)
        self._shown = self._added = ""
        if html:  # link definitions alone show nothing
            self.pieces.append(html)
            self._sources.append(source)
        return change

    def _render_open(self) -> list[Change]:
        html = markdown(self._tail, self._open_env())
        change = self._change(html)
        self._shown, self._added = html, ""
        return change

    def _change(self, html: str) -> list[Change]:
        """How the reader gets from what is shown of the open block (additions included) to
        ``html``.
        """
        at, more = len(self.pieces), _lengthening(self._shown, html)
        if more is None:
            return [Piece(at, html)]
        if more.rstrip() == self._added.rstrip():
            return []
        if more.startswith(self._added):
            return [Added(at, more[len(self._added) :])]
        return [Piece(at, html)]

    def _open_env(self) -> dict[str, Any]:
        """The link definitions so far; what an unfinished text seems to define must not stay."""
        return {"references": dict(self._env.get("references", {})), OPEN: True}

    def _resolve_late_links(self) -> list[Change]:
        changes: list[Change] = []
        for at, source in enumerate(self._sources):
            html = markdown(source, self._env) if "[" in source else self.pieces[at]
            if html != self.pieces[at]:
                self.pieces[at] = html
                changes.append(Piece(at, html))
        return changes


def to_html(text: str) -> str:
    """A whole text at once: the very HTML that streaming it would have given."""
    stream = MarkdownStream()
    stream.feed(text)
    stream.finish()
    return "\n".join(stream.pieces)


def _blocks(source: str, env: dict[str, Any]) -> list[Any]:
    """The tokens that open the top-level blocks."""
    md, tokens = parser(), []  # type: ignore[var-annotated]
    try:
        md.block.parse(source, md, {"references": dict(env.get("references", {}))}, tokens)
    except RecursionError:
        return []
    return [t for t in tokens if t.level == 0 and t.nesting >= 0 and t.map]


def _is_apart(above: Any, lines: list[str]) -> bool:
    """Whether the last line begins a block of its own, however it goes on."""
    if len(lines) < 2 or lines[-2].strip():
        return False
    return not above.type.endswith("_list_open") or lines[-1][:1] not in _LIST_SIGNS


def _fence_end(token: Any, lines: list[str]) -> re.Pattern[str] | None:
    if token.type != "fence":
        return None
    sign = token.markup
    end = re.compile(rf"^ {{0,3}}{re.escape(sign[0])}{{{len(sign)},}}[ \t]*(?:\n|\Z)", re.MULTILINE)
    start = token.map[0]
    if start + 1 >= len(lines) or end.search("\n".join(lines[start + 1 :])):
        return None
    return end


def _lengthening(old: str, new: str) -> str | None:
    """The text by which ``new`` is longer than ``old`` in its innermost last element, if that is
    all.
    """
    if old == new:
        return ""
    match = _CLOSERS.search(old)
    if match is None or len(new) < len(old) or not new.endswith(match[0]):
        return None
    head = old[: match.start()]
    more = new[len(head) : len(new) - len(match[0])]
    return unescape(more) if new.startswith(head) and "<" not in more else None
