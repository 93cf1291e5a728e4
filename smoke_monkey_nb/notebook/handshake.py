"""Whether a front end that draws our widget is there: it says *ready*, from whatever thread its
message comes.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time

#: How long after display a front end may take to show a first sign of life.
PATIENCE_S = 10.0


class Handshake:
    """``set`` from any thread; ``wait`` on the run's loop."""

    def __init__(self, patience_s: float = PATIENCE_S) -> None:
        self._patience_s = patience_s
        self._lock = threading.Lock()
        self._is_set = False
        self._shown_at = time.monotonic()
        self._waiters: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    def shown(self) -> None:
        """The widget was displayed now: patience starts."""
        self._shown_at = time.monotonic()

    def is_set(self) -> bool:
        """Whether somebody said ready."""
        return self._is_set

    def set(self) -> None:
        """A front end is there."""
        with self._lock:
            self._is_set = True
            waiters, self._waiters = self._waiters, []
        for loop, event in waiters:
            with contextlib.suppress(RuntimeError):  # that loop is closed
                loop.call_soon_threadsafe(event.set)

    async def wait(self) -> bool:
        """Wait for the first sign, until patience since display is over."""
        event = asyncio.Event()
        with self._lock:
            if self._is_set:
                return True
            self._waiters.append((asyncio.get_running_loop(), event))
        left = self._shown_at + self._patience_s - time.monotonic()
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(event.wait(), max(0.0, left))
        return self._is_set
