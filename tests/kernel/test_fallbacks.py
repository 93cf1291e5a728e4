"""Kernels without the parts that the pump needs, front ends without widgets, and nobody at all."""

from __future__ import annotations

import pytest

from tests.kernel.conftest import SETUP
from tests.kernels import VERSIONS, Kernel

pytestmark = pytest.mark.kernel


@pytest.fixture
def kernel(tmp_path) -> Kernel:
    """A kernel of its own for each test: they spoil it."""
    with Kernel(VERSIONS[-1], SMOKE_MONKEY_HOME=str(tmp_path)) as running:
        running.run(SETUP)
        running.run("import smoke_monkey_nb.notebook.handshake as h")
        yield running


IMPATIENT = "h.Handshake.__init__.__defaults__ = (0.1,)"


@pytest.mark.parametrize(("said", "done"), [("y", "['the first']\n"), ("n", "[]\n")])
def test_no_widgets_in_the_front_end_asks_by_a_prompt(kernel: Kernel, said: str, done: str) -> None:
    kernel.run(IMPATIENT)
    cell = kernel.send("%%agent\nthe first")
    assert "Allow?" in kernel.answer_stdin(said)
    assert kernel.finish(cell).error is None
    assert kernel.run("print(done)").text == done


def test_interrupting_the_prompt_ends_the_cell(kernel: Kernel) -> None:
    kernel.run(IMPATIENT)
    cell = kernel.send("%%agent\nthe first")
    kernel.wait_for_stdin()
    kernel.interrupt()
    assert kernel.finish(cell, 5).error == "KeyboardInterrupt"
    assert kernel.run("print(done, _result.status)").text == "[] interrupted\n"


def test_private_parts_that_are_missing_are_said_once_and_the_run_goes_on(kernel: Kernel) -> None:
    kernel.run(
        "import smoke_monkey_nb.notebook.comm_pump as pump\n"
        "def gone(kernel): raise AttributeError('no shell stream')\n"
        "pump._shell_stream = gone"
    )
    kernel.run(IMPATIENT)
    cell = kernel.send("%%agent\nthe first")
    kernel.answer_stdin("y")
    assert kernel.finish(cell).error is None
    assert cell.text.count("no shell stream") == 1
    assert "no shell stream" not in kernel.run("%%agent\nsay hello").text
    assert kernel.run("print(done)").text == "['the first']\n"
