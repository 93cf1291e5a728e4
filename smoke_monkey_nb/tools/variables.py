"""Tools that look at the notebook: its variables, one variable closely, the cells run lately.

They change nothing and call no code of the user's except a guarded ``repr``. They run on the main
thread all the same, since the variables belong to it.
"""

from __future__ import annotations

import re
import types
from collections.abc import Callable, Mapping
from typing import Any

from ..redact import scrub
from . import describing, inspection, tables
from .base import Tool, ToolContext
from .errors import ToolError
from .lookup import look_up
from .running import shell_of
from .signature import Schema, integer, record, text, validator
from .text import bounded, one_line

_MAX_VARIABLES = 200
_CELL = 2_000
_RESULT = 500
_SECRET = re.compile(
    r"(?i)(^|_)(api_?key|key|token|secret|passw(or)?d|passphrase|credentials?)s?($|_)"
)
_IPYTHON = ("In", "Out", "exit", "quit", "get_ipython", "open")


def list_variables(context: ToolContext) -> str:
    """One line a variable: name, type, size or value; then functions, classes and modules by
    name.
    """
    namespace = _namespace(context)
    shell = shell_of(namespace)
    hidden = getattr(shell, "user_ns_hidden", {}) if shell is not None else {}
    lines: list[str] = []
    named: dict[str, list[str]] = {"functions": [], "classes": [], "modules": []}
    for name, value in list(namespace.items()):
        if not isinstance(name, str) or name.startswith("_"):
            continue
        if name in hidden and hidden[name] is value:
            continue
        if shell is not None and name in _IPYTHON:
            continue
        kind = _kind(value)
        if kind is None:
            lines.append(_line(name, value))
        else:
            named[kind].append(name)
    more = len(lines) - _MAX_VARIABLES
    out = lines[:_MAX_VARIABLES] + ([f"… and {more:,} more variables"] if more > 0 else [])
    out += [f"({kind}: {one_line(', '.join(n), 1_000)})" for kind, n in named.items() if n]
    return scrub("\n".join(out)) or "(There are no variables yet.)"


def _kind(value: Any) -> str | None:
    if isinstance(value, types.ModuleType):
        return "modules"
    if isinstance(value, type):
        return "classes"
    return "functions" if isinstance(value, types.FunctionType) else None


def _line(name: str, value: Any) -> str:
    if tables.is_tabular(value):
        return f"{name}: {tables.title(value)}"
    kind = describing.type_name(value)
    if _is_secret(name, value):
        return f"{name}: {kind} (not shown: its name says that it is secret)"
    size = inspection.size_of(value)
    if size:
        return f"{name}: {kind}, {size}"
    # The repr of a lazy object may start a computation or a query.
    return f"{name}: {kind} = {_short(value)}" if inspection.is_plain(value) else f"{name}: {kind}"


def _short(value: Any) -> str:
    return one_line(describing.describe(value, 400), 100)


def _is_secret(name: str, value: Any) -> bool:
    return isinstance(value, (str, bytes)) and _SECRET.search(name) is not None


def inspect_variable(name: str, context: ToolContext, rows: int = 10) -> str:
    """A close look at one value."""
    value = look_up(name, _namespace(context))
    return bounded(scrub(inspection.inspect_value(name, value, rows)))


def _inspect_reason(arguments: Mapping[str, Any], context: ToolContext) -> str | None:
    name = str(arguments.get("name", ""))
    last = re.split(r"[^\w]+", name.rstrip("]'\" "))[-1]
    if _SECRET.search(last):
        return f"{one_line(name)} seems to hold a secret; the model would read it."
    return None


def recent_cells(context: ToolContext, n: int = 10) -> str:
    """The last cells and their results, oldest first."""
    namespace = _namespace(context)
    shell = shell_of(namespace)
    if shell is None:
        return "(There are no cells: this is no notebook.)"
    sources = list(getattr(shell.history_manager, "input_hist_raw", []) or [])
    # The last one is the agent's own cell, which is running.
    past = [(i, str(s)) for i, s in enumerate(sources[:-1]) if s and i][-n:]
    outputs = namespace.get("Out")
    outputs = outputs if isinstance(outputs, dict) else {}
    cells = [_cell(i, source, outputs) for i, source in past]
    return bounded(scrub("\n\n".join(cells))) or "(No cell was run before this one.)"


def _cell(number: int, source: str, outputs: Mapping[int, Any]) -> str:
    shown = f"In [{number}]:\n{bounded(source.strip(), _CELL)}"
    if number not in outputs:
        return shown
    value = outputs[number]
    result = (
        tables.title(value) if tables.is_tabular(value) else describing.describe(value, _RESULT)
    )
    return f"{shown}\nOut[{number}]: {result}"


def _namespace(context: ToolContext) -> dict[str, Any]:
    if context.namespace is None:
        raise ToolError("there are no variables here: the agent does not run in a notebook")
    return context.namespace


def _tool(
    function: Callable[..., Any],
    description: str,
    summary: Callable[[Mapping[str, Any]], str] | None = None,
    **arguments: Schema,
) -> Tool:
    parameters = record(**arguments)
    return Tool(
        name=function.__name__,
        description=description,
        parameters=parameters,
        function=function,
        validate=validator(parameters),
        read_only=True,
        where="main",
        context_parameter="context",
        group="notebook",
        summary=summary,
        subject=lambda a, _: str(a.get("name", "")),
        asks=_inspect_reason if function is inspect_variable else None,
    )


TOOLS = (
    _tool(
        list_variables,
        "List the variables of the person's notebook with type and size, and the functions, "
        "classes and modules by name.",
    ),
    _tool(
        inspect_variable,
        "Look closely at one variable: for a data frame its shape, columns with type and missing "
        "values, first rows and statistics; for arrays shape, type and range; for anything else "
        "its content or attributes, bounded. Computes nothing; use run_python for that.",
        lambda a: one_line(a["name"]),
        name=text("A variable, or a path into one: df, df['price'], config.paths[0]."),
        rows=integer("How many rows of a frame.", 10, minimum=0, maximum=200),
    ),
    _tool(
        recent_cells,
        "The cells that the person ran lately, with the values they gave, oldest first.",
        lambda a: f"last {a.get('n', 10)}",
        n=integer("How many.", 10, minimum=1, maximum=100),
    ),
)
