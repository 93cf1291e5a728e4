"""The notebooks run, and what is committed of their outputs is fit to be read by anyone."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import nbformat
import pytest

from smoke_monkey_nb.cli.demo import execute

HERE = Path(__file__).resolve().parents[2] / "notebooks"
NOTEBOOKS = sorted(HERE.glob("*.ipynb"))


def outputs(notebook: Any) -> list[Any]:
    return [out for cell in notebook.cells for out in cell.get("outputs", ())]


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def path(request: pytest.FixtureRequest) -> Path:
    return request.param


@pytest.mark.kernel
def test_a_notebook_runs_from_top_to_bottom(path: Path, tmp_path: Path) -> None:
    for data in HERE.glob("*.csv"):
        shutil.copy(data, tmp_path)
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        cell.pop("outputs", None) if cell.cell_type == "markdown" else cell.update(outputs=[])
    assert execute(notebook, tmp_path) is None
    runs = [o for o in outputs(notebook) if "smn-run" in o.get("data", {}).get("text/html", "")]
    agents = [c for c in notebook.cells if c.source.startswith("%%agent")]
    assert len(runs) == len(agents)


def test_every_agent_cell_is_committed_with_its_transcript(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    for cell in notebook.cells:
        if cell.source.startswith("%%agent"):
            transcripts = [o.data for o in cell.outputs if "text/markdown" in o.get("data", {})]
            assert len(transcripts) == 1, cell.source
            assert "smn-run" in transcripts[0]["text/html"]
            assert "<button" not in transcripts[0]["text/html"]


def test_no_output_is_an_error_or_a_widget(path: Path) -> None:
    for output in outputs(nbformat.read(path, as_version=4)):
        assert output.output_type != "error"
        assert "application/vnd.jupyter.widget-view+json" not in output.get("data", {})


def test_nothing_of_a_machine_is_committed(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"/(?:home|root|Users|tmp|work)/\w", text)
    assert "widgets" not in nbformat.reads(text, as_version=4).metadata
    assert not re.search(r"\b(?:sk|demo)-[A-Za-z0-9_-]{16,}", text)
