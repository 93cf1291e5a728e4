"""Notebooks that a program executes: nobody answers, failures stop them, transcripts are saved."""

from __future__ import annotations

import time
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from tests.kernel.conftest import SETUP
from tests.kernels import VERSIONS, kernelspec

pytestmark = [
    pytest.mark.kernel,
    pytest.mark.filterwarnings("ignore:Proactor event loop:RuntimeWarning"),
]


@pytest.fixture(params=[VERSIONS[0], VERSIONS[-1]])
def kernel_name(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> str:
    """The name of a kernelspec for that ipykernel."""
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    return kernelspec(request.param, tmp_path)


def execute(kernel_name: str, *sources: str) -> tuple[nbformat.NotebookNode, Exception | None]:
    cells = [nbformat.v4.new_code_cell(source) for source in (SETUP, *sources)]
    notebook = nbformat.v4.new_notebook(cells=cells)
    try:
        NotebookClient(notebook, kernel_name=kernel_name, timeout=60).execute()
    except CellExecutionError as error:
        return notebook, error
    return notebook, None


def test_a_question_is_denied_at_once_and_the_transcript_is_saved(kernel_name: str) -> None:
    begun = time.monotonic()
    notebook, error = execute(kernel_name, "%%agent\nthe first", "print(done, _result.status)")
    assert error is None
    assert time.monotonic() - begun < 15
    assert notebook.cells[2].outputs[0].text == "[] completed\n"
    [output] = [o for o in notebook.cells[1].outputs if o.output_type == "display_data"]
    assert set(output.data) == {"text/html", "text/markdown", "text/plain"}
    assert 'data-status="completed"' in output.data["text/html"]
    assert "widgets" not in notebook.metadata


def test_a_failed_run_stops_the_notebook_in_one_line(kernel_name: str) -> None:
    notebook, error = execute(kernel_name, "%%agent\nfail", "print('not reached')")
    assert isinstance(error, CellExecutionError)
    assert (error.ename, error.evalue) == (
        "AgentError",
        "[provider_bad_request] The provider refused.",
    )
    assert notebook.cells[2].outputs == []
    [output] = [o for o in notebook.cells[1].outputs if o.output_type == "error"]
    assert output.traceback == ["AgentError: [provider_bad_request] The provider refused."]


def test_no_raise_lets_it_go_on(kernel_name: str) -> None:
    notebook, error = execute(
        kernel_name, "%%agent --no-raise --output answer\nfail", "print(answer.error.code)"
    )
    assert error is None
    assert notebook.cells[2].outputs[0].text == "provider_bad_request\n"


def test_a_failure_that_could_be_retried_is_offered_to_nobody(kernel_name: str) -> None:
    begun = time.monotonic()
    once = "from smoke_monkey_nb import RetryPolicy\nonce = RetryPolicy(max_attempts=1)"
    _, error = execute(kernel_name, once, "%agent_config retry=once", "%%agent\nhiccup")
    assert isinstance(error, CellExecutionError)
    assert error.ename == "AgentError"
    assert time.monotonic() - begun < 15
