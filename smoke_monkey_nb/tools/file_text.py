"""Reads text files for a model: numbered lines, a page at a time, whatever their size.

A line is at most ``_LINE`` characters, a page at most ``_PAGE``; what a page leaves out is named
with the offset that goes on there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from .errors import ToolError
from .text import clean

_LINE = 2_000
_PAGE = 28_000
_SNIFF = 8_192
_COUNT_LIMIT = 64_000_000  # bytes up to which the rest of a file is read to count its lines
_BOMS = (b"\xff\xfe", b"\xfe\xff")


@dataclass
class _Page:
    lines: list[str]
    characters: int = 0
    full: bool = False


def read_page(file: BinaryIO, path: str, size: int, offset: int, limit: int) -> str:
    """Lines ``offset`` to ``offset + limit - 1`` with their numbers, and what there is beyond.

    Raises:
        ToolError: it is no text, or has fewer lines than ``offset``.
    """
    head = file.read(_SNIFF)
    file.seek(0)
    if is_binary(head):
        raise ToolError(f"{path!r} is a binary file of {size:,} bytes; read_file reads text only")
    if head.startswith(_BOMS):
        return _page_of_lines(_decode_utf16(file, path), offset, limit, path)
    return _page_of_lines(file, offset, limit, path)


def is_binary(head: bytes) -> bool:
    """By its first bytes: NUL outside of UTF-16, or more control characters than text has."""
    if head.startswith(_BOMS):
        return False
    if b"\x00" in head:
        return True
    control = sum(byte < 32 and byte not in b"\t\n\r\f\x1b\b" for byte in head)
    return control > len(head) * 0.1


def decode(data: bytes) -> str:
    """UTF-8, or Latin-1 where it is not valid: every byte becomes a character."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _decode_utf16(file: BinaryIO, path: str) -> BinaryIO:
    import io

    data = file.read(_COUNT_LIMIT)
    try:
        return io.BytesIO(data.decode("utf-16").encode("utf-8"))
    except UnicodeDecodeError:
        raise ToolError(f"{path!r} is no valid UTF-16 text") from None


def _page_of_lines(file: BinaryIO, offset: int, limit: int, path: str) -> str:
    page = _Page([])
    number = 0
    for line in _lines(file):
        number += 1
        if number < offset:
            continue
        if number >= offset + limit or page.full:
            total = number + _count_lines(file) if file.tell() < _COUNT_LIMIT else None
            return _told(page, offset, number - 1, total)
        _add(page, number, line)
    if number == 0:
        return "(The file is empty.)"
    if number < offset:
        raise ToolError(f"{path!r} has {number:,} lines; line {offset:,} is beyond its end")
    return "\n".join(page.lines)


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """Lines as bytes, each cut at 4 times ``_LINE``; the rest of a longer one is read past."""
    while line := file.readline(4 * _LINE):
        if not line.endswith(b"\n"):
            while (rest := file.readline(1_000_000)) and not rest.endswith(b"\n"):
                pass
        yield line


def _add(page: _Page, number: int, line: bytes) -> None:
    # A lone carriage return is a part of its line; as a line end it would shift the numbers.
    text = clean(decode(line).rstrip("\r\n").replace("\r", "\u240d"))
    if len(text) > _LINE:
        text = text[:_LINE] + "… (line cut)"
    numbered = f"{number:>6}\t{text}"
    page.lines.append(numbered)
    page.characters += len(numbered) + 1
    page.full = page.characters > _PAGE


def _count_lines(file: BinaryIO) -> int:
    """The lines left in the file."""
    total, last = 0, b"\n"
    while chunk := file.read(1_000_000):
        total += chunk.count(b"\n")
        last = chunk[-1:]
    return total + (last != b"\n")


def _told(page: _Page, offset: int, last: int, total: int | None) -> str:
    of = f" of {total:,}" if total is not None else ""
    note = f"(Lines {offset:,} to {last:,}{of}; go on with offset={last + 1}.)"
    return "\n".join([*page.lines, note])
