"""JSON schemas as a model likes them: references inlined, generated titles gone.

Only a type that holds itself keeps its ``$ref`` and its entry in ``$defs``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_PREFIX = "#/$defs/"
#: Keywords whose value maps free names to schemas: a "title" in there is a property, not a title.
_NAMED = ("properties", "patternProperties", "$defs", "dependentSchemas")
#: Keywords whose value is data, never a schema.
_DATA = ("default", "const", "enum", "examples", "required", "discriminator")


def tidy(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The same schema, inlined and without titles."""
    definitions = schema.get("$defs", {})
    kept: dict[str, Any] = {}
    body = _walk({k: v for k, v in schema.items() if k != "$defs"}, definitions, (), kept)
    assert isinstance(body, dict)
    if kept:
        body["$defs"] = kept
    return body


def _walk(
    node: Any, definitions: Mapping[str, Any], open_names: tuple[str, ...], kept: dict[str, Any]
) -> Any:
    if isinstance(node, list):
        return [_walk(item, definitions, open_names, kept) for item in node]
    if not isinstance(node, dict):
        return node
    reference = node.get("$ref", "")
    if reference.startswith(_PREFIX):
        return _resolve(node, reference[len(_PREFIX) :], definitions, open_names, kept)
    out: dict[str, Any] = {}
    for key, value in node.items():
        if key == "title" and isinstance(value, str):
            continue
        if key in _DATA:
            out[key] = value
        elif key in _NAMED:
            out[key] = {n: _walk(v, definitions, open_names, kept) for n, v in value.items()}
        else:
            out[key] = _walk(value, definitions, open_names, kept)
    return out


def _resolve(
    node: dict[str, Any],
    name: str,
    definitions: Mapping[str, Any],
    open_names: tuple[str, ...],
    kept: dict[str, Any],
) -> dict[str, Any]:
    beside = {k: v for k, v in node.items() if k not in ("$ref", "title")}
    if name in open_names or _holds_itself(name, definitions):
        if name not in kept:
            kept[name] = None  # being built: ends the recursion
            kept[name] = _walk(definitions[name], definitions, (*open_names, name), kept)
        return {"$ref": _PREFIX + name, **beside}
    target = _walk(definitions[name], definitions, (*open_names, name), kept)
    return {**target, **beside}


def _holds_itself(name: str, definitions: Mapping[str, Any]) -> bool:
    seen: set[str] = set()
    waiting = list(_references(definitions[name]))
    while waiting:
        current = waiting.pop()
        if current == name:
            return True
        if current not in seen:
            seen.add(current)
            waiting += _references(definitions[current])
    return False


def _references(node: Any) -> list[str]:
    if isinstance(node, list):
        return [r for item in node for r in _references(item)]
    if not isinstance(node, dict):
        return []
    own = node.get("$ref")
    found = [own[len(_PREFIX) :]] if isinstance(own, str) and own.startswith(_PREFIX) else []
    return found + [r for value in node.values() for r in _references(value)]
