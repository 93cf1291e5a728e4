"""One value, closely: what ``inspect_variable`` tells.

Large frames are sampled where an exact figure would take seconds, and the text says so.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any

from . import describing, tables, values
from .frame_facts import frame_text, series_text
from .text import bounded, count, one_line

_TEXT = 8_000
_FEW = 5
_ATTRIBUTES = 60
_SOURCE = 4_000


def inspect_value(name: str, value: Any, rows: int) -> str:
    """The text about ``value``, called ``name``. Never raises for what the value does wrong."""
    title = one_line(name)
    try:
        if tables.is_frame(value):
            return f"{title}: {frame_text(value, rows)}"
        if tables.is_series(value):
            return f"{title}: {series_text(value, rows)}"
        if tables.is_array(value):
            return f"{title}: {tables.preview(value, rows)}"
        return f"{title}: {_plain(value)}"
    except Exception as error:  # a value that misbehaves even when looked at
        return (
            f"{title}: {describing.type_name(value)} (cannot be inspected: {type(error).__name__})"
        )


def size_of(value: Any) -> str:
    """``3 items``, ``1,200 characters``; empty for what has no size worth telling."""
    if isinstance(value, str):
        return count(len(value), "character") if len(value) > 80 else ""
    if isinstance(value, (bytes, bytearray)):
        return count(len(value), "byte")
    if isinstance(value, (dict, list, tuple, set, frozenset)):
        return "" if is_plain(value) else count(len(value), "item")
    return ""


def is_plain(value: Any) -> bool:
    """A scalar, or a few of them in a container: its repr is cheap and its own."""
    if isinstance(value, (dict, list, tuple, set, frozenset)):
        inner = [*value.values()] if isinstance(value, dict) else [*value]
        return len(inner) <= _FEW and all(describing.is_scalar(item) for item in inner)
    return describing.is_scalar(value)


def _plain(value: Any) -> str:
    kind = describing.type_name(value)
    if isinstance(value, types.ModuleType):
        about = one_line(str(value.__dict__.get("__doc__") or ""), 300)
        return f"module {value.__name__}\n{about}"
    if isinstance(value, type) or inspect.isroutine(value):
        return _code(value)
    if isinstance(value, str):
        return f"{kind}, {count(len(value), 'character')}\n{bounded(str.__str__(value), _TEXT)}"
    if isinstance(value, (Mapping, list, tuple, AbstractSet)) and values.is_data(value):
        content = bounded(describing.describe(value, 20_000), _TEXT)
        return f"{kind}, {count(len(value), 'item')}\n{content}"
    text = f"{kind} = {describing.describe(value, _TEXT)}"
    attributes = _attributes(value)
    return f"{text}\nAttributes:\n{attributes}" if attributes else text


def _attributes(value: Any) -> str:
    """What the instance itself holds, read without its own ``__getattr__``."""
    try:
        held = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return ""
    if not isinstance(held, dict):
        return ""
    public = {k: v for k, v in held.items() if not str(k).startswith("_")}
    lines = [f"  {key}: {_brief(inner)}" for key, inner in list(public.items())[:_ATTRIBUTES]]
    more = len(public) - len(lines)
    return "\n".join(lines + ([f"  … and {more:,} more"] if more > 0 else []))


def _brief(value: Any) -> str:
    if tables.is_tabular(value):
        return tables.title(value)
    return f"{describing.type_name(value)} = {one_line(describing.describe(value, 500), 200)}"


def _code(value: Any) -> str:
    kind = "class" if isinstance(value, type) else "function"
    try:
        source = inspect.getsource(value)
    except (OSError, TypeError):
        source = inspect.getdoc(value) or ""
    try:
        signature = str(inspect.signature(value))
    except (TypeError, ValueError):
        signature = "(…)"
    name = getattr(value, "__qualname__", describing.type_name(value))
    return f"{kind} {name}{signature}\n{bounded(source, _SOURCE)}"
