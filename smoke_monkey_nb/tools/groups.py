"""The built-in tools by group, and what ``create_agent(tools=…)`` means.

Each group is a module with a ``TOOLS`` tuple; a module is imported when its group is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any

from .base import Tool

#: Group → the modules beside this one that hold its tools, in the order the model sees them.
GROUPS: dict[str, tuple[str, ...]] = {
    "notebook": ("variables", "kernel"),
    "files": ("files",),
    "search": ("search",),
    "terminal": ("terminal",),
    "git": ("git",),
    "agent": ("interaction",),
}


def resolve_tools(spec: Any) -> dict[str, Tool]:
    """The tools that ``spec`` names, by name, in its order.

    Args:
        spec: ``"default"`` (every group), a group, a tool, several of these separated by commas, a
            plain typed function (made a mutating tool), a ``Tool``, or a list mixing them; ``[]``
            or ``None`` is no tools.

    Raises:
        ValueError: an unknown name, or two different tools with one name.
        TypeError: something else than the above, or a function without a schema.
    """
    found: dict[str, Tool] = {}
    for item in _items(spec):
        for tool in _tools_of(item):
            if found.setdefault(tool.name, tool) is not tool:
                raise ValueError(f"two tools are named {tool.name!r}; give one another name")
    return found


def group_tools(group: str) -> tuple[Tool, ...]:
    """The tools of one group, in the order the model sees them."""
    modules = (import_module(f".{name}", __package__) for name in GROUPS[group])
    return tuple(tool for module in modules for tool in module.TOOLS)


def _items(spec: Any) -> Iterable[Any]:
    if spec is None:
        return ()
    if isinstance(spec, (list, tuple, set, frozenset)):
        return spec
    return (spec,)


def _tools_of(item: Any) -> Iterable[Tool]:
    if isinstance(item, str):
        return _named(item)
    if isinstance(item, Tool):
        return (item,)
    if callable(item) and not isinstance(item, type):
        from .define import tool

        return (tool(item),)
    raise TypeError(f"tools must be names, functions or Tool objects, got {type(item).__name__}")


def _named(names: str) -> list[Tool]:
    found: list[Tool] = []
    for name in (part.strip() for part in names.split(",")):
        if name == "default":
            found += [tool for group in GROUPS for tool in group_tools(group)]
        elif name in GROUPS:
            found += group_tools(name)
        elif name and name != "none":
            found.append(_single(name))
    return found


def _single(name: str) -> Tool:
    every = {tool.name: tool for group in GROUPS for tool in group_tools(group)}
    if name in every:
        return every[name]
    from difflib import get_close_matches

    close = get_close_matches(name, [*GROUPS, *every], 1)
    meant = f"; did you mean {close[0]!r}?" if close else ""
    raise ValueError(
        f"there is no tool or group named {name!r}{meant} Groups: default, {', '.join(GROUPS)}."
    )
