"""The event stream: the one way to watch a run.

``EventBus`` numbers and delivers. Two kinds of receiver: *listeners* are the product's own (ledger,
view), called inline and trusted to be fast; *subscribers* are the user's, sync or async, and can
neither break nor stall the run: one that raises is logged once, one that is slow is moved to a
thread of its own and lags behind in order.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import json
import logging
import queue
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from .foreign import contained, is_interrupt

logger = logging.getLogger("smoke_monkey_nb")

TERMINAL = frozenset({"run.completed", "run.failed", "run.interrupted"})
EVENT_TYPES = TERMINAL | {
    "run.started", "step.started", "step.ended", "text.delta", "text.thought", "text.reset",
    "text.end", "tool.started", "tool.output", "tool.completed", "tool.failed",
    "permission.required", "permission.resolved", "ask_user.required", "ask_user.response",
    "todo.updated",
    "compaction.started", "compaction.completed", "run.warning",
}  # fmt: skip
#: A sync subscriber that takes longer than this for one event continues on its own thread.
SLOW_S = 0.05
#: How long the end of a run waits for subscribers that lag behind; the rest is delivered later.
DRAIN_S = 1.0


@dataclass(frozen=True, slots=True)
class AgentEvent:
    """Something that happened in a run. ``seq`` counts 0, 1, 2, … within the run; ``time`` is aware
    UTC.
    """

    type: str
    data: dict[str, Any]
    seq: int
    time: datetime
    run_id: str
    session_id: str
    step: int | None

    def to_dict(self) -> dict[str, Any]:
        """A JSON-serialisable copy."""
        return {
            "type": self.type,
            "data": to_jsonable(self.data),
            "seq": self.seq,
            "time": self.time.isoformat(),
            "run_id": self.run_id,
            "session_id": self.session_id,
            "step": self.step,
        }


def to_jsonable(value: Any) -> Any:
    """``value`` with our own data types as dicts and anything JSON does not know as text."""
    if hasattr(value, "to_dict"):
        value = value.to_dict()
    text = json.dumps(value, default=_default)
    return json.loads(text)


def _default(value: Any) -> Any:
    if hasattr(value, "to_dict"):
        return value.to_dict()
    return str(value)


Callback = Callable[[AgentEvent], Awaitable[None] | None]
Listener = Callable[[AgentEvent], None]


class EventBus:
    """Delivers the events of one agent. ``emit`` is called on the run's loop only; the rest from
    any thread.
    """

    def __init__(self) -> None:
        self._listeners: list[Listener] = []
        self._subscribers: list[_Subscriber] = []

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Add an own receiver, called inline; returns its removal."""
        return _add(self._listeners, listener)

    def subscribe(self, callback: Callback, event_type: str | None) -> Callable[[], None]:
        """Add a user's receiver for one type (``None``: all); returns its removal.

        Raises:
            TypeError: ``callback`` is not callable.
            ValueError: there is no such event type.
        """
        if not callable(callback):
            raise TypeError(f"callback must be callable, got {type(callback).__name__}")
        if event_type is not None and event_type not in EVENT_TYPES:
            raise ValueError(
                f"unknown event type {event_type!r}; known: {', '.join(sorted(EVENT_TYPES))}"
            )
        return _add(self._subscribers, _Subscriber(callback, event_type))

    def has_subscriber(self, event_type: str) -> bool:
        """Whether somebody subscribed to exactly this type (``on_any`` only watches)."""
        return any(s.event_type == event_type for s in self._subscribers)

    def emit(self, event: AgentEvent) -> None:
        """Deliver to all, in the order they came."""
        for listener in tuple(self._listeners):
            try:
                listener(event)
            except Exception:
                logger.exception("listener failed on %s", event.type)
        for subscriber in tuple(self._subscribers):
            if subscriber.event_type is None or subscriber.event_type == event.type:
                subscriber.deliver(event)

    async def drain(self) -> None:
        """Wait, at most ``DRAIN_S`` in all, until subscribers have had what was emitted."""
        deadline = time.monotonic() + DRAIN_S
        for subscriber in tuple(self._subscribers):
            await subscriber.drain(deadline)


def _add(items: list[Any], item: Any) -> Callable[[], None]:
    items.append(item)

    def remove() -> None:
        if item in items:
            items.remove(item)

    return remove


class _Subscriber:
    """One callback with its backlog. Sync: inline until it proves slow, then a thread; async: a
    task on the loop.
    """

    def __init__(self, callback: Callback, event_type: str | None) -> None:
        self.event_type = event_type
        self._callback = callback
        self._is_async = inspect.iscoroutinefunction(callback) or inspect.iscoroutinefunction(
            getattr(callback, "__call__", None)  # noqa: B004 - an object with an async __call__
        )
        self._failed = False
        self._thread_queue: queue.SimpleQueue[AgentEvent] | None = None
        self._task_queue: list[AgentEvent] = []
        self._task: asyncio.Task[None] | None = None
        self._pending = 0
        self._lock = threading.Lock()

    def deliver(self, event: AgentEvent) -> None:
        if self._is_async:
            self._task_queue.append(event)
            loop = asyncio.get_running_loop()
            if self._task is None or self._task.done() or self._task.get_loop() is not loop:
                self._task = loop.create_task(self._run_async())
        elif self._thread_queue is not None:
            self._enqueue(event)
        else:
            started = time.perf_counter()
            result = self._call(event)
            if inspect.isawaitable(result):  # a plain function that returns a coroutine
                self._is_async = True
                self._task = asyncio.ensure_future(self._finish(result))
            elif time.perf_counter() - started > SLOW_S:
                self._move_to_thread()

    async def drain(self, deadline: float) -> None:
        if self._task is not None and not self._task.done():
            try:
                if self._task.get_loop() is asyncio.get_running_loop():
                    await asyncio.wait({self._task}, timeout=max(0.0, deadline - time.monotonic()))
            except RuntimeError:
                return
        # Its thread counts down with no loop to tell; only for a subscriber that lags.
        while self._pending and time.monotonic() < deadline:  # noqa: ASYNC110
            await asyncio.sleep(0.005)

    def _call(self, event: AgentEvent) -> Any:
        try:
            return self._callback(event)
        except BaseException as error:
            if is_interrupt(error):
                raise
            self._log_once(event)
            return None

    def _log_once(self, event: AgentEvent) -> None:
        if not self._failed:
            self._failed = True
            logger.exception(
                "a subscriber failed on %s; its later errors are not logged", event.type
            )

    async def _finish(self, awaitable: Awaitable[None]) -> None:
        try:
            await contained(awaitable)
        except Exception:
            logger.exception("a subscriber failed; its later errors are not logged")
            self._failed = True
        await self._run_async()

    async def _run_async(self) -> None:
        while self._task_queue:
            event = self._task_queue.pop(0)
            try:
                result = self._callback(event)
                if inspect.isawaitable(result):
                    await contained(result)
            except Exception:
                self._log_once(event)

    def _move_to_thread(self) -> None:
        self._thread_queue = queue.SimpleQueue()
        context = contextvars.copy_context()  # so that its prints land where they did before
        threading.Thread(
            target=context.run, args=(self._run_thread,), name="smn-subscriber", daemon=True
        ).start()

    def _enqueue(self, event: AgentEvent) -> None:
        assert self._thread_queue is not None
        with self._lock:
            self._pending += 1
        self._thread_queue.put(event)

    def _run_thread(self) -> None:
        assert self._thread_queue is not None
        while True:
            self._call(self._thread_queue.get())
            with self._lock:
                self._pending -= 1


def now() -> datetime:
    """The current time, aware, UTC."""
    return datetime.now(timezone.utc)
