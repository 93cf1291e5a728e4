"""What a docstring says of a function and of each argument: Google, NumPy and reST style.

The arguments' part is taken out; everything else, in its order, is the description that the model
reads.
"""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass, field

_GOOGLE_HEAD = re.compile(
    r"^(Args|Arguments|Parameters|Params|Keyword Args|Keyword Arguments):\s*$"
)
_GOOGLE_ITEM = re.compile(
    r"^\*{0,2}(?P<name>\w+)\s*(\([^)]*(\([^)]*\)[^)]*)*\))?\s*:\s?(?P<text>.*)$"
)
_NUMPY_HEAD = re.compile(r"^(Parameters|Other Parameters|Args|Arguments)\s*$")
_NUMPY_ITEM = re.compile(r"^(?P<names>\*{0,2}\w+(\s*,\s*\w+)*)\s*(:.*)?$")
_REST_PARAM = re.compile(
    r"^:(param|parameter|arg|argument|key|keyword)\s+([^:]*\s)?\*{0,2}(?P<name>\w+)\s*:\s?(?P<text>.*)$"
)
_REST_NOISE = re.compile(r"^:(type|rtype)\b[^:]*:.*$")


@dataclass
class Doc:
    """A docstring, taken apart. ``arguments`` maps names to their descriptions."""

    description: str
    arguments: dict[str, str] = field(default_factory=dict)


def parse(docstring: str | None) -> Doc:
    """Take a docstring apart; never raises, whatever its style."""
    lines = inspect.cleandoc(docstring or "").splitlines()
    rest: list[str] = []
    arguments: dict[str, str] = {}
    index = 0
    while index < len(lines):
        line = lines[index]
        following = lines[index + 1] if index + 1 < len(lines) else ""
        if _GOOGLE_HEAD.match(line) and (following.startswith((" ", "\t")) or not following):
            index = _google(lines, index + 1, arguments)
        elif _NUMPY_HEAD.match(line) and re.match(r"^-{3,}\s*$", following):
            index = _numpy(lines, index + 2, arguments)
        elif _REST_PARAM.match(line) or _REST_NOISE.match(line):
            index = _rest(lines, index, arguments)
        else:
            rest.append(line)
            index += 1
    return Doc(re.sub(r"\n{3,}", "\n\n", "\n".join(rest)).strip(), arguments)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _join(parts: list[str]) -> str:
    return " ".join(p for p in (part.strip() for part in parts) if p)


def _google(lines: list[str], index: int, arguments: dict[str, str]) -> int:
    """Read the indented block from ``index``; items begin at its first line's indent."""
    while index < len(lines) and not lines[index].strip():
        index += 1
    base = _indent(lines[index]) if index < len(lines) else 0
    name, parts = "", list[str]()
    while index < len(lines) and (not lines[index].strip() or _indent(lines[index]) > 0):
        line = lines[index]
        item = _GOOGLE_ITEM.match(line.strip()) if _indent(line) <= base else None
        if item:
            _keep(arguments, name, parts)
            name, parts = item["name"], [item["text"]]
        else:
            parts.append(line)
        index += 1
    _keep(arguments, name, parts)
    return index


def _numpy(lines: list[str], index: int, arguments: dict[str, str]) -> int:
    """Read items (unindented ``name : type``, text below indented) until the next section."""
    names, parts = list[str](), list[str]()
    while index < len(lines):
        line = lines[index]
        following = lines[index + 1] if index + 1 < len(lines) else ""
        if line.strip() and re.match(r"^[-=]{3,}\s*$", following):
            break
        item = _NUMPY_ITEM.match(line) if _indent(line) == 0 and line.strip() else None
        if item is None and line.strip() and _indent(line) == 0:
            break
        if item:
            for name in names:
                _keep(arguments, name, parts)
            names, parts = re.findall(r"\w+", item["names"]), []
        else:
            parts.append(line)
        index += 1
    for name in names:
        _keep(arguments, name, parts)
    return index


def _rest(lines: list[str], index: int, arguments: dict[str, str]) -> int:
    """Read one field; lines indented below it belong to it."""
    item = _REST_PARAM.match(lines[index])
    parts = [item["text"]] if item else []
    index += 1
    while index < len(lines) and lines[index].strip() and _indent(lines[index]) > 0:
        parts.append(lines[index])
        index += 1
    if item:
        _keep(arguments, item["name"], parts)
    return index


def _keep(arguments: dict[str, str], name: str, parts: list[str]) -> None:
    text = _join(parts)
    if name and text:
        arguments.setdefault(name, text)
