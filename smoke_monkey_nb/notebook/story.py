"""The story of a run: a fold over its events, from which every view is drawn.

``RunStory.apply`` takes one event and returns the blocks it changed. The live view, a reloaded
page, the transcript and the terminal all read the same story, so they cannot disagree. It takes
events in any order and never raises: a view must not end a run. A retried run (``retry_of``) goes
on in the story of the run that failed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar

from ..errors import AgentErrorInfo
from ..events import TERMINAL, AgentEvent, now
from .blocks import (
    AskBlock,
    Block,
    ErrorBlock,
    NoteBlock,
    PermissionBlock,
    TextBlock,
    ThoughtBlock,
    TodoBlock,
    ToolBlock,
    close,
    is_open_question,
)
from .event_data import (
    ask_of,
    info_of,
    mappings_of,
    notice_of,
    permission_of,
    seconds_of,
    text_of,
    todo_of,
)
from .totals import Totals
from .wording import decision

B = TypeVar("B")


@dataclass
class RunStory:
    """One run as a reader sees it. Not thread-safe: ``apply`` is for the run's loop."""

    status: str = "starting"  # | "running" | "waiting" | "completed" | "failed" | "interrupted"
    prompt: str = ""
    model: str = ""
    provider: str = ""
    model_reason: str | None = None
    steps: int = 0
    totals: Totals = field(default_factory=Totals)
    started_at: datetime | None = None
    ended_at: datetime | None = None
    error: AgentErrorInfo | None = None
    blocks: list[Block] = field(default_factory=list)
    _step_start: int = 0  # the first block of the step, or of what came after its last reset
    _decisions: dict[str, str] = field(default_factory=dict)  # of calls that have no card yet
    _now: datetime | None = None

    def apply(self, event: AgentEvent) -> list[Block]:
        """Fold one event in; returns the blocks that are new or changed."""
        self._now = event.time
        if event.type in TERMINAL:
            return self._end(event)
        handler = _HANDLERS.get(event.type)
        changed = handler(self, event.data) if handler else []
        if event.type in _QUESTIONS and self.status in ("running", "waiting"):
            self.status = "waiting" if self.questions() else "running"
        return changed

    @property
    def elapsed_s(self) -> float:
        """Seconds from the start to the end, or so far."""
        if self.started_at is None:
            return 0.0
        return max(0.0, ((self.ended_at or now()) - self.started_at).total_seconds())

    @property
    def text(self) -> str:
        """The answers of the run, void ones left out."""
        texts = [b.text for b in self.blocks if isinstance(b, TextBlock) and not b.is_void]
        return "\n\n".join(t for t in texts if t.strip())

    def questions(self) -> list[PermissionBlock | AskBlock]:
        """The questions that wait for an answer, oldest first."""
        return [block for block in self.blocks if is_open_question(block)]

    def settle(self) -> list[Block]:
        """Close what a run that broke off left open; returns the blocks changed."""
        if self.status in ("starting", "running", "waiting"):
            self.status = "interrupted"
            self.ended_at = self.ended_at or self._now
        return self._close_open()

    # -- one method an event type ------------------------------------------------------------------

    def _start(self, data: Mapping[str, Any]) -> list[Block]:
        changed: list[Block] = []
        if self.started_at is None:
            self.started_at = self._now
            self.prompt = text_of(data.get("prompt"))
        else:
            for block in self.blocks:
                if isinstance(block, ErrorBlock) and not block.is_retried:
                    block.is_retried = True
                    changed.append(block)
            changed += self._close_open()
            self.totals.begin_again()
        self.status, self.error, self.ended_at = "running", None, None
        self.model, self.provider = text_of(data.get("model")), text_of(data.get("provider"))
        self.model_reason = text_of(data.get("model_reason")) or None
        self._step_start = len(self.blocks)
        return changed

    def _step_started(self, data: Mapping[str, Any]) -> list[Block]:
        self.steps += 1
        self._step_start = len(self.blocks)
        return []

    def _step_ended(self, data: Mapping[str, Any]) -> list[Block]:
        self.totals.count(data.get("total_usage"), data.get("total_cost_usd", self.totals.cost_usd))
        return self._text_end(data)  # thoughts may end without a text

    def _text_delta(self, data: Mapping[str, Any]) -> list[Block]:
        block = self._last_open(TextBlock)
        if block is None:
            block = self._add(TextBlock(len(self.blocks)))
        block.parts.append(text_of(data.get("text")))
        return [block]

    def _thought(self, data: Mapping[str, Any]) -> list[Block]:
        block = self._last_open(ThoughtBlock)
        if block is None:
            block = self._add(ThoughtBlock(len(self.blocks)))
        block.live.append(text_of(data.get("text")))
        return [block]

    def _text_reset(self, data: Mapping[str, Any]) -> list[Block]:
        changed: list[Block] = []
        for block in self.blocks[self._step_start :]:
            if isinstance(block, (TextBlock, ThoughtBlock)) and not block.is_void:
                block.is_void, block.is_open = True, False
                changed.append(block)
        self._step_start = len(self.blocks)
        return changed

    def _text_end(self, data: Mapping[str, Any]) -> list[Block]:
        changed: list[Block] = []
        for block in self.blocks[self._step_start :]:
            if isinstance(block, (TextBlock, ThoughtBlock)) and block.is_open:
                block.is_open = False
                changed.append(block)
        return changed

    def _tool_started(self, data: Mapping[str, Any]) -> list[Block]:
        call_id = text_of(data.get("tool_call_id"))
        block = ToolBlock(
            len(self.blocks),
            call_id,
            text_of(data.get("tool_name")),
            data.get("input"),
            summary=text_of(data.get("summary")),
            decision=self._decisions.pop(call_id, ""),
        )
        return [self._add(block)]

    def _tool_output(self, data: Mapping[str, Any]) -> list[Block]:
        block = self._tool(data)
        block.live.append(text_of(data.get("text")))
        return [block]

    def _tool_completed(self, data: Mapping[str, Any]) -> list[Block]:
        block = self._tool(data)
        block.status = "completed"
        block.result = text_of(data.get("result"))
        block.images = mappings_of(data.get("images"))
        block.duration_s = seconds_of(data.get("duration_ms"))
        return [block]

    def _tool_failed(self, data: Mapping[str, Any]) -> list[Block]:
        block = self._tool(data)
        block.status = "failed"
        block.error = info_of(data.get("error_info"), "tool_failed")
        block.blocked = bool(data.get("blocked"))
        block.duration_s = seconds_of(data.get("duration_ms"))
        return [block]

    def _permission_required(self, data: Mapping[str, Any]) -> list[Block]:
        return [self._add(permission_of(len(self.blocks), data))]

    def _permission_resolved(self, data: Mapping[str, Any]) -> list[Block]:
        call_id = text_of(data.get("tool_call_id"))
        verdict, by = text_of(data.get("decision")), text_of(data.get("by"))
        remember = text_of(data.get("remember")) or None
        for block in reversed(self.blocks):
            if isinstance(block, PermissionBlock) and block.tool_call_id == call_id:
                if block.decision is not None:
                    break
                block.decision, block.by, block.remember = verdict or "deny", by, remember
                block.feedback = text_of(data.get("feedback")) or None
                return [block]
        self._decisions[call_id] = decision(verdict, by, remember)
        return []

    def _ask_required(self, data: Mapping[str, Any]) -> list[Block]:
        return [self._add(ask_of(len(self.blocks), data))]

    def _ask_response(self, data: Mapping[str, Any]) -> list[Block]:
        call_id = text_of(data.get("tool_call_id"))
        for block in reversed(self.blocks):
            if isinstance(block, AskBlock) and block.tool_call_id == call_id:
                block.answer = text_of(data.get("answer"))
                return [block]
        return []

    def _todos(self, data: Mapping[str, Any]) -> list[Block]:
        items = [todo_of(item) for item in mappings_of(data.get("items"))]
        for block in self.blocks:
            if isinstance(block, TodoBlock):
                block.items = items
                return [block]
        return [self._add(TodoBlock(len(self.blocks), items))]

    def _compacted(self, data: Mapping[str, Any]) -> list[Block]:
        before, after = data.get("before_tokens"), data.get("after_tokens")
        text = f"Earlier messages were summed up: {before} → {after} tokens"
        return [self._add(NoteBlock(len(self.blocks), text))]

    def _warning(self, data: Mapping[str, Any]) -> list[Block]:
        return [self._add(notice_of(len(self.blocks), data))]

    def _end(self, event: AgentEvent) -> list[Block]:
        data = event.data
        self.status = event.type.removeprefix("run.")
        self.ended_at = event.time
        changed = self._close_open()
        if "usage" in data:
            self.totals.count(data.get("usage"), data.get("cost_usd"))
        if self.status == "failed":
            self.error = info_of(data.get("error_info"), "run_hard_stop")
            changed.append(self._add(ErrorBlock(len(self.blocks), self.error)))
        elif self.status == "interrupted":
            reason = text_of(data.get("reason"))
            text = f"Interrupted: {reason}" if reason else "Interrupted"
            changed.append(self._add(NoteBlock(len(self.blocks), text)))
        return changed

    # -- helpers -----------------------------------------------------------------------------------

    def _add(self, block: B) -> B:
        self.blocks.append(block)  # type: ignore[arg-type]
        return block

    def _last_open(self, kind: type[B]) -> B | None:
        last = self.blocks[-1] if len(self.blocks) > self._step_start else None
        return last if isinstance(last, kind) and last.is_open else None  # type: ignore[attr-defined]

    def _tool(self, data: Mapping[str, Any]) -> ToolBlock:
        call_id = text_of(data.get("tool_call_id"))
        for block in reversed(self.blocks):
            if isinstance(block, ToolBlock) and block.tool_call_id == call_id:
                return block
        name = text_of(data.get("tool_name"))
        return self._add(ToolBlock(len(self.blocks), call_id, name, data.get("input")))

    def _close_open(self) -> list[Block]:
        return [block for block in self.blocks if close(block)]


_QUESTIONS = frozenset(
    {"permission.required", "permission.resolved", "ask_user.required", "ask_user.response"}
)
_HANDLERS = {
    "run.started": RunStory._start,
    "step.started": RunStory._step_started,
    "step.ended": RunStory._step_ended,
    "text.delta": RunStory._text_delta,
    "text.thought": RunStory._thought,
    "text.reset": RunStory._text_reset,
    "text.end": RunStory._text_end,
    "tool.started": RunStory._tool_started,
    "tool.output": RunStory._tool_output,
    "tool.completed": RunStory._tool_completed,
    "tool.failed": RunStory._tool_failed,
    "permission.required": RunStory._permission_required,
    "permission.resolved": RunStory._permission_resolved,
    "ask_user.required": RunStory._ask_required,
    "ask_user.response": RunStory._ask_response,
    "todo.updated": RunStory._todos,
    "compaction.completed": RunStory._compacted,
    "run.warning": RunStory._warning,
}
