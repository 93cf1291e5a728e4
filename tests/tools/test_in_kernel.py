"""The notebook tools in a real kernel, called from a running cell as an agent calls them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager

pytestmark = pytest.mark.kernel

SETUP = """
from pathlib import Path
from smoke_monkey_nb.tools.base import ToolContext
from smoke_monkey_nb.tools import kernel as _kernel, variables as _variables
_context = ToolContext("c", Path("."), "r", "s", None, get_ipython().user_ns)
def _call(code):
    try:
        out = _kernel.run_python(code, _context)
        print("RESULT", out.text, len(out.images), sep="|", end="|")
    except Exception as error:
        print("FAILED", error, sep="|", end="|")
"""


@dataclass
class Cell:
    """What running a cell gave."""

    stdout: str = ""
    displays: list[dict[str, Any]] = field(default_factory=list)
    error: str | None = None
    payload: list[dict[str, Any]] = field(default_factory=list)

    @property
    def result(self) -> list[str]:
        """Text and number of images that the model gets."""
        return self.stdout.split("RESULT|")[1].split("|")[:2]


class Kernel:
    def __init__(self, client: BlockingKernelClient) -> None:
        self._client = client

    def run(self, code: str) -> Cell:
        cell = Cell()

        def on_output(message: dict[str, Any]) -> None:
            content = message["content"]
            if message["msg_type"] == "stream" and content["name"] == "stdout":
                cell.stdout += content["text"]
            elif message["msg_type"] == "display_data":
                cell.displays.append(content["data"])
            elif message["msg_type"] == "error":
                cell.error = content["ename"]

        reply = self._client.execute_interactive(
            code, output_hook=on_output, allow_stdin=False, timeout=60
        )
        cell.payload = reply["content"].get("payload", [])
        return cell


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    home = tmp_path_factory.mktemp("kernel")
    manager = KernelManager(kernel_name="python3")
    environment = {**os.environ, "IPYTHONDIR": str(home / "ipython"), "MPLBACKEND": ""}
    environment["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    manager.start_kernel(env=environment, cwd=str(home))
    client = manager.blocking_client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=60)
        started = Kernel(client)
        assert started.run(SETUP).error is None
        yield started
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


@pytest.mark.parametrize("cell", ["_call({})", "async def _go(): _call({})\nawait _go()"])
def test_await_works_in_plain_and_in_awaiting_cells(kernel: Kernel, cell: str) -> None:
    code = "import asyncio\nawait asyncio.sleep(0.01)\n40 + 2"
    assert kernel.run(cell.format(repr(code))).result == ["42", "0"]
    assert kernel.run("import asyncio\nawait asyncio.sleep(0.01)\nprint('fine')").stdout == "fine\n"


@pytest.mark.parametrize(
    "code",
    [
        "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()",
        "import matplotlib.pyplot as plt\nplt.plot([1, 2]);",
        "import matplotlib.pyplot as plt\nfig, ax = plt.subplots()\nfig",
    ],
)
def test_a_figure_shows_once_and_is_an_image(kernel: Kernel, code: str) -> None:
    cell = kernel.run(f"_call({code!r})")
    assert [("image/png" in d) for d in cell.displays] == [True]
    assert cell.result[1] == "1"


def test_a_frame_shows_rich_and_is_a_preview(kernel: Kernel) -> None:
    code = "import pandas as pd\npd.DataFrame({'a': [1]})"
    cell = kernel.run(f"_call({code!r})")
    assert "<table" in cell.displays[0]["text/html"]
    assert cell.result[0].startswith("DataFrame, shape (1, 1)")


def test_output_shows_in_the_cell(kernel: Kernel) -> None:
    cell = kernel.run("_call('print(1)\\n!echo two')")
    assert cell.stdout.splitlines()[:2] == ["1", "two"]
    assert cell.result[0] == "1\ntwo"


def test_exit_does_not_end_the_kernel(kernel: Kernel) -> None:
    cell = kernel.run("_call('exit()')")
    assert cell.payload == []
    assert "the kernel goes on" in cell.result[0]
    assert kernel.run("print('alive')").stdout == "alive\n"


def test_cells_are_put_below_as_one(kernel: Kernel) -> None:
    cell = kernel.run("_kernel.insert_cell('a', _context); _kernel.insert_cell('b', _context)")
    assert cell.payload == [{"source": "set_next_input", "text": "a\n\nb", "replace": False}]


def test_recent_cells_are_the_persons(kernel: Kernel) -> None:
    kernel.run("6 * 7")
    cell = kernel.run("print(_variables.recent_cells(_context, 1))")
    assert cell.stdout.endswith("]:\n6 * 7\n" + cell.stdout.splitlines()[-1] + "\n")
    assert cell.stdout.splitlines()[-1].endswith(": 42")


def test_variables_are_the_persons_alone(kernel: Kernel) -> None:
    kernel.run("%reset_selective -f ^(?!_)")
    kernel.run("total = 3")
    listed = kernel.run("print(_variables.list_variables(_context))").stdout
    assert "total: int = 3" in listed
    assert not {"In", "Out", "exit", "quit"} & {line.split(":")[0] for line in listed.splitlines()}


@pytest.mark.parametrize("cell", ["{}", "async def _go(): {}\nawait _go()"])
def test_interrupt_ends_the_code(kernel: Kernel, cell: str) -> None:
    code = (
        "import threading, os, signal, time\n"
        "threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\n"
        "time.sleep(30)"
    )
    assert kernel.run(cell.format(f"_call({code!r})")).error == "KeyboardInterrupt"
    assert kernel.run("print('alive')").stdout == "alive\n"
