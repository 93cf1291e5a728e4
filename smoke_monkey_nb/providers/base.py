"""What the loop asks of a model provider, and what it gets back.

A provider yields deltas in order; the last one is always ``Completed``. It raises ``AgentError``
for every failure (nothing else escapes it), never retries on its own, and may be used from one
event loop now and another later.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..usage import Usage


@dataclass(frozen=True)
class ModelRequest:
    """One model call: messages and tools in OpenAI chat-completions form. Providers must not change
    them.
    """

    model: str
    messages: Sequence[Mapping[str, Any]]
    tools: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True)
class ToolCall:
    """A call the model asks for. ``arguments`` is the text as it came, possibly no JSON; ``id`` is
    never empty and unique within its response.
    """

    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class ModelResponse:
    """A finished answer. ``finish_reason`` as the provider said it, ``None`` if it said nothing."""

    text: str = ""
    thought: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str | None = None
    usage: Usage | None = None
    model: str | None = None
    refusal: bool = False  # then ``text`` is the refusal


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the answer; never empty."""

    text: str


@dataclass(frozen=True, slots=True)
class ThoughtDelta:
    """A piece of the reasoning; never empty, never part of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCallDelta:
    """The model began to write a call to this tool (once a call; its arguments come with
    ``Completed``).
    """

    name: str


@dataclass(frozen=True, slots=True)
class UsageDelta:
    """Token counts so far; a later one replaces an earlier one. Lets a failed attempt be billed."""

    usage: Usage


@dataclass(frozen=True, slots=True)
class Completed:
    """The end of a good answer."""

    response: ModelResponse = field(default_factory=ModelResponse)


Delta = TextDelta | ThoughtDelta | ToolCallDelta | UsageDelta | Completed


class Provider(Protocol):
    """A source of model answers."""

    name: str  # the catalogue name: "openai", "demo", …; the ledger's ``provider``
    model: str  # the model name without the provider; the ledger's ``model``
    takes_images: bool  # whether tool images may follow as a user message

    def stream(self, request: ModelRequest) -> AsyncIterator[Delta]:
        """Start the call; iterate for its deltas. Closing the iterator ends the call."""

    async def aclose(self) -> None:
        """Free what the current event loop holds (connections); may be called twice."""
