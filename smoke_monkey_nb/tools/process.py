"""One shell command as a process group of its own: output read as it comes, ended as a whole.

Plain ``subprocess`` and a reader thread, not asyncio's: that one depends on the kind of loop and,
on some systems, on the main thread. A group is ended by SIGTERM and, a second later, SIGKILL.
"""

from __future__ import annotations

import codecs
import contextlib
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

_POSIX = os.name == "posix"
_GRACE_S = 1.0  # between asking a group to end and ending it
_AFTER_EXIT_S = 0.3  # for output that is still in the pipe when the shell is gone
_CHUNK = 65_536


class Command:
    """A running shell command. ``on_text`` is called on the reader thread."""

    def __init__(
        self,
        command: str,
        folder: Path,
        environment: dict[str, str],
        on_text: Callable[[str], None],
    ) -> None:
        self._on_text = on_text
        self._exited = threading.Event()
        self.holds_output = False  # a background process kept the pipe when the shell was gone
        self._process = subprocess.Popen(  # noqa: S603 - running it is what was allowed
            _shell(command),
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            **_own_group(),
        )

    def run(self) -> int:
        """Read the output until the command is over; its exit code. Blocks: for a worker thread."""
        waiter = threading.Thread(target=self._wait, name="smn-wait", daemon=True)
        waiter.start()
        assert self._process.stdout is not None
        with self._process.stdout as pipe:
            self._read(pipe.fileno())
        self._exited.wait()
        return self._process.returncode

    def end(self) -> None:
        """End the whole group; returns at once. Any thread, any number of times."""
        self._signal(getattr(signal, "SIGTERM", None))
        # Not a daemon: an interpreter that exits waits the second, so that nothing is left behind.
        threading.Thread(target=self._end_for_sure, name="smn-end").start()

    def _wait(self) -> None:
        self._process.wait()
        self._exited.set()

    def _read(self, pipe: int) -> None:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        deadline: float | None = None
        while True:
            if deadline is None and self._exited.is_set():
                deadline = time.monotonic() + _AFTER_EXIT_S
            if _POSIX and not select.select([pipe], [], [], 0.05)[0]:
                if deadline is not None and time.monotonic() > deadline:
                    self.holds_output = True
                    break
                continue
            data = os.read(pipe, _CHUNK)
            if not data:
                break
            self._on_text(decoder.decode(data))
        self._on_text(decoder.decode(b"", final=True))

    def _end_for_sure(self) -> None:
        time.sleep(_GRACE_S)
        self._signal(getattr(signal, "SIGKILL", None))

    def _signal(self, number: int | None) -> None:
        if not _POSIX:
            kill = ["taskkill", "/T", "/F", "/PID", str(self._process.pid)]
            subprocess.run(kill, capture_output=True, check=False)  # noqa: S603
            return
        assert number is not None
        # The group's id is the shell's; it stays taken as long as a member lives.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)


def _shell(command: str) -> list[str]:
    if sys.platform == "win32":
        return [os.environ.get("COMSPEC", "cmd.exe"), "/c", command]
    import shutil

    return [shutil.which("bash") or "/bin/sh", "-c", command]


def _own_group() -> dict[str, Any]:
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": True}
