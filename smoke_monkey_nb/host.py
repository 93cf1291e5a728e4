"""Where the agent lives: a notebook kernel, a terminal, a script.

The port through which the engine reaches the *main thread* (user code, plots and ``display`` belong
there) and the user's variables. The notebook layer installs a host that keeps widgets alive while a
cell runs; without one, ``PlainHost`` serves scripts and tests.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
import threading
from collections.abc import Callable, Coroutine
from typing import Any, Protocol, TypeVar

from .aio import call_in_thread

T = TypeVar("T")

#: An interrupt that was handed on has cancelled the run by then.
_CANCELLED_WITHIN_S = 1.0


class Host(Protocol):
    """What the engine needs of its surroundings."""

    @property
    def namespace(self) -> dict[str, Any] | None:
        """The user's variables, or ``None`` where nobody lends them."""

    async def on_main(self, function: Callable[[], T]) -> T:
        """Run ``function`` on the main thread, one at a time, and return its result.

        Called on the run's loop. Cancelling the await before the start drops the call; after it,
        interrupts it.
        """

    def run(
        self, make: Callable[[], Coroutine[Any, Any, T]], on_interrupt: Callable[[], None]
    ) -> T:
        """Block the calling thread until the coroutine that ``make`` builds is done, and return its
        result.

        ``on_interrupt`` is called (from the blocked thread) at KeyboardInterrupt, which is then
        raised once the run has cleaned up. Raises ``AgentError`` ``run_busy`` when called from
        inside such a run.
        """


def while_awaited(host: Host) -> contextlib.AbstractContextManager[None]:
    """Around a run, on its loop; a host may have a ``while_awaited`` that keeps that loop's
    surroundings (a kernel's widgets) alive where the loop is its own.
    """
    method = getattr(host, "while_awaited", contextlib.nullcontext)
    context: contextlib.AbstractContextManager[None] = method()
    return context


async def run_in_place(function: Callable[[], T]) -> T:
    """Run ``function`` on this loop's own thread, which stands still meanwhile.

    A KeyboardInterrupt must not leave a task: it would end the loop, and with a kernel's loop the
    kernel. It is handed on as a signal to whoever takes care of interrupts here (ipykernel, or
    ``asyncio.run`` since Python 3.11), who cancels the run.
    """
    try:
        return function()
    except KeyboardInterrupt:
        if signal.getsignal(signal.SIGINT) in (signal.default_int_handler, None):
            raise  # nobody does: the loop is run by somebody who expects it
    signal.raise_signal(signal.SIGINT)
    await asyncio.sleep(_CANCELLED_WITHIN_S)
    raise asyncio.CancelledError


class PlainHost:
    """Scripts and tests: no kernel. Main-thread calls run in place when the run's loop is on the
    main thread, else on the thread that blocks in ``run``, else on a worker thread.
    """

    @property
    def namespace(self) -> dict[str, Any] | None:
        """The variables of ``__main__``."""
        return sys.modules["__main__"].__dict__

    async def on_main(self, function: Callable[[], T]) -> T:
        """Run ``function`` on the main thread if the loop is there, else on a worker thread."""
        if threading.current_thread() is threading.main_thread():
            return await run_in_place(function)
        return await call_in_thread(function)

    def run(
        self, make: Callable[[], Coroutine[Any, Any, T]], on_interrupt: Callable[[], None]
    ) -> T:
        """Run the coroutine to its end on this thread's loop."""
        return _run_here(make, on_interrupt)


def _run_here(make: Callable[[], Coroutine[Any, Any, T]], on_interrupt: Callable[[], None]) -> T:
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(make())
    _make_reentrant(loop)
    try:
        return loop.run_until_complete(make())
    except KeyboardInterrupt:
        on_interrupt()
        raise


def _make_reentrant(loop: asyncio.AbstractEventLoop) -> None:
    # A loop is running here and no kernel bridge serves: only re-entering the loop lets its other
    # tasks (the user's hooks and tools among them) go on. nest-asyncio2 is the maintained
    # continuation of nest_asyncio.
    try:
        import nest_asyncio2 as nest
    except ImportError:  # pragma: no cover - older installs
        import nest_asyncio as nest
    patched_before = hasattr(asyncio, "_nest_patched")
    plain_run = asyncio.run
    nest.apply(loop)
    if not patched_before:
        # Its asyncio.run keeps loops open, which nobody asked for who only called run_sync.
        asyncio.run = plain_run


_default: Host = PlainHost()


def default_host() -> Host:
    """The host that new agents live in."""
    return _default


def set_default_host(host: Host | None) -> None:
    """Install the host for agents made from now on (``None``: back to ``PlainHost``)."""
    global _default
    _default = host if host is not None else PlainHost()
