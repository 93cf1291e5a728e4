"""Runs Python code in the user's namespace as a notebook cell would, without leaving a trace there.

With IPython: magics, ``!commands``, the user's AST transformers, rich display. Without: plain
Python. Both: the value of a last expression, top-level ``await``, output noted and shown. Neither
the input history nor ``_`` and ``Out`` are touched.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import itertools
import linecache
import signal
import sys
import textwrap
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from . import describing, figures, pictures, tables
from .awaiting import run_to_end
from .base import ToolOutput
from .capture import Notes, bundle_text, noting
from .errors import ToolError
from .text import bounded
from .tracebacks import trimmed

_numbers = itertools.count(1)
_NOTHING = object()


def shell_of(namespace: dict[str, Any]) -> Any | None:
    """The IPython shell whose variables these are, or ``None``."""
    if "IPython" not in sys.modules:
        return None
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell._instance
    return shell if shell is not None and shell.user_ns is namespace else None


def run_code(code: str, namespace: dict[str, Any]) -> ToolOutput:
    """Run ``code``; what it printed, displayed and evaluated to. On the thread that owns the
    user's objects.

    Raises:
        ToolError: the code raised or called ``sys.exit`` with a failure; with the trimmed
        traceback. KeyboardInterrupt: the person interrupted it.
    """
    shell = shell_of(namespace)
    open_before = figures.open_figures()
    with noting(shell) as notes, _interruptible(), _no_exit(shell):
        try:
            value = _execute(_compile(code, shell), namespace)
            if value is not _NOTHING and value is not None:
                _show(value, notes, shell)
        except KeyboardInterrupt:
            raise
        except SystemExit as exit_:
            _note_exit(exit_, notes)
        except BaseException as error:
            figures.flush(open_before, notes, shell)
            raise ToolError(_failure(error, notes)) from None
        figures.flush(open_before, notes, shell)
    return ToolOutput(notes.text() or "(no output)", tuple(notes.images))


@dataclass(frozen=True)
class _Program:
    body: Any | None  # code object of the statements
    last: Any | None  # code object of a last expression
    quiet: bool  # a semicolon at the end keeps the value from being shown


def _compile(code: str, shell: Any | None) -> _Program:
    """Raises SyntaxError (also for what a magic makes of the code)."""
    source = shell.transform_cell(code) if shell is not None else _dedented(code)
    name = f"<run_python {next(_numbers)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    tree = ast.parse(source, name)
    if shell is not None:
        tree = shell.transform_ast(tree)
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT | (shell.compile.flags if shell is not None else 0)
    last = None
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        expression = ast.Expression(tree.body.pop().value)  # type: ignore[attr-defined]
        last = compile(expression, name, "eval", flags, dont_inherit=True)
    body = compile(tree, name, "exec", flags, dont_inherit=True) if tree.body else None
    return _Program(body, last, _ends_quietly(source))


def _dedented(code: str) -> str:
    return textwrap.dedent(code) if code.lstrip("\n")[:1] in (" ", "\t") else code


def _ends_quietly(source: str) -> bool:
    """Whether the last statement ends with a semicolon, comments aside."""
    lines = [line.split("#")[0].rstrip() for line in source.splitlines()]
    code = [line for line in lines if line]
    return bool(code) and code[-1].endswith(";")


def _execute(program: _Program, namespace: dict[str, Any]) -> Any:
    """Run the statements, then the last expression; its value, or ``_NOTHING``."""
    if _awaits(program.body) or _awaits(program.last):
        # Both in one: a task that the statements start belongs to the loop that the end awaits on.
        value = run_to_end(_execute_awaiting(program, namespace))
    else:
        if program.body is not None:
            _evaluate(program.body, namespace)
        value = _evaluate(program.last, namespace) if program.last is not None else _NOTHING
    return _NOTHING if program.quiet else value


async def _execute_awaiting(program: _Program, namespace: dict[str, Any]) -> Any:
    value: Any = _NOTHING
    for code in (program.body, program.last):
        if code is not None:
            value = _evaluate(code, namespace)
            value = await value if _awaits(code) else value
    return value if program.last is not None else _NOTHING


def _awaits(code: Any | None) -> bool:
    return code is not None and bool(code.co_flags & inspect.CO_COROUTINE)


def _evaluate(code: Any, namespace: dict[str, Any]) -> Any:
    return eval(code, namespace)  # noqa: S307 - running the code is what was allowed


def _show(value: Any, notes: Notes, shell: Any | None) -> None:
    """Show a last expression's value in the cell, and note it for the model in its own form."""
    notes.last_bundle = {}
    with notes.paused():
        if shell is not None:
            figures.display_value(value)
        else:
            print(describing.describe(value))  # noqa: T201 - as a cell shows its value
    image = pictures.picture(value) if pictures.is_picture(value) else None
    if image is not None:
        notes.picture(image, describing.type_name(value))
        if type(value).__name__ == "Figure":
            figures.shown_already(value, shell)
    elif tables.is_tabular(value):
        notes.line(tables.preview(value))
    else:
        text = describing.describe(value, 20_000)
        is_shown = text.startswith("<") and notes.last_bundle
        notes.line(bounded(bundle_text(notes.last_bundle), 20_000) if is_shown else text)


def _failure(error: BaseException, notes: Notes) -> str:
    """The traceback, after what was printed before. The first word and the last line are what the
    loop looks at.
    """
    trace = trimmed(error)
    printed = notes.text()
    if not printed:
        return trace
    return f"Traceback (after this output):\n{bounded(printed, 8_000)}\n\n{trace}"


def _note_exit(exit_: SystemExit, notes: Notes) -> None:
    if exit_.code in (None, 0):
        notes.line("(The code called sys.exit; the kernel goes on.)")
        return
    raise ToolError(_failure(exit_, notes)) from None


@contextlib.contextmanager
def _no_exit(shell: Any | None) -> Iterator[None]:
    """IPython's ``exit()`` would end the kernel: make it a SystemExit, which we catch."""
    if shell is None:
        yield
        return

    def refuse() -> None:
        raise SystemExit

    shell.ask_exit = refuse
    try:
        yield
    finally:
        shell.__dict__.pop("ask_exit", None)


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """Let Ctrl-C and *Interrupt* raise KeyboardInterrupt in the code.

    In a cell that awaits, ipykernel's handler asks the loop to cancel the cell; the loop stands
    still while our code runs.
    """
    on_main = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGINT) if on_main else None
    if before is None or before in (signal.default_int_handler, signal.SIG_IGN):
        yield
        return
    if getattr(before, "raises_in_code", False):  # a host's, which watches over this call
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
