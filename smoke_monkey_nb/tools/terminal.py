"""The terminal tool: one shell command in the workspace."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Mapping
from typing import Any

from ..aio import TimedOut, call_in_thread, limited
from .base import Preview, Tool, ToolContext
from .capture import Notes
from .environment import safe_environment
from .errors import ToolError
from .process import Command
from .signature import integer, record, text, validator
from .text import clean, one_line

_LIVE_EVERY_S = 0.1
_LIVE_LIMIT = 200_000  # characters shown while it runs; the result has both ends anyway


async def run_command(command: str, context: ToolContext, timeout_s: int = 120) -> str:
    """Output (both streams) and exit code.

    Raises:
        ToolError: it could not be started, or ran longer than ``timeout_s``.
    """
    notes = Notes()
    live = _Live(context.interaction.output)

    def on_text(text: str) -> None:
        notes.write(text)
        live.write(text)

    try:
        running = Command(command, context.workspace, safe_environment(), on_text)
    except (OSError, ValueError) as error:
        raise ToolError(f"the command cannot be started: {error}") from None
    ended = asyncio.ensure_future(call_in_thread(running.run))
    try:
        code = await limited(asyncio.shield(ended), timeout_s)
    except TimedOut:
        running.end()
        await asyncio.wait({ended}, timeout=5)
        text = notes.text()
        said = f"\nIts output until then:\n{text}" if text else ""
        raise ToolError(f"the command ran longer than {timeout_s} s and was ended.{said}") from None
    except BaseException:  # the run is interrupted: nothing of the command may go on
        running.end()
        raise
    finally:
        live.flush()
    return _told(notes.text(), code, running.holds_output)


def _told(output: str, code: int, holds_output: bool) -> str:
    lines = [output] if output else ["(no output)"]
    if holds_output:
        lines.append("(A background process goes on; its output is not read any more.)")
    how = f"Exit code: {code}" if code >= 0 else f"Exit code: {code} (ended by signal {-code})"
    return "\n".join([*lines, how])


class _Live:
    """Passes output on a few times a second, and not without end."""

    def __init__(self, show: Any) -> None:
        self._show = show
        self._lock = threading.Lock()
        self._waiting: list[str] = []
        self._last = 0.0
        self._room = _LIVE_LIMIT

    def write(self, text: str) -> None:
        """Take a piece of output; the reader thread."""
        with self._lock:
            if self._room <= 0 or not text:
                return
            self._waiting.append(text[: self._room])
            self._room -= len(text)
        if time.monotonic() - self._last >= _LIVE_EVERY_S:
            self.flush()

    def flush(self) -> None:
        """Show what is waiting."""
        with self._lock:
            text, self._waiting = "".join(self._waiting), []
            self._last = time.monotonic()
        if text:
            self._show(clean(text))


def _command(arguments: Mapping[str, Any]) -> str:
    return str(arguments["command"])


_PARAMETERS = record(
    command=text("The command line, for bash (or the system's shell)."),
    timeout_s=integer("Seconds after which it is ended.", 120, minimum=1, maximum=86_400),
)

TOOLS = (
    Tool(
        name="run_command",
        description=(
            "Run a shell command in the workspace folder and get its output and exit code. It has "
            "no standard input and no terminal: pass flags that keep programs from asking. Its "
            "environment has no API keys. Use the file and search tools for reading and searching "
            "files."
        ),
        parameters=_PARAMETERS,
        function=run_command,
        validate=validator(_PARAMETERS),
        where="loop",
        context_parameter="context",
        group="terminal",
        summary=lambda arguments: one_line(_command(arguments)),
        preview=lambda arguments, _: Preview(_command(arguments), "shell"),
        subject=lambda arguments, _: _command(arguments),
        runs_shell=True,
    ),
)
