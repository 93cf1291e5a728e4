"""Frames, series and arrays as bounded previews, by the look of their class.

Neither pandas nor numpy nor polars is imported: a value of theirs can only exist where the user
imported them.
"""

from __future__ import annotations

import math
from typing import Any

from .text import bounded, clean, count

ROWS = 10
_COLUMNS = 30  # columns whose cells are shown
_COLUMN_NAMES = 200  # columns that are listed with their type
_CELL = 60  # characters of a cell
_PREVIEW = 12_000
_EDGE = 60  # numbers of an array that are shown
_FRAMES = {"DataFrame", "LazyFrame", "Table", "RecordBatch", "DataFrameGroupBy"}
_SERIES = {"Series", "Index", "ChunkedArray"}


def library(value: Any) -> str:
    """The library whose class ``value`` is of, subclasses included: "pandas", "numpy", … or ""."""
    for kind in type(value).__mro__:
        root = str(getattr(kind, "__module__", "")).split(".")[0]
        if root in ("pandas", "numpy", "polars", "pyarrow", "xarray", "torch", "tensorflow", "jax"):
            return root
        if root in ("jaxlib", "cupy"):
            return "jax" if root == "jaxlib" else root
    return ""


def _class_names(value: Any) -> set[str]:
    return {kind.__name__ for kind in type(value).__mro__}


def is_frame(value: Any) -> bool:
    """A pandas or polars DataFrame, or an Arrow table."""
    return library(value) in ("pandas", "polars", "pyarrow") and bool(
        _class_names(value) & {"DataFrame", "Table", "RecordBatch"}
    )


def is_series(value: Any) -> bool:
    """A pandas or polars Series or Index, or an Arrow column."""
    return library(value) in ("pandas", "polars", "pyarrow") and bool(_class_names(value) & _SERIES)


def is_array(value: Any) -> bool:
    """A numpy array or another library's tensor (0-dimensional scalars are not)."""
    found = library(value)
    if found in ("", "pandas", "polars", "pyarrow", "xarray"):
        return False
    return hasattr(value, "shape") and hasattr(value, "dtype") and not is_scalar(value)


def is_tabular(value: Any) -> bool:
    """Whether ``preview`` has a form of its own for it."""
    return is_frame(value) or is_series(value) or is_array(value)


def is_scalar(value: Any) -> bool:
    """A numpy scalar, or pandas' ``NA`` and ``NaT``."""
    found = library(value)
    if found == "numpy":
        return "generic" in _class_names(value)
    return found == "pandas" and type(value).__name__ in ("NAType", "NaTType")


def plain_scalar(value: Any) -> Any:
    """The Python value of a scalar; missing ones are ``None``."""
    if library(value) == "pandas":
        return None
    if "datetime64" in type(value).__name__ or "timedelta64" in type(value).__name__:
        text = str(value)
        return None if text == "NaT" else text
    plain = value.item() if hasattr(value, "item") else str(value)
    return plain if isinstance(plain, (str, int, float, bool, complex, type(None))) else str(plain)


def preview(value: Any, rows: int = ROWS) -> str:
    """Shape, types and the first rows. Never raises; at most ``_PREVIEW`` characters."""
    try:
        if is_frame(value):
            text = _frame(value, rows)
        elif is_series(value):
            text = _series(value, rows)
        else:
            text = _array(value)
    except Exception as error:  # cells whose repr raises, a lost device, a closed file
        text = f"{title(value)} (its content cannot be shown: {type(error).__name__})"
    return bounded(text, _PREVIEW)


def title(value: Any) -> str:
    """``DataFrame, shape (1000, 3), 1,000 rows × 3 columns``, ``ndarray float64, shape (3, 4)``."""
    name = type(value).__name__
    found = library(value)
    name = name if found in ("pandas", "numpy", "") else f"{found}.{name}"
    shape = shape_of(value)
    if is_frame(value) and len(shape) == 2:
        return f"{name}, shape {shape}, {count(shape[0], 'row')} × {count(shape[1], 'column')}"
    if is_series(value):
        return f"{name} {_dtype(value)}, shape {shape}"
    return f"{name} {_dtype(value)}, shape {shape}"


def shape_of(value: Any) -> tuple[int, ...]:
    """The shape, empty when it cannot be read."""
    try:
        shape = getattr(value, "shape", None)
        return (len(value),) if shape is None else tuple(int(n) for n in shape)
    except Exception:
        return ()


def columns_of(frame: Any) -> list[tuple[str, str]]:
    """Name and type of each column, in order; names may repeat."""
    if library(frame) == "pandas":
        return [
            (str(name), str(dtype)) for name, dtype in zip(frame.columns, frame.dtypes, strict=True)
        ]
    schema = frame.schema
    if library(frame) == "pyarrow":
        return [(str(field.name), str(field.type)) for field in schema]
    return [(str(name), str(dtype)) for name, dtype in schema.items()]


def _dtype(value: Any) -> str:
    return clean(str(getattr(value, "dtype", getattr(value, "type", "?"))))


def _frame(frame: Any, rows: int) -> str:
    lines = [title(frame)]
    columns = columns_of(frame)
    lines += [f"  {short(name)}: {dtype}" for name, dtype in columns[:_COLUMN_NAMES]]
    if len(columns) > _COLUMN_NAMES:
        lines.append(f"  … and {len(columns) - _COLUMN_NAMES:,} more columns")
    total = shape_of(frame)[0]
    shown = min(rows, total)
    if shown > 0:
        lines += [f"First {count(shown, 'row')}:", head_text(frame, shown)]
    return "\n".join(lines)


def head_text(frame: Any, rows: int) -> str:
    """The first rows as a text table, cells and columns bounded."""
    if library(frame) == "pyarrow":
        frame = frame.slice(0, rows).to_pandas()
    if library(frame) == "polars":
        return _polars_rows(frame.head(rows))
    head = frame.iloc[:rows, :_COLUMNS]
    more = len(frame.columns) - _COLUMNS
    text = str(head.to_string(max_colwidth=_CELL, max_rows=rows, max_cols=_COLUMNS))
    return text + (f"\n(and {more:,} more columns)" if more > 0 else "")


def _polars_rows(frame: Any) -> str:
    names = frame.columns[:_COLUMNS]
    rows = [names, *([short(str(v), _CELL) for v in row[:_COLUMNS]] for row in frame.iter_rows())]
    widths = [max(len(row[i]) for row in rows) for i in range(len(names))]
    lines = ["  ".join(cell.rjust(w) for cell, w in zip(row, widths, strict=True)) for row in rows]
    more = len(frame.columns) - len(names)
    return "\n".join(lines) + (f"\n(and {more:,} more columns)" if more > 0 else "")


def _series(series: Any, rows: int) -> str:
    total = shape_of(series)[0]
    found = library(series)
    name = getattr(series, "name", None)
    lines = [title(series) + (f", name {short(str(name))!r}" if name is not None else "")]
    shown = min(rows, total)
    if shown <= 0:
        return lines[0]
    if found == "pandas" and hasattr(series, "iloc"):
        body = str(series.iloc[:shown].to_frame().to_string(max_colwidth=_CELL, header=False))
    else:
        body = "\n".join(short(str(v), _CELL) for v in list(series[:shown]))
    return "\n".join([*lines, f"First {count(shown, 'value')}:", body])


def _array(array: Any) -> str:
    lines = [title(array)]
    shape = shape_of(array)
    size = math.prod(shape)
    if 0 < size <= 1_000:
        lines.append(bounded(str(array), 4_000))
    elif size:
        flat = array.reshape(-1)
        edge = flat[:_EDGE]
        lines += [f"First {_EDGE} values:", bounded(str(edge), 4_000)]
    stats = _statistics(array, size)
    return "\n".join(lines + ([stats] if stats else []))


def _statistics(array: Any, size: int) -> str:
    """Minimum, maximum and mean of a numeric numpy array, over a sample where it is large."""
    if library(array) != "numpy" or getattr(array.dtype, "kind", "") not in "iufb" or size < 2:
        return ""
    flat = array.reshape(-1)
    step = max(1, size // 1_000_000)
    sample = flat[::step]
    finite = sample[sample == sample]  # drops NaN
    if not finite.size:
        return "All values are NaN."
    about = " (of a sample)" if step > 1 else ""
    missing = int(sample.size - finite.size)
    text = f"min {finite.min()}, max {finite.max()}, mean {finite.mean():.6g}{about}"
    return text + (f", {missing:,} NaN{about}" if missing else "")


def short(text: str, limit: int = _CELL) -> str:
    """One line of at most ``limit`` characters."""
    line = clean(text[: 4 * limit]).replace("\n", " ")
    return line if len(line) <= limit else line[: limit - 1] + "…"
