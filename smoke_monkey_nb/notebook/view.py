"""The live view: one widget a run. Python holds the truth, the page draws it and sends back
intents.

Threads: ``open`` and ``close`` run on the main thread, before and after the run; everything
between, and every write to the widget, on the run's loop thread. Messages of the page may come on
any thread (the pump's, a subshell's): their handler only hands over. Text is collected and sent 20
times a second at first, then 10 times: a message costs more than the text in it, and the server
drops output beyond its limits.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from ..errors import AgentErrorInfo, error_info
from ..events import TERMINAL, AgentEvent
from . import cards, wording
from .blocks import AskBlock, ErrorBlock, PermissionBlock
from .board import Board
from .handshake import Handshake
from .intents import STOP_REASON, RunControls, answer
from .look import LIVE_LOOK
from .prompting import Prompter
from .story import RunStory
from .transcript import bundle

FIRST_INTERVAL_S = 0.05
LATER_INTERVAL_S = 0.1
#: After so long a stream the slower rate is enough.
FIRST_S = 2.0
_AT_ONCE = TERMINAL | {
    "permission.required",
    "permission.resolved",
    "ask_user.required",
    "ask_user.response",
}


class Surface(Protocol):
    """A place in a cell's output: shows a widget now, and static data instead of it later."""

    def show(self, widget: Any) -> None:
        """Display the widget."""

    def replace(self, data: Mapping[str, str]) -> None:
        """Put a mime bundle in its place."""


class WidgetView:
    """A run in a live widget, with the prompt as its fallback where one is given."""

    def __init__(
        self,
        agent: RunControls,
        surface: Surface,
        *,
        make_widget: Callable[[], Any],
        prompter: Prompter | None = None,
        handshake: Handshake | None = None,
    ) -> None:
        self._agent, self._surface = agent, surface
        self._make_widget, self._prompter = make_widget, prompter
        self._handshake = handshake or Handshake()
        self.story = RunStory()
        self._board = Board(self.story)
        self._widget: Any = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._seq = -1
        self._flushed_at = self._streaming_since = 0.0
        self._new_pages: queue.SimpleQueue[str] = queue.SimpleQueue()  # said ready, want the story
        self._pages: set[str] = set()  # every page that ever said ready
        self._asked: dict[str, dict[str, Any]] = {}  # open questions as the page gets them
        self._retry: tuple[asyncio.Future[bool], dict[str, Any]] | None = None
        self._is_prompting = self._has_failed = self._is_closed = False

    # -- main thread -------------------------------------------------------------------------------

    def open(self) -> None:
        """Make and display the widget."""
        self._widget = self._make_widget()
        self._widget.on_msg(self._on_message)
        self._widget.head = self._head()
        self._surface.show(self._widget)
        self._handshake.shown()

    def close(self) -> None:
        """Put the transcript in the place of the live view."""
        self._is_closed = True
        self.story.settle()
        self._surface.replace(bundle(self.story))
        if len(self._pages) > 1:
            # A page that was reloaded in mid-run knows no display id and hears of no replacement:
            # what it shows is all it will ever show.
            return
        with contextlib.suppress(Exception):  # a widget that cannot be closed harms nobody any more
            self._widget.close()

    # -- loop thread -------------------------------------------------------------------------------

    def on_event(self, event: AgentEvent) -> None:
        """Take one event in; the page hears of it at the next flush."""
        self._loop = asyncio.get_running_loop()
        self._board.touch(self.story.apply(event))
        if self._is_prompting and self._prompter is not None:
            self._prompt(self._prompter, event)
        if event.type in _AT_ONCE:
            self._flush()
        else:
            self._schedule()

    async def can_answer(self) -> bool:
        """Whether a page is there, or else a prompt; waits for the page's first sign of life."""
        if await self._handshake.wait():
            return True
        self._is_prompting = self._prompter is not None
        return self._is_prompting

    async def offer_retry(self, error: AgentErrorInfo, seconds: float) -> bool:
        """Offer to try the failed run again, for so many seconds; ``False`` at once when nobody can
        answer.
        """
        if seconds <= 0 or not error.retryable or not await self.can_answer():
            return False
        if not self._handshake.is_set():
            return await self._retry_by_prompt(seconds)
        self._loop = asyncio.get_running_loop()
        block = next((b for b in reversed(self.story.blocks) if isinstance(b, ErrorBlock)), None)
        block = block or ErrorBlock(len(self.story.blocks), error)
        question = {
            "id": "retry",
            "key": block.key,
            "kind": "retry",
            "label": "The run failed. Retry?",
            "seconds": seconds,
            "html": cards.card(block, LIVE_LOOK),
        }
        future: asyncio.Future[bool] = self._loop.create_future()
        self._retry = future, question
        self._flush()
        try:
            return await asyncio.wait_for(future, seconds)
        except asyncio.TimeoutError:
            return False
        finally:
            self._retry = None
            self._flush()

    async def _retry_by_prompt(self, seconds: float) -> bool:
        assert self._prompter is not None
        with contextlib.suppress(asyncio.TimeoutError):
            return await asyncio.wait_for(
                self._prompter.yes_or_no("The run failed. Try again?"), seconds
            )
        return False

    def _prompt(self, prompter: Prompter, event: AgentEvent) -> None:
        call_id = str(event.data.get("tool_call_id"))
        if event.type in ("permission.required", "ask_user.required"):
            if not self._handshake.is_set():
                prompter.ask(self.story.questions()[-1])
        elif event.type in ("permission.resolved", "ask_user.response"):
            prompter.withdraw(call_id)
        elif event.type in TERMINAL:
            prompter.close()

    def _schedule(self) -> None:
        if self._timer is None and self._loop is not None:
            now = time.monotonic()
            if now - self._flushed_at > 1.0:
                self._streaming_since = now
            is_long = now - self._streaming_since > FIRST_S
            wait = self._flushed_at - now + (LATER_INTERVAL_S if is_long else FIRST_INTERVAL_S)
            self._timer = self._loop.call_later(max(0.0, wait), self._flush)

    def _flush(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._is_closed or self._widget is None:
            return
        self._flushed_at = time.monotonic()
        try:
            self._send()
        except Exception as error:
            self._note_failure(error)

    def _send(self) -> None:
        head, questions = self._head(), self._questions()
        if _without_clock(head) != _without_clock(self._widget.head):
            self._widget.head = head
        if questions != self._widget.questions:
            self._widget.questions = questions
        operations = self._board.flush()
        if operations:
            self._seq += 1
            self._widget.send({"t": "ops", "n": self._seq, "ops": operations})
        while not self._new_pages.empty():
            whole = {"t": "all", "view": self._new_pages.get(), "n": self._seq}
            whole["elapsed_s"] = self.story.elapsed_s
            self._widget.send({**whole, "ops": self._board.snapshot()})

    def _note_failure(self, error: Exception) -> None:
        if self._has_failed:
            return
        self._has_failed = True
        message = f"The live view could not be updated ({type(error).__name__}); the run goes on."
        hint = "The finished cell will show everything."
        self._agent.warn(error_info("transport_render_failed", message, hint=hint))

    def _head(self) -> dict[str, Any]:
        return {
            "status": self.story.status,
            "word": wording.STATUS_WORDS[self.story.status],
            "parts": [list(part) for part in cards.head_parts(self.story)],
            "why": self.story.model_reason or "",
            "elapsed_s": self.story.elapsed_s,
        }

    def _questions(self) -> list[dict[str, Any]]:
        blocks = {block.tool_call_id: block for block in self.story.questions()}
        asked = self._asked
        self._asked = {i: asked.get(i) or _question(block) for i, block in blocks.items()}
        questions = list(self._asked.values())
        return [*questions, self._retry[1]] if self._retry else questions

    # -- any thread --------------------------------------------------------------------------------

    def _on_message(self, _widget: Any, content: Any, _buffers: Any) -> None:
        """A message of the page: hand it over, no more."""
        if not isinstance(content, dict):
            return
        kind = content.get("t")
        if kind == "ready":
            page = str(content.get("view"))
            self._pages.add(page)
            self._new_pages.put(page)
            self._handshake.set()
            self._on_loop(self._flush)
        elif kind == "stop":
            self._stop()
        elif kind == "answer" and content.get("id") == "retry":
            self._on_loop(self._settle_retry, content.get("action") == "retry")
        elif kind == "answer":
            said = (
                content.get("text")
                if content.get("action") == "answer"
                else content.get("feedback")
            )
            text = said if isinstance(said, str) else None
            answer(self._agent, str(content.get("id")), str(content.get("action")), text)

    def _stop(self) -> None:
        self._on_loop(self._settle_retry, False)
        self._agent.abort(STOP_REASON)

    def _settle_retry(self, wanted: bool) -> None:
        if self._retry is not None and not self._retry[0].done():
            self._retry[0].set_result(wanted)

    def _on_loop(self, function: Callable[..., None], *args: Any) -> None:
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(function, *args)


def _question(block: PermissionBlock | AskBlock) -> dict[str, Any]:
    question = {
        "id": block.tool_call_id,
        "key": block.key,
        "html": cards.card(block, LIVE_LOOK),
    }
    if isinstance(block, AskBlock):
        return {
            **question,
            "kind": "ask",
            "label": "The agent asks",
            "choices": list(block.choices),
        }
    return {**question, "kind": "permission", "label": f"Allow {block.tool_name}?"}


def _without_clock(head: Mapping[str, Any]) -> dict[str, Any]:
    parts = [p for p in head.get("parts", []) if p[0] != "smn-elapsed"]
    return {**head, "parts": parts, "elapsed_s": 0}
