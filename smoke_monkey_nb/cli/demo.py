"""The quickstart: opened in JupyterLab, or executed once without a browser.

Both work on a copy in a folder of their own, so that neither a clone nor an installed package is
written to. The kernel is always this very Python, whatever kernelspecs the machine has.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .kernels import async_manager_class

NOTEBOOK = "01_quickstart.ipynb"
DATA = "sales.csv"
_CELL_TIMEOUT_S = 60


class DemoProblem(Exception):
    """Why the demo cannot run here, and what to do about it."""


def open_demo(options: argparse.Namespace) -> int:
    """Start JupyterLab on a copy of the quickstart; returns when it ends."""
    _require("jupyterlab", "matplotlib")
    folder = _prepare(options.dir)
    notebook = folder / NOTEBOOK
    if notebook.exists():
        print(f"Going on with your copy, {notebook} (delete it to start afresh).")
    else:
        shutil.copyfile(_source(NOTEBOOK), notebook)
        print(f"Copied the quickstart to {notebook}.")
    print("Opening JupyterLab; stop it with Ctrl-C.", flush=True)
    return _jupyterlab(_lab_arguments(options, folder), folder)


def _lab_arguments(options: argparse.Namespace, folder: Path) -> list[str]:
    arguments = [
        f"--ServerApp.root_dir={folder}",
        f"--LabApp.default_url=/lab/tree/{NOTEBOOK}",  # so that a printed address opens it, too
        "--log-level=WARN",
        "--ServerApp.answer_yes=True",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    ]
    if options.no_browser:
        arguments.append("--no-browser")
    if options.port is not None:
        arguments += [f"--port={options.port}", "--ServerApp.port_retries=0"]
    if getattr(os, "geteuid", lambda: 1)() == 0:  # in a container; Jupyter refuses root otherwise
        arguments.append("--allow-root")
    return arguments


def _jupyterlab(arguments: Sequence[str], folder: Path) -> int:
    # This environment's kernelspec before one in the user's home that may name another Python.
    environment = {**os.environ, "JUPYTER_PREFER_ENV_PATH": "1"}
    command = [sys.executable, "-m", "jupyterlab", *arguments]
    process = subprocess.Popen(command, cwd=folder, env=environment)  # noqa: S603 - our own words
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            continue  # JupyterLab got the signal, too, and is shutting its kernels down


def run_once(directory: Path) -> int:
    """Execute the quickstart without a browser and write ``quickstart.html``; returns the exit
    code.
    """
    _require("nbclient", "nbconvert", "matplotlib")
    import nbformat

    folder = _prepare(directory)
    notebook = nbformat.read(_source(NOTEBOOK), as_version=4)  # type: ignore[no-untyped-call]
    print("Running the quickstart with the offline demo (no key, no network) …", flush=True)
    problem = execute(notebook, folder)
    page = folder / "quickstart.html"
    page.write_text(_to_html(notebook), encoding="utf-8")
    print(f"Wrote {page}")
    if problem is not None:
        print(f"The quickstart failed: {problem}", file=sys.stderr)
        return 1
    return 0


def execute(notebook: Any, folder: Path) -> str | None:
    """Run every cell of ``notebook`` in ``folder``, in place, with this Python; returns what
    failed, if anything.
    """
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    with tempfile.TemporaryDirectory(prefix="smoke-monkey-", ignore_cleanup_errors=True) as home:
        client = NotebookClient(
            notebook,
            kernel_manager_class=async_manager_class(),
            timeout=_CELL_TIMEOUT_S,
            resources={"metadata": {"path": str(folder)}},
        )
        log = Path(home, "kernel.log")
        with log.open("wb") as stderr:
            try:
                client.execute(env={**os.environ, **_settings(home)}, stderr=stderr)
            except (CellExecutionError, CellTimeoutError) as error:
                return _last_line(str(error))
            except DeadKernelError as error:
                return _last_line(log.read_text(errors="replace")) or str(error)
    return None


def _settings(home: str) -> dict[str, str]:
    """The kernel's environment: a store of its own (the demo's rows do not belong in the user's
    accounts), no pauses in the stream, no debugger's warning about frozen modules.
    """
    return {
        "SMOKE_MONKEY_HOME": home,
        "SMOKE_MONKEY_DEMO_PACE": "0",
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    }


def _last_line(text: str) -> str:
    plain = re.sub(r"\x1b\[[\d;]*m", "", text)  # tracebacks come in colour
    return (plain.strip().splitlines() or [""])[-1]


def _to_html(notebook: Any) -> str:
    from nbconvert import HTMLExporter

    body, _ = HTMLExporter().from_notebook_node(notebook)  # type: ignore[no-untyped-call]
    return str(body)


def _prepare(directory: Path) -> Path:
    """The working folder, with the quickstart's data in it."""
    folder = directory.expanduser().resolve()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / DATA).exists():
            shutil.copyfile(_source(DATA), folder / DATA)
    except OSError as error:
        raise DemoProblem(
            f"Cannot write to {folder} ({error.strerror}). Choose another folder with --dir."
        ) from error
    return folder


def _source(name: str) -> Path:
    """A file of the quickstart: from the installed package, or from the clone that it runs in."""
    package = Path(__file__).resolve().parent.parent
    for folder in (package / "_notebooks", package.parent / "notebooks"):
        if (folder / name).is_file():
            return folder / name
    raise DemoProblem(f"{name} is missing from this installation; install smoke_monkey_nb again.")


def _require(*modules: str) -> None:
    missing = [m for m in modules if importlib.util.find_spec(m) is None]
    if missing:
        raise DemoProblem(
            f"The demo needs {', '.join(missing)}, not installed in this Python.\n"
            f'Install with:    {sys.executable} -m pip install "smoke_monkey_nb[demo]"\n'
            f'or, in a clone:  {sys.executable} -m pip install -e ".[demo]"'
        )
