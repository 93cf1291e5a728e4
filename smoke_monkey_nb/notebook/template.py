"""Prompt templates: ``{expr}`` becomes the value of ``expr`` in the notebook, other braces stay.

Prompts are full of braces that mean something else (JSON, LaTeX, regular expressions), so a pair
counts only where it holds a valid Python expression with at least one name that exists. A doubled
pair stands for a single one, as in f-strings, and so does the rest: conversions, format specs.
"""

from __future__ import annotations

import builtins
import difflib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .fields import Field, closings, is_latex, parse_field, partners

#: Characters of one value in a prompt; longer ones are cut, and say so.
VALUE_LIMIT = 10_000
#: Expressions that are tried in one prompt; the braces after them stay.
_PARSES = 5_000
#: Words up to which braces without any known name may be a misspelt one.
_WORDS = 8
#: Format specs may hold fields, those none of their own, as in f-strings.
_DEPTH = 2
#: Notices of one prompt.
_NOTICES = 5
#: Members up to which a collection is written out as Python does.
_MEMBERS = 1_000
_COLLECTIONS = (list, tuple, dict, set, frozenset)
#: What IPython puts among the variables; as words in braces they mean something else.
_NOT_THE_USERS = {"exit", "quit", "get_ipython", "open"}
_CONVERSIONS: dict[str, Callable[[Any], str]] = {"r": repr, "s": str, "a": ascii}
_IDENTIFIER = re.compile(r"[^\W\d]\w*")


class TemplateError(ValueError):
    """An expression that exists could not be evaluated; the text is one line for the user."""


@dataclass(frozen=True)
class Expanded:
    """The prompt with its values, and notices about braces that look like a misspelt name."""

    text: str
    notices: tuple[str, ...]


def expand(template: str, namespace: Mapping[str, Any]) -> Expanded:
    """Fill the template in.

    Raises:
        TemplateError: an expression with a name that exists raised.
    """
    expander = _Expander(namespace)
    text = expander.expand(template)
    return Expanded(text, tuple(dict.fromkeys(expander.notices)))


def preview(value: Any) -> str:
    """A value as it stands in a prompt: frames and arrays bounded, with their shape."""
    is_large = isinstance(value, _COLLECTIONS) and len(value) > _MEMBERS
    if is_large or _is_tabular(value):
        from ..tools.results import to_output

        return _bounded(to_output(value).text)
    return _bounded(str(value))


def _is_tabular(value: Any) -> bool:
    kind = type(value)
    is_one = hasattr(kind, "shape") and (hasattr(kind, "dtype") or hasattr(kind, "dtypes"))
    return is_one and getattr(value, "shape", ()) != ()  # numpy's numbers have an empty one


def _bounded(text: str) -> str:
    if len(text) <= VALUE_LIMIT:
        return text
    half = VALUE_LIMIT // 2
    left_out = len(text) - 2 * half
    return f"{text[:half]}\n… ({left_out} characters left out) …\n{text[-half:]}"


class _Expander:
    """Expands one prompt."""

    def __init__(self, namespace: Mapping[str, Any]) -> None:
        self._namespace = namespace
        self._depth = 0
        self._parses_left = _PARSES
        self._parsed: dict[str, Field | None] = {}
        self._near: dict[str, str | None] = {}
        self.notices: list[str] = []

    def expand(self, template: str) -> str:
        """The text with its values."""
        return "".join(self._pieces(template, partners(template)))

    def _pieces(self, template: str, partners: Mapping[int, int]) -> Iterator[str]:
        doubled: list[int] = []  # where the open doubled pairs close, the innermost last
        latex_ends: set[int] = set()  # closing braces of LaTeX arguments, for \frac{a}{b}
        at, last = 0, template.rfind("}")
        while True:
            brace = template.find("{", at, max(at, last))
            if doubled and (brace < 0 or brace > doubled[-1]):
                closing = doubled.pop()
                if closing >= at:
                    yield template[at:closing] + "}"
                    at = closing + 2
                continue
            if brace < 0:
                yield template[at:]
                return
            yield template[at:brace]
            partner = partners.get(brace)
            if partner is not None and partners.get(brace + 1) == partner - 1:
                doubled.append(partner - 1)
                text, at = "{", brace + 2
            elif is_latex(template, brace, latex_ends):
                latex_ends |= {partner} if partner is not None else set()
                text, at = "{", brace + 1
            else:
                text, at = self._field(template, brace, partner)
            yield text

    def _field(self, template: str, start: int, partner: int | None) -> tuple[str, int]:
        """What stands for the brace at ``start``, and where to go on."""
        for closing in closings(template, start, partner):
            text = self._replaced(template[start + 1 : closing])
            if text is not None:
                return text, closing + 1
        return "{", start + 1  # it stays; there may be a field within

    def _replaced(self, inner: str) -> str | None:
        """The text for a field, or ``None`` if it is none."""
        if not self._is_worth_parsing(inner):
            return None
        field = self._parse(inner)
        if field is None:
            return None
        if not any(self._exists(name) for name in field.names):
            self._note_misspelt(inner, field)
            return None
        return self._evaluated(inner, field)

    def _is_worth_parsing(self, inner: str) -> bool:
        if "\n" in inner or "\r" in inner:
            return False
        words = _IDENTIFIER.findall(inner)
        return any(self._exists(w) for w in words) or (0 < len(words) <= _WORDS)

    def _exists(self, name: str) -> bool:
        return name in self._namespace and name not in _NOT_THE_USERS

    def _parse(self, inner: str) -> Field | None:
        if inner not in self._parsed:
            if self._parses_left <= 0:
                return None
            self._parses_left -= 1
            self._parsed[inner] = parse_field(inner)
        return self._parsed[inner]

    def _evaluated(self, inner: str, field: Field) -> str | None:
        try:
            value = eval(  # noqa: S307 - the user's own expression, in the user's own notebook
                compile(field.code, "<prompt>", "eval"), dict(self._namespace)
            )
            if field.conversion is None and not field.spec:
                return preview(value)
            if field.conversion is not None:
                value = _CONVERSIONS[field.conversion](value)
        except NameError as error:
            self._note(inner, f"was left as it stands: {error}.")
            return None
        except Exception as error:
            raise _failure(inner, error) from None
        if self._depth + 1 >= _DEPTH and "{" in field.spec:
            return None
        self._depth += 1
        try:
            spec = self.expand(field.spec)
        finally:
            self._depth -= 1
        return self._formatted(inner, value, spec)

    def _formatted(self, inner: str, value: Any, spec: str) -> str | None:
        try:
            return _bounded(format(value, spec))
        except (ValueError, TypeError) as error:  # {key: value} of some other language
            self._note(inner, f"was left as it stands: {error}.")
            return None
        except Exception as error:
            raise _failure(inner, error) from None

    def _note(self, inner: str, text: str) -> None:
        if len(self.notices) < _NOTICES:
            self.notices.append(f"{{{inner}}} {text}")

    def _note_misspelt(self, inner: str, field: Field) -> None:
        if len(self.notices) >= _NOTICES:
            return
        for name in sorted(field.names):
            close = self._near_name(name)
            if close is not None:
                self._note(inner, f"was left as it stands; did you mean {{{close}}}?")
                return

    def _near_name(self, name: str) -> str | None:
        if len(name) < 3 or hasattr(builtins, name):
            return None
        if name not in self._near:
            known = [n for n in self._namespace if n[:1] != "_" and self._exists(n)]
            close = difflib.get_close_matches(name, known, n=1, cutoff=0.75)
            self._near[name] = close[0] if close else None
        return self._near[name]


def _failure(inner: str, error: Exception) -> TemplateError:
    said = " ".join(f"{type(error).__name__}: {error}".split())
    return TemplateError(f"{{{inner}}} in the prompt: {said[:300]}")
