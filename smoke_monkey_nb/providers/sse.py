"""Server-sent events, decoded from byte chunks as they arrive.

The one tricky thing is speed: a token is an event, so the common shape (one ``data:`` line, line
feeds only) is cut by ``split`` alone, and everything else the standard allows (comments, CRLF,
several ``data:`` lines, other fields) takes the slow path. Bytes stay bytes: a character split over
two reads is whole again before anyone decodes it."""

from __future__ import annotations

_BOM = b"\xef\xbb\xbf"


class ErrorData(bytes):
    """The data of an event named ``error``."""


class SSEDecoder:
    """Turns chunks into event data. One stream each; not thread-safe."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []  # an event's beginning
        self._fresh = True  # nothing has been read yet

    def feed(self, chunk: bytes) -> list[bytes]:
        """The data of every event that ``chunk`` completes, in order."""
        self._parts.append(chunk)
        # Joined only where an event may end, so that a huge event in many reads is not copied over
        # and over.
        if b"\n" not in chunk and b"\r" not in chunk:
            return []
        buffer = b"".join(self._parts) if len(self._parts) > 1 else chunk
        if self._fresh:
            buffer = buffer.removeprefix(_BOM)
            self._fresh = False
        held = b""
        if b"\r" in buffer:
            if buffer.endswith(b"\r"):  # the line feed of a CRLF may come with the next read
                buffer, held = buffer[:-1], b"\r"
            buffer = buffer.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        blocks = buffer.split(b"\n\n")
        rest = blocks.pop() + held
        self._parts = [rest] if rest else []
        return _datas(blocks)

    def flush(self) -> list[bytes]:
        """What is left once the stream has ended: a last event without its blank line."""
        self._parts.append(b"\n\n")
        buffer = b"".join(self._parts).removeprefix(_BOM if self._fresh else b"")
        self._parts = []
        return _datas(buffer.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n\n"))


def _datas(blocks: list[bytes]) -> list[bytes]:
    out = []
    for block in blocks:
        plain = block[:6] == b"data: " and b"\n" not in block
        if data := block[6:] if plain else _slow(block):
            out.append(data)
    return out


def _slow(block: bytes) -> bytes:
    data: list[bytes] = []
    is_error = False
    for line in block.split(b"\n"):
        name, colon, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            data.append(value)
        elif name == b"event" and colon:
            is_error = value.strip() == b"error"
    joined = b"\n".join(data)
    return ErrorData(joined) if is_error else joined
