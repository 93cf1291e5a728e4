"""Reads one HTTP answer in a task of its own, under two time limits.

The reader takes bytes off the wire into a list and the caller collects whatever has come, so a slow
consumer costs no wakeups, a stall is a timer on the caller's future (no cancelling of a running
read, which could not be told from a cancel from outside), and closing early is cancelling the
reader: the connection is closed in the task that opened it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any


class Stalled(Exception):
    """Nothing came within the time limit."""


class Reading:
    """One answer. All methods belong to the loop it was made on.

    ``open_answer`` gives the context manager of ``with_streaming_response``.
    """

    def __init__(
        self, open_answer: Callable[[], Awaitable[AbstractAsyncContextManager[Any]]]
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._open_answer = open_answer
        self._chunks: list[bytes] = []
        self._waiter: asyncio.Future[None] | None = None
        self._error: Exception | None = None
        self.headers: dict[str, str] | None = None
        self.over = False  # nothing more will come
        self.task = self._loop.create_task(self._read())

    async def started(self, limit_s: float | None) -> None:
        """Wait for the headers.

        Raises:
            Stalled: they did not come in time.
            Exception: whatever the client raised.
        """
        deadline = None if limit_s is None else self._loop.time() + limit_s
        while self.headers is None and not self.over:
            await self._wait(deadline)
        if self.headers is None and self._error is not None:
            raise self._error

    async def some(self, limit_s: float | None) -> bytes:
        """What has come since the last call, waiting for it if need be; empty at the end.

        Raises:
            Stalled: no byte came in time.
            Exception: whatever reading raised, once all that came before it is taken.
        """
        if not self._chunks and not self.over:
            deadline = None if limit_s is None else self._loop.time() + limit_s
            while not self._chunks and not self.over:
                await self._wait(deadline)
        if self._chunks:
            taken = self._chunks
            self._chunks = []
            return b"".join(taken) if len(taken) > 1 else taken[0]
        if self._error is not None:
            raise self._error
        return b""

    def let_finish(self, limit_s: float) -> asyncio.Task[None]:
        """Read the rest in the background, so that the connection can be used again."""
        timer = self._loop.call_later(limit_s, self.task.cancel)
        self.task.add_done_callback(lambda _: timer.cancel())
        return self.task

    async def close(self) -> None:
        """Close the connection at once; waits until that is done."""
        self.task.cancel()
        await asyncio.wait([self.task])

    async def _wait(self, deadline: float | None) -> None:
        self._waiter = waiter = self._loop.create_future()
        timer = None
        if deadline is not None:
            timer = self._loop.call_at(deadline, _expire, waiter)
        try:
            await waiter
        finally:
            self._waiter = None
            if timer is not None:
                timer.cancel()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def _read(self) -> None:
        try:
            async with await self._open_answer() as answer:
                self.headers = {key.lower(): value for key, value in answer.headers.items()}
                self._wake()
                async for chunk in answer.iter_bytes():
                    self._chunks.append(chunk)
                    self._wake()
        except Exception as error:
            self._error = error
        finally:
            self.over = True
            self._wake()


def _expire(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_exception(Stalled())
