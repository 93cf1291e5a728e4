"""Agents in a kernel that never loaded the extension."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.kernel.conftest import SETUP
from tests.kernels import VERSIONS, Kernel

pytestmark = pytest.mark.kernel

MAKE = "mine = create_agent(model=orders, tools=tools_, permissions='allow')"
CODE = "py: print(threading.current_thread() is threading.main_thread()); mark = 5"


@pytest.fixture(scope="module", params=VERSIONS)
def bare(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Kernel]:
    """A kernel with the same tools but no magics."""
    home = str(tmp_path_factory.mktemp("home"))
    with Kernel(request.param, SMOKE_MONKEY_HOME=home) as kernel:
        plain = "\n".join(line for line in SETUP.splitlines() if not line.startswith("%"))
        assert kernel.run(plain).error is None
        yield kernel


@pytest.mark.parametrize("run", ["mine.run_sync({!r})", "await mine.run({!r})"])
def test_a_run_in_a_cell_works_on_the_main_thread(bare: Kernel, run: str) -> None:
    cell = bare.run(f"{MAKE}\nresult = {run.format(CODE)}\nprint(result.status, result.text)")
    assert "completed" in cell.text
    assert "True" in cell.text
    assert bare.run("print(mark)").text == "5\n"


@pytest.mark.parametrize("run", ["mine.run_sync('it')", "await mine.run('it')"])
def test_nobody_is_asked(bare: Kernel, run: str) -> None:
    make = "mine = create_agent(model=orders, tools=tools_)"
    assert "nobody is there" in bare.run(f"{make}\nprint(({run}).text)").text


@pytest.mark.parametrize("run", ["mine.run_sync({!r})", "await mine.run({!r})"])
def test_interrupting_code_ends_the_cell_and_frees_the_agent(bare: Kernel, run: str) -> None:
    order = "py: print('begun', flush=True); time.sleep(30)"
    cell = bare.send(f"{MAKE}\n{run.format(order)}")
    bare.wait(lambda: "begun" in cell.text, cell=cell)
    bare.interrupt()
    assert bare.finish(cell, 5).error in ("KeyboardInterrupt", "CancelledError")
    assert bare.run("print((await mine.run('say go on')).text)").text == "go on\n"


def test_loading_the_extension_later_works(bare: Kernel) -> None:
    assert bare.run("%load_ext smoke_monkey_nb\n%agent_config model=orders").error is None
    assert bare.run("%%agent\nsay hello").error is None
    assert bare.run(f"{MAKE}\nprint(mine.run_sync('say hi').text)").text == "hi\n"
    assert bare.run("%unload_ext smoke_monkey_nb").error is None
