"""Tables: read back from what a tool printed, and set in Markdown.

Cells are escaped for Markdown; making HTML safe is the view's business.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

_ROWS_SHOWN = 12
_WHOLE = re.compile(r"-?\d{1,18}")
_FIGURE = re.compile(r"(?P<name>\S.*?)(?::|\s)\s*(?P<number>-?\d+(?:\.\d+)?(?:e[+-]?\d+)?|NaN)")


@dataclass(frozen=True)
class Table:
    """A result as rows: column names and cells."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


def read_table(text: str, columns: Sequence[str] = ()) -> Table | None:
    """The CSV in a tool's output, from the line that begins with ``columns`` on."""
    lines = text.splitlines(keepends=True)
    for start in range(len(lines)):
        reader = csv.reader(lines[start:])
        header = tuple(next(reader, ()))
        if header and header[: len(columns)] == tuple(columns):
            return Table(header, tuple(_rows(reader, len(header))))
    return None


def _rows(reader: Iterable[list[str]], width: int) -> Iterator[tuple[Any, ...]]:
    for row in reader:
        if len(row) != width:
            return
        yield tuple(map(_value, row))


def read_figures(text: str) -> Table | None:
    """The lines "name: number" or "name  number" in a tool's output."""
    found = [match for line in text.splitlines() if (match := _FIGURE.fullmatch(line.strip()))]
    rows = tuple((match["name"], _value(match["number"])) for match in found)
    return Table(("", "value"), rows) if rows else None


def _value(text: str) -> Any:
    """A cell's number, ``None`` when it is empty, else its text."""
    if text in ("", "NaN"):
        return None
    try:
        return int(text) if _WHOLE.fullmatch(text) else float(text)
    except ValueError:
        return text


def number(value: Any) -> str:
    """A value for people: thousands grouped, few decimals, an ISO midnight without its time."""
    if value is None:
        return "–"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return re.sub(r"T00:00:00(\.0+)?(Z|\+00:00)?$", "", str(value))
    if float(value).is_integer() and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:,.2f}" if abs(value) >= 1 else f"{value:.3g}"


def cell(value: Any) -> str:
    """A value as it may stand in a Markdown table or sentence, on one line and not too long."""
    text = str(value if isinstance(value, str) else number(value))
    text = text.replace("\\", "\\\\").replace("|", "\\|").replace("`", "\\`")
    return re.sub(r"\s+", " ", text)[:80]


def _column_cells(name: str, cells: Sequence[Any]) -> list[str]:
    """A column's cells alike: as many decimals each, no grouping in years and ids."""
    kept = [c for c in cells if c is not None]
    if not _is_numeric(cells) or name == "value":
        return [cell(number(c)) for c in cells]
    whole = all(float(c).is_integer() for c in kept)
    decimals = 0 if whole else 3 if max(abs(c) for c in kept) <= 1 else 2
    grouped = "" if re.search(r"(?:^|_)(?:year|id|code|zip)$", name, re.I) else ","
    return ["–" if c is None else f"{c:{grouped}.{decimals}f}" for c in cells]


def markdown_table(table: Table, limit: int = _ROWS_SHOWN) -> str:
    """The table in Markdown, numbers to the right, cut after ``limit`` rows with a note."""
    width = len(table.columns)
    rows = [row for row in table.rows if len(row) == width]
    columns = [[row[i] for row in rows[:limit]] for i in range(width)]
    cells = [
        _column_cells(name, column) for name, column in zip(table.columns, columns, strict=True)
    ]
    lines = [
        "| " + " | ".join(cell(c) or " " for c in table.columns) + " |",
        "|" + "|".join("---:" if _is_numeric(column) else "---" for column in columns) + "|",
    ]
    lines += ["| " + " | ".join(row) + " |" for row in zip(*cells, strict=True)]
    if len(rows) > limit:
        lines.append(f"\n… and {len(rows) - limit} more rows.")
    return "\n".join(lines)


def _is_numeric(cells: Sequence[Any]) -> bool:
    kept = [c for c in cells if c is not None]
    return bool(kept) and all(isinstance(c, (int, float)) and not isinstance(c, bool) for c in kept)
