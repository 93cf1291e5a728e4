"""Small asyncio helpers: a time limit that never waits for the late, and worker threads that never
block an exit.

``asyncio.wait_for`` waits until the cancelled task has really ended, and the default executor is
joined at exit; a hook or tool that ignores its end would then hang the run. Both helpers let go
instead.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import inspect
import threading
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from .foreign import contained, tamed

T = TypeVar("T")


class TimedOut(Exception):
    """The time limit passed."""


async def limited(awaitable: Awaitable[T], timeout_s: float | None) -> T:
    """Await at most ``timeout_s`` seconds; then cancel, do not wait for the end, and raise
    ``TimedOut``. Raises nothing but an ``Exception`` (and cancellation), whatever the awaited does.
    """
    task = asyncio.ensure_future(contained(awaitable))
    try:
        done, _ = await asyncio.wait({task}, timeout=timeout_s)
    except asyncio.CancelledError:
        _abandon(task)
        raise
    if not done:
        _abandon(task)
        raise TimedOut
    error = None if task.cancelled() else task.exception()
    if error is not None:
        raise tamed(error)
    return task.result()


def _abandon(task: asyncio.Future[Any]) -> None:
    # Read the outcome when it comes, so that asyncio does not report it as never retrieved.
    task.add_done_callback(lambda t: t.cancelled() or t.exception())
    task.cancel()


def being_cancelled() -> bool:
    """Whether a CancelledError that was just caught is the current task's own, not the doing of the
    code that it awaited.
    """
    # Task.cancelling() exists from Python 3.11; before it, treat every cancellation as ours.
    cancelling = getattr(asyncio.current_task(), "cancelling", None)
    return bool(cancelling()) if cancelling is not None else True


async def outlast(task: asyncio.Task[T]) -> T:
    """Wait for a task that is ending, through further cancellations."""
    while not task.done():
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait({task})
    return task.result()


async def call_in_thread(function: Callable[..., T], *args: Any) -> T:
    """Run a sync function on a daemon thread of its own, in a copy of the caller's context.

    Cancelling the await lets the thread go on unheard.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()
    context = contextvars.copy_context()

    def settle(setter: Callable[[Any], None], value: Any) -> None:
        if not future.done():
            setter(value)

    def work() -> None:
        try:
            setter, value = future.set_result, context.run(function, *args)
        except BaseException as error:  # whatever it is, it belongs to the caller
            setter, value = future.set_exception, tamed(error)  # type: ignore[assignment]
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(settle, setter, value)

    threading.Thread(target=work, name="smn-worker", daemon=True).start()
    return await future


async def call(function: Callable[..., Any], *args: Any) -> Any:
    """Call a user's sync or async function: async on this loop, sync on a worker thread."""
    if is_async(function):
        return await function(*args)
    result = await call_in_thread(function, *args)
    return await result if inspect.isawaitable(result) else result


def is_async(function: Callable[..., Any]) -> bool:
    """Whether calling ``function`` gives a coroutine; objects with an async ``__call__`` and
    partials included.
    """
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004 - its kind matters, not whether it is callable
    )
