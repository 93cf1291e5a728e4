"""Tracebacks for a model: the frames of the user's code, everything between counted.

A plotting or frame library adds thirty frames of its own to a typing mistake; they cost tokens and
tell nothing. Our own frames never show.
"""

from __future__ import annotations

import os
import re
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

from .text import clean

_HEAD = "Traceback (most recent call last):"
_MAX_FRAMES = 12
_MAX_CHAIN = 3
_MESSAGE = 4_000
_OWN = str(Path(__file__).parent.parent)
_CELL = re.compile(r"^<(ipython-input|run_python|stdin|string)|[\\/]ipykernel_\d+[\\/]")


def trimmed(error: BaseException) -> str:
    """The traceback of ``error``, the user's frames only; its last line names the error.

    Begins with "Traceback", also for a syntax error, which has no frames.
    """
    parts: list[str] = []
    for index, (link, joint) in enumerate(_chain(error)):
        if index == _MAX_CHAIN:
            parts.insert(0, "(earlier causes left out)\n")
            break
        parts.insert(0, _one(link) + joint)
    text = "".join(parts)
    return clean(text if text.startswith(_HEAD) else f"{_HEAD}\n{text}").rstrip("\n")


def _chain(error: BaseException) -> Iterator[tuple[BaseException, str]]:
    """The error and those behind it, newest first, each with the words that follow it."""
    seen: set[int] = set()
    current: BaseException | None = error
    joint = ""
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current, joint
        if current.__cause__ is not None:
            joint = "\nThis error was the direct cause of the following one:\n\n"
            current = current.__cause__
        else:
            joint = "\nWhile this error was handled, another one occurred:\n\n"
            current = None if current.__suppress_context__ else current.__context__


def _one(error: BaseException) -> str:
    lines = [] if _is_own_compile(error) else _frames(error.__traceback__)
    only = "".join(traceback.format_exception_only(type(error), error))
    if len(only) > _MESSAGE:
        only = f"{only[:_MESSAGE]}… ({len(only) - _MESSAGE:,} more characters)\n"
    return "".join([f"{_HEAD}\n", *lines, only] if lines else [only])


def _is_own_compile(error: BaseException) -> bool:
    """A syntax error of the code itself: the frames are those of the parser that we called."""
    return isinstance(error, SyntaxError) and bool(_CELL.search(error.filename or ""))


def _frames(trace: TracebackType | None) -> list[str]:
    frames = [frame for frame in traceback.extract_tb(trace) if not frame.filename.startswith(_OWN)]
    kept = [_is_users(frame.filename) for frame in frames]
    out: list[str] = []
    hidden = 0
    for index, frame in enumerate(frames):
        too_many = 2 <= index < len(frames) - _MAX_FRAMES
        if kept[index] and not too_many:
            out += _hidden(hidden) if out else []  # what is above the user's code is not theirs
            hidden = 0
            out += traceback.format_list([frame])
        else:
            hidden += 1
    if hidden and frames and not kept[-1]:
        # Where it broke, in one line: the library's function often tells what is wrong.
        last = frames[-1]
        out += _hidden(hidden - 1)
        out.append(f'  File "{last.filename}", line {last.lineno}, in {last.name}\n')
    return out


def _hidden(number: int) -> list[str]:
    return [f"  … {number} frame{'' if number == 1 else 's'} left out\n"] if number else []


def _is_users(filename: str) -> bool:
    if _CELL.search(filename):
        return True
    if not os.path.isabs(filename):  # "<frozen importlib>", a compiled library's "index.pyx"
        return False
    return not filename.startswith(_library_folders())


def _library_folders() -> tuple[str, ...]:
    import site
    import sysconfig

    paths = sysconfig.get_paths()
    folders = {paths["stdlib"], paths["platstdlib"], paths["purelib"], paths["platlib"]}
    folders |= set(site.getsitepackages()) if hasattr(site, "getsitepackages") else set()
    folders |= {f"{p}/site-packages" for p in (sys.prefix, sys.base_prefix)}
    user = site.getusersitepackages() if hasattr(site, "getusersitepackages") else None
    return tuple(folders | ({user} if user else set()))
