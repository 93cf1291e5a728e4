"""Tools that speak with the person: a question, and the list of what there is to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .base import Tool, ToolContext
from .signature import choice, listing, record, text, validator
from .text import one_line

_NOBODY = (
    "Nobody is there to answer. Go on with the most sensible assumption, and say in your answer "
    "which one you made."
)


async def ask_user(
    question: str, context: ToolContext, choices: Sequence[str] | None = None
) -> str:
    """The person's answer, or a text that says that nobody is there."""
    answer = await context.interaction.ask(question, list(choices) if choices else None)
    return _NOBODY if answer is None else answer or "(The person gave an empty answer.)"


def todo_write(items: Sequence[Mapping[str, str]], context: ToolContext) -> str:
    """Publish the list; the text counts what is done and open."""
    context.interaction.todos([dict(item) for item in items])
    done = sum(item["status"] == "completed" for item in items)
    current = [item["content"] for item in items if item["status"] == "in_progress"]
    told = f"The list is shown to the person: {done} of {len(items)} done."
    return f"{told} Now: {'; '.join(current)}." if current else told


def _tool(function: Any, description: str, summary: Any, **arguments: Any) -> Tool:
    parameters = record(**arguments)
    return Tool(
        name=function.__name__,
        description=description,
        parameters=parameters,
        function=function,
        validate=validator(parameters),
        read_only=True,
        # Both on the loop, where questions are asked; a person may take any time to answer.
        where="loop" if function is ask_user else "thread",
        timeout_s=float("inf") if function is ask_user else None,
        context_parameter="context",
        group="agent",
        summary=summary,
    )


TOOLS = (
    _tool(
        ask_user,
        "Ask the person at the notebook a question and wait for the answer. Use it when you cannot "
        "go on without a decision that is theirs; do not ask what you can find out yourself, nor "
        "for permission (that is asked for you).",
        lambda a: one_line(a["question"]),
        question=text("One clear question."),
        choices=listing(
            "Answers to choose from; the person may answer something else.",
            {"type": "string"},
            default=None,
        ),
    ),
    _tool(
        todo_write,
        "Show the person your plan for work of three or more steps, and keep it current. Each call "
        "replaces the whole list; have exactly one item in_progress while you work.",
        lambda a: f"{len(a['items'])} items",
        items=listing(
            "The whole list, in order.",
            record(
                content=text("What is to be done, in a few words."),
                status=choice("How far it is.", ["pending", "in_progress", "completed"]),
            ),
        ),
    ),
)
