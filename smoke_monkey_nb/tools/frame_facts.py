"""Frames and columns closely: types, missing values, first rows, statistics; fast on ten million
rows.

Missing values are counted exactly where the column is numeric (milliseconds); text columns and
statistics of large frames come from an random sample, marked "about" and "sample".
"""

from __future__ import annotations

from typing import Any

from . import tables
from .text import bounded, count

_EXACT_CELLS = 2_000_000  # up to here everything is computed exactly
_SAMPLE_ROWS = 50_000
_DESCRIBED = 20  # numeric columns with statistics
_COLUMNS = 200
_SAMPLED = f" (of a random sample of {_SAMPLE_ROWS:,} rows)"


def frame_text(frame: Any, rows: int) -> str:
    """Shape, columns with types and nulls, first rows, statistics."""
    library = tables.library(frame)
    total = (tables.shape_of(frame) or (0,))[0]
    lines = [tables.title(frame), *_columns(frame, library)]
    shown = min(rows, total)
    if shown > 0:
        lines += [f"First {count(shown, 'row')}:", tables.head_text(frame, shown)]
    statistics = _guarded(lambda: _statistics(frame, library))
    return "\n".join(lines + ([statistics] if statistics else []))


def series_text(series: Any, rows: int) -> str:
    """Type, nulls, first values, statistics or the most frequent values."""
    lines = [tables.preview(series, rows)]
    if tables.library(series) == "pandas" and hasattr(series, "iloc"):
        sample, note = _sample(series, 1)
        lines.append(f"{_nulls(series)[2:]}")
        lines.append(f"Statistics{note}:\n{_guarded(lambda: str(sample.describe().to_string()))}")
    return bounded("\n".join(lines), 12_000)


def _guarded(compute: Any) -> str:
    try:
        return str(compute())
    except Exception as error:  # cells that cannot be compared or summed
        return f"(no statistics: {type(error).__name__})"


def _columns(frame: Any, library: str) -> list[str]:
    named = tables.columns_of(frame)
    lines = ["Columns:"]
    for index, (name, dtype) in enumerate(named[:_COLUMNS]):
        nulls = _guarded_nulls(frame, library, index)
        lines.append(f"  {tables.short(name)}: {dtype}{nulls}")
    if len(named) > _COLUMNS:
        lines.append(f"  … and {len(named) - _COLUMNS:,} more columns")
    return lines


def _guarded_nulls(frame: Any, library: str, index: int) -> str:
    try:
        if library == "pandas":
            return _nulls(frame.iloc[:, index])
        if library == "pyarrow":
            return f", {count(int(frame.column(index).null_count), 'null')}"
        return f", {count(int(frame.to_series(index).null_count()), 'null')}"
    except Exception:  # an extension type without missing values
        return ""


def _nulls(column: Any) -> str:
    """``, 3 nulls``; from a sample where the column holds many Python objects."""
    total = len(column)
    if column.dtype != object or total <= _EXACT_CELLS:
        return f", {count(int(column.isna().sum()), 'null')}"
    sample = column.iloc[_rows(total)]
    share = int(sample.isna().sum()) / max(1, len(sample))
    return f", about {count(round(share * total), 'null')}"


def _sample(data: Any, columns: int) -> tuple[Any, str]:
    """Some rows of a pandas object that is large."""
    total = len(data)
    if total * max(1, columns) <= _EXACT_CELLS:
        return data, ""
    return data.iloc[_rows(total)], _SAMPLED


def _rows(total: int) -> list[int]:
    """The same random rows each time; every n-th would fall in step with patterns of the data."""
    import random

    return sorted(random.Random(0).sample(range(total), min(total, _SAMPLE_ROWS)))  # noqa: S311


def _statistics(frame: Any, library: str) -> str:
    total = (tables.shape_of(frame) or (0,))[0]
    if total == 0:
        return ""
    if library == "pyarrow":
        return ""
    if library == "polars":
        is_large = total * frame.width > _EXACT_CELLS
        sample = frame[_rows(total)] if is_large else frame
        note = _SAMPLED if is_large else ""
        described = sample.select(sample.columns[:_DESCRIBED]).describe()
        return f"Statistics{note}:\n{tables.head_text(described, 20)}"
    sample, note = _sample(frame, frame.shape[1])
    numeric = sample.select_dtypes(include="number").iloc[:, :_DESCRIBED]
    return f"Statistics{note}:\n{numeric.describe().to_string()}" if numeric.shape[1] else ""
