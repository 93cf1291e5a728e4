"""Two threads make a click work while the cell runs.

The agent's coroutine runs on a loop thread of its own, one a kernel. The main thread waits here for
three things: calls that must run on it (user code, plots, ``display``), widget messages
(``comm_pump``), and KeyboardInterrupt. An interrupt ends the run and is raised once the run has
cleaned up; an interrupt that the bridge sends itself, to end a main-thread call, is not the user's
and is swallowed.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import queue
import signal
import socket
import threading
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

from ..aio import call_in_thread
from ..errors import agent_error
from .comm_pump import CommPump, open_pump
from .outcomes import QuietInterrupt

T = TypeVar("T")

#: How long an interrupted run may take to clean up before the cell ends all the same.
CLEANUP_S = 3.0
#: A main-thread call that swallows its interrupt gets another one after this long.
REPEAT_INTERRUPT_S = 0.7
_POLL_MS = 500


class _Call:
    """A function on its way to the main thread and back."""

    def __init__(self, function: Callable[[], Any]) -> None:
        self.function = function
        self.loop = asyncio.get_running_loop()
        self.future: asyncio.Future[Any] = self.loop.create_future()
        self.is_wanted = True
        self.is_running = False

    def settle(self, value: Any = None, error: BaseException | None = None) -> None:
        """Give the result back; an interrupt comes back as a cancellation. Any thread."""

        def deliver() -> None:
            if self.future.done():
                return
            if isinstance(error, KeyboardInterrupt):
                self.future.cancel()  # raised in a task it would end the loop
            elif error is not None:
                self.future.set_exception(_raisable(error))
            else:
                self.future.set_result(value)

        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self.loop.call_soon_threadsafe(deliver)


def _raisable(error: BaseException) -> BaseException:
    if isinstance(error, (StopIteration, SystemExit, GeneratorExit)):
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def _interrupt_main_thread() -> None:
    main = threading.main_thread().ident
    if hasattr(signal, "pthread_kill") and main is not None:
        signal.pthread_kill(main, signal.SIGINT)  # wakes a sleeping system call too
    else:  # pragma: no cover - Windows
        import _thread

        _thread.interrupt_main()


class MainThreadBridge:
    """Implements ``host.Host`` for an IPython shell, with or without a kernel."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._calls: queue.SimpleQueue[_Call] = queue.SimpleQueue()
        self._wake_in, self._wake_out = socket.socketpair()
        self._wake_in.setblocking(False)
        self._wake_out.setblocking(False)
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._pid = 0
        self._own_interrupts = 0
        self._serving = False

    @property
    def namespace(self) -> dict[str, Any] | None:
        """The user's variables."""
        return getattr(self._shell, "user_ns", None)

    @property
    def is_running(self) -> bool:
        """Whether a run holds the main thread."""
        return self._serving

    def run(
        self, make: Callable[[], Coroutine[Any, Any, T]], on_interrupt: Callable[[], None]
    ) -> T:
        """Run a coroutine on the loop thread, serving the main thread's calls and widgets.

        Raises:
            AgentError: ``run_busy`` when called from inside a run.
            QuietInterrupt: after a KeyboardInterrupt, once the run has ended.
        """
        if threading.current_thread() is not threading.main_thread():
            return asyncio.run_coroutine_threadsafe(make(), self._running_loop()).result()
        if self._serving:
            raise agent_error(
                "run_busy",
                "An agent is running in this kernel already.",
                hint="An agent cannot start another one from the code that it runs.",
            )
        # run_coroutine_threadsafe copies this context, so that prints reach this cell.
        future = asyncio.run_coroutine_threadsafe(make(), self._running_loop())
        future.add_done_callback(lambda _: self._wake())
        self._serving = True
        try:
            self._serve(future, on_interrupt)
        finally:
            self._serving = False
            self._drop_calls()
        return future.result()

    async def on_main(self, function: Callable[[], T]) -> T:
        """Run ``function`` on the main thread; cancelling drops it, or interrupts it there."""
        if threading.current_thread() is threading.main_thread():
            return function()  # an agent awaited on the kernel's own loop
        if not self._serving:
            return await self._on_idle_main(function)
        call = _Call(function)
        self._calls.put(call)
        self._wake()
        try:
            result: T = await call.future
        except asyncio.CancelledError:
            call.is_wanted = False
            self._interrupt(call)
            raise
        return result

    async def _on_idle_main(self, function: Callable[[], T]) -> T:
        """No cell waits here: let the kernel's loop run it between cells."""
        kernel_loop = getattr(getattr(self._kernel, "io_loop", None), "asyncio_loop", None)
        if kernel_loop is None:
            return await call_in_thread(function)
        call = _Call(function)
        kernel_loop.call_soon_threadsafe(self._execute, call)
        result: T = await call.future
        return result

    # -- main thread -------------------------------------------------------------------------------

    @property
    def _kernel(self) -> Any:
        return getattr(self._shell, "kernel", None)

    def _serve(self, future: Future[Any], on_interrupt: Callable[[], None]) -> None:
        pump = open_pump(self._kernel)
        with pump if pump is not None else contextlib.nullcontext():
            while not future.done():
                try:
                    self._serve_once(pump, _POLL_MS)
                except KeyboardInterrupt:
                    if self._is_own_interrupt():
                        continue
                    self._end_run(pump, future, on_interrupt)
                    raise QuietInterrupt from None

    def _serve_once(self, pump: CommPump | None, timeout_ms: int) -> None:
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
        while not self._calls.empty():
            self._execute(self._calls.get())

    def _end_run(
        self, pump: CommPump | None, future: Future[Any], on_interrupt: Callable[[], None]
    ) -> None:
        """Let an interrupted run clean up, still served; a second interrupt ends the wait."""
        deadline = time.monotonic() + CLEANUP_S
        try:
            on_interrupt()
            while not future.done() and time.monotonic() < deadline:
                self._serve_once(pump, 50)
        except KeyboardInterrupt:
            pass
        if not future.done():
            future.cancel()

    def _execute(self, call: _Call) -> None:
        if not call.is_wanted:
            return
        call.is_running = True
        try:
            call.settle(call.function())
        except KeyboardInterrupt as error:
            call.is_running = False
            call.settle(error=error)
            if not self._is_own_interrupt():
                raise
        except BaseException as error:
            call.settle(error=error)
        finally:
            call.is_running = False
            self._forget_own_interrupts()

    def _forget_own_interrupts(self) -> None:
        """After a call, nothing that was meant for it may hit what comes next."""
        if self._own_interrupts == 0:
            return
        with contextlib.suppress(KeyboardInterrupt):
            time.sleep(0.01)  # a signal on its way arrives here at the latest
        with self._lock:
            self._own_interrupts = 0

    def _drop_calls(self) -> None:
        while not self._calls.empty():
            self._calls.get().settle(error=KeyboardInterrupt())

    def _is_own_interrupt(self) -> bool:
        with self._lock:
            if self._own_interrupts == 0:
                return False
            self._own_interrupts -= 1
            return True

    # -- loop thread -------------------------------------------------------------------------------

    def _interrupt(self, call: _Call) -> None:
        """Raise KeyboardInterrupt in a call that is running on the main thread."""
        with self._lock:
            if not call.is_running or not self._serving:
                return
            self._own_interrupts += 1
            _interrupt_main_thread()
        call.loop.call_later(REPEAT_INTERRUPT_S, self._interrupt, call)

    # -- any thread --------------------------------------------------------------------------------

    def _wake(self) -> None:
        with contextlib.suppress(BlockingIOError, OSError):
            self._wake_out.send(b"x")

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None or self._pid != os.getpid():  # a fork has no loop thread
                self._loop = asyncio.new_event_loop()
                self._pid = os.getpid()
                threading.Thread(
                    target=self._loop.run_forever, name="smn-loop", daemon=True
                ).start()
            return self._loop
