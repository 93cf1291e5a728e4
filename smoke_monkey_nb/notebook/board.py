"""What a reader's page shows of a story, and the operations that bring it up to date.

The wire is append-only where it can be: an operation is a short list, ``["add", block, piece,
text]`` for text that only grows, ``["piece", block, piece, html]`` for one Markdown block,
``["put", block, html]`` for a whole card, ``["live", block, text]`` for tool output and thoughts,
``["toast", block, html, is_old]``, ``["cut", block]``. ``snapshot`` gives the operations that build
the page from nothing, for a view that is late or was reloaded. HTML comes from ``cards`` and
``render`` alone.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from .blocks import (
    Block,
    NoticeBlock,
    TextBlock,
    ThoughtBlock,
    ToolBlock,
    is_open_question,
)
from .cards import card
from .look import LIVE_LOOK
from .markdown_stream import Change, MarkdownStream, Piece
from .render import plain
from .story import RunStory

Operation = list[Any]
#: Characters of live output that one flush sends; a tool that prints faster is shown with gaps.
LIVE_CHUNK = 4_000
#: A notice older than this is shown folded to a page that is late.
FRESH_S = 8.0


class Board:
    """The page's side of one story. Not thread-safe: it belongs to the run's loop."""

    def __init__(self, story: RunStory) -> None:
        self._story = story
        self._dirty: dict[int, Block] = {}
        self._streams: dict[int, MarkdownStream] = {}
        self._consumed: dict[int, int] = {}  # parts of a text, characters of live text
        self._noticed_at: dict[int, float] = {}
        self._signatures: dict[int, Any] = {}  # what a card was last put for

    def touch(self, blocks: Sequence[Block]) -> None:
        """These blocks changed."""
        for block in blocks:
            self._dirty[block.key] = block

    def flush(self) -> list[Operation]:
        """The operations for everything that changed since the last flush."""
        dirty, self._dirty = self._dirty, {}
        return [op for key in sorted(dirty) for op in self._update(dirty[key])]

    def snapshot(self) -> list[Operation]:
        """The operations that show the story so far on an empty page."""
        self.flush()
        return [op for block in self._story.blocks for op in self._whole(block)]

    def _update(self, block: Block) -> list[Operation]:
        if isinstance(block, TextBlock):
            return self._update_text(block)
        if isinstance(block, (ThoughtBlock, ToolBlock)):
            return self._update_live(block)
        if isinstance(block, NoticeBlock):
            self._noticed_at[block.key] = time.monotonic()
            return [["toast", block.key, card(block, LIVE_LOOK), False]]
        if is_open_question(block):
            return []  # travels as state, so that a reloaded page shows it
        return [["put", block.key, card(block, LIVE_LOOK)]]

    def _update_text(self, block: TextBlock) -> list[Operation]:
        key = block.key
        if block.is_void:
            return [["cut", key]] if self._streams.pop(key, None) else []
        operations: list[Operation] = []
        if key not in self._streams:
            self._streams[key] = MarkdownStream()
            operations.append(["put", key, _EMPTY_TEXT])
        stream, start = self._streams[key], self._consumed.get(key, 0)
        self._consumed[key] = len(block.parts)
        changes = stream.feed("".join(block.parts[start:]))
        if not block.is_open:
            changes += stream.finish()
            block.pieces = stream.pieces
        return operations + [_operation(key, change) for change in changes]

    def _update_live(self, block: ThoughtBlock | ToolBlock) -> list[Operation]:
        key = block.key
        if isinstance(block, ThoughtBlock) and block.is_void:
            return [["cut", key]]
        signature = block.is_open if isinstance(block, ThoughtBlock) else block.status
        seen, self._consumed[key] = self._consumed.get(key, 0), block.live.total
        if self._signatures.get(key) != signature:
            self._signatures[key] = signature
            return [["put", key, card(block, LIVE_LOOK)]]
        text = block.live.since(seen)
        if len(text) > LIVE_CHUNK:
            text = "\n…\n" + text[-LIVE_CHUNK:]
        return [["live", key, plain(text)]] if text else []

    def _whole(self, block: Block) -> list[Operation]:
        if isinstance(block, TextBlock):
            if block.is_void:
                return []
            pieces = self._streams[block.key].html() if block.key in self._streams else []
            changes: list[Change] = [Piece(at, html) for at, html in enumerate(pieces)]
            return [["put", block.key, _EMPTY_TEXT], *(_operation(block.key, c) for c in changes)]
        if isinstance(block, ThoughtBlock) and block.is_void:
            return []
        if isinstance(block, NoticeBlock):
            age_s = time.monotonic() - self._noticed_at.get(block.key, 0.0)
            return [["toast", block.key, card(block, LIVE_LOOK), age_s > FRESH_S]]
        return [] if is_open_question(block) else [["put", block.key, card(block, LIVE_LOOK)]]


_EMPTY_TEXT = LIVE_LOOK.tag("div", "smn-text", dir="auto")


def _operation(key: int, change: Change) -> Operation:
    if isinstance(change, Piece):
        return ["piece", key, change.at, change.html]
    return ["add", key, change.at, change.text]
