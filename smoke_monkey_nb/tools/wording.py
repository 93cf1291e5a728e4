"""How broken arguments are told to a model: where, what was expected, what came.

``rows: should be an integer, got 'ten'``. One sentence for each place, whatever number of reasons
the validator found for it (a union gives one for each member).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

_MAX_PROBLEMS = 5
_SHOWN = 60
_MISSING = object()

#: pydantic's error types, by their beginning, and what the value should have been.
_EXPECTED = (
    ("int", "an integer"),
    ("float", "a number"),
    ("decimal", "a number"),
    ("finite_number", "a finite number"),
    ("bool", "true or false"),
    ("string_type", "a string"),
    ("string_sub_type", "a string"),
    ("string_unicode", "a string"),
    ("list_type", "a list"),
    ("set_type", "a list"),
    ("frozen_set_type", "a list"),
    ("tuple_type", "a list"),
    ("dict_type", "an object"),
    ("mapping_type", "an object"),
    ("model_type", "an object"),
    ("model_attributes_type", "an object"),
    ("dataclass_type", "an object"),
    ("dataclass_exact_type", "an object"),
    ("none_required", "null"),
)


@dataclass(frozen=True)
class Problem:
    """One finding of a validator: pydantic's error type, location, message and facts."""

    kind: str
    location: tuple[int | str, ...]
    message: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)


def shown(value: Any) -> str:
    """A value as it came over the wire, short."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return "an object" if value else "an empty object"
    if isinstance(value, (list, tuple)):
        return f"a list of {len(value)}" if value else "an empty list"
    text = repr(value[:_SHOWN] if isinstance(value, str) else value)
    return text[:_SHOWN] + "…" if len(text) > _SHOWN else text


def tell(problems: Sequence[Problem], arguments: Mapping[str, Any], names: Sequence[str]) -> str:
    """All problems as one text; ``names`` are the arguments that exist."""
    places: dict[str, list[str]] = {}
    values: dict[str, Any] = {}
    for problem in problems:
        place, value = _locate(problem, arguments)
        sentence = _sentence(problem, names)
        values[place] = value
        if sentence not in places.setdefault(place, []):
            places[place].append(sentence)
    told = [_told(place, sentences, values[place]) for place, sentences in places.items()]
    more = len(told) - _MAX_PROBLEMS
    return "; ".join(told[:_MAX_PROBLEMS]) + (f"; and {more} more" if more > 0 else "")


def _locate(problem: Problem, arguments: Mapping[str, Any]) -> tuple[str, Any]:
    """The place as ``items[2].content``, and what is there.

    pydantic puts the tried member of a union into the location; what the data does not hold is such
    a tag, except for the name of a missing or unknown key.
    """
    value: Any = arguments
    place = ""
    last = len(problem.location) - 1
    for index, key in enumerate(problem.location):
        named = index == last and problem.kind in ("missing", "missing_argument")
        inner = _MISSING if named else _get(value, key)
        if inner is _MISSING and not named:
            continue
        value = inner
        place += f"[{key}]" if isinstance(key, int) else f".{key}" if place else key
    return place or "arguments", value


def _get(value: Any, key: int | str) -> Any:
    if isinstance(value, Mapping):
        return value.get(key, _MISSING)
    if isinstance(value, (list, tuple)) and isinstance(key, int) and key < len(value):
        return value[key]
    return _MISSING


def _sentence(problem: Problem, names: Sequence[str]) -> str:
    kind = problem.kind
    if kind in ("missing", "missing_argument"):
        return "is required"
    if kind in ("extra_forbidden", "unexpected_keyword_argument"):
        if len(problem.location) > 1:
            return "is not allowed here"
        return f"is not an argument (arguments: {', '.join(names) or 'none'})"
    if kind in ("literal_error", "enum"):
        return f"should be {problem.facts.get('expected', 'one of the choices')}"
    if kind in ("value_error", "assertion_error"):
        return str(problem.facts.get("error", problem.message))
    for beginning, expected in _EXPECTED:
        if kind == beginning or kind.startswith(beginning + "_"):
            return f"should be {expected}"
    message = problem.message.removeprefix("Input ")
    return message[:1].lower() + message[1:]


def _told(place: str, sentences: list[str], value: Any) -> str:
    wanted = [s.removeprefix("should be ") for s in sentences if s.startswith("should be ")]
    others = [s for s in sentences if not s.startswith("should be ")]
    parts = others + ([f"should be {' or '.join(wanted)}"] if wanted else [])
    told = f"{place}: {', '.join(parts)}"
    if value is _MISSING or any("is not an argument" in s for s in others):
        return told
    return f"{told}, got {shown(value)}"
