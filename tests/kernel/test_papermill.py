"""A pipeline must not run on past a failed agent."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from tests.kernel.conftest import SETUP
from tests.kernels import VERSIONS, kernelspec

pytestmark = pytest.mark.kernel


def test_papermill_stops_at_a_failed_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    papermill = pytest.importorskip("papermill")
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    cells = (SETUP, "%%agent --allow change\nit", "%%agent\nfail", "print('not run')")
    source, target = tmp_path / "in.ipynb", tmp_path / "out.ipynb"
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
    nbformat.write(made, source)
    name = kernelspec(VERSIONS[-1], tmp_path)
    with pytest.raises(papermill.PapermillExecutionError, match="AgentError"):
        papermill.execute_notebook(source, target, kernel_name=name, progress_bar=False)
    left = [c for c in nbformat.read(target, 4).cells if c.source in cells]
    assert "changed it" in str(left[1].outputs)
    assert left[3].outputs == []
