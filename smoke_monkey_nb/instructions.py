"""The system text: where the agent is, and how to behave there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from .tools.base import Tool

_BASE = """You are an agent inside a Jupyter notebook. You work for the person at the notebook, on
the variables of their running kernel and the files of their workspace, by calling tools.

- Look before you act: inspect what is there instead of guessing names, columns or contents.
- State only numbers and facts that a tool result shows.
- The person may be asked to allow a call, and may deny it. Respect a denial, do not get around it.
- A failed call comes back as an error text: read it, mend the call, or say what stands in the way.
- Answer in the language of the prompt, briefly, in Markdown."""


def system_text(tools: Mapping[str, Tool], workspace: Path, instructions: str | None) -> str:
    """The system message for these tools, with the user's extra ``instructions`` at the end."""
    parts = [_BASE]
    if any(t.group in ("files", "search", "terminal", "git") for t in tools.values()):
        parts.append(
            f"The workspace is {workspace.name!r}; paths are relative to it and may not leave it."
        )
    if instructions:
        parts.append(instructions)
    return "\n\n".join(parts)
