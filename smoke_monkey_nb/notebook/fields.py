"""Finds and reads the ``{expr!conversion:spec}`` fields of a prompt.

Which brace closes a field depends on the quotes within it, and those are apostrophes as often. So
the brace that balances is tried first, and a few further ones only where there are quotes. All
looks ahead are bounded: a prompt takes time in proportion to its length.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

#: Characters of one field; longer ones are text.
FIELD_LIMIT = 1_000
#: Closing braces that are tried for a field with quotes in it.
_TRIES = 6
_CONVERSIONS = "rsa"
_LATEX_COMMAND = re.compile(r"\\[A-Za-z]+\*?\Z")
_BRACE = re.compile(r"[{}]")


@dataclass(frozen=True)
class Field:
    """``{source!conversion:spec}``."""

    code: ast.Expression
    names: frozenset[str]
    conversion: str | None
    spec: str


def partners(template: str) -> dict[int, int]:
    """For each opening brace the closing one that balances it, quotes not considered."""
    found: dict[int, int] = {}
    opened: list[int] = []
    for match in _BRACE.finditer(template):
        if match.group() == "{":
            opened.append(match.start())
        elif opened:
            found[opened.pop()] = match.start()
    return found


def closings(template: str, start: int, partner: int | None) -> Iterator[int]:
    """The braces that may close the field at ``start``, the likeliest first."""
    limit = start + FIELD_LIMIT
    if partner is not None and partner < limit:
        yield partner
    quotes = [template.find(q, start, limit) for q in "'\""]
    quote = min((q for q in quotes if q >= 0), default=-1)
    closing = template.find("}", quote, limit) if quote >= 0 else -1
    for _ in range(_TRIES):
        if closing < 0:
            return
        if closing != partner:
            yield closing
        closing = template.find("}", closing + 1, limit)


def is_latex(template: str, brace: int, latex_ends: set[int]) -> bool:
    """Whether the brace opens an argument of a LaTeX command, or follows one."""
    before = template[max(0, brace - 30) : brace]
    return (brace - 1) in latex_ends or _LATEX_COMMAND.search(before) is not None


def parse_field(inner: str) -> Field | None:
    """The expression, with its conversion and format spec where it has them."""
    code = _expression(inner)
    if code is not None:
        return Field(code, _names(code), None, "")
    cut = _top_level_colon(inner)
    source, spec = (inner, "") if cut is None else (inner[:cut], inner[cut + 1 :])
    conversion = None
    if source[-2:-1] == "!" and source[-1] in _CONVERSIONS:
        source, conversion = source[:-2], source[-1]
    elif cut is None:
        return None
    code = _expression(source)
    return None if code is None else Field(code, _names(code), conversion, spec)


def _top_level_colon(text: str) -> int | None:
    """Where the format spec begins: the first colon outside of brackets and strings."""
    depth, quote = 0, ""
    for at, character in enumerate(text):
        if quote:
            if character == quote and text[at - 1] != "\\":
                quote = ""
        elif character in "'\"":
            quote = character
        elif character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif character == ":" and depth == 0:
            return at
    return None


def _expression(source: str) -> ast.Expression | None:
    try:
        with warnings.catch_warnings():  # "\d" in a prompt is the user's business
            warnings.simplefilter("ignore")
            return ast.parse(source.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _names(code: ast.Expression) -> frozenset[str]:
    return frozenset(n.id for n in ast.walk(code) if isinstance(n, ast.Name))
