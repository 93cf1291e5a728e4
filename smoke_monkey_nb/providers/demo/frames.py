"""What the notebook tools say about variables and tables, read back from their text.

The rules see only what the model would see, so this reads the text of ``list_variables`` and
``inspect_variable``. It is lenient: what it cannot read is missing, never wrong.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_FRAME_TYPES = ("DataFrame", "GeoDataFrame", "polars.DataFrame")
_SHAPE = re.compile(r"([\d,]+) rows? × ([\d,]+) columns?")
_DATE_NAME = re.compile(r"(?:^|_)(?:date|timestamp|datetime)(?:_|$)|_at$", re.I)
_NUMBER = re.compile(r"u?int|float|double|decimal|number|Int|Float|UInt", re.I)


@dataclass(frozen=True)
class Variable:
    """A variable of the notebook; ``cells`` is rows times columns of a table."""

    name: str
    type: str
    cells: int = 0

    @property
    def is_frame(self) -> bool:
        """Whether it is a table that pandas code can work on."""
        return self.type.rsplit(".", 1)[-1] in _FRAME_TYPES


@dataclass(frozen=True)
class Column:
    """A column of a table; ``nulls`` counts its missing values."""

    name: str
    dtype: str
    nulls: int = 0


@dataclass(frozen=True)
class Frame:
    """A table: its name, its size, its columns in order."""

    name: str
    rows: int
    columns: tuple[Column, ...]
    is_polars: bool = False

    def kind(self, column: str) -> str | None:
        """ "number", "date", "text", or ``None`` when there is no such column."""
        dtype = self.dtype(column)
        if not dtype:
            return None
        if _NUMBER.match(dtype):
            return "number"
        if "date" in dtype.lower() or (
            dtype.lower() not in ("bool", "category") and _DATE_NAME.search(column)
        ):
            return "date"
        return "text"

    def dtype(self, column: str | None) -> str:
        """The column's type as pandas names it, empty when there is no such column."""
        return next((c.dtype for c in self.columns if c.name == column), "")

    def nulls(self, column: str | None) -> int:
        """How many values of the column are missing."""
        return next((c.nulls for c in self.columns if c.name == column), 0)


_VARIABLE_LINE = re.compile(r"(?P<name>[^\W\d]\w*): (?P<type>[A-Za-z_][\w.]*)(?P<rest>.*)")
_NAMED_LINE = re.compile(r"\((?P<kind>functions|classes|modules): (?P<names>.*)\)")
_SINGULAR = {"functions": "function", "classes": "class", "modules": "module"}
_COLUMN_LINE = re.compile(r"  (?P<name>.+): (?P<dtype>.+?)(?:, (?P<nulls>[\d,]+) nulls?)?")


def read_variables(text: str) -> list[Variable]:
    """The variables in the text of ``list_variables``."""
    found = []
    for line in text.splitlines():
        if match := _VARIABLE_LINE.fullmatch(line):
            found.append(Variable(match["name"], match["type"], _cells(match["rest"])))
        elif match := _NAMED_LINE.fullmatch(line):
            kind = _SINGULAR[match["kind"]]
            found += [Variable(name, kind) for name in match["names"].split(", ")]
    return found


def read_frame(name: str, text: str, type_name: str = "DataFrame") -> Frame:
    """The table described by the text of ``inspect_variable``."""
    head, _, rest = text.partition("\nColumns:\n")
    columns: dict[str, Column] = {}
    for line in rest.splitlines():
        match = _COLUMN_LINE.fullmatch(line)
        if match is None:
            break
        found = Column(match["name"], match["dtype"], _int(match["nulls"] or "0"))
        columns.setdefault(found.name, found)
    shape = _SHAPE.search(head)
    rows = _int(shape.group(1)) if shape else 0
    return Frame(name, rows, tuple(columns.values()), type_name.startswith("polars."))


def _cells(text: str) -> int:
    shape = _SHAPE.search(text)
    return _int(shape.group(1)) * _int(shape.group(2)) if shape else 0


def _int(text: str) -> int:
    return int(text.replace(",", ""))
