"""What running code shows: printed text, displayed objects, pictures, in their order.

A tee, not a redirection: everything still goes where it went before (the cell), and is noted for
the model on its way. The notes are bounded while they are made, so a program that prints gigabytes
costs no memory.
"""

from __future__ import annotations

import base64
import re
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TextIO

from . import pictures
from .base import RESULT_LIMIT, Image
from .text import as_terminal, bounded

_KEPT = 2 * RESULT_LIMIT  # characters kept of each end
_MAX_IMAGES = 8
_SHOWN = 4_000  # characters of one displayed object


class Notes:
    """The bounded record. Any thread may write."""

    def __init__(self) -> None:
        self.images: list[Image] = []
        self._head: list[str] = []
        self._head_room = _KEPT
        self._tail: deque[str] = deque()
        self._tail_size = 0
        self._left_out = 0
        self.open = True
        self.last_bundle: Mapping[str, Any] = {}

    def write(self, text: str) -> None:
        """Note text; ignored once the record is closed."""
        if not self.open or not text:
            return
        if self._head_room > 0:
            self._head.append(text[: self._head_room])
            text = text[self._head_room :]
            self._head_room -= len(self._head[-1])
        if text:
            self._tail.append(text[-_KEPT:])
            self._left_out += max(0, len(text) - _KEPT)
            self._tail_size += len(self._tail[-1])
            while self._tail_size - len(self._tail[0]) > _KEPT:
                gone = self._tail.popleft()
                self._tail_size -= len(gone)
                self._left_out += len(gone)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Note nothing while the block runs."""
        before, self.open = self.open, False
        try:
            yield
        finally:
            self.open = before

    def line(self, text: str) -> None:
        """Note a text on a line of its own."""
        last = self._tail[-1] if self._tail else self._head[-1] if self._head else "\n"
        self.write(("" if last.endswith("\n") else "\n") + text + "\n")

    def picture(self, image: Image, name: str) -> None:
        """Note a picture; beyond the most a model takes, only that there was one."""
        kept = len(self.images) < _MAX_IMAGES
        if kept and self.open:
            self.images.append(image)
        size = pictures.size_of(image)
        self.line(f"[{name}: {size}]" if kept else f"[{name}: {size}, not kept]")

    def text(self) -> str:
        """What was noted, bounded; empty when there was nothing."""
        tail = "".join(self._tail)
        if self._left_out:
            tail = f"\n… [{self._left_out:,} characters left out] …\n{tail}"
        return bounded(as_terminal("".join(self._head) + tail), RESULT_LIMIT).strip("\n")


class _Tee:
    """A text stream that notes what goes through. Code may keep it (a logging handler does): it
    goes on forwarding after the notes are closed.
    """

    def __init__(self, stream: TextIO, notes: Notes) -> None:
        self._stream = stream
        self._notes = notes

    def write(self, text: str) -> int:
        """Forward and note."""
        written = self._stream.write(text)
        self._notes.write(text)
        return len(text) if written is None else written

    def writelines(self, lines: list[str]) -> None:
        """Forward and note each."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._stream)


@contextmanager
def noting(shell: Any | None) -> Iterator[Notes]:
    """Note what is printed, and with an IPython shell what is displayed, while the block runs."""
    notes = Notes()
    streams = sys.stdout, sys.stderr
    tees = _Tee(streams[0], notes), _Tee(streams[1], notes)
    sys.stdout, sys.stderr = tees
    restore = _note_displays(shell, notes) if shell is not None else None
    try:
        yield notes
    finally:
        notes.open = False
        # Code that put its own stream in place keeps it.
        if sys.stdout is tees[0]:
            sys.stdout = streams[0]
        if sys.stderr is tees[1]:
            sys.stderr = streams[1]
        if restore is not None:
            restore()


def _note_displays(shell: Any, notes: Notes) -> Callable[[], None]:
    """Hook the one door that ``display()``, inline figures and widgets go through."""
    publisher = shell.display_pub
    publish = publisher.publish
    own = publisher.__dict__.get("publish")

    def noted(data: Mapping[str, Any], *args: Any, **kwargs: Any) -> Any:
        notes.last_bundle = data
        note_bundle(notes, data)
        with notes.paused():  # a terminal prints the object's text
            return publish(data, *args, **kwargs)

    publisher.publish = noted

    def restore() -> None:
        if own is None:
            publisher.__dict__.pop("publish", None)
        else:
            publisher.publish = own

    return restore


def note_bundle(notes: Notes, data: Mapping[str, Any]) -> None:
    """Note a displayed MIME bundle: its picture, else its plainest text."""
    for media_type in ("image/png", "image/jpeg"):
        image = _image(data.get(media_type))
        if image is not None:
            notes.picture(image, "Figure" if _is_figure(data) else "Image")
            return
    text = bundle_text(data)
    if text:
        notes.line(bounded(text, _SHOWN))


def _image(data: Any) -> Image | None:
    if data is None:
        return None
    try:
        return pictures.from_bytes(base64.b64decode(data) if isinstance(data, str) else bytes(data))
    except (TypeError, ValueError):
        return None


def _is_figure(data: Mapping[str, Any]) -> bool:
    return str(data.get("text/plain", "")).startswith("<Figure")


def bundle_text(data: Mapping[str, Any]) -> str:
    """The text form that tells most: a repr that names only a class yields to what is shown."""
    plain = data.get("text/plain")
    plain = str(plain or "")
    if plain and not re.match(r"^<[\w.]+ object", plain):
        return plain
    for media_type in ("text/markdown", "text/latex"):
        if isinstance(data.get(media_type), str):
            return str(data[media_type])
    html = data.get("text/html")
    return _visible(html) if isinstance(html, str) else plain


def _visible(html: str) -> str:
    """The words of an HTML text, for a model; not for display."""
    from html import unescape

    html = re.sub(r"(?is)<(script|style)\b.*?(</\1>|$)", "", html[: 20 * _SHOWN])
    html = re.sub(r"(?i)<(br|/p|/div|/tr|/li|/h\d)\b[^>]*>", "\n", html)
    return "[HTML] " + unescape(re.sub(r"<[^>]*>", " ", html)).strip()
