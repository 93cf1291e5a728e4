"""Run the notebooks and save them with their outputs: ``python notebooks/refresh.py``.

They run in a temporary folder with a copy of the data, so nothing of this machine gets into them;
a path that did is an error, not a commit.
"""

from __future__ import annotations

import getpass
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat

from smoke_monkey_nb.cli.demo import execute

HERE = Path(__file__).resolve().parent


def refresh(path: Path) -> None:
    """Execute one notebook and write it back with plain, reproducible metadata."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory(prefix="quickstart-") as folder:
        for data in HERE.glob("*.csv"):
            shutil.copy(data, folder)
        problem = execute(notebook, Path(folder))
        if problem is not None:
            raise SystemExit(f"{path.name}: {problem}")
    tidy(notebook)
    text = nbformat.writes(notebook)
    for secret in (str(HERE.parent), str(Path.home()), tempfile.gettempdir(), getpass.getuser()):
        if f"{secret}/" in text:
            raise SystemExit(f"{path.name}: an output names {secret}")
    path.write_text(text, encoding="utf-8")


def tidy(notebook: Any) -> None:
    """Drop what differs from run to run and from machine to machine."""
    notebook.metadata.pop("widgets", None)
    notebook.metadata.language_info = {"name": "python"}
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        for output in cell.get("outputs", ()):
            output.get("metadata", {}).pop("execution", None)


if __name__ == "__main__":
    for name in sys.argv[1:] or sorted(str(p) for p in HERE.glob("*.ipynb")):
        refresh(Path(name))
        print(f"refreshed {name}")
