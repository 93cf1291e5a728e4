"""Schemas and validators of the built-in tools, without pydantic.

Importing pydantic costs a fifth of a second, which every ``create_agent`` would pay. The built-in
tools need strings, integers, booleans and lists only, so their arguments are written down as JSON
schema fragments (``text``, ``integer``, …) and checked by the few rules below.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .base import ToolInputError
from .wording import shown

Schema = dict[str, Any]
_NO_DEFAULT = object()


def text(about: str, default: Any = _NO_DEFAULT) -> Schema:
    """A string argument; with default ``None`` it may be left out."""
    return _with_default({"type": "string", "description": about}, default)


def integer(about: str, default: Any = _NO_DEFAULT, *, minimum: int, maximum: int) -> Schema:
    """A whole number within bounds."""
    bounds = {"minimum": minimum, "maximum": maximum}
    return _with_default({"type": "integer", "description": about, **bounds}, default)


def flag(about: str, default: bool) -> Schema:
    """True or false."""
    return _with_default({"type": "boolean", "description": about}, default)


def choice(about: str, options: Sequence[str]) -> Schema:
    """One of some words."""
    return {"type": "string", "description": about, "enum": list(options)}


def listing(about: str, items: Schema, default: Any = _NO_DEFAULT) -> Schema:
    """A list of ``items``."""
    return _with_default({"type": "array", "description": about, "items": items}, default)


def record(**properties: Schema) -> Schema:
    """An object with exactly these properties; those without a default are required."""
    required = [name for name, schema in properties.items() if "default" not in schema]
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def validator(parameters: Schema) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """The check of an arguments object; defaults are left to the function."""

    def validate(arguments: Mapping[str, Any]) -> dict[str, Any]:
        if not isinstance(arguments, Mapping):
            raise ToolInputError(f"the arguments should be an object, got {shown(arguments)}")
        problems: list[str] = []
        checked = _record("", arguments, parameters, problems)
        if problems:
            raise ToolInputError("; ".join(problems[:5]))
        return checked

    return validate


def _with_default(schema: Schema, default: Any) -> Schema:
    if default is _NO_DEFAULT:
        return schema
    if default is None:  # null says the same as leaving it out
        schema["type"] = [schema["type"], "null"]
    schema["default"] = default
    return schema


def _record(
    place: str, value: Mapping[str, Any], schema: Schema, problems: list[str]
) -> dict[str, Any]:
    properties = schema["properties"]
    inner = f"{place}." if place else ""
    out: dict[str, Any] = {}
    for name, given in value.items():
        if name not in properties:
            known = ", ".join(properties) or "none"
            problems.append(f"{inner}{name}: is not an argument (arguments: {known})")
        elif given is None and "default" in properties[name]:
            continue
        else:
            out[name] = _check(f"{inner}{name}", given, properties[name], problems)
    missing = [name for name in schema["required"] if name not in value]
    problems += [f"{inner}{name}: is required" for name in missing]
    return out


def _check(place: str, value: Any, schema: Schema, problems: list[str]) -> Any:
    kind = schema["type"]
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        if isinstance(value, Mapping):
            return _record(place, value, schema, problems)
    elif kind == "array":
        if isinstance(value, (list, tuple)):
            return [
                _check(f"{place}[{i}]", item, schema["items"], problems)
                for i, item in enumerate(value)
            ]
    else:
        return _scalar(place, value, kind, schema, problems)
    problems.append(f"{place}: should be {_NAMES[kind]}, got {shown(value)}")
    return None


_NAMES = {
    "string": "a string",
    "integer": "an integer",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
}


def _scalar(place: str, value: Any, kind: str, schema: Schema, problems: list[str]) -> Any:
    found = _READERS[kind](value)
    if found is None:
        problems.append(f"{place}: should be {_NAMES[kind]}, got {shown(value)}")
    elif found not in schema.get("enum", [found]):
        options = " or ".join(map(repr, schema["enum"]))
        problems.append(f"{place}: should be {options}, got {shown(value)}")
    elif kind == "integer" and not schema["minimum"] <= found <= schema["maximum"]:
        bounds = f"{schema['minimum']} to {schema['maximum']}"
        problems.append(f"{place}: should be {bounds}, got {shown(value)}")
    return found


def _read_integer(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and value.strip().lstrip("+-").isdecimal() and len(value) < 20:
        return int(value)
    return value if isinstance(value, int) else None


def _read_boolean(value: Any) -> bool | None:
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    return value if isinstance(value, bool) else None


_READERS: dict[str, Callable[[Any], Any]] = {
    "string": lambda value: value if isinstance(value, str) else None,
    "integer": _read_integer,
    "boolean": _read_boolean,
}
