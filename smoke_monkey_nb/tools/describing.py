"""Any object as a short text, whatever its class does.

A ``__repr__`` that raises is named, an iterator is not run, of a huge container only the first
items are looked at.
"""

from __future__ import annotations

import datetime as dt
import enum
import inspect
import os
import pathlib
import reprlib
import types
from itertools import islice
from typing import Any

from . import tables
from .text import clean

_REPR = 4_000
_SIMPLE = (str, int, float, bool, type(None))


def describe(value: Any, limit: int = _REPR) -> str:
    """A short text for an object: never raises, never runs an iterator."""
    lazy = _describe_lazy(value)
    if lazy is not None:
        return lazy
    if isinstance(value, BaseException):
        return bound(f"{type(value).__name__}: {_said(value)}", limit)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return _describe_bytes(value)
    return bound(safe_repr(value), limit)


def is_scalar(value: Any) -> bool:
    """A single value of Python or numpy, whose text is known to be harmless."""
    kinds = (*_SIMPLE, bytes, dt.date, dt.time, dt.timedelta, complex, enum.Enum, pathlib.PurePath)
    return isinstance(value, kinds) or _is_exact(value) or tables.is_scalar(value)


def _is_exact(value: Any) -> bool:
    """``Decimal``, ``Fraction``, ``UUID``; told by name, so that their modules are not imported."""
    return any(
        kind.__module__ in ("decimal", "fractions", "uuid")
        and kind.__name__ in ("Decimal", "Fraction", "UUID")
        for kind in type(value).__mro__
    )


def type_name(value: Any) -> str:
    """``DataFrame``, ``polars.DataFrame``, ``mymodule.Thing``."""
    kind = type(value)
    module = getattr(kind, "__module__", "")
    root = module.split(".")[0] if isinstance(module, str) else ""
    hidden = ("builtins", "__main__", "pandas", "numpy", "")
    return kind.__name__ if root in hidden else f"{root}.{kind.__name__}"


def safe_repr(value: Any) -> str:
    """``repr``, guarded; of containers of Python itself only so many items."""
    try:
        if isinstance(value, _SIMPLE):
            return _short_repr(value)
        # Of builtin containers only so many items are looked at, however many there are.
        if type(value) in (list, tuple, dict, set, frozenset):
            return _BoundedRepr().repr(value)
        text = repr(value)
    except Exception as error:
        return f"<{type_name(value)} object; its repr raised {type(error).__name__}>"
    return str.__str__(text)


def _short_repr(value: Any) -> str:
    if isinstance(value, str) and len(value) > _REPR:
        return f"{str.__getitem__(value, slice(_REPR))!r}… ({len(value):,} characters)"
    if isinstance(value, int) and not isinstance(value, bool):
        return int_text(value)
    return repr(value)


def int_text(value: int) -> str:
    """The digits, or how many bits it has where the interpreter refuses to print them."""
    try:
        return int.__repr__(value)
    except ValueError:  # more digits than the interpreter prints
        return f"<an integer of {value.bit_length():,} bits>"


class _BoundedRepr(reprlib.Repr):
    def __init__(self) -> None:
        super().__init__()
        self.maxlist = self.maxtuple = self.maxdict = self.maxset = self.maxfrozenset = 1_000
        self.maxstring = self.maxother = _REPR
        self.maxlong = 4_000

    def repr_dict(self, x: dict[Any, Any], level: int) -> str:
        """In the dict's own order; the base class sorts the keys."""
        if not x or level <= 0:
            return "{...}" if x else "{}"
        pairs = [
            f"{self.repr1(key, level - 1)}: {self.repr1(value, level - 1)}"
            for key, value in islice(x.items(), self.maxdict)
        ]
        more = [f"… {len(x) - self.maxdict:,} more …"] if len(x) > self.maxdict else []
        return "{" + ", ".join(pairs + more) + "}"


def bound(text: str, limit: int) -> str:
    """The beginning of a text, cleaned."""
    if len(text) <= limit:
        return clean(text)
    return f"{clean(text[:limit])}… ({len(text) - limit:,} more characters)"


def _said(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return "(its text cannot be read)"


def _describe_lazy(value: Any) -> str | None:
    """Things that would run or wait when looked into."""
    name = getattr(type(value), "__name__", "object")
    if isinstance(value, types.GeneratorType):
        return f"<generator {value.__qualname__}, not run; give a list to see its items>"
    if inspect.iscoroutine(value):
        return f"<coroutine {value.__qualname__}, not awaited>"
    if isinstance(value, types.AsyncGeneratorType):
        return f"<async generator {value.__qualname__}, not run>"
    if inspect.isawaitable(value):
        return f"<awaitable {name}, not awaited>"
    if hasattr(type(value), "__next__"):
        return f"<iterator {name}, not run; give a list to see its items>"
    return None


def _describe_bytes(value: bytes | bytearray | memoryview) -> str:
    if isinstance(value, memoryview):
        return f"<memoryview, {value.nbytes:,} bytes>"
    head = bytes(value[:200])
    try:
        preview = repr(head.decode("utf-8", "strict"))
    except UnicodeDecodeError:
        preview = repr(head)[1:]
    dots = "…" if len(value) > len(head) else ""
    return f"<{type(value).__name__}, {len(value):,} bytes: {preview}{dots}>"


def plain_text(value: Any) -> str | None:
    """Values whose ``str`` is their natural text."""
    if isinstance(value, (dt.datetime, dt.date, dt.time)):
        return value.isoformat()
    if isinstance(value, (complex, dt.timedelta)) or _is_exact(value):
        return str(value)
    if isinstance(value, os.PathLike):
        return _said_path(value)
    return None


def _said_path(value: os.PathLike[Any]) -> str:
    try:
        return os.fsdecode(value)
    except Exception:
        return describe(str(type(value)))
