"""Any Python value as JSON, whatever its class does.

Nothing here trusts a value: a list that holds itself, a property that raises, ten million items.
Big structures are shortened (first and last items, with the number between), so the cost is bounded
too.
"""

from __future__ import annotations

import dataclasses
import enum
import json
import math
from collections import deque
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from itertools import islice
from typing import Any

from . import tables
from .describing import bound, describe, int_text, plain_text, safe_repr, type_name

_DEPTH = 12
_SHORT_DEPTH = 6
_TEXT = 2_000  # characters of a string inside a structure, once it is shortened
_NODES = 40_000  # values in a structure up to which it is given whole
_CHARACTERS = 400_000
_FIRST, _LAST = 40, 10  # items kept of each container of a shortened structure


class _TooBig(Exception):
    """The structure has more values or characters than are given whole."""


def as_json(value: Any) -> str:
    """``value`` as JSON text; NaN is null, infinities are strings, other objects their text.

    What comes down to a string alone (an enum member, a numpy string) stays without quotes.
    """
    try:
        data = _Reader(_NODES, _CHARACTERS).read(value, 0)
    except _TooBig:
        data = _Reader(_NODES, _CHARACTERS, short=True).read(value, 0)
    return data if isinstance(data, str) else json.dumps(data, ensure_ascii=False, allow_nan=False)


def is_data(value: Any) -> bool:
    """Whether JSON is the natural text: containers, scalars, dataclasses, pydantic models."""
    kinds = (dict, list, tuple, deque, AbstractSet, Mapping, int, float, type(None), enum.Enum)
    return isinstance(value, kinds) or _fields_of(value) is not None or tables.is_scalar(value)


def _fields_of(value: Any) -> dict[str, Any] | None:
    """The fields of a dataclass, pydantic model or named tuple instance."""
    kind = type(value)
    if isinstance(value, type):
        return None
    if dataclasses.is_dataclass(value):
        names: Iterable[str] = [f.name for f in dataclasses.fields(value)]
    elif isinstance(getattr(kind, "model_fields", None), dict) and hasattr(
        kind, "__pydantic_validator__"
    ):
        names = kind.model_fields
    elif isinstance(value, tuple) and isinstance(getattr(kind, "_fields", None), tuple):
        names = kind._fields
    else:
        return None
    try:
        return {name: getattr(value, name, None) for name in names}
    except Exception:  # a property of the user's that raises
        return None


class _Reader:
    """Turns one structure into JSON data. Whole as long as the allowance lasts, or shortened."""

    def __init__(self, nodes: int, characters: int, *, short: bool = False) -> None:
        self._nodes = nodes
        self._characters = characters
        self._short = short
        self._open: set[int] = set()

    def read(self, value: Any, depth: int) -> Any:
        """JSON data for ``value``; raises ``_TooBig`` unless shortening."""
        try:
            return self._read(value, depth)
        except _TooBig:
            raise
        except Exception as error:  # a class that breaks even attribute access
            return f"<{type(value).__name__} object that cannot be shown ({type(error).__name__})>"

    def _read(self, value: Any, depth: int) -> Any:
        self._nodes -= 1
        if self._nodes < 0:
            if not self._short:
                raise _TooBig
            return "…"
        if isinstance(value, str):
            return self._text(str.__str__(value))
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, enum.Enum):
            return self.read(value.value, depth + 1) if depth < _DEPTH else str(value)
        if isinstance(value, int):
            return int(value) if value.bit_length() < 4_000 else int_text(value)
        if isinstance(value, float):
            return _number(float(value))
        if tables.is_scalar(value):
            return self.read(tables.plain_scalar(value), depth + 1) if depth < _DEPTH else "…"
        return self._compound(value, depth)

    def _text(self, text: str) -> str:
        self._characters -= len(text)
        if self._characters < 0 and not self._short:
            raise _TooBig
        if self._short and len(text) > _TEXT:
            return f"{text[:_TEXT]}… ({len(text) - _TEXT:,} more characters)"
        return text

    def _compound(self, value: Any, depth: int) -> Any:
        plain = plain_text(value)
        if plain is not None:
            return self._text(plain)
        if depth >= (_SHORT_DEPTH if self._short else _DEPTH):
            return f"<{type_name(value)}, nested too deep>"
        if id(value) in self._open:
            return f"<{type_name(value)} that holds itself>"
        self._open.add(id(value))
        try:
            return self._inside(value, depth + 1)
        except _TooBig:
            raise
        except Exception:  # a container of the user's that does not behave
            return self._text(describe(value))
        finally:
            self._open.discard(id(value))

    def _inside(self, value: Any, depth: int) -> Any:
        fields = _fields_of(value)
        if fields is not None:
            return self._mapping(fields, depth)
        if isinstance(value, Mapping):
            return self._mapping(value, depth)
        if isinstance(value, AbstractSet):
            return self._items(_sorted(value) if len(value) <= _NODES else value, depth)
        if isinstance(value, (list, tuple, deque)):
            return self._items(value, depth)
        if tables.is_tabular(value):
            return self._text(tables.preview(value, rows=5))
        return self._text(describe(value))

    def _items(self, value: Any, depth: int) -> list[Any]:
        size = len(value)
        if not self._short or size <= _FIRST + _LAST:
            if size > self._nodes and not self._short:
                raise _TooBig
            return [self.read(item, depth) for item in value]
        first = [self.read(item, depth) for item in islice(value, _FIRST)]
        # By index: a deque cannot be sliced, a set has no end.
        last = [] if isinstance(value, AbstractSet) else [value[i] for i in range(-_LAST, 0)]
        between = size - _FIRST - len(last)
        return [*first, f"… {between:,} more …", *(self.read(item, depth) for item in last)]

    def _mapping(self, value: Mapping[Any, Any], depth: int) -> dict[str, Any]:
        size = len(value)
        if size > self._nodes and not self._short:
            raise _TooBig
        kept = size if not self._short else _FIRST + _LAST
        out: dict[str, Any] = {}
        for key, inner in islice(value.items(), kept):
            name = _key(key)
            out[name if name not in out else bound(safe_repr(key), 200)] = self.read(inner, depth)
            self._text(name)
        if size > kept:
            out["…"] = f"{size - kept:,} more"
        return out


def _key(key: Any) -> str:
    if isinstance(key, str):
        return str.__str__(key)
    if isinstance(key, (int, float, bool, type(None))):
        return str(json.dumps(_number(key) if isinstance(key, float) else key))
    return plain_text(key) or describe(key, 200)


def _number(value: float) -> float | str | None:
    if math.isnan(value):
        return None
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value


def _sorted(value: AbstractSet[Any]) -> list[Any]:
    try:
        return sorted(value)
    except TypeError:
        return list(value)
