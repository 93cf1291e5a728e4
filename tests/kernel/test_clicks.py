"""A click is heard while its cell runs, on every ipykernel."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.kernels import Cell, Kernel

pytestmark = pytest.mark.kernel


def page(kernel: Kernel, cell: Cell) -> str:
    """Show the cell's view as a page does; returns its comm."""
    comm = kernel.widget("questions", cell)
    kernel.send_custom(comm, {"t": "ready", "view": "page-1"})
    return comm


def question(kernel: Kernel, comm: str) -> dict[str, Any]:
    asked: list[dict[str, Any]] = kernel.wait(lambda: kernel.state(comm).get("questions"))
    return asked[0]


def click(kernel: Kernel, comm: str, action: str) -> str:
    answer = {"t": "answer", "id": question(kernel, comm)["id"], "action": action}
    return kernel.send_custom(comm, answer)


def test_allow_runs_the_tool(kernel: Kernel) -> None:
    cell = kernel.send("%%agent --new\nthe first")
    click(kernel, page(kernel, cell), "allow")
    begun = time.monotonic()
    kernel.finish(cell)
    assert cell.error is None
    assert time.monotonic() - begun < 2
    assert "changed the first" in cell.text
    assert kernel.run("print(done)").text == "['the first']\n"


def test_deny_does_not(kernel: Kernel) -> None:
    cell = kernel.send("%%agent --new\nthe second")
    click(kernel, page(kernel, cell), "deny")
    assert kernel.finish(cell).error is None
    assert kernel.run("print(done, _result.status)").text == "[] completed\n"


def test_a_second_click_on_the_same_question_changes_nothing(kernel: Kernel) -> None:
    cell = kernel.send("%%agent --new\nthe third")
    comm = page(kernel, cell)
    asked = question(kernel, comm)
    for action in ("deny", "allow", "allow"):
        kernel.send_custom(comm, {"t": "answer", "id": asked["id"], "action": action})
    assert kernel.finish(cell).error is None
    assert kernel.run("print(done)").text == "[]\n"


def test_stop_ends_the_run_in_mid_question(kernel: Kernel) -> None:
    cell = kernel.send("%%agent --new --no-raise\nthe fourth")
    comm = page(kernel, cell)
    question(kernel, comm)
    kernel.send_custom(comm, {"t": "stop"})
    assert kernel.finish(cell, 5).error is None
    assert kernel.run("print(_result.status)").text == "interrupted\n"


def test_each_message_gets_its_idle_and_the_cell_stays_busy(kernel: Kernel) -> None:
    cell = kernel.send("%%agent --new\nthe fifth")
    comm = page(kernel, cell)
    question(kernel, comm)
    sent = [kernel.send_custom(comm, {"t": "ready", "view": f"page-{i}"}) for i in range(5)]
    for message_id in sent:  # ipywidgets sends its next update only then
        kernel.wait(lambda i=message_id: kernel.states_of(i) == ["busy", "idle"], cell=cell)
    ours = [m for m in cell.messages if m["header"]["msg_type"] == "status"]
    assert {m["content"]["execution_state"] for m in ours} == {"busy"}
    click(kernel, comm, "allow")
    assert kernel.finish(cell).error is None


def test_cells_queued_meanwhile_run_afterwards_in_their_order(kernel: Kernel) -> None:
    cell = kernel.send("%%agent --new\nthe sixth")
    comm = page(kernel, cell)
    question(kernel, comm)
    codes = ["done.append(1)", "await asyncio.sleep(0.05); done.append(2)", "done.append(3)"]
    queued = [kernel.send(code) for code in codes]
    kernel.send_custom(comm, {"t": "ready", "view": "page-2"})
    click(kernel, comm, "allow")
    kernel.finish(cell)
    for later in queued:
        assert kernel.finish(later).error is None
    counts = [c.reply["content"]["execution_count"] for c in [cell, *queued] if c.reply]
    assert counts == list(range(counts[0], counts[0] + 4))
    assert kernel.run("print(done)").text == "['the sixth', 1, 2, 3]\n"


def test_a_page_reloaded_in_mid_run_finds_its_widget(kernel: Kernel) -> None:
    cell = kernel.send("%%agent --new\nthe seventh")
    comm = page(kernel, cell)
    question(kernel, comm)
    assert kernel.ask("kernel_info_request", {})["status"] == "ok"
    assert comm in kernel.ask("comm_info_request", {"target_name": "jupyter.widget"})["comms"]
    kernel.send_custom(comm, {"t": "ready", "view": "page-2"})
    kernel.wait(lambda: any(m.get("view") == "page-2" for m in kernel.custom(comm)), cell=cell)
    click(kernel, comm, "allow")
    assert "changed the seventh" in kernel.finish(cell).text


def test_a_handler_that_raises_harms_nobody(kernel: Kernel) -> None:
    setup = """
    import ipywidgets
    bad = ipywidgets.Text()
    bad.observe(lambda change: 1 / 0, "value")
    """
    kernel.run("\n".join(line.strip() for line in setup.splitlines()))
    bad = kernel.run("print(bad.comm.comm_id)").text.strip()
    cell = kernel.send("%%agent --new\nthe eighth")
    comm = page(kernel, cell)
    question(kernel, comm)
    message_id = kernel.send_update(bad, {"value": "boom"})
    kernel.wait(lambda: kernel.states_of(message_id)[-1:] == ["idle"], cell=cell)
    click(kernel, comm, "allow")
    assert kernel.finish(cell).error is None
