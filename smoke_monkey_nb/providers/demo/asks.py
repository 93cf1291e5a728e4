"""What a sentence asks of a table: a clause and the table's columns in, an ``Ask`` out.

Rules only: words for the statistic, "by …" for groups, "over time" for trends. What is not said
takes a default that the answer names. A column that the sentence clearly names but the table lacks
is kept as it was said, so that the code fails honestly instead of answering another question.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from . import lexicon
from .frames import Frame
from .match import Mention, mentions, stem

#: Text columns that tell rows apart rather than group them.
_NO_GROUP = re.compile(r"(?:^|_)(?:id|key|uuid|name|comment|note)s?$", re.I)


@dataclass(frozen=True)
class Ask:
    """One question on one table.

    ``kind``: aggregate · total · trend · summary · missing · rows · correlation · distribution ·
    scatter · counts · size · clean. ``how`` is the pandas method of the statistic, ``unit`` the
    period of a trend, ``lowest`` turns the order.
    """

    kind: str
    value: str | None = None
    groups: tuple[str, ...] = ()
    how: str = "mean"
    unit: str = "month"
    date: str | None = None
    n: int | None = None
    lowest: bool = False
    chart: str | None = None
    other: str | None = None  # the second number of a scatter plot or a correlation


def read_ask(clause: str, frame: Frame) -> Ask | None:
    """What ``clause`` asks of ``frame``; ``None`` when no rule matches."""
    found = mentions(clause, [c.name for c in frame.columns])
    numbers = [m for m in found if frame.kind(m.name) == "number"]
    groups = _groups(clause, found, frame)
    values = [m.name for m in numbers if m.name not in groups]
    chart = _chart(clause)
    plain = lexicon.first_said(lexicon.PLAIN_KINDS, clause)
    if plain and not (plain == "size" and groups):
        return _plain(plain, values, chart)
    ask = _ranking(clause, frame, values, groups) or _trend(clause, frame, values, groups)
    ask = ask or _grouped(clause, frame, values, groups) or _by_chart(chart, frame, values)
    ask = ask or _single(clause, found, frame, values)
    if ask is None and lexicon.says(lexicon.SUMMARY, clause):
        ask = Ask("summary")
    if ask is None and chart:
        ask = _default_chart(frame)
    return replace(ask, chart=chart and _fitting(chart, ask)) if ask else None


def wants_chart(clause: str) -> bool:
    """Whether the clause asks for a picture."""
    return _chart(clause) is not None


def with_chart(ask: Ask, clause: str) -> Ask:
    """``ask`` drawn as ``clause`` says ("plot it", "as a line chart")."""
    return replace(ask, chart=_fitting(_chart(clause) or "any", ask))


def default_ask(frame: Frame) -> Ask | None:
    """A breakdown when the prompt names none: the main number by the first text column."""
    value, group = main_number(frame), _first_group(frame)
    if value is None or group is None:
        return None
    return Ask("aggregate", value, (group,), _default_how(value))


def main_number(frame: Frame) -> str | None:
    """The number that a person most likely means: one with a telling name, else the last one."""
    names = [c.name for c in frame.columns if frame.kind(c.name) == "number"]
    telling = [n for word in lexicon.TELLING for n in names if word in n.lower()]
    return next(iter(telling or names[::-1]), None)


def _plain(kind: str, values: Sequence[str], chart: str | None) -> Ask:
    value = values[0] if values else None
    other = values[1] if len(values) > 1 else None
    if kind == "correlation":
        chart = "scatter" if chart and other else None
        return Ask(kind, value if other else None, other=other, chart=chart)
    return Ask(kind, value)


def _groups(clause: str, found: Sequence[Mention], frame: Frame) -> tuple[str, ...]:
    starts = {m.start: m for m in found}
    for word in lexicon.GROUP_WORDS.finditer(clause):
        mention = starts.get(word.end())
        if mention is not None:
            return (mention.name, *_more_groups(clause, mention, starts, frame))
    for word in lexicon.WHICH.finditer(clause):
        mention = starts.get(word.end())
        if mention is not None and frame.kind(mention.name) != "number":
            return (mention.name,)
    return ()


def _more_groups(
    clause: str, first: Mention, starts: dict[int, Mention], frame: Frame
) -> tuple[str, ...]:
    joint = lexicon.ALSO.match(clause, first.end)
    second = starts.get(joint.end()) if joint else None
    return (second.name,) if second and frame.kind(second.name) == "text" else ()


def _how(clause: str, value: str | None, rules: Sequence[tuple[str, str]]) -> str:
    spoken = re.sub(re.escape(value), " ", clause, flags=re.I) if value else clause
    return lexicon.first_said(rules, spoken) or _default_how(value)


def _default_how(value: str | None) -> str:
    parts = {stem(p) for p in re.split(r"[_\W]+", value or "")}
    return "sum" if parts & lexicon.ADDITIVE else "mean"


def _count_of(text: str | None) -> int:
    word = (text or "5").lower()
    return max(1, min(lexicon.NUMBERS[word] if word in lexicon.NUMBERS else int(word[:4]), 50))


def _ranking(
    clause: str, frame: Frame, values: Sequence[str], groups: tuple[str, ...]
) -> Ask | None:
    found = lexicon.RANKING.search(clause)
    if found is None:
        return None
    lowest = bool(lexicon.LOWEST.search(clause))
    ranked_by = [g for g in groups if frame.kind(g) == "number"]
    value = next(iter([*values, *ranked_by]), main_number(frame))
    after = mentions(clause[found.end() :], [c.name for c in frame.columns])
    named = [m.name for m in after if m.start <= 2 and frame.kind(m.name) != "number"]
    by = (named[0],) if named else tuple(g for g in groups if frame.kind(g) != "number")
    n = _count_of(found.group(1) or found.group(2))
    if by:
        how = _how(clause, value, lexicon.EXPLICIT_STATISTICS)
        return Ask("aggregate", value, by, how, n=n, lowest=lowest)
    return Ask("rows", value, n=n, lowest=lowest) if value else None


def _trend(clause: str, frame: Frame, values: Sequence[str], groups: tuple[str, ...]) -> Ask | None:
    date = next((c.name for c in frame.columns if frame.kind(c.name) == "date"), None)
    if date is None or (groups and frame.kind(groups[0]) != "date"):
        return None
    for unit, words in lexicon.UNITS.items():
        if lexicon.says(words, clause):
            value = values[0] if values else main_number(frame)
            how = _how(clause, value, lexicon.EXPLICIT_STATISTICS)
            return Ask("trend", value, how=how if value else "size", unit=unit, date=date)
    return None


def _grouped(
    clause: str, frame: Frame, values: Sequence[str], groups: tuple[str, ...]
) -> Ask | None:
    unknown = _unknown_value(clause, frame)
    if not groups and (values or unknown):
        groups = _unknown_group(clause)
    if not groups:
        return None
    named = values[0] if values else unknown
    ranks = lexicon.WHICH.search(clause) is not None  # "which … has the highest": no maximum
    rules = lexicon.EXPLICIT_STATISTICS if ranks or named is None else lexicon.STATISTICS
    how = _how(clause, named, rules)
    lowest = lexicon.LOWEST.search(clause) is not None
    if how == "size" and not values:
        return Ask("aggregate", None, groups, "size", lowest=lowest)
    value = named or main_number(frame)
    if value is None:
        return Ask("aggregate", None, groups, "size", lowest=lowest)
    how = how if named else _how(clause, value, lexicon.EXPLICIT_STATISTICS)
    if frame.kind(groups[0]) == "date":
        return Ask("trend", value, how=how, unit="day", date=groups[0])
    return Ask("aggregate", value, groups, how, lowest=ranks and lowest)


def _unknown_value(clause: str, frame: Frame) -> str | None:
    """A column that the sentence names after "mean" or "total" and the table has not."""
    found = lexicon.UNKNOWN_VALUE.search(clause)
    if found is None or found.group(1).lower() in lexicon.NO_NAME:
        return None
    known = mentions(clause, [c.name for c in frame.columns])
    inside = any(m.start <= found.start(1) < m.end for m in known)
    units = any(lexicon.says(words, found.group(1)) for words in lexicon.UNITS.values())
    return None if inside or units or found.group(1) == frame.name else found.group(1)


def _unknown_group(clause: str) -> tuple[str, ...]:
    found = lexicon.UNKNOWN_GROUP.search(clause)
    return (found.group(1),) if found and found.group(1).lower() not in lexicon.NO_NAME else ()


def _by_chart(chart: str | None, frame: Frame, values: Sequence[str]) -> Ask | None:
    value = values[0] if values else main_number(frame)
    if chart in ("hist", "box") and value:
        return Ask("distribution", value)
    if chart and chart != "line" and len(values) > 1:
        return Ask("scatter", values[0], other=values[1])
    return None


def _single(
    clause: str, found: Sequence[Mention], frame: Frame, values: Sequence[str]
) -> Ask | None:
    """Questions on one column: its total, its most frequent values, its distribution."""
    texts = [m.name for m in found if frame.kind(m.name) != "number"]
    if texts and (not values or lexicon.says(lexicon.FREQUENCY, clause)):
        return Ask("counts", groups=(texts[0],), how="size")
    value = values[0] if values else _unknown_value(clause, frame)
    if value is None:
        return None
    spoken = re.sub(re.escape(value), " ", clause, flags=re.I)
    how = lexicon.first_said(lexicon.STATISTICS, spoken)
    if how:
        return Ask("total", value, how="count" if how == "size" else how)
    return Ask("distribution", value)


def _default_chart(frame: Frame) -> Ask | None:
    value = main_number(frame)
    date = next((c.name for c in frame.columns if frame.kind(c.name) == "date"), None)
    if value and date:
        return Ask("trend", value, how=_default_how(value), date=date)
    return default_ask(frame) or (Ask("distribution", value) if value else None)


def _first_group(frame: Frame) -> str | None:
    names = [c.name for c in frame.columns if frame.kind(c.name) == "text"]
    plain = [n for n in names if not _NO_GROUP.search(n)]
    return next(iter(plain or names), None)


def _chart(clause: str) -> str | None:
    named = lexicon.first_said(lexicon.CHARTS, clause)
    return named or ("any" if lexicon.says(lexicon.ANY_CHART, clause) else None)


def _fitting(chart: str, ask: Ask) -> str | None:
    """The chart that suits the answer: what was asked for where it makes sense."""
    if ask.kind in ("aggregate", "counts"):
        return "line" if chart == "line" else "bar"
    if ask.kind == "trend":
        return "bar" if chart == "bar" else "line"
    if ask.kind == "distribution":
        return "box" if chart == "box" else "hist"
    return "scatter" if ask.kind == "scatter" or (ask.kind == "correlation" and ask.other) else None
