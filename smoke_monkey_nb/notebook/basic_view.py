"""The run with core ipywidgets alone: for front ends that cannot load third-party widget code.

Core widgets know no append, so an answer is spread over HTML widgets of a few kilobytes, and only
the last is sent again, four times a second. Core buttons take no ``data-`` attributes; the marks
are carried by classes instead: ``button.smn-allow``, ``.smn-allow-session``, ``.smn-deny``,
``.smn-answer``, ``.smn-stop``, ``.smn-retry``. All other marks stand in the HTML parts. A front end
sends no handshake here: whoever asks for this view answers in it.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from ..errors import AgentErrorInfo, error_info
from ..events import TERMINAL, AgentEvent
from . import cards
from .blocks import AskBlock, Block, PermissionBlock, TextBlock
from .intents import STOP_REASON, RunControls, answer
from .look import STATIC_LOOK
from .markdown_stream import MarkdownStream
from .render import plain
from .story import RunStory
from .transcript import bundle
from .view import Surface

INTERVAL_S = 0.25
#: Characters of HTML in one widget of an answer; full ones are never sent again.
PAGE = 4_000
_CHOICES = (("allow", "Allow"), ("allow-session", "Allow for session"), ("deny", "Deny"))


class BasicView:
    """One run in core widgets. ``open`` and ``close``: main thread; ``on_event``: the run's loop;
    clicks: any thread.
    """

    def __init__(
        self, agent: RunControls, surface: Surface, *, prepare: Callable[[Any], None] | None = None
    ) -> None:
        self._agent, self._surface, self._prepare = agent, surface, prepare
        self.story = RunStory()
        self._dirty: dict[int, Block] = {}
        self._shown: dict[int, list[Any]] = {}  # block -> its HTML widgets
        self._streams: dict[int, tuple[MarkdownStream, int]] = {}
        self._asked: dict[str, Any] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._flushed_at = 0.0
        self._retry: asyncio.Future[bool] | None = None
        self._has_failed = self._is_closed = False

    def open(self) -> None:
        """Make and display the widgets."""
        import ipywidgets as w

        self._w = w
        self._head, self._body, self._questions = w.HTML(self._head_html()), w.VBox(), w.VBox()
        self._stop = self._button("stop", "Stop", self._on_stop)
        self._top = w.HBox([self._head, self._stop])
        self._root = w.VBox([self._top, self._body, self._questions])
        self._root.add_class("smn-basic")
        self._surface.show(self._root)

    def close(self) -> None:
        """Put the transcript in the place of the widgets."""
        self._is_closed = True
        self.story.settle()
        self._surface.replace(bundle(self.story))
        # Not closed: a page that was reloaded in mid-run hears of no replacement and keeps these.
        with contextlib.suppress(Exception):
            self._questions.children = []
            self._top.children = [self._head]

    async def can_answer(self) -> bool:
        """The person who chose this view."""
        return True

    async def offer_retry(self, error: AgentErrorInfo, seconds: float) -> bool:
        """Show a *Retry* button for so many seconds."""
        if seconds <= 0 or not error.retryable:
            return False
        self._loop = asyncio.get_running_loop()
        future = self._retry = self._loop.create_future()
        buttons = [
            self._button("retry", "Retry", lambda _: self._on_loop(self._settle_retry, True)),
            self._button("stop", "Leave it", lambda _: self._on_loop(self._settle_retry, False)),
        ]
        self._questions.children = [self._w.HBox(buttons)]
        try:
            return await asyncio.wait_for(future, seconds)
        except asyncio.TimeoutError:
            return False
        finally:
            self._retry = None
            self._questions.children = []

    def on_event(self, event: AgentEvent) -> None:
        """Take one event in; the widgets follow at the next flush."""
        self._loop = asyncio.get_running_loop()
        for block in self.story.apply(event):
            self._dirty[block.key] = block
        if event.type in TERMINAL or event.type.startswith(("permission.", "ask_user.")):
            self._flush()
        elif self._timer is None:
            wait = max(0.0, self._flushed_at + INTERVAL_S - time.monotonic())
            self._timer = self._loop.call_later(wait, self._flush)

    def _flush(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._is_closed:
            return
        self._flushed_at = time.monotonic()
        try:
            self._head.value = self._head_html()
            self._draw_blocks()
            self._draw_questions()
            self._stop.layout.display = "none" if self.story.ended_at else None
        except Exception as error:
            self._note_failure(error)

    def _note_failure(self, error: Exception) -> None:
        if not self._has_failed:
            self._has_failed = True
            message = f"The view could not be updated ({type(error).__name__}); the run goes on."
            self._agent.warn(error_info("transport_render_failed", message))

    def _head_html(self) -> str:
        head = cards.head(self.story, STATIC_LOOK)
        return f'<div class="smn-run" data-status="{self.story.status}">{head}</div>'

    def _draw_blocks(self) -> None:
        dirty, self._dirty = self._dirty, {}
        for key, block in dirty.items():
            is_question = isinstance(block, (PermissionBlock, AskBlock))
            if is_question and block in self.story.questions():
                continue
            widgets = self._shown.setdefault(key, [])
            pages = self._pages(block)
            widgets += [self._w.HTML() for _ in range(len(pages) - len(widgets))]
            for widget, html in zip(widgets, pages, strict=False):
                if widget.value != html:
                    widget.value = html
        children = [w for key in sorted(self._shown) for w in self._shown[key]]
        if list(self._body.children) != children:
            self._body.children = children

    def _pages(self, block: Block) -> list[str]:
        if not isinstance(block, TextBlock) or block.is_void:
            return [cards.card(block, STATIC_LOOK)]
        stream, seen = self._streams.get(block.key, (MarkdownStream(), 0))
        stream.feed("".join(block.parts[seen:]))
        self._streams[block.key] = stream, len(block.parts)
        if not block.is_open:
            stream.finish()
            block.pieces = stream.pieces
        pages = [""]
        for html in stream.html():
            if len(pages[-1]) > PAGE:
                pages.append("")
            pages[-1] += html
        return [STATIC_LOOK.tag("div", "smn-text", STATIC_LOOK.colors(page)) for page in pages]

    def _draw_questions(self) -> None:
        open_blocks = {b.tool_call_id: b for b in self.story.questions()}
        if set(open_blocks) == set(self._asked):
            return
        self._asked = {
            call_id: self._asked.get(call_id) or self._question(block)
            for call_id, block in open_blocks.items()
        }
        self._questions.children = list(self._asked.values())

    def _question(self, block: PermissionBlock | AskBlock) -> Any:
        html = self._w.HTML(cards.card(block, STATIC_LOOK))
        if isinstance(block, AskBlock):
            return self._w.VBox([html, *self._answers(block)])
        reason = self._w.Text(placeholder="Reason, if you deny (optional)")

        def decide(action: str, button: Any) -> None:
            answer(self._agent, block.tool_call_id, action, reason.value)

        buttons = [
            self._button(action, label, partial(decide, action)) for action, label in _CHOICES
        ]
        return self._w.VBox([html, self._w.HBox([*buttons, reason])])

    def _answers(self, block: AskBlock) -> list[Any]:
        def reply(text: str) -> None:
            if text.strip():
                answer(self._agent, block.tool_call_id, "answer", text)

        choices = [
            self._button("choose", plain(c), partial(_ignoring_button, reply, c))
            for c in block.choices
        ]
        field = self._w.Text(placeholder="Your answer")
        send = self._button("answer", "Send", lambda _: reply(field.value))
        return [self._w.HBox(choices), self._w.HBox([field, send])]

    def _button(self, action: str, label: str, on_click: Callable[[Any], None]) -> Any:
        button = self._w.Button(description=label)
        button.add_class(f"smn-{action}")
        button.on_click(on_click)
        if self._prepare is not None:
            self._prepare(button)
        return button

    def _on_stop(self, _button: Any) -> None:
        self._on_loop(self._settle_retry, False)
        self._agent.abort(STOP_REASON)

    def _settle_retry(self, wanted: bool) -> None:
        if self._retry is not None and not self._retry.done():
            self._retry.set_result(wanted)

    def _on_loop(self, function: Callable[..., None], *args: Any) -> None:
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(function, *args)


def _ignoring_button(function: Callable[[str], None], text: str, _button: Any) -> None:
    function(text)
