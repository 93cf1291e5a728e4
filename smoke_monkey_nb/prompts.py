"""Questions that suspend a call until somebody answers: permissions and ``ask_user``.

Answers may come from any thread, twice, or late: the first one counts, later ones are ignored.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class PermissionAnswer:
    """What a person said. ``input`` replaces the arguments; ``feedback`` reaches the model with a
    denial.
    """

    decision: str  # "allow" | "deny"
    remember: str | None = None  # None | "run" | "session"
    feedback: str | None = None
    input: Mapping[str, Any] | None = None
    by: str = "user"


class Answerer(Protocol):
    """Somebody who may answer, such as a notebook view."""

    async def can_answer(self) -> bool:
        """Whether a person is there; may wait for the front end's first sign of life."""


class OpenQuestions(Generic[T]):
    """The questions of one agent, by tool call id. ``answer`` is thread-safe; the rest is for the
    run's loop.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: dict[str, tuple[asyncio.AbstractEventLoop, asyncio.Future[T]]] = {}
        self._closed: set[str] = set()

    def open(self, question_id: str) -> asyncio.Future[T]:
        """Register a question; await the returned future for its answer."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        with self._lock:
            self._closed.discard(question_id)
            self._open[question_id] = (loop, future)
        return future

    def close(self, question_id: str) -> None:
        """No answer is wanted any more; later ones are ignored, not errors."""
        with self._lock:
            if self._open.pop(question_id, None) is not None:
                self._closed.add(question_id)

    def answer(self, question_id: str, value: T) -> bool:
        """Give the answer; ``False`` when the question was answered before.

        Raises:
            LookupError: there never was such a question.
        """
        with self._lock:
            entry = self._open.pop(question_id, None)
            if entry is None:
                if question_id in self._closed:
                    return False
                raise LookupError(f"no open question {question_id!r}")
            self._closed.add(question_id)
        loop, future = entry
        with contextlib.suppress(RuntimeError):  # the loop is gone, and the run with it
            loop.call_soon_threadsafe(_settle, future, value)
        return True


def _settle(future: asyncio.Future[Any], value: Any) -> None:
    if not future.done():
        future.set_result(value)
