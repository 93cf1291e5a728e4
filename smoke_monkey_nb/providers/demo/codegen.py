"""The pandas code for an ``Ask``: short, idiomatic, with a named result that the user keeps.

Each snippet ends by printing its result, mostly as CSV, which people can read and which the next
step reads back from the tool's output; the words of the answer come from there and nowhere else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass

from .asks import Ask
from .frames import Frame

_CSV = "to_csv(index=False)"
#: Rows of a result that are printed at most when the table is large.
SHOWN = 50
_LINE = 88  # a chain longer than this is broken into lines
_SIZE = "figsize=(7, 4)"
_PERIODS = {"day": "%Y-%m-%d", "week": "%G-W%V", "month": "%Y-%m", "year": "%Y"}
_HOW_WORDS = {"sum": "total", "size": "rows"}


@dataclass(frozen=True)
class Snippet:
    """Code to run, the variable it leaves behind, and what it works out, in words."""

    code: str
    result: str
    title: str
    columns: tuple[str, ...] | None = None  # how the printed CSV begins; None: figures by name


def snippet(ask: Ask, frame: Frame, taken: Collection[str] = ()) -> Snippet:
    """The code for ``ask``. ``taken`` are names that the result must not replace."""
    lines, result, title = _WRITERS[ask.kind](ask, frame)
    free = result
    while free in taken:
        free += "_result"
    code = "\n".join(lines).replace("<result>", free).replace("<frame>", _frame_name(frame))
    whole = "\n\n".join(filter(None, (_head(ask, frame), code)))
    return Snippet(whole, free, title, _columns(ask, frame))


def read_csv(path: str, name: str) -> Snippet:
    """Code that loads a file into a frame called ``name``."""
    reader = "read_parquet" if path.endswith(".parquet") else "read_csv"
    options = ', sep="\\t"' if path.endswith(".tsv") else ""
    lines = [
        "import pandas as pd\n",
        f"{name} = pd.{reader}({_text(path)}{options})",
        f"print({name}.head().{_CSV})",
    ]
    return Snippet("\n".join(lines), name, f"Load {path}", ())


def identifier(*words: str) -> str:
    """A variable name made of ``words``."""
    name = re.sub(r"[\W_]+", "_", "_".join(words).lower()).strip("_")
    return f"n_{name}" if not name or name[0].isdigit() else name


_Written = tuple[list[str], str, str]


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _col(value: str | None) -> str:
    return _text(value or "")


def _frame_name(frame: Frame) -> str:
    return f"{frame.name}_pd" if frame.is_polars else frame.name


def _head(ask: Ask, frame: Frame) -> str:
    lines = ["import matplotlib.pyplot as plt"] if ask.chart else []
    if ask.kind == "trend" and ask.date and frame.dtype(ask.date)[:8] != "datetime":
        lines.append("import pandas as pd")
    if frame.is_polars:
        lines.append(f"{frame.name}_pd = {frame.name}.to_pandas()")
    return "\n".join(lines)


def _assign(source: str, *steps: str) -> list[str]:
    """``<result> = source.step.step``, broken into a chain in parentheses when it is long."""
    line = f"<result> = {source}{''.join(steps)}"
    if len(line) <= _LINE:
        return [line]
    return ["<result> = (", f"    {source}", *(f"    {step}" for step in steps), ")"]


def _show(frame: Frame) -> str:
    """Print the result, only its head where there may be more rows than fit a tool's result."""
    head = f".head({SHOWN})" if max(frame.rows, len(frame.columns)) > 10 * SHOWN else ""
    return f"print(<result>{head}.{_CSV})"


def _columns(ask: Ask, frame: Frame) -> tuple[str, ...] | None:
    """How the header of the printed CSV begins; ``None`` where names and figures are printed."""
    if ask.kind == "aggregate":
        return (*ask.groups, "rows" if ask.how == "size" else ask.value or "")
    if ask.kind == "trend":
        return (ask.unit, ask.value or "rows")
    if ask.kind == "counts":
        return (ask.groups[0], "rows")
    if ask.kind == "rows":
        return tuple(c.name for c in frame.columns)
    return None if ask.kind in ("total", "clean", "distribution") else ("column",)


def _how_word(ask: Ask) -> str:
    return _HOW_WORDS.get(ask.how, ask.how)


def _aggregate(ask: Ask, frame: Frame) -> _Written:
    keys = _col(ask.groups[0]) if len(ask.groups) == 1 else f"[{', '.join(map(_col, ask.groups))}]"
    observed = ", observed=True" if any(frame.dtype(g) == "category" for g in ask.groups) else ""
    source = f"<frame>.groupby({keys}, as_index=False{observed})"
    value = "rows" if ask.how == "size" else ask.value or ""
    if ask.how == "size":
        steps = [".size()", '.rename(columns={"size": "rows"})']
    else:
        source, steps = f"{source}[{_col(ask.value)}]", [f".{ask.how}()"]
    direction = "" if ask.lowest else ", ascending=False"
    steps.append(f".sort_values({_col(value)}{direction})")
    steps += [f".head({ask.n})"] if ask.n else []
    steps += [] if ask.how == "size" else [".round(2)"]
    by = " and ".join(ask.groups)
    what = "Rows" if ask.how == "size" else f"{_how_word(ask).capitalize()} {ask.value}"
    words = f"{what} by {by}"
    lines = _assign(source, *steps)
    if ask.chart:
        lines += _grouped_chart(ask, value, words)
    name = identifier(_how_word(ask), "" if ask.how == "size" else value, "by", *ask.groups)
    return [*lines, _show(frame)], name, words


def _grouped_chart(ask: Ask, value: str, words: str) -> list[str]:
    if len(ask.groups) > 1:
        first, second = ask.groups
        wide = f"<result>.pivot(index={_col(first)}, columns={_col(second)}, values={_col(value)})"
        pivot = [f"wide = {wide}"]
        return pivot + _draw(f"wide.plot.{ask.chart}", f"rot=0, {_SIZE}", words, "", value)
    look = "rot=0" if ask.chart == "bar" else 'marker="o"'
    options = f"x={_col(ask.groups[0])}, y={_col(value)}, legend=False, {look}, {_SIZE}"
    return _draw(f"<result>.plot.{ask.chart}", options, words, "", value)


def _draw(plot: str, options: str, words: str, xlabel: str, ylabel: str) -> list[str]:
    """``ax = plot(options)`` with its labels; the options go on a line of their own when long."""
    call = [f"ax = {plot}({options})"]
    if len(call[0]) > _LINE:
        call = [f"ax = {plot}(", f"    {options}", ")"]
    labels = f"title={_text(words)}, xlabel={_text(xlabel)}, ylabel={_text(ylabel)}"
    return ["", *call, f"ax.set({labels})", "plt.tight_layout()", "plt.show()", ""]


def _total(ask: Ask, frame: Frame) -> _Written:
    name = identifier(_how_word(ask), ask.value or "")
    label = _text(f"{_how_word(ask)} {ask.value}:")
    lines = [
        f"<result> = <frame>[{_col(ask.value)}].{ask.how}()",
        f"print({label}, round(<result>, 2))",
    ]
    return lines, name, f"{_how_word(ask).capitalize()} {ask.value}"


def _trend(ask: Ask, frame: Frame) -> _Written:
    date = f"<frame>[{_col(ask.date)}]"
    if frame.dtype(ask.date or "")[:8] != "datetime":
        date = f"pd.to_datetime({date})"
    period = _PERIODS.get(ask.unit)
    label = f'{date}.dt.strftime("{period}")' if period else f'{date}.dt.to_period("Q").astype(str)'
    source, steps = "<frame>", [f".assign({ask.unit}={label})"]
    value = ask.value or "rows"
    if ask.value:
        steps += [
            f'.groupby("{ask.unit}", as_index=False)[{_col(value)}]',
            f".{ask.how}()",
            ".round(2)",
        ]
    else:
        steps += [
            f'.groupby("{ask.unit}", as_index=False)',
            ".size()",
            '.rename(columns={"size": "rows"})',
        ]
    words = (
        f"{_how_word(ask).capitalize()} {value if ask.value else ''}".strip() + f" by {ask.unit}"
    )
    lines = _assign(source, *steps)
    if ask.chart:
        look = 'marker="o", rot=45' if ask.chart == "line" else "rot=45"
        options = f'x="{ask.unit}", y={_col(value)}, legend=False, {look}, {_SIZE}'
        lines += _draw(f"<result>.plot.{ask.chart}", options, words, "", value)
    name = identifier(_how_word(ask), ask.value or "", "by", ask.unit)
    return [*lines, _show(frame)], name, words


def _summary(ask: Ask, frame: Frame) -> _Written:
    numbers = any(frame.kind(c.name) == "number" for c in frame.columns)
    source = '<frame>.select_dtypes("number")' if numbers else "<frame>"
    described = ".describe().T" if numbers else '.describe(include="all").T'
    rounding = [".round(2)"] if numbers else []
    steps = [described, *rounding, '.rename_axis("column")', ".reset_index()"]
    lines = [*_assign(source, *steps), _show(frame)]
    return lines, identifier(frame.name, "summary"), f"Summary of {frame.name}"


def _missing(ask: Ask, frame: Frame) -> _Written:
    counted = [".sum()", ".sort_values(ascending=False)"]
    named = ['.rename_axis("column")', '.reset_index(name="missing")']
    lines = [
        *_assign("<frame>.isna()", *counted, *named),
        '<result>["percent"] = (100 * <result>["missing"] / len(<frame>)).round(1)',
        _show(frame),
    ]
    return lines, identifier(frame.name, "missing"), "Missing values"


def _clean(ask: Ask, frame: Frame) -> _Written:
    subset = f"subset=[{_col(ask.value)}]" if ask.value else ""
    lines = [
        f"<result> = <frame>.dropna({subset})",
        'print("rows before:", len(<frame>))',
        'print("rows after:", len(<result>))',
    ]
    return lines, identifier(frame.name, "complete"), "Rows without missing values"


def _rows(ask: Ask, frame: Frame) -> _Written:
    pick, word = ("nsmallest", "lowest") if ask.lowest else ("nlargest", "highest")
    lines = [
        f"<result> = <frame>.{pick}({ask.n or 5}, {_col(ask.value)})",
        f"print(<result>.{_CSV})",
    ]
    name = identifier(word, ask.value or "", "rows")
    return lines, name, f"The {ask.n or 5} rows with the {word} {ask.value}"


def _correlation(ask: Ask, frame: Frame) -> _Written:
    pair = ask.value and ask.other
    columns = f"[[{_col(ask.value)}, {_col(ask.other)}]]" if pair else '.select_dtypes("number")'
    if len(frame.columns) > SHOWN:
        columns += "" if pair else f".iloc[:, :{SHOWN // 2}]"
    lines = [f"<result> = <frame>{columns}.corr().round(3)"]
    if ask.chart:
        lines += _scatter_chart(ask)
    lines.append('print(<result>.to_csv(index_label="column"))')
    words = f"Correlation of {ask.value} and {ask.other}" if pair else "Correlation of the numbers"
    return lines, identifier(frame.name, "correlation"), words


def _scatter_chart(ask: Ask) -> list[str]:
    options = f"x={_col(ask.value)}, y={_col(ask.other)}, alpha=0.6, {_SIZE}"
    words = f"{ask.other} against {ask.value}"
    return _draw("<frame>.plot.scatter", options, words, ask.value or "", ask.other or "")


def _distribution(ask: Ask, frame: Frame) -> _Written:
    words = f"Distribution of {ask.value}"
    lines = [f"<result> = <frame>[{_col(ask.value)}].describe().round(2)"]
    if ask.chart == "box":
        lines += _draw(f"<frame>[[{_col(ask.value)}]].plot.box", _SIZE, words, "", "")
    elif ask.chart:
        plot = f"<frame>[{_col(ask.value)}].plot.hist"
        look = f'bins=20, edgecolor="white", {_SIZE}'
        lines += _draw(plot, look, words, ask.value or "", "rows")
    return [*lines, "print(<result>.to_string())"], identifier(ask.value or "", "statistics"), words


def _counts(ask: Ask, frame: Frame) -> _Written:
    group = ask.groups[0]
    source = f"<frame>[{_col(group)}].value_counts()"
    lines = _assign(source, f".rename_axis({_col(group)})", '.reset_index(name="rows")')
    words = f"Rows by {group}"
    if ask.chart:
        lines += _grouped_chart(ask, "rows", words)
    return [*lines, _show(frame)], identifier("rows", "by", group), words


_WRITERS: dict[str, Callable[[Ask, Frame], _Written]] = {
    "aggregate": _aggregate,
    "clean": _clean,
    "correlation": _correlation,
    "counts": _counts,
    "distribution": _distribution,
    "missing": _missing,
    "rows": _rows,
    "scatter": _correlation,
    "summary": _summary,
    "total": _total,
    "trend": _trend,
}
