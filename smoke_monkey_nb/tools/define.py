"""``@tool``: a typed Python function becomes a tool that the model can call.

The schema comes from the annotations and the docstring's Args. A wrong definition fails here,
when it is written, not when a model calls it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from typing import Any, overload

from ..aio import is_async
from . import docstrings
from .base import Tool

#: What chat-completions servers accept as a function name.
_NAME = re.compile(r"^[A-Za-z0-9_-]{1,64}$")


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...
@overload
def tool(
    *, read_only: bool = ..., name: str | None = ..., timeout_s: float | None = ...
) -> Callable[[Callable[..., Any]], Tool]: ...
def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    read_only: bool = False,
    name: str | None = None,
    timeout_s: float | None = None,
) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Make a ``Tool`` of a typed function: ``@tool``, ``@tool(read_only=True, timeout_s=5)``.

    Async functions run on the agent's loop, sync ones on a worker thread. A parameter annotated
    ``ToolContext`` is filled in by the loop and hidden from the model. The tool can still be called
    like the function.

    Args:
        read_only: it changes nothing, so it runs without asking.
        name: the name for the model; the function's own if not given.
        timeout_s: seconds a call may take; the agent's ``tool_timeout_s`` if not given.

    Raises:
        TypeError: no function, or a parameter that has no schema (no annotation, ``*args``,
            ``**kwargs``).
        ValueError: the name has other characters than letters, digits, ``_`` and ``-``, or the time
            limit is not positive.
    """
    local_names = _caller_names()

    def make(function: Callable[..., Any]) -> Tool:
        return _define(function, local_names, read_only, name, timeout_s)

    return make if function is None else make(function)


def _caller_names() -> Mapping[str, Any]:
    """Local names where ``@tool`` stands, for annotations that name a class defined there."""
    frame = sys._getframe(2)
    return {} if frame.f_locals is frame.f_globals else dict(frame.f_locals)


def _define(
    function: Callable[..., Any],
    local_names: Mapping[str, Any],
    read_only: bool,
    name: str | None,
    timeout_s: float | None,
) -> Tool:
    from .schema import arguments_of

    if isinstance(function, (Tool, type)) or not callable(function):
        raise TypeError(f"@tool needs a function, got {type(function).__name__}")
    own_name = getattr(function, "__name__", None) or type(function).__name__
    tool_name = own_name if name is None else name
    if not isinstance(tool_name, str) or not _NAME.match(tool_name):
        raise ValueError(
            f"{tool_name!r} is no tool name: use 1 to 64 letters, digits, '_' or '-' (name=…)"
        )
    if timeout_s is not None and not timeout_s > 0:
        raise ValueError(f"timeout_s must be positive, got {timeout_s!r}")
    arguments = arguments_of(function, local_names)
    return Tool(
        name=tool_name,
        description=docstrings.parse(function.__doc__).description,
        parameters=arguments.parameters,
        function=function,
        validate=arguments.validate,
        read_only=read_only,
        where="loop" if is_async(function) else "thread",
        timeout_s=timeout_s,
        context_parameter=arguments.context_parameter,
    )
