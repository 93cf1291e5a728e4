"""Functions on their way to another thread and back."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable
from typing import Any


class Call:
    """One function; made on the loop that awaits its ``future``, run by another thread."""

    def __init__(self, function: Callable[[], Any]) -> None:
        self.function = function
        self.loop = asyncio.get_running_loop()
        self.future: asyncio.Future[Any] = self.loop.create_future()
        self.is_wanted = True

    def settle(self, value: Any = None, error: BaseException | None = None) -> None:
        """Give the result back. Any thread."""
        self._deliver(lambda: _settle(self.future, value, error))

    def cancel(self) -> None:
        """It gave no result, because it was interrupted or will not be run. Any thread."""
        self._deliver(self.future.cancel)

    def _deliver(self, settle: Callable[[], Any]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self.loop.call_soon_threadsafe(settle)


def _settle(future: asyncio.Future[Any], value: Any, error: BaseException | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(value)
    elif isinstance(error, (StopIteration, SystemExit, GeneratorExit)):  # would end the loop
        future.set_exception(RuntimeError(f"{type(error).__name__}: {error}"))
    else:
        future.set_exception(error)


class Station:
    """Where calls wait for the thread that serves them. ``put`` and ``close`` from any thread."""

    def __init__(self, wake: Callable[[], None] = lambda: None) -> None:
        self._calls: queue.SimpleQueue[Call | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._wake = wake
        self._is_open = True

    def put(self, call: Call) -> bool:
        """Queue a call; false when nobody serves here any more."""
        with self._lock:
            if not self._is_open:
                return False
            self._calls.put(call)
        self._wake()
        return True

    def close(self) -> None:
        """Take no more calls, and let ``wait`` give ``None`` once the queue is empty."""
        with self._lock:
            self._is_open = False
            self._calls.put(None)

    def next(self) -> Call | None:
        """The call whose turn it is, or ``None`` if there is none."""
        with contextlib.suppress(queue.Empty):
            return self._calls.get_nowait()
        return None

    def wait(self) -> Call | None:
        """Wait for the next call; ``None`` after ``close``."""
        return self._calls.get()

    def abandon(self) -> None:
        """Close, and cancel what still waits."""
        self.close()
        while (call := self.next()) is not None:
            call.cancel()
