"""The words of the demo: from results to sentences, reports, and honest admissions.

Every number comes out of a tool's result.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .asks import Ask
from .codegen import SHOWN
from .frames import Frame
from .tables import Table, cell, markdown_table, number
from .turn import Outcome

FOOTNOTE = "*I am the offline demo: rules, no model.*"
FOOTNOTE_ON_DATA = f"{FOOTNOTE[:-1]} Every number above comes from a tool's result.*"
HELLO = """I am the offline demo: rules, no model. I need no key and no network, and I really use \
the tools I am offered: I look at your variables, run pandas code that you approve, draw plots, \
read and write files.

Load a table into a pandas DataFrame and ask, for example:

- *Summarise sales*, *Which columns have missing values?*
- *Mean revenue by region*, *Top 5 products by revenue*, *Plot total revenue by month*
- *Is price correlated with units?*, *Write a report to report.md*
- *What files are here?*, *Read notes.txt*, *git status*

For anything that needs understanding, choose a real model (`%%agent -m openai:gpt-5-mini`, \
`-m ollama:qwen3`, …)."""
HICCUP = """That was a hiccup on purpose: the first attempt got `429 Too Many Requests`, as from a \
busy provider, with a second to wait. You saw the warning, and this is the answer to the retry.

*I am the offline demo: rules, no model.*"""
_QUOTE_LIMIT = 1500


@dataclass(frozen=True)
class Finding:
    """What one ask came to: a heading, sentences, and the table behind them."""

    title: str
    sentence: str
    table: Table | None = None

    def markdown(self) -> str:
        """Sentence and table."""
        shown = markdown_table(self.table) if self.table and len(self.table.rows) > 1 else ""
        return "\n\n".join(filter(None, (self.sentence, shown)))


def finding(ask: Ask, frame: Frame, title: str, table: Table) -> Finding:
    """Word a result."""
    if not table.rows:
        return Finding(title, f"**{title}**: nothing to show, the result is empty.", None)
    writer = {
        "aggregate": _extremes,
        "counts": _extremes,
        "trend": _extremes,
        "total": _single_value,
        "missing": _missing,
        "summary": _summary,
        "correlation": _correlation,
        "scatter": _correlation,
        "distribution": _distribution,
        "clean": _cleaned,
    }.get(ask.kind)
    sentence = writer(ask, frame, title, table) if writer else f"**{title}**:"
    kept = None if ask.kind in ("total", "clean") else table
    if ask.kind == "missing":
        kept = Table(table.columns, tuple(row for row in table.rows if row[1]))
    return Finding(title, sentence, kept)


def _extremes(ask: Ask, frame: Frame, title: str, table: Table) -> str:
    def label(row: Sequence[Any]) -> str:
        return " / ".join(cell(c) for c in row[:-1])

    rows = [r for r in table.rows if isinstance(r[-1], (int, float))]
    if not rows:
        return f"**{title}**:"
    high, low = max(rows, key=lambda r: r[-1]), min(rows, key=lambda r: r[-1])
    first, last = (low, high) if ask.lowest else (high, low)
    one, other = ("lowest", "highest") if ask.lowest else ("highest", "lowest")
    text = f"**{title}**: {label(first)} is {one} with {number(first[-1])}"
    if len(rows) > 1:
        text += f", {label(last)} {other} with {number(last[-1])}"
        text += f" (of the {len(rows)} shown)" if ask.n or len(rows) == SHOWN else ""
    text += "."
    return f"{text}{_left_out(ask, frame)}"


def _left_out(ask: Ask, frame: Frame) -> str:
    nulls = frame.nulls(ask.value) if ask.value and ask.how != "size" else 0
    if not nulls:
        return ""
    verb = "is" if nulls == 1 else "are"
    return f" {count(nulls, 'row')} without `{ask.value}` {verb} not counted."


def _single_value(ask: Ask, frame: Frame, title: str, table: Table) -> str:
    return f"**{title}**: {number(table.rows[0][-1])}.{_left_out(ask, frame)}"


def _missing(ask: Ask, frame: Frame, title: str, table: Table) -> str:
    gaps = [row for row in table.rows if row[1]]
    if not gaps:
        return f"`{frame.name}` has no missing values in its {len(table.rows)} columns."
    named = ", ".join(f"`{cell(r[0])}` ({number(r[1])})" for r in gaps[:6])
    share = f"{len(gaps)} of {len(table.rows)} columns"
    return f"**{title}**: {share} of `{frame.name}` have gaps: {named}."


def _summary(ask: Ask, frame: Frame, title: str, table: Table) -> str:
    names = ", ".join(f"`{c.name}`" for c in frame.columns[:12])
    more = f" and {len(frame.columns) - 12} more" if len(frame.columns) > 12 else ""
    gaps = [f"`{c.name}` ({number(c.nulls)})" for c in frame.columns if c.nulls]
    missing = f" Missing values: {', '.join(gaps)}." if gaps else " No values are missing."
    extent = f"{number(frame.rows)} rows and {len(frame.columns)} columns"
    return f"`{frame.name}` has {extent}: {names}{more}.{missing}"


def size(frame: Frame) -> str:
    """Rows, columns and types, from the inspection alone."""
    head = f"`{frame.name}` has {number(frame.rows)} rows and {len(frame.columns)} columns."
    rows = tuple((c.name, c.dtype, c.nulls) for c in frame.columns)
    return f"{head}\n\n{markdown_table(Table(('column', 'type', 'missing'), rows), 30)}"


def _correlation(ask: Ask, frame: Frame, title: str, table: Table) -> str:
    names = table.columns[1:]
    pairs = [
        (row[i + 1], row[0], name)
        for row in table.rows
        for i, name in enumerate(names)
        if str(row[0]) < name and isinstance(row[i + 1], (int, float))
    ]
    if not pairs:
        return f"**{title}**: there are not two numbers to compare."
    value, one, other = max(pairs, key=lambda p: abs(p[0]))
    strength = "strong" if abs(value) >= 0.7 else "moderate" if abs(value) >= 0.4 else "weak"
    which = "" if len(pairs) == 1 else "The strongest is "
    return (
        f"**{title}**: {which}`{cell(one)}` and `{cell(other)}` with {value:.2f} ({strength}"
        f"{', negative' if value < 0 else ''}). Correlation is not cause."
    )


def _distribution(ask: Ask, frame: Frame, title: str, table: Table) -> str:
    of = dict(row[:2] for row in table.rows)
    if "50%" not in of:
        return f"**{title}**:"
    low, middle, high = (number(of.get(k)) for k in ("25%", "50%", "75%"))
    least, most = number(of.get("min")), number(of.get("max"))
    return (
        f"**{title}**: half of the values lie between {low} and {high}, the median is {middle}, "
        f"the extremes are {least} and {most}.{_left_out(ask, frame)}"
    )


def _cleaned(ask: Ask, frame: Frame, title: str, table: Table) -> str:
    before, after = (number(row[1]) for row in table.rows[:2])
    return f"**{title}**: {before} rows before, {after} after; `{frame.name}` itself is unchanged."


def count(n: int, thing: str) -> str:
    """ "1 row", "2 rows"."""
    return f"{number(n)} {thing}{'' if n == 1 else 's'}"


def quote(text: str) -> str:
    """A tool's text in a fence that it cannot close, cut when long."""
    shown = (
        text
        if len(text) <= _QUOTE_LIMIT
        else f"{text[:_QUOTE_LIMIT]}\n… ({len(text):,} characters in all)"
    )
    longest = max((len(m) for m in re.findall(r"`{3,}", shown)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}text\n{shown.strip()}\n{fence}"


def failed(outcome: Outcome, what: str) -> str:
    """Say honestly that a call did not work, and how the tool worded it."""
    reason = _reason(outcome.text)
    if outcome.error is None:
        return f"**Not readable: {what}.** `{outcome.name}` printed no result that I can read back."
    if outcome.error == "permission_denied":
        return f"**Not done: {what}.** `{outcome.name}` was not allowed: {reason}"
    if outcome.error == "tool_blocked":
        return f"**Not done: {what}.** A hook blocked `{outcome.name}`: {reason}"
    return f"**That failed: {what}.** `{outcome.name}` reported: {reason}"


def _reason(text: str) -> str:
    """The line of an error that says most: a traceback's last line, else the first one."""
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    errors = [
        line for line in lines if re.match(r"[A-Za-z_.]*(?:Error|Exception|Interrupt)\b", line)
    ]
    line = (errors or lines or ["it gave no reason."])[-1 if errors else 0]
    line = re.sub(r"^Error \(\w+\):\s*", "", line)
    return line[:300]


def report(frame: Frame, findings: Sequence[Finding]) -> str:
    """A Markdown report made of findings."""
    parts = [
        f"# Report on {frame.name}",
        f"{number(frame.rows)} rows, {len(frame.columns)} columns.",
    ]
    for found in findings:
        parts += [f"## {found.title}", found.markdown()]
    parts.append("---\nWritten by the offline demo of smoke_monkey_nb: rules, no model.")
    return "\n\n".join(parts) + "\n"


def no_frame(variables: Sequence[str], files: Sequence[str]) -> str:
    """What to load when there is no table."""
    text = "There is no DataFrame in this notebook yet, so there is nothing to compute."
    if variables:
        text += f" I see {', '.join(f'`{v}`' for v in variables[:8])}."
    if files:
        found = ", ".join(f"`{f}`" for f in files[:5])
        text += f"\n\nThe folder holds {found}. Say *load {files[0]}*, or run:"
    else:
        text += "\n\nLoad one, for example:"
    path = files[0] if files else "data.csv"
    return f'{text}\n\n```python\nimport pandas as pd\n\ndf = pd.read_csv("{path}")\n```'


def no_rule(frame: Frame | None, suggestions: Sequence[str]) -> str:
    """Admit that no rule matches, and offer what would."""
    text = "No rule of mine matches that, and I am no model that could understand it."
    if frame is not None:
        text += f" I can see `{frame.name}` ({number(frame.rows)} rows)."
    if suggestions:
        text += "\n\nThese would work:\n\n" + "\n".join(f"- *{s}*" for s in suggestions)
    return text


def lack_of_tools(offered: Mapping[str, Any]) -> str:
    """Without the notebook's tools there are no data to talk about."""
    given = ", ".join(f"`{name}`" for name in list(offered)[:12]) or "none"
    return (
        "I cannot see your data: that takes the notebook tools (`list_variables`, "
        f"`inspect_variable`, `run_python`). I was offered: {given}."
    )
