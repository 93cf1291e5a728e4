"""Prompt templates: ``{expr}`` becomes the value of ``expr`` in the notebook, other braces stay.

Prompts are full of braces that mean something else (JSON, LaTeX, regular expressions), so a pair
counts only where it holds a valid Python expression with at least one name that exists.
"""

from __future__ import annotations

import ast
import builtins
import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

#: Characters of one value in a prompt; longer ones are cut, and say so.
VALUE_LIMIT = 10_000
_CONVERSIONS: dict[str, Callable[[Any], str]] = {"r": repr, "s": str, "a": ascii}


class TemplateError(ValueError):
    """An expression that exists could not be evaluated; the text is one line for the user."""


@dataclass(frozen=True)
class Expanded:
    """The prompt with its values, and notices about braces that look like a misspelt name."""

    text: str
    notices: tuple[str, ...]


@dataclass(frozen=True)
class _Field:
    """``{source!conversion:spec}``."""

    source: str
    code: ast.Expression
    conversion: str | None
    spec: str


def expand(template: str, namespace: Mapping[str, Any]) -> Expanded:
    """Fill the template in.

    Raises:
        TemplateError: an expression with a name that exists raised.
    """
    pieces: list[str] = []
    notices: list[str] = []
    at = 0
    while at < len(template):
        if template[at] != "{":
            end = template.find("{", at)
            end = len(template) if end < 0 else end
            pieces.append(template[at:end])
            at = end
            continue
        close = _closing(template, at)
        if close is None:
            pieces.append("{")
            at += 1
            continue
        inner = template[at + 1 : close]
        if _is_doubled(inner):
            pieces.append(inner)
            at = close + 1
            continue
        replaced, notice = _replace(inner, namespace)
        notices += [notice] if notice else []
        if replaced is None:  # these braces stay; there may be a field inside them
            pieces.append("{")
            at += 1
        else:
            pieces.append(replaced)
            at = close + 1
    return Expanded("".join(pieces), tuple(dict.fromkeys(notices)))


def preview(value: Any) -> str:
    """A value as it stands in a prompt: frames and arrays bounded, with their shape."""
    if isinstance(value, str):
        return _bounded(value)
    if _is_tabular(value):
        from ..tools.results import to_output

        return _bounded(to_output(value).text)
    return _bounded(str(value))


def _is_tabular(value: Any) -> bool:
    kind = type(value)
    return hasattr(kind, "shape") and (hasattr(kind, "dtype") or hasattr(kind, "dtypes"))


def _bounded(text: str) -> str:
    if len(text) <= VALUE_LIMIT:
        return text
    half = VALUE_LIMIT // 2
    left_out = len(text) - 2 * half
    return f"{text[:half]}\n… ({left_out} characters left out) …\n{text[-half:]}"


def _closing(template: str, start: int) -> int | None:
    """The brace that closes the one at ``start``, brackets and quoted strings within considered."""
    depth = 0
    quote = ""
    for at in range(start, len(template)):
        character = template[at]
        if quote:
            if character == quote:
                quote = ""
        elif character in "'\"" and depth and template.find(character, at + 1) >= 0:
            quote = character
        elif character == "{":
            depth += 1
        elif character == "}":
            depth -= 1
            if depth == 0:
                return at
    return template.find("}", start) if "}" in template[start:] else None


def _is_doubled(inner: str) -> bool:
    """Whether the braces hold exactly one more pair: ``{{x}}``."""
    if not (inner.startswith("{") and inner.endswith("}")):
        return False
    return _closing(inner, 0) == len(inner) - 1


def _replace(inner: str, namespace: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """The text for a field, or ``None`` if it is none; and a notice."""
    field = _parse(inner)
    if field is None:
        return None, None
    names = _names(field.code)
    if not any(name in namespace for name in names):
        return None, _misspelt(names, namespace)
    try:
        value = eval(  # noqa: S307 - the user's own expression, in the user's own notebook
            compile(field.code, "<prompt>", "eval"), dict(namespace)
        )
        return _format(value, field, namespace), None
    except NameError as error:
        return None, f"{{{inner}}} was left as it stands: {error}."
    except Exception as error:
        raise TemplateError(f"{{{inner}}} in the prompt: {type(error).__name__}: {error}") from None


def _format(value: Any, field: _Field, namespace: Mapping[str, Any]) -> str:
    if field.conversion is None and not field.spec:
        return preview(value)
    if field.conversion is not None:
        value = _CONVERSIONS[field.conversion](value)
    return _bounded(format(value, expand(field.spec, namespace).text))


def _parse(inner: str) -> _Field | None:
    """The expression with its conversion and format spec; the longest expression wins."""
    code = _expression(inner)
    if code is not None:
        return _Field(inner, code, None, "")
    cuts = [i for i, character in enumerate(inner) if character == ":"]
    for end in [len(inner), *reversed(cuts)]:
        source, spec = inner[:end], inner[end + 1 :]
        conversion = None
        if source[-2:-1] == "!" and source[-1] in _CONVERSIONS:
            source, conversion = source[:-2], source[-1]
        elif end == len(inner):
            continue
        code = _expression(source)
        if code is not None:
            return _Field(source, code, conversion, spec)
    return None


def _expression(source: str) -> ast.Expression | None:
    stripped = source.strip()
    if not stripped or "\n" in stripped:
        return None
    try:
        return ast.parse(stripped, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _names(code: ast.Expression) -> list[str]:
    return [n.id for n in ast.walk(code) if isinstance(n, ast.Name)]


def _misspelt(names: list[str], namespace: Mapping[str, Any]) -> str | None:
    known = [n for n in namespace if not n.startswith("_")]
    for name in names:
        if len(name) < 3 or hasattr(builtins, name):
            continue
        close = difflib.get_close_matches(name, known, n=1, cutoff=0.8)
        if close:
            return f"{{{name}}} was left as it stands; did you mean {{{close[0]}}}?"
    return None
