"""Runs a coroutine to its end from synchronous code, even below a running event loop.

``run_python`` stands on the kernel's main thread, inside a cell, and so below the kernel's own
loop; asyncio refuses to run a second one there. The code must stay on this thread (plots, sqlite),
and re-entering the kernel's loop would let it handle messages in the middle of a cell. So the
outer loop is put aside for the while, as if this thread had none, and the coroutine runs on a loop
of ours. That loop is kept between calls: a client or a task that one call made is of use in the
next.

What is bound to the kernel's own loop (a client made by an ``await`` in a cell of the person's)
cannot be awaited here; asyncio says so.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import threading
from collections.abc import Coroutine, Iterator
from typing import Any, TypeVar

T = TypeVar("T")

_CLEAN_UP_S = 3.0
_kept: asyncio.AbstractEventLoop | None = None


def run_to_end(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run ``coroutine`` on this thread and return its result.

    KeyboardInterrupt cancels it, lets it clean up for at most 3 s, and is raised again.
    """
    if threading.current_thread() is not threading.main_thread():
        return asyncio.run(coroutine)
    with _outer_loop_aside():
        return _run(_our_loop(), coroutine)


def _our_loop() -> asyncio.AbstractEventLoop:
    global _kept
    if _kept is None or _kept.is_closed():
        _kept = asyncio.new_event_loop()
        atexit.register(_kept.close)
    return _kept


@contextlib.contextmanager
def _outer_loop_aside() -> Iterator[None]:
    """Make this thread look as if no loop and no task ran on it."""
    outer = asyncio._get_running_loop()
    if outer is None:
        yield
        return
    # Since Python 3.12 tasks can be swapped; in 3.14 a thread has one current task whatever its
    # loop, so it must be. Before, the current task is kept by loop and does not stand in the way.
    swap = getattr(asyncio.tasks, "_swap_current_task", None)
    task = swap(outer, None) if swap is not None else None
    asyncio._set_running_loop(None)
    try:
        yield
    finally:
        asyncio._set_running_loop(outer)
        if swap is not None:
            swap(outer, task)


def _run(loop: asyncio.AbstractEventLoop, coroutine: Coroutine[Any, Any, T]) -> T:
    task = loop.create_task(coroutine)
    try:
        return loop.run_until_complete(task)
    except KeyboardInterrupt:
        task.cancel()
        with contextlib.suppress(Exception, asyncio.CancelledError):
            loop.run_until_complete(asyncio.wait({task}, timeout=_CLEAN_UP_S))
        raise
    finally:
        if task.done() and not task.cancelled():
            task.exception()  # seen, so asyncio does not report it again
