"""``await agent.run(…)`` on the kernel's own loop: the user's own buttons and interrupts work."""

from __future__ import annotations

import time

import pytest

from tests.kernels import Cell, Kernel

pytestmark = pytest.mark.kernel

OWN_UI = """
import ipywidgets
own = create_agent(orders, tools=tools_)
box = ipywidgets.Text()
open_calls = []
def on_question(event):
    open_calls.append(event.data["tool_call_id"])
    print("asked")
own.on("permission.required", on_question)
def on_answer(change):
    done.append(change["new"])
    if change["new"] in ("allow", "deny"):
        own.resolve_permission(open_calls[-1], change["new"])
box.observe(on_answer, "value")
print(box.comm.comm_id)
"""


def asked(kernel: Kernel, cell: Cell) -> Cell:
    kernel.wait(lambda: "asked" in cell.text, cell=cell)
    return cell


def box(kernel: Kernel) -> str:
    return kernel.run(OWN_UI).text.strip()


def test_a_widget_of_the_users_answers(kernel: Kernel) -> None:
    comm = box(kernel)
    cell = asked(kernel, kernel.send("print((await own.run('the first')).text)"))
    for text in ("a", "al", "allow"):
        message_id = kernel.send_update(comm, {"value": text})
        kernel.wait(lambda i=message_id: kernel.states_of(i)[-1:] == ["idle"], cell=cell)
    kernel.finish(cell)
    assert "The tool said: changed the first" in cell.text
    assert kernel.run("print(done)").text == "['a', 'al', 'allow', 'the first']\n"


def test_interrupting_an_idle_wait_ends_it(kernel: Kernel) -> None:
    box(kernel)
    cell = asked(kernel, kernel.send("await own.run('the second')"))
    begun = time.monotonic()
    kernel.interrupt()
    kernel.finish(cell)
    assert time.monotonic() - begun < 2
    assert cell.error in ("CancelledError", "KeyboardInterrupt")
    assert kernel.run("print(own.active_run)").text == "False\n"


def test_a_run_in_the_background_holds_no_cells(kernel: Kernel) -> None:
    comm = box(kernel)
    cell = kernel.run("task = asyncio.create_task(own.run('the third'))\nawait asyncio.sleep(0.2)")
    assert cell.error is None
    assert kernel.run("print('meanwhile')").text == "meanwhile\n"
    message_id = kernel.send_update(comm, {"value": "allow"})
    kernel.wait(lambda: kernel.states_of(message_id)[-1:] == ["idle"])
    assert kernel.run("print((await task).text)").text == "The tool said: changed the third\n"
    last = [m for m in kernel.all if m["header"]["msg_type"] == "status"][-1]
    assert last["content"]["execution_state"] == "idle"
