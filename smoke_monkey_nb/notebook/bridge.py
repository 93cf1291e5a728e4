"""Two threads make a click work while the cell runs.

The agent's coroutine runs on a loop thread of its own, one a kernel. The main thread waits here for
three things: calls that must run on it (user code, plots, ``display``), widget messages
(``comm_pump``), and the user's interrupt, which ends the run and is raised once that has cleaned
up.

A blocking run of another thread (a subshell console, a thread pool) has its calls run by that
thread, unless the main thread is serving: it could be waiting for that very thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future
from contextvars import ContextVar
from typing import Any, TypeVar

from ..aio import call_in_thread
from ..errors import agent_error
from ..host import run_in_place
from .awaited import AwaitedRuns
from .calls import Call, Station
from .comm_pump import CommPump, open_pump
from .interrupts import REPEAT_S, CallInterrupted, Interrupts
from .outcomes import QuietInterrupt

T = TypeVar("T")

#: How long an interrupted run may take to clean up before the cell ends all the same.
CLEANUP_S = 3.0
_POLL_MS = 500

#: Where the thread that blocks in ``run`` waits for the calls of this context's run.
_own_station: ContextVar[Station | None] = ContextVar("smn_station", default=None)


class MainThreadBridge:
    """Implements ``host.Host`` for an IPython shell, with or without a kernel. Any thread."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._wake_in, self._wake_out = socket.socketpair()
        self._wake_in.setblocking(False)
        self._wake_out.setblocking(False)
        self._interrupts = Interrupts(self._wake)
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._loop_thread: threading.Thread | None = None
        self._pid = 0
        self._main: Station | None = None
        self._awaited = AwaitedRuns(shell)

    @property
    def namespace(self) -> dict[str, Any] | None:
        """The user's variables."""
        return getattr(self._shell, "user_ns", None)

    @property
    def is_running(self) -> bool:
        """Whether this is the main thread, and a run holds it."""
        return self._main is not None and threading.current_thread() is threading.main_thread()

    @contextlib.contextmanager
    def occupied(self) -> Iterator[None]:
        """Put the user's interrupts off until the end of the block; other threads get none.

        Raises:
            QuietInterrupt: at the end, if the user interrupted.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        with self._interrupts.watched():
            yield
            if self._interrupts.presses:
                raise QuietInterrupt

    def run(
        self, make: Callable[[], Coroutine[Any, Any, T]], on_interrupt: Callable[[], None]
    ) -> T:
        """Run a coroutine on the loop thread; this thread serves its calls and the widgets.

        Raises:
            AgentError: ``run_busy`` when called from inside a run.
            QuietInterrupt: after the user's interrupt, once the run has ended.
        """
        if threading.current_thread() is not threading.main_thread():
            return self._run_beside(make)
        if self._main is not None:
            raise agent_error(
                "run_busy",
                "An agent is running in this kernel already.",
                hint="An agent cannot start another one from the code that it runs.",
            )
        with self.occupied():
            station = self._main = Station(self._wake)
            try:
                future = self._start(make)
                with self._interrupts.telling(on_interrupt):
                    self._serve(future, station)
            except KeyboardInterrupt:  # only where SIGINT could not be taken over
                on_interrupt()
                raise QuietInterrupt from None
            finally:
                self._main = None
                station.abandon()
            if self._interrupts.presses:
                raise QuietInterrupt
            return future.result()

    async def on_main(self, function: Callable[[], T]) -> T:
        """Run ``function`` on the main thread; cancelling drops it, or interrupts it there."""
        if threading.current_thread() is threading.main_thread():
            return await run_in_place(function)  # an agent awaited on the kernel's own loop
        call = Call(function)
        if not self._queue(call):
            return await call_in_thread(function)
        try:
            result: T = await call.future
        except asyncio.CancelledError:
            call.is_wanted = False
            self._end(call)
            raise
        return result

    def while_awaited(self) -> contextlib.AbstractContextManager[None]:
        """Around a run that is awaited on this thread's loop: keeps the kernel's widgets alive."""
        if self._kernel is None or threading.current_thread() is not threading.main_thread():
            return contextlib.nullcontext()
        return self._awaited.one_more()

    def close(self) -> None:
        """Stop the loop thread and watching the shell; no run may be active. Main thread."""
        self._awaited.close()
        if self._loop is not None and self._loop_thread is not None and self._pid == os.getpid():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._loop_thread.join(CLEANUP_S)
            if not self._loop_thread.is_alive():
                self._loop.close()
            self._loop = self._loop_thread = None
        self._wake_in.close()
        self._wake_out.close()

    # -- main thread -------------------------------------------------------------------------------

    @property
    def _kernel(self) -> Any:
        return getattr(self._shell, "kernel", None)

    def _start(self, make: Callable[[], Coroutine[Any, Any, T]]) -> Future[T]:
        """Start the coroutine and wait until it has done its first step.

        Before that, an interrupt would find no run to end. The loop thread gets a copy of this
        context, so that prints reach this cell.
        """
        begun = threading.Event()

        async def main() -> T:
            asyncio.get_running_loop().call_soon(begun.set)
            return await make()

        future = asyncio.run_coroutine_threadsafe(main(), self._running_loop())
        future.add_done_callback(lambda _: self._wake())
        begun.wait()
        return future

    def _serve(self, future: Future[Any], station: Station) -> None:
        pump = open_pump(self._kernel, self._run_handler)
        with pump if pump is not None else contextlib.nullcontext():
            while not future.done() and not self._interrupts.presses:
                self._serve_once(pump, station, _POLL_MS)
            self._clean_up(pump, station, future)

    def _clean_up(self, pump: CommPump | None, station: Station, future: Future[Any]) -> None:
        """Let an interrupted run end, still served; one more interrupt ends the wait."""
        deadline = time.monotonic() + CLEANUP_S
        while not future.done() and time.monotonic() < deadline and self._interrupts.presses < 2:
            self._serve_once(pump, station, 50)
        if not future.done():
            future.cancel()

    def _serve_once(self, pump: CommPump | None, station: Station, timeout_ms: int) -> None:
        import zmq

        poller = zmq.Poller()
        poller.register(self._wake_in.fileno(), zmq.POLLIN)
        if pump is not None:
            poller.register(pump.socket, zmq.POLLIN)
        poller.poll(timeout_ms)
        with contextlib.suppress(BlockingIOError):
            while self._wake_in.recv(4096):
                pass
        if pump is not None:
            pump.drain()
        call = station.next()
        if call is not None:
            self._execute(call)
            self._wake()  # there may be more; but first look whether the run has ended

    def _execute(self, call: Call) -> None:
        if not call.is_wanted:
            return
        try:
            call.settle(self._interrupts.run(call.function, call))
        except (CallInterrupted, KeyboardInterrupt):
            call.cancel()
        except BaseException as error:
            call.settle(error=error)

    def _run_handler(self, handle: Callable[[], None]) -> None:
        """Run a widget's handler; an interrupt ends it and, if the user's, the run."""
        with contextlib.suppress(CallInterrupted):
            self._interrupts.run(handle)

    # -- other threads -----------------------------------------------------------------------------

    def _queue(self, call: Call) -> bool:
        """Hand a call to whoever serves it; false when nobody does."""
        for station in (self._main, _own_station.get()):
            if station is not None and station.put(call):
                return True
        kernel_loop = getattr(getattr(self._kernel, "io_loop", None), "asyncio_loop", None)
        if kernel_loop is None:
            return False
        kernel_loop.call_soon_threadsafe(self._execute, call)  # as soon as no cell blocks it
        return True

    def _run_beside(self, make: Callable[[], Coroutine[Any, Any, T]]) -> T:
        if threading.current_thread() is self._loop_thread:
            raise agent_error(
                "run_busy",
                "A blocking run cannot be started on the agents' own loop.",
                hint="Await agent.run(…) there.",
            )
        station = Station()
        token = _own_station.set(station)
        try:
            future = asyncio.run_coroutine_threadsafe(make(), self._running_loop())
        finally:
            _own_station.reset(token)
        future.add_done_callback(lambda _: station.close())
        while (call := station.wait()) is not None:
            _run_here(call)
        return future.result()

    def _end(self, call: Call) -> None:
        """Interrupt a call that is running on the main thread, until it ends. Loop thread."""
        if self._interrupts.end_call(call):
            call.loop.call_later(REPEAT_S, self._end, call)

    def _wake(self) -> None:
        with contextlib.suppress(BlockingIOError, OSError):
            self._wake_out.send(b"x")

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None or self._pid != os.getpid():  # a fork has no loop thread
                self._loop, self._pid = asyncio.new_event_loop(), os.getpid()
                self._loop_thread = threading.Thread(
                    target=self._loop.run_forever, name="smn-loop", daemon=True
                )
                self._loop_thread.start()
            return self._loop


def _run_here(call: Call) -> None:
    """Run a call on this thread, which nobody can interrupt."""
    if not call.is_wanted:
        return
    try:
        call.settle(call.function())
    except KeyboardInterrupt:
        call.cancel()
    except BaseException as error:
        call.settle(error=error)
