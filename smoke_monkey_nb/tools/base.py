"""The shape of a tool: what the loop knows of it, what it is given, what it gives back.

Plain data and protocols only; ``define`` builds ``Tool`` objects from typed functions, ``results``
turns any Python value into a ``ToolOutput``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

#: Characters of one tool result that the model gets (head and tail kept).
RESULT_LIMIT = 30_000

#: Where a call runs: on the agent's event loop (async functions), on a worker thread (sync
#: functions, many at once), or on the kernel's main thread (code that touches the user's objects,
#: one after another).
Where = Literal["loop", "thread", "main"]
PreviewKind = Literal["text", "diff", "python", "shell", "json"]


@dataclass(frozen=True)
class Image:
    """A picture in a tool result: PNG or JPEG bytes."""

    media_type: str  # "image/png" | "image/jpeg"
    data: bytes


@dataclass(frozen=True)
class ToolOutput:
    """A result as the model gets it: bounded valid text, and images where the model takes them."""

    text: str
    images: tuple[Image, ...] = ()


@dataclass(frozen=True)
class Preview:
    """What a person is shown before they allow a call: the whole of what will happen."""

    text: str
    kind: PreviewKind = "text"


class ToolInputError(ValueError):
    """The arguments break the schema; the message says where and how, for the model to mend."""


class Interaction(Protocol):
    """What a running tool may ask of the run around it. Methods may be called from any thread,
    ``ask`` on the loop.
    """

    def output(self, text: str) -> None:
        """Show live output (``tool.output``)."""

    async def ask(self, question: str, choices: Sequence[str] | None) -> str | None:
        """Ask the person; ``None`` when there is nobody to ask."""

    def todos(self, items: Sequence[Mapping[str, Any]]) -> None:
        """Publish the todo list (``todo.updated``)."""


@dataclass(frozen=True)
class ToolContext:
    """Given to a tool function that has a parameter annotated ``ToolContext``; not part of its
    schema.
    """

    tool_call_id: str
    workspace: Path  # absolute, resolved
    run_id: str
    session_id: str
    interaction: Interaction
    namespace: dict[str, Any] | None = (
        None  # the user's variables where a notebook or script lends them
    )


@dataclass(frozen=True)
class Tool:
    """A tool the model can call. Made by ``@tool``; see ``smoke_monkey_nb.tools.define``."""

    name: str
    description: str
    parameters: Mapping[str, Any]  # JSON schema of the arguments object
    function: Callable[..., Any]
    validate: Callable[[Mapping[str, Any]], dict[str, Any]]
    """Checked and coerced keyword arguments for ``function``; raises ``ToolInputError``."""
    read_only: bool = False
    where: Where = "thread"
    timeout_s: float | None = None  # None: the agent's ``tool_timeout_s``
    context_parameter: str | None = None  # name of the parameter that takes the ToolContext
    group: str | None = None
    summary: Callable[[Mapping[str, Any]], str] | None = None
    """One line for the tool card, from the input."""
    preview: Callable[[Mapping[str, Any], ToolContext], Preview] | None = None
    """For the permission card; must not change anything."""
    subject: Callable[[Mapping[str, Any], ToolContext], str] | None = None
    """What a permission rule's pattern is matched against: a command, or a path as it really is
    in the workspace."""
    asks: Callable[[Mapping[str, Any], ToolContext], str | None] | None = None
    """For a read-only tool: the reason why this call must be asked for all the same, or None."""
    runs_shell: bool = False  # ``subject`` is a shell command: rules match it parsed, never as text

    def wire(self) -> dict[str, Any]:
        """The tool in chat-completions form."""
        return {
            "type": "function",
            "function": {
                "name": self.name,
                "description": self.description,
                "parameters": dict(self.parameters),
            },
        }

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the plain function, as if it were not decorated."""
        return self.function(*args, **kwargs)
