"""What a run is made of for a reader: the blocks of a story, from top to bottom.

Plain data that ``story`` fills from events and every view reads. ``key`` is the block's place, and
its name on the wire.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeGuard

from ..errors import AgentErrorInfo, error_info

#: Characters of live output and of thoughts that are kept (the newest).
LIVE_LIMIT = 20_000


@dataclass
class LiveText:
    """Text that grows and may grow without end: counts all of it, keeps the end."""

    total: int = 0
    _parts: list[str] = field(default_factory=list)
    _kept: int = 0

    def append(self, text: str) -> None:
        """Add text."""
        self._parts.append(text)
        self.total += len(text)
        self._kept += len(text)
        if self._kept > 2 * LIVE_LIMIT:
            kept = self.tail()
            self._parts, self._kept = [kept], len(kept)

    def tail(self) -> str:
        """The newest ``LIVE_LIMIT`` characters."""
        return "".join(self._parts)[-LIVE_LIMIT:]

    def since(self, seen: int) -> str:
        """What came after the first ``seen`` characters, as far as it is kept."""
        missing = self.total - seen
        return self.tail()[-missing:] if missing > 0 else ""


@dataclass
class TextBlock:
    """A part of an answer, in Markdown."""

    key: int
    parts: list[str] = field(default_factory=list)
    is_open: bool = True
    is_void: bool = False  # a failed attempt streamed it; not part of the answer
    pieces: list[str] | None = None  # its HTML, once a view has rendered all of it

    @property
    def text(self) -> str:
        """All of it."""
        return "".join(self.parts)


@dataclass
class ThoughtBlock:
    """Reasoning of the model."""

    key: int
    live: LiveText = field(default_factory=LiveText)
    is_open: bool = True
    is_void: bool = False


@dataclass
class ToolBlock:
    """One tool call."""

    key: int
    tool_call_id: str
    tool_name: str
    input: Any
    summary: str = ""
    status: str = "running"  # "running" | "completed" | "failed"
    live: LiveText = field(default_factory=LiveText)
    result: str = ""
    images: Sequence[Mapping[str, Any]] = ()
    error: AgentErrorInfo | None = None
    blocked: bool = False
    duration_s: float | None = None
    decision: str = ""  # who allowed or denied it, where no permission card says so


@dataclass
class PermissionBlock:
    """A call that asked to run. ``decision`` is ``None`` while it waits."""

    key: int
    tool_call_id: str
    tool_name: str
    preview: str
    preview_kind: str = "text"
    summary: str = ""
    reason: str | None = None
    decision: str | None = None  # "allow" | "deny"
    by: str = ""
    remember: str | None = None
    feedback: str | None = None


@dataclass
class AskBlock:
    """A question of the agent. ``answer`` is ``None`` while it waits."""

    key: int
    tool_call_id: str
    question: str
    choices: Sequence[str] = ()
    answer: str | None = None


@dataclass
class TodoBlock:
    """The agent's list of things to do: (status, text) pairs."""

    key: int
    items: Sequence[tuple[str, str]] = ()


@dataclass
class NoticeBlock:
    """A snag that did not end the run (a toast). ``delay_s`` > 0: tried again after so long."""

    key: int
    error: AgentErrorInfo
    attempt: int = 1
    max_attempts: int = 1
    delay_s: float = 0.0


@dataclass
class NoteBlock:
    """A line about the run itself: compaction, interruption."""

    key: int
    text: str


@dataclass
class ErrorBlock:
    """Why the run failed. ``is_retried``: the run was taken up again since."""

    key: int
    error: AgentErrorInfo
    is_retried: bool = False


Block = (
    TextBlock
    | ThoughtBlock
    | ToolBlock
    | PermissionBlock
    | AskBlock
    | TodoBlock
    | NoticeBlock
    | NoteBlock
    | ErrorBlock
)


def is_open_question(block: Block) -> TypeGuard[PermissionBlock | AskBlock]:
    """Whether the block is a question that waits for its answer."""
    if isinstance(block, PermissionBlock):
        return block.decision is None
    return isinstance(block, AskBlock) and block.answer is None


def close(block: Block) -> bool:
    """Close what the end of the run left open; returns whether it was."""
    if isinstance(block, (TextBlock, ThoughtBlock)) and block.is_open:
        block.is_open = False
    elif isinstance(block, ToolBlock) and block.status == "running":
        block.status = "failed"
        block.error = error_info("tool_cancelled", "The run ended while this tool ran.")
    elif isinstance(block, PermissionBlock) and block.decision is None:
        block.decision, block.by = "deny", "interrupted"
    elif isinstance(block, AskBlock) and block.answer is None:
        block.answer = ""
    else:
        return False
    return True
