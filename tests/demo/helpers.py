"""A notebook in miniature: the looking tools are the real ones, so their wording is tested, too."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from smoke_monkey_nb.providers.demo.frames import Column, Frame
from smoke_monkey_nb.providers.demo.planner import next_reply
from smoke_monkey_nb.providers.demo.wire import Call, Reply, read_request
from smoke_monkey_nb.tools import variables
from smoke_monkey_nb.tools.base import ToolContext

Tool = Callable[[Mapping[str, Any]], str]

SALES = Frame(
    "sales",
    6,
    (
        Column("date", "str"),
        Column("region", "str"),
        Column("product", "object"),
        Column("units", "int64"),
        Column("unit_price", "float64"),
        Column("revenue", "float64", 1),
    ),
)


def sales() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "date": ["2025-01-05", "2025-01-20", "2025-02-03", "2025-02-11", "2025-03-01", None],
            "region": ["North", "South", "North", "East", "South", "North"],
            "product": ["Mug", "Mug", "Kettle", "Mug", "Kettle", "Mug"],
            "units": [3, 1, 2, 5, 1, 4],
            "unit_price": [10.0, 10.0, 50.0, 9.0, 48.0, 10.0],
            "revenue": [30.0, 10.0, 100.0, 45.0, 48.0, None],
        }
    )


class _NoPerson:
    """Interaction without anybody there."""

    def output(self, text: str) -> None:
        pass

    async def ask(self, question: str, choices: Sequence[str] | None) -> str | None:
        return None

    def todos(self, items: Sequence[Mapping[str, Any]]) -> None:
        pass


def _context() -> ToolContext:
    namespace = {"sales": sales(), "rate": 1.1}
    return ToolContext("call", Path(), "run", "session", _NoPerson(), namespace)


def list_variables(_: Mapping[str, Any]) -> str:
    return variables.list_variables(_context())


def inspect_variable(arguments: Mapping[str, Any]) -> str:
    return variables.inspect_variable(arguments["name"], _context())


def python(namespace: dict[str, Any]) -> Tool:
    """``run_python`` without figures: prints, or fails as the loop words it."""

    def run(arguments: Mapping[str, Any]) -> str:
        out = io.StringIO()
        try:
            with contextlib.redirect_stdout(out):
                exec(arguments["code"], namespace)
        except Exception as error:
            return f"Error (tool_failed): Traceback …\n{type(error).__name__}: {error}"
        return out.getvalue()

    return run


def notebook(**more: Tool) -> dict[str, Tool]:
    """The tools of a notebook that holds ``sales``."""
    return {
        "list_variables": list_variables,
        "inspect_variable": inspect_variable,
        "run_python": python({"sales": sales()}),
        **more,
    }


def reply(prompt: str, tools: Sequence[str] = (), messages: Sequence[Any] = ()) -> Reply:
    """The demo's reply to a prompt after ``messages``."""
    offered = [{"type": "function", "function": {"name": name}} for name in tools]
    said = [*messages, {"role": "user", "content": prompt}]
    return next_reply(read_request({"messages": said, "tools": offered}))


def converse(
    prompt: str, tools: Mapping[str, Tool], earlier: Sequence[str] = (), schemas: Any = None
) -> tuple[list[Call], str]:
    """Let the demo work until it answers: the calls it made, and the answer."""
    offered = [
        {"type": "function", "function": {"name": n, "parameters": (schemas or {}).get(n, {})}}
        for n in tools
    ]
    messages: list[dict[str, Any]] = [{"role": "user", "content": p} for p in earlier]
    messages.append({"role": "user", "content": prompt})
    made: list[Call] = []
    for step in range(20):
        answer = next_reply(read_request({"messages": messages, "tools": offered}))
        if not answer.calls:
            return made, answer.text
        wire = [
            {
                "id": f"call_{step}_{i}",
                "type": "function",
                "function": {"name": c.name, "arguments": json.dumps(dict(c.arguments))},
            }
            for i, c in enumerate(answer.calls)
        ]
        messages.append({"role": "assistant", "content": answer.text, "tool_calls": wire})
        for call, sent in zip(answer.calls, wire, strict=True):
            result = tools[call.name](call.arguments)
            messages.append({"role": "tool", "tool_call_id": sent["id"], "content": result})
        made += answer.calls
    raise AssertionError("the demo never answered")
