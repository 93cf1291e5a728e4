"""Searches texts for a regular expression that may be evil, within a time limit.

``re`` holds the interpreter while it matches and cannot be stopped: ``(a+)+$`` on one line would
hang the kernel for good. So the matching runs in a small Python process of its own, which reads
texts from a pipe, knows no paths, and is killed when the time is up. An expression without special
characters is searched for right here.
"""

from __future__ import annotations

import json
import re
import struct
import subprocess
import sys
import threading
from types import TracebackType
from typing import Any, Protocol

from .errors import ToolError

#: A matching line: its number, and its text (cut).
Match = tuple[int, str]
_LINE = 300
_PER_FILE = 500
#: Characters that stand for themselves in an expression.
_PLAIN = re.compile(r"[\w \t'\"/=:,;<>@!~`%&#-]+")

# Reads "length, text" records; writes for each "length, JSON list of [line number, line]".
_WORKER = """
import json, re, struct, sys
def record():
    head = sys.stdin.buffer.read(4)
    return sys.stdin.buffer.read(struct.unpack('>I', head)[0]) if len(head) == 4 else None
def answer(value):
    data = json.dumps(value).encode()
    sys.stdout.buffer.write(struct.pack('>I', len(data)) + data); sys.stdout.buffer.flush()
ask = json.loads(record())
try:
    search = re.compile(ask['pattern'], re.IGNORECASE if ask['ignore_case'] else 0).search
except (re.error, OverflowError, RecursionError) as error:
    answer(str(error)); sys.exit()
answer(None)
while (data := record()) is not None:
    found = []
    for number, line in enumerate(data.decode('utf-8', 'replace').split('\\n'), 1):
        hit = search(line)
        if hit:
            start = max(0, hit.start() - 100) if len(line) > ask['line'] else 0
            found.append([number, line[start:start + ask['line']].rstrip('\\r')])
            if len(found) == ask['most']:
                break
    answer(found)
"""


class OutOfTime(Exception):
    """The time for the whole search is up."""


class Matcher(Protocol):
    """Finds matching lines in one text after the other; a context manager."""

    def __enter__(self) -> Matcher: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, t: TracebackType | None
    ) -> None: ...
    def lines(self, data: bytes) -> list[Match]:
        """The matching lines of a UTF-8 text."""


def matcher(pattern: str, *, ignore_case: bool, timeout_s: float) -> Matcher:
    """A matcher for ``pattern`` that works at most ``timeout_s`` seconds in all.

    Raises:
        ToolError: (at the latest on entering) the pattern is no regular expression.
    """
    if _PLAIN.fullmatch(pattern) and not ignore_case:
        return _Literal(pattern)
    return _Process(pattern, ignore_case, timeout_s)


class _Literal:
    def __init__(self, text: str) -> None:
        self._text = text

    def __enter__(self) -> _Literal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, t: TracebackType | None
    ) -> None:
        pass

    def lines(self, data: bytes) -> list[Match]:
        """The lines that hold the text."""
        if self._text.encode("utf-8", "replace") not in data:
            return []
        found: list[Match] = []
        for number, line in enumerate(data.decode("utf-8", "replace").split("\n"), 1):
            at = line.find(self._text)
            if at >= 0 and len(found) < _PER_FILE:
                start = max(0, at - 100) if len(line) > _LINE else 0
                found.append((number, line[start : start + _LINE].rstrip("\r")))
        return found


class _Process:
    def __init__(self, pattern: str, ignore_case: bool, timeout_s: float) -> None:
        self._ask = {
            "pattern": pattern,
            "ignore_case": ignore_case,
            "line": _LINE,
            "most": _PER_FILE,
        }
        self._timeout_s = timeout_s

    def __enter__(self) -> _Process:
        self._process = subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, "-I", "-S", "-c", _WORKER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._timer = threading.Timer(self._timeout_s, self._process.kill)
        self._timer.daemon = True
        self._timer.start()
        try:
            problem = self._compile()
            if problem is not None:
                raise ToolError(
                    f"the pattern is no regular expression: {problem}. Put a backslash before "
                    "special characters to search for them as they are."
                )
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, t: TracebackType | None
    ) -> None:
        self._timer.cancel()
        self._process.kill()
        self._process.communicate()

    def _compile(self) -> str | None:
        try:
            problem: str | None = self._exchange(json.dumps(self._ask).encode())
        except OutOfTime:
            raise ToolError("the pattern takes too long to compile; simplify it") from None
        return problem

    def lines(self, data: bytes) -> list[Match]:
        """The lines that match.

        Raises:
            OutOfTime: the process was ended.
        """
        return [(int(number), str(line)) for number, line in self._exchange(data)]

    def _exchange(self, data: bytes) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(struct.pack(">I", len(data)) + data)
            self._process.stdin.flush()
            head = self._process.stdout.read(4)
            size = struct.unpack(">I", head)[0]
            answer = self._process.stdout.read(size)
            return json.loads(answer)
        except (OSError, struct.error, ValueError):
            raise OutOfTime from None
