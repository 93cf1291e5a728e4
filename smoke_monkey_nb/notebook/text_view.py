"""A run as plain text: for terminals, for ``--view text``, and for anybody who pipes it.

Prints as it comes. What the model and its tools say is stripped of control characters first: a
terminal obeys them.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Callable

from ..errors import AgentErrorInfo
from ..events import TERMINAL, AgentEvent
from . import wording
from .blocks import (
    ErrorBlock,
    NoteBlock,
    NoticeBlock,
    TextBlock,
    ThoughtBlock,
    TodoBlock,
    ToolBlock,
)
from .prompting import Prompter
from .render import plain, visible
from .story import RunStory
from .transcript import block_text, head_line


def _to_stdout(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


class TextView:
    """Prints one run. ``on_event`` is for the run's loop; ``write`` takes text without a line end
    added.
    """

    def __init__(
        self, *, prompter: Prompter | None = None, write: Callable[[str], None] = _to_stdout
    ) -> None:
        self._prompter, self._write = prompter, write
        self.story = RunStory()
        self._at_line_start = True

    def open(self) -> None:
        """Nothing is shown before the run starts."""

    def close(self) -> None:
        """End the last line."""
        self._end_line()

    async def can_answer(self) -> bool:
        """Whether prompts are possible here."""
        return self._prompter is not None

    async def offer_retry(self, error: AgentErrorInfo, seconds: float) -> bool:
        """Ask whether to try again."""
        if self._prompter is None or seconds <= 0 or not error.retryable:
            return False
        with contextlib.suppress(asyncio.TimeoutError):
            return await asyncio.wait_for(
                self._prompter.yes_or_no("The run failed. Try again?"), seconds
            )
        return False

    def on_event(self, event: AgentEvent) -> None:
        """Print what is new."""
        changed = self.story.apply(event)
        if event.type == "run.started":
            model = f"{self.story.provider}:{self.story.model}"
            why = f" ({self.story.model_reason})" if self.story.model_reason else ""
            self._line(visible(f"● {model}{why}"))
        for block in changed:
            if isinstance(block, TextBlock):
                self._text(block, event)
            elif isinstance(block, ToolBlock):
                self._tool(block, event)
            elif isinstance(block, (NoticeBlock, NoteBlock, ErrorBlock, TodoBlock)):
                self._line(block_text(block))
            elif not isinstance(block, ThoughtBlock):
                self._question(block.tool_call_id, event)
        if event.type in TERMINAL:
            if self._prompter is not None:
                self._prompter.close()
            self._line(f"{wording.STATUS_SIGNS[self.story.status]} {head_line(self.story)}")

    def _text(self, block: TextBlock, event: AgentEvent) -> None:
        if event.type == "text.delta":
            self._print(plain(str(event.data.get("text", ""))))
        elif event.type == "text.reset":
            self._line("… that attempt failed; again:")
        elif event.type == "text.end":
            self._end_line()

    def _tool(self, block: ToolBlock, event: AgentEvent) -> None:
        if event.type == "tool.started":
            summary = wording.one_line(block.summary)
            self._line(visible(f"● {block.tool_name} {summary}".rstrip()))
        elif event.type == "tool.output":
            self._print(plain(str(event.data.get("text", ""))))
        elif event.type in ("tool.completed", "tool.failed"):
            self._line(block_text(block))

    def _question(self, call_id: str, event: AgentEvent) -> None:
        if self._prompter is None:
            return
        if event.type in ("permission.required", "ask_user.required"):
            self._end_line()
            self._prompter.ask(self.story.questions()[-1])
        elif event.type in ("permission.resolved", "ask_user.response"):
            self._prompter.withdraw(call_id)

    def _line(self, text: str) -> None:
        self._end_line()
        self._print(text)
        self._end_line()

    def _print(self, text: str) -> None:
        if text:
            self._write(text)
            self._at_line_start = text.endswith("\n")

    def _end_line(self) -> None:
        if not self._at_line_start:
            self._print("\n")
