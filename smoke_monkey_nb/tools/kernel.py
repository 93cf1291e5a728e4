"""Tools that change the notebook: run Python in the user's namespace, put a cell below.

Both run on the kernel's main thread, where plots, database handles and ``display`` belong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .base import Preview, Tool, ToolContext, ToolOutput
from .errors import ToolError
from .running import run_code, shell_of
from .signature import record, text, validator
from .text import one_line


def run_python(code: str, context: ToolContext) -> ToolOutput:
    """Output, value and figures of ``code``."""
    return run_code(code, _namespace(context))


def insert_cell(code: str, context: ToolContext) -> str:
    """Have the front end put a cell below, when the running cell ends."""
    shell = shell_of(_namespace(context))
    if shell is None:
        raise ToolError("there is no notebook here to put a cell into")
    # A front end takes one such cell from a run of a cell: further ones join it.
    earlier = [p for p in _payloads(shell) if p.get("source") == "set_next_input"]
    joined = "\n\n".join([*(str(p.get("text", "")) for p in earlier), code])
    shell.set_next_input(joined, replace=False)
    if earlier:
        return "The code is added to the cell that appears below when this cell ends."
    return "The cell appears below when this cell ends."


def _payloads(shell: Any) -> list[dict[str, Any]]:
    manager = getattr(shell, "payload_manager", None)
    return list(manager.read_payload()) if manager is not None else []


def _namespace(context: ToolContext) -> dict[str, Any]:
    if context.namespace is None:
        raise ToolError("there are no variables here: the agent does not run in a notebook")
    return context.namespace


def _first_line(arguments: Mapping[str, Any]) -> str:
    lines = [line for line in str(arguments["code"]).splitlines() if line.strip()]
    more = f" (+{len(lines) - 1} lines)" if len(lines) > 1 else ""
    return one_line(lines[0], 70) + more if lines else ""


def _tool(function: Callable[..., Any], description: str, about_code: str) -> Tool:
    parameters = record(code=text(about_code))
    return Tool(
        name=function.__name__,
        description=description,
        parameters=parameters,
        function=function,
        validate=validator(parameters),
        where="main",
        context_parameter="context",
        group="notebook",
        summary=_first_line,
        preview=lambda arguments, _: Preview(arguments["code"], "python"),
        subject=lambda arguments, _: str(arguments["code"]),
    )


TOOLS = (
    _tool(
        run_python,
        "Run Python code in the person's notebook, among their variables; what it defines stays. "
        "Returns what it prints, the value of a last expression, and figures. IPython magics, "
        "!commands and top-level await work. Print only what you need: long output is cut in the "
        "middle. The output also shows in the person's cell.",
        "Python code, as in a notebook cell.",
    ),
    _tool(
        insert_cell,
        "Put a code cell below the running one, for the person to read and run. It is not run. Use "
        "it for code that they should keep.",
        "The cell's content.",
    ),
)
