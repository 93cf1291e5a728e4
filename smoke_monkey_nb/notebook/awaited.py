"""Runs that a cell awaits on the kernel's own loop: ``await agent.run(…)``.

The loop is free, yet ipykernel 6 handles widget messages only after the cell, and 7.4 leaves out
the *idle* that ipywidgets waits for. While such a run lasts and a cell is running, widget messages
take a shortcut. The loop also ticks: ipykernel's interrupt handler only leaves a note for it, and a
sleeping loop would not look (tornado 6.6, asyncio on Unix).
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from .comm_pump import CommShortcut, open_shortcut

_TICK_S = 0.2


class AwaitedRuns:
    """Counts them for one shell, and knows which cell is running. Main thread only."""

    def __init__(self, shell: Any) -> None:
        self._kernel: Any = getattr(shell, "kernel", None)
        self._events = getattr(shell, "events", None)
        self._count = 0
        self._shortcut: CommShortcut | None = None
        self._cell: Any = None
        if self._kernel is not None and self._events is not None:
            self._begin_cell()  # the one that loads the extension
            self._events.register("pre_run_cell", self._begin_cell)
            self._events.register("post_run_cell", self._end_cell)

    def close(self) -> None:
        """Stop watching the shell's cells."""
        if self._kernel is not None and self._events is not None:
            with contextlib.suppress(ValueError):
                self._events.unregister("pre_run_cell", self._begin_cell)
                self._events.unregister("post_run_cell", self._end_cell)

    @contextlib.contextmanager
    def one_more(self) -> Iterator[None]:
        """Around one run."""
        if self._count == 0:
            self._shortcut = open_shortcut(self._kernel, lambda: self._cell)
            if self._shortcut is not None:
                self._shortcut.open()
        self._count += 1
        self._tick(asyncio.get_running_loop())
        try:
            yield
        finally:
            self._count -= 1
            if self._count == 0 and self._shortcut is not None:
                self._shortcut.close()

    def _tick(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._count:
            loop.call_later(_TICK_S, self._tick, loop)

    def _begin_cell(self, *_: object) -> None:
        if threading.current_thread() is threading.main_thread():  # not a subshell's
            with contextlib.suppress(AttributeError, LookupError):
                self._cell = self._kernel.get_parent("shell")

    def _end_cell(self, *_: object) -> None:
        if threading.current_thread() is threading.main_thread():
            self._cell = None
