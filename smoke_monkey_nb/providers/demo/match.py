"""Which columns a sentence names: by case, plural, underscores and small slips of the pen, never by
meaning.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from .lexicon import word_set

_WORD = re.compile(r"\w+")
_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\d_a-zA-Z]+")
_SIMILAR = 0.8
_SHORTEST_FUZZY = 5  # letters; shorter words are too alike
_LONGEST_NAME = 5  # words

#: Words of the rules' own language, which must not pass for a misspelt column.
_OWN = word_set(
    "average mean median total count sum maximum minimum highest lowest largest smallest value "
    "values number plot chart graph draw table report write which what where there their about "
    "rows columns missing month monthly daily weekly yearly quarter summary correlation between"
)


@dataclass(frozen=True)
class Mention:
    """A name found in a text, and where: ``text[start:end]``. ``rank`` 0 is exact, 1 a part of it,
    2 a near miss.
    """

    name: str
    start: int
    end: int
    rank: int


def stem(word: str) -> str:
    """A word without its plural, in lower case."""
    word = word.lower()
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word


def mentions(text: str, names: Iterable[str]) -> list[Mention]:
    """The names that ``text`` mentions, in order of appearance, none overlapping, the surest
    reading first.
    """
    words = [(m.group().lower(), m.start(), m.end()) for m in _WORD.finditer(text)]
    candidates = [m for name in names for m in _candidates(name, words, text)]
    candidates.sort(key=lambda m: (m.rank, m.start - m.end, m.start))
    taken: list[Mention] = []
    for candidate in candidates:
        rivals = {m.name for m in candidates if _same_place(m, candidate)}
        if candidate.rank == 1 and len(rivals) > 1:
            continue  # "price" with unit_price and list_price: no telling which
        if all(candidate.end <= m.start or candidate.start >= m.end for m in taken):
            taken.append(candidate)
    return sorted(taken, key=lambda m: m.start)


def nearest(word: str, names: Sequence[str]) -> str | None:
    """The name that looks most like ``word``, if any is near."""
    scored = [(_likeness(stem(word), "".join(_stems(name))), name) for name in names]
    best = max(scored, default=(0.0, ""))
    return best[1] if best[0] >= 0.6 else None


def _same_place(a: Mention, b: Mention) -> bool:
    return (a.rank, a.start, a.end) == (b.rank, b.start, b.end)


def _stems(name: str) -> list[str]:
    return [stem(part) for part in _PARTS.findall(name)] or [stem(name)]


def _candidates(name: str, words: Sequence[tuple[str, int, int]], text: str) -> Iterable[Mention]:
    parts = _stems(name)
    joined = "".join(parts)
    for first in range(len(words)):
        for size in range(1, min(_LONGEST_NAME, len(words) - first) + 1):
            start, end = words[first][1], words[first + size - 1][2]
            spoken = [s for w in words[first : first + size] for s in _stems(w[0])]
            if "".join(spoken) == joined or text[start:end] == name:
                yield Mention(name, start, end, 0)
        word, start, end = words[first]
        if word in _OWN:
            continue
        if len(parts) > 1 and stem(word) in parts:
            yield Mention(name, start, end, 1)
        elif len(word) >= _SHORTEST_FUZZY and _likeness(stem(word), joined) >= _SIMILAR:
            yield Mention(name, start, end, 2)


def _likeness(a: str, b: str) -> float:
    return SequenceMatcher(None, a, b, autojunk=False).ratio()
