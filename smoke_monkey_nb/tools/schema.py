"""From a typed function to a JSON schema and a validator, by pydantic.

The parameters become the fields of a pydantic model made on the fly. Fields are called ``p0``,
``p1``, … and carry the parameter's name as alias, because pydantic reserves names (``_x``,
``model_config``, ``json``) that are good parameter names. pydantic is imported when the first
tool is defined, not before.
"""

from __future__ import annotations

import contextlib
import inspect
import json
import sys
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from . import docstrings
from .base import ToolContext, ToolInputError
from .schema_json import tidy
from .wording import Problem, shown, tell

_EMPTY = inspect.Parameter.empty


@dataclass(frozen=True)
class Arguments:
    """What a function takes, as the model sees it (``parameters``) and as it is checked."""

    parameters: Mapping[str, Any]
    validate: Callable[[Mapping[str, Any]], dict[str, Any]]
    context_parameter: str | None


def arguments_of(function: Callable[..., Any], local_names: Mapping[str, Any]) -> Arguments:
    """Read the signature of ``function``; annotations are looked up in its module, then in
    ``local_names``.

    Raises:
        TypeError: a parameter has no annotation, one without a JSON form, or is one that keyword
            arguments cannot reach.
    """
    parameters = _parameters(function)
    hints = _hints(function, parameters, local_names)
    context = [name for name in parameters if _is_context(hints[name])]
    if len(context) > 1:
        raise TypeError(f"{_label(function)}: only one parameter can take the ToolContext")
    fields = {n: (hints[n], p.default) for n, p in parameters.items() if n not in context}
    about = docstrings.parse(function.__doc__).arguments
    model = _model(function, fields, about)
    return Arguments(
        _json_schema(function, model, fields),
        _validator(model, list(fields)),
        context[0] if context else None,
    )


def _label(function: Callable[..., Any]) -> str:
    return f"tool {getattr(function, '__name__', function)!s}"


def _parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{_label(function)}: its signature cannot be read ({error})") from None
    for name, parameter in signature.parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            stars = "*" if parameter.kind is parameter.VAR_POSITIONAL else "**"
            raise TypeError(
                f"{_label(function)}: {stars}{name} has no schema; name each argument instead"
            )
        if parameter.kind is parameter.POSITIONAL_ONLY:
            raise TypeError(f"{_label(function)}: {name} is positional-only; drop the '/'")
        if parameter.annotation is _EMPTY:
            raise TypeError(
                f"{_label(function)}: parameter {name!r} needs a type annotation, for its schema"
            )
    return dict(signature.parameters)


def _hints(
    function: Callable[..., Any],
    parameters: Mapping[str, inspect.Parameter],
    local_names: Mapping[str, Any],
) -> dict[str, Any]:
    """The annotations, evaluated; the return type is left alone, it may be anything."""
    plain = inspect.unwrap(function)
    plain = getattr(plain, "func", plain)  # functools.partial
    module = getattr(sys.modules.get(getattr(plain, "__module__", "")), "__dict__", {})
    global_names = getattr(plain, "__globals__", module)
    hints = {}
    for name, parameter in parameters.items():
        holder = types.SimpleNamespace(__annotations__={name: parameter.annotation})
        try:
            found = typing.get_type_hints(
                holder, global_names, dict(local_names), include_extras=True
            )
        except Exception as error:
            raise TypeError(
                f"{_label(function)}: the annotation of {name!r} cannot be resolved ({error})"
            ) from None
        hints[name] = found[name]
    return hints


def _is_context(hint: Any) -> bool:
    return hint is ToolContext or ToolContext in typing.get_args(hint)


def _model(
    function: Callable[..., Any], fields: Mapping[str, tuple[Any, Any]], about: Mapping[str, str]
) -> Any:
    from pydantic import ConfigDict, Field, create_model
    from pydantic.errors import PydanticSchemaGenerationError, PydanticUserError

    definitions: dict[str, Any] = {}
    for index, (name, (hint, default)) in enumerate(fields.items()):
        # The real default is the function's own affair: what the model leaves out is not passed.
        more: dict[str, Any] = {} if default is _EMPTY else {"default": None}
        description = about.get(name) or _annotated_text(hint)
        definitions[f"p{index}"] = (hint, Field(alias=name, description=description, **more))
    try:
        return create_model(
            "Arguments",
            __config__=ConfigDict(extra="forbid", hide_input_in_errors=True),
            __module__=__name__,
            **definitions,
        )
    except (PydanticSchemaGenerationError, PydanticUserError, TypeError) as error:
        first = str(error).splitlines()[0]
        raise TypeError(f"{_label(function)}: no schema for an argument: {first}") from None


def _annotated_text(hint: Any) -> str | None:
    """The text in ``Annotated[int, "how many rows"]``."""
    texts = [m for m in getattr(hint, "__metadata__", ()) if isinstance(m, str)]
    return texts[0] if texts else None


def _json_schema(
    function: Callable[..., Any], model: Any, fields: Mapping[str, tuple[Any, Any]]
) -> dict[str, Any]:
    from pydantic.errors import PydanticInvalidForJsonSchema

    try:
        schema = tidy(model.model_json_schema(by_alias=True))
    except PydanticInvalidForJsonSchema as error:
        raise TypeError(f"{_label(function)}: an argument has no JSON form: {error}") from None
    properties = schema.setdefault("properties", {})
    for name, (_, default) in fields.items():
        properties[name].pop("default", None)
        if default is not _EMPTY:
            _put_default(properties[name], default)
    schema["type"] = "object"
    schema["additionalProperties"] = False
    return schema


def _put_default(schema: dict[str, Any], default: Any) -> None:
    value = getattr(default, "value", default)  # an enum member
    with contextlib.suppress(TypeError, ValueError):  # what JSON cannot say is not shown
        schema["default"] = json.loads(json.dumps(value, allow_nan=False))


def _validator(model: Any, names: list[str]) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    from pydantic import ValidationError

    def validate(arguments: Mapping[str, Any]) -> dict[str, Any]:
        if not isinstance(arguments, Mapping):
            raise ToolInputError(f"the arguments should be an object, got {shown(arguments)}")
        try:
            checked = model.model_validate(dict(arguments))
        except ValidationError as error:
            problems = [
                Problem(e["type"], e["loc"], e["msg"], e.get("ctx") or {})
                for e in error.errors(include_url=False, include_input=False)
            ]
            raise ToolInputError(tell(problems, arguments, names)) from None
        given = checked.model_fields_set
        return {n: getattr(checked, f"p{i}") for i, n in enumerate(names) if f"p{i}" in given}

    return validate
