"""Handles widget messages while a cell is running, on the main thread.

A kernel reads its shell channel only between cells, so a button clicked in a running cell is heard
when the cell is over (ipykernel 6 and 7.4; 7.0 to 7.3 hear it on a subshell's thread). The pump
takes the messages off the shell's stream itself: ``comm_*`` (and the info requests that a reloaded
page sends) go to the kernel's own handlers at once; everything else is held and put back, in order,
when the pump closes.

The private parts of ipykernel and pyzmq that this needs are used in this file alone. Where one is
missing, ``open_pump`` says so once, and clicks wait for the end of the cell.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys
import warnings
from collections.abc import Callable, Coroutine
from typing import Any

import zmq

logger = logging.getLogger("smoke_monkey_nb")

_AT_ONCE = {
    "comm_msg",
    "comm_open",
    "comm_close",
    "comm_info_request",
    "kernel_info_request",  # the first thing a reloaded page asks; it waits for the answer
}


#: Held messages that were put back and are being handled; a task needs somebody who holds it.
_replayed: set[asyncio.Future[Any]] = set()


class _ShellTap:
    """Stands in for the kernel's reader of shell messages. Main thread only."""

    def __init__(self, kernel: Any, run: Callable[[Callable[[], None]], None]) -> None:
        self._kernel = kernel
        self._run = run
        self._session = kernel.session
        self._handlers = kernel.shell_handlers
        self._stream, self._reply_socket = _shell_stream(kernel)
        # What the kernel had set, to be restored: pyzmq has no public way to read it.
        self._callback: Callable[[Any], Any] = self._stream._recv_callback
        self._copy: bool = self._stream._recv_copy
        kernel._publish_status  # noqa: B018 - a missing part must be noticed before the cell runs

    def open(self) -> None:
        """Take the messages over."""
        self._stream.on_recv(self._on_message, copy=False)

    def close(self) -> None:
        """Give them back to the kernel."""
        self._stream.on_recv(self._callback, copy=self._copy)

    def _on_message(self, frames: Any) -> Any:
        raise NotImplementedError

    def _read(self, frames: Any) -> tuple[Any, Any] | None:
        """Identities and message, if it is one to be handled at once."""
        try:
            identities, rest = self._session.feed_identities(frames, copy=False)
            # Without content first: reading it twice counts as a replayed signature.
            header = self._session.deserialize(rest, content=False, copy=False)["header"]
            if header["msg_type"] not in _AT_ONCE:
                return None
            return identities, self._session.deserialize(rest, content=True, copy=False)
        except Exception:  # unreadable here: the kernel's own reader decides
            return None

    def _handle(self, identities: Any, message: Any, cell: Any) -> None:
        publish = self._kernel._publish_status
        publish("busy", "shell", parent=message)
        try:
            self._run(lambda: self._dispatch(identities, message))
        finally:
            for stream in (sys.stdout, sys.stderr):
                with contextlib.suppress(Exception):
                    stream.flush()
            # ipywidgets sends its next update only after the idle of the last one ...
            publish("idle", "shell", parent=message)
            # ... and the front end's indicator must go on to say that the cell runs.
            publish("busy", "shell", parent=cell)

    def _dispatch(self, identities: Any, message: Any) -> None:
        try:
            handler = self._handlers[message["header"]["msg_type"]]
            result = handler(self._reply_socket(), identities, message)
            if asyncio.iscoroutine(result):
                _run_to_its_end(result)
        except Exception:
            logger.exception("a widget message could not be handled")


class CommPump(_ShellTap):
    """For a cell that blocks the main thread: handles what ``drain`` finds, holds the rest.

    ``run`` calls a widget's handler; it may end it early, but must not raise.
    """

    def __init__(self, kernel: Any, run: Callable[[Callable[[], None]], None]) -> None:
        super().__init__(kernel, run)
        self._held: list[Any] = []

    @property
    def socket(self) -> Any:
        """The zmq socket to poll."""
        return self._stream.socket

    def __enter__(self) -> CommPump:
        self.open()
        return self

    def __exit__(self, *_: object) -> None:
        held, self._held = self._held, []
        self.close()  # first: what is still in the socket comes after what was held
        for frames in held:
            result = self._callback(frames)
            if asyncio.iscoroutine(result):
                task = asyncio.ensure_future(result, loop=self._kernel.io_loop.asyncio_loop)
                _replayed.add(task)
                task.add_done_callback(_replayed.discard)

    def drain(self) -> None:
        """Handle or hold everything that has arrived, and send the replies off."""
        self._stream.flush(zmq.POLLIN)
        if self._stream.sending():  # ipykernel 6 replies by this stream, which waits for the loop
            self._stream.flush(zmq.POLLOUT)

    def _on_message(self, frames: Any) -> None:
        read = self._read(frames)
        if read is None:
            self._held.append(frames)
        else:
            self._handle(*read, self._kernel.get_parent("shell"))


class CommShortcut(_ShellTap):
    """For a cell that awaits: the kernel's loop reads on, widget messages jump the queue.

    ``running_cell`` gives the request of the cell that runs, or ``None``: then the kernel handles
    everything itself.
    """

    def __init__(self, kernel: Any, running_cell: Callable[[], Any]) -> None:
        super().__init__(kernel, lambda handle: handle())
        self._running_cell = running_cell

    def _on_message(self, frames: Any) -> Any:
        cell = self._running_cell()
        read = self._read(frames) if cell is not None else None
        if read is None:
            return self._callback(frames)  # pyzmq awaits it if need be
        return self._handle(*read, cell)


def _shell_stream(kernel: Any) -> tuple[Any, Callable[[], Any]]:
    """The stream that shell messages reach the main thread by, and the socket for replies."""
    thread = getattr(kernel, "shell_channel_thread", None)
    if thread is None:  # ipykernel 6
        # Not the stream for replies: it sends when its loop runs again, after the cell.
        return kernel.shell_stream, lambda: kernel.shell_stream.socket
    manager = thread.manager
    if hasattr(manager, "get_shell_channel_to_subshell_pair"):
        stream = manager.get_shell_channel_to_subshell_pair(None).to_stream
    else:  # 7.0
        stream = manager._shell_channel_to_main.to_stream
    return stream, lambda: manager.get_subshell_to_shell_channel_socket(None)


def _run_to_its_end(coroutine: Coroutine[Any, Any, Any]) -> None:
    # The handlers of info requests are declared async but never wait for anything.
    try:
        coroutine.send(None)
    except StopIteration:
        return
    coroutine.close()


_warned = False


def open_pump(kernel: Any, run: Callable[[Callable[[], None]], None]) -> CommPump | None:
    """A pump for this kernel; ``None`` without a kernel, or (with one warning) where its private
    parts are missing.
    """
    if kernel is None:
        return None
    try:
        return CommPump(kernel, run)
    except (AttributeError, TypeError) as error:
        _warn_once(error)
        return None


def open_shortcut(kernel: Any, running_cell: Callable[[], Any]) -> CommShortcut | None:
    """A shortcut for this kernel, or ``None`` (with one warning) where its parts are missing."""
    try:
        return CommShortcut(kernel, running_cell)
    except (AttributeError, TypeError) as error:
        _warn_once(error)
        return None


def supports_pump(kernel: Any) -> bool:
    """Whether clicks can be handled while a cell of this kernel runs."""
    try:
        CommPump(kernel, lambda handle: handle())
    except (AttributeError, TypeError):
        return False
    return True


def _warn_once(error: Exception) -> None:
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(
            f"This kernel does not let widgets answer while a cell runs ({error}); questions are "
            "asked by a text prompt instead.",
            stacklevel=3,
        )


def keep_clicks_on_subshell(comm: Any) -> None:
    """Let a comm's messages come by the front end's subshell, even while the main thread is busy.

    ipykernel 7.4 sends them to the shell that last published on the comm, which is the main one;
    others need nothing.
    """
    if hasattr(comm, "_reply_subshell_for"):
        comm._reply_subshell_for = lambda data, default: default
