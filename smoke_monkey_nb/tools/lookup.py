"""Finds the value that ``df``, ``df['a']``, ``config.paths[0]`` names without running user code.

The path is parsed, not evaluated. Attributes are looked up statically, items only in containers of
Python itself and of the table libraries; a property or an own ``__getitem__`` would run code.
"""

from __future__ import annotations

import ast
import inspect
import types
from collections import OrderedDict, defaultdict, deque
from collections.abc import Mapping
from typing import Any

from . import describing, tables
from .errors import ToolError
from .text import one_line

_IPYTHON = ("In", "Out", "exit", "quit", "get_ipython", "open")
_CONTAINERS = (
    dict,
    list,
    tuple,
    str,
    bytes,
    OrderedDict,
    defaultdict,
    deque,
    types.MappingProxyType,
)


def look_up(path: str, namespace: Mapping[str, Any]) -> Any:
    """The value at ``path``.

    Raises:
        ToolError: it is no simple path, leads nowhere, or would need code to run.
    """
    shown = one_line(path)
    try:
        node = ast.parse(path.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ToolError(
            f"{shown!r} is no variable name or simple path like df['a'] or config.paths[0]"
        ) from None
    steps: list[ast.Attribute | ast.Subscript] = []
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        steps.append(node)
        node = node.value
    if not isinstance(node, ast.Name) or len(steps) > 20:
        raise ToolError(f"{shown!r} is no simple path; use run_python to compute something")
    if node.id not in namespace:
        known = [n for n in namespace if not n.startswith("_") and n not in _IPYTHON]
        from difflib import get_close_matches

        close = get_close_matches(node.id, known, 1)
        meant = f"; did you mean {close[0]!r}?" if close else ""
        raise ToolError(f"there is no variable {node.id!r}{meant}")
    value = namespace[node.id]
    for step in reversed(steps):
        value = (
            _attribute(value, step.attr) if isinstance(step, ast.Attribute) else _item(value, step)
        )
    return value


def _attribute(value: Any, name: str) -> Any:
    if tables.is_tabular(value):  # a library's own properties, such as df.columns
        return _library_attribute(value, name)
    found = inspect.getattr_static(value, name, _MISSING)
    if found is _MISSING:
        raise ToolError(f"{describing.type_name(value)} has no attribute {name!r}")
    if isinstance(found, types.MemberDescriptorType):  # __slots__
        try:
            return found.__get__(value)
        except AttributeError:
            raise ToolError(f"the attribute {name!r} is not set") from None
    own = getattr(type(found), "__get__", None) is not None
    if own and not isinstance(found, (types.FunctionType, type)):
        raise ToolError(f"{name!r} is computed when it is read; use run_python for it")
    return found


_MISSING = object()


def _library_attribute(value: Any, name: str) -> Any:
    try:
        return getattr(value, name)
    except Exception as error:
        raise ToolError(
            f"{describing.type_name(value)} has no attribute {name!r} ({type(error).__name__})"
        ) from None


def _item(value: Any, step: ast.Subscript) -> Any:
    key = _key(step.slice)
    if type(value) not in _CONTAINERS and not tables.is_tabular(value):
        raise ToolError(
            f"items of a {describing.type_name(value)} are not read without running code"
        )
    try:
        # Plain dict lookup: a defaultdict would make the missing item.
        return dict.__getitem__(value, key) if isinstance(value, dict) else value[key]
    except Exception as error:
        raise ToolError(f"there is no item {key!r} ({type(error).__name__})") from None


def _key(node: ast.expr) -> Any:
    if isinstance(node, ast.Slice):
        bounds = [
            None if part is None else _key(part) for part in (node.lower, node.upper, node.step)
        ]
        return slice(*bounds)
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError):
        raise ToolError("an item must be given as a plain value: ['a'], [0], [1:3]") from None
