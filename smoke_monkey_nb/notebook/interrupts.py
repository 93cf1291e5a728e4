"""Tells the user's interrupt from the bridge's own, and keeps both out of the bridge's code.

While a run holds the main thread, SIGINT raises KeyboardInterrupt only in code that was handed in
to be run there (a tool's, a widget's handler); anywhere else it is noted, and whoever waits looks.
So no message that is being sorted and no view that is being closed is torn in two.

The bridge ends such code by sending the signal itself. Code may bring a handler of its own for the
while: then the KeyboardInterrupt that comes out of it is told apart by whether a signal of ours is
on its way.
"""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, TypeVar

T = TypeVar("T")

#: Code that was just interrupted may clean up for so long before it is interrupted again.
REPEAT_S = 1.0
#: Two presses within this time are one: people press twice.
_ONE_PRESS_S = 0.3


class CallInterrupted(Exception):
    """The code ended by a KeyboardInterrupt, which is accounted for."""


class Interrupts:
    """SIGINT of one main thread. ``end_call`` is for the loop thread, the rest for the main one."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        # Reentrant: the handler runs in the middle of whatever the main thread does.
        self._lock = threading.RLock()
        self._is_watching = False
        self._pressed_at: list[float] = []
        self._on_press: Callable[[], None] | None = None
        self._target: object | None = None
        self._own_target: object | None = None
        self._hit_at = float("-inf")
        self._was_seen = False

    @property
    def presses(self) -> int:
        """How often the user interrupted since the watch began."""
        return len(self._pressed_at)

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """Take SIGINT over; nested watches are one."""
        before = signal.getsignal(signal.SIGINT)
        if self._is_watching or before is None:  # None: set from C, could not be restored
            yield
            return
        self._pressed_at.clear()
        signal.signal(signal.SIGINT, self._on_signal)
        self._is_watching = True
        try:
            yield
        finally:
            self._is_watching = False
            signal.signal(signal.SIGINT, before)

    @contextlib.contextmanager
    def telling(self, on_press: Callable[[], None]) -> Iterator[None]:
        """Call ``on_press`` at the user's first interrupt, even in the middle of a call."""
        self._on_press = on_press
        if self._pressed_at:
            self._tell()
        try:
            yield
        finally:
            self._on_press = None

    def run(self, function: Callable[[], T], target: object = None) -> T:
        """Run code that may be interrupted.

        Raises:
            CallInterrupted: it was.
        """
        with self._lock:
            self._target, self._hit_at, self._was_seen = target, float("-inf"), False
        try:
            return _interruptible(function)
        except KeyboardInterrupt:
            if not self._was_seen:
                self._classify()
            raise CallInterrupted from None
        finally:
            self._settle()

    def end_call(self, target: object) -> bool:
        """Raise KeyboardInterrupt in the code that runs for ``target``; false if it has ended."""
        with self._lock:
            if self._target is not target:
                return False
            if time.monotonic() - self._hit_at >= REPEAT_S:
                self._own_target = target
                _signal_main_thread()
            return True

    def _settle(self) -> None:
        with self._lock:
            self._target = None
            is_pending = self._own_target is not None
        if is_pending:
            time.sleep(0.001)  # a signal on its way arrives here at the latest
            self._own_target = None

    def _on_signal(self, _number: int, frame: FrameType | None) -> None:
        is_wanted = self._classify()
        if is_wanted and _is_inside(frame):
            raise KeyboardInterrupt

    _on_signal.raises_in_code = True  # type: ignore[attr-defined]  # run_python need not replace it

    def _classify(self) -> bool:
        """Account for one interrupt; whether it is meant for the code that runs now."""
        with self._lock:
            self._was_seen = True
            self._hit_at = time.monotonic()
            if self._own_target is not None:
                is_wanted = self._own_target is self._target
                self._own_target = None
                return is_wanted
        self._press()
        return True

    def _press(self) -> None:
        now = time.monotonic()
        if not self._pressed_at or now - self._pressed_at[-1] > _ONE_PRESS_S:
            self._pressed_at.append(now)
        self._tell()
        self._wake()

    def _tell(self) -> None:
        on_press, self._on_press = self._on_press, None
        if on_press is not None:
            on_press()


def _interruptible(function: Callable[[], T]) -> T:
    return function()


def _is_inside(frame: FrameType | None) -> bool:
    """Whether the signal arrived in code below ``_interruptible``."""
    code: Any = _interruptible.__code__
    while frame is not None:
        if frame.f_code is code:
            return True
        frame = frame.f_back
    return False


def _signal_main_thread() -> None:
    main = threading.main_thread().ident
    if hasattr(signal, "pthread_kill") and main is not None:
        signal.pthread_kill(main, signal.SIGINT)  # wakes a sleeping system call too
    else:  # pragma: no cover - Windows
        import _thread

        _thread.interrupt_main()
