"""The words that the rules know, as patterns: statistics, groups, periods, ranks, charts, kinds of
questions.

Longer patterns are put together from alternatives, so that a word is added in one place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable


def any_of(*alternatives: str) -> str:
    """A pattern that matches one of the alternatives."""
    return f"(?:{'|'.join(alternatives)})"


def says(words: str, text: str) -> bool:
    """Whether ``text`` holds the words, whole and in any case."""
    return re.search(rf"\b(?:{words})\b", text, re.I) is not None


def word_set(words: str) -> frozenset[str]:
    """The words of a sentence, as a set."""
    return frozenset(words.split())


def first_said(rules: Iterable[tuple[str, str]], text: str) -> str | None:
    """The name of the first rule whose words ``text`` holds."""
    return next((name for name, words in rules if says(words, text)), None)


#: pandas method -> the words for it. The last two may also only rank ("the highest mean").
STATISTICS = (
    ("mean", r"mean|average|avg|typical"),
    ("median", r"median"),
    ("std", r"std|standard deviation|spread"),
    ("sum", r"sum|totals?|overall|altogether"),
    ("size", r"count|how many|number of|how often"),
    ("max", r"max|maximum|highest|largest|biggest"),
    ("min", r"min|minimum|lowest|smallest"),
)
EXPLICIT_STATISTICS = STATISTICS[:5]

#: Parts of names of numbers that are added up when nothing else is said; others are averaged.
ADDITIVE = word_set(
    "revenue sale amount unit quantity qty cost profit total income spend spending order volume "
    "turnover"
)
#: Names of the number that is meant when none is named, the likeliest first.
TELLING = ("revenue", "sale", "amount", "value", "price")

LOWEST = re.compile(r"\b(lowest|least|worst|smallest|fewest|bottom|cheapest|weakest)\b", re.I)
_OPENING = r"\s+(?:the\s+)?(?:different\s+)?[`'\"]?"
_EACH = any_of(
    "by", "per", "(?:for|in|of) (?:each|every)", "each", "every", "across", "among", "grouped by"
)
GROUP_WORDS = re.compile(rf"\b{_EACH}{_OPENING}", re.I)
UNKNOWN_GROUP = re.compile(rf"\b(?:by|per|grouped by){_OPENING}([A-Za-z_]\w*)", re.I)
ALSO = re.compile(r"[`'\"]?\s*(?:,|and|&|/|x|×|then by)\s*(?:by\s+)?(?:the\s+)?[`'\"]?", re.I)
WHICH = re.compile(r"\b(?:which|what|best|top|worst|strongest|weakest)\s+[`'\"]?", re.I)
FREQUENCY = r"unique|distinct|different|how many|count|frequen\w*"

UNITS = {
    "day": r"daily|by day|per day|each day|day by day",
    "week": r"weekly|by week|per week|each week",
    "quarter": r"quarterly|by quarter|per quarter|each quarter",
    "year": r"yearly|annual(?:ly)?|by year|per year|each year",
    "month": r"monthly|by month|per month|each month|over time|trend|time series|develop\w*",
}

NUMBERS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "ten": 10}
_COUNT = rf"(\d+|{'|'.join(NUMBERS)})"
_RANK = any_of(
    "top", "best", "largest", "biggest", "highest", "first", "most expensive",
    "bottom", "worst", "lowest", "smallest", "cheapest",
)  # fmt: skip
RANKING = re.compile(rf"\b{_RANK}\s+{_COUNT}\b|\b{_COUNT}\s+{_RANK}\b", re.I)

CHARTS = (
    ("hist", r"histogram|distribution|distributed"),
    ("scatter", r"scatter\w*"),
    ("box", r"box ?plots?"),
    ("line", r"line (?:chart|plot|graph)|as a line"),
    ("bar", r"bar (?:chart|plot|graph)s?|bars|barplot|column chart"),
)
ANY_CHART = r"(?:plot|chart|graph|draw|visuali[sz]e|picture|diagram|figure)\w*"

#: A word after a statistic that stands where a column's name would.
UNKNOWN_VALUE = re.compile(
    r"\b(?:mean|average|avg|median|sum|total)\s+(?:of\s+)?(?:the\s+)?[`'\"]?([A-Za-z_]\w*)", re.I
)
#: … unless it is one of these.
NO_NAME = word_set(
    "by per for of in over each every and the value values number on is are was were across to "
    "with from as all it them plot chart data table frame dataframe rows row"
)

#: Kinds of questions that their words alone decide, in the order in which they are tried.
PLAIN_KINDS = (
    ("clean", r"(?:drop|remove|without|delete)\b.*\b(?:missing|nan|null|empty|na)|dropna"),
    ("missing", r"missing|nulls?|nan|na values|incomplete|data quality|gaps"),
    ("correlation", r"correlat\w*|relationship|related"),
    ("size", r"how (?:many (?:rows|columns)|big|large|long)|shape|number of (?:rows|columns)"),
)
SUMMARY = any_of(
    r"summar\w*", "describe", "overview", "statistics", "stats", "profile", "explore", "what is in",
    "look at", r"analy[sz]e", "tell me about",
)  # fmt: skip
