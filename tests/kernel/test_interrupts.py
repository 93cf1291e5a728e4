"""Interrupting a running cell: it ends soon, in one line, and the kernel goes on."""

from __future__ import annotations

import time

import pytest

from tests.kernel.test_clicks import page, question
from tests.kernels import Cell, Kernel

pytestmark = pytest.mark.kernel

SLEEP = "%%agent --new --allow run_python\npy: print('begun'); time.sleep(30)"


def interrupt(kernel: Kernel, cell: Cell, within_s: float = 2.0) -> None:
    begun = time.monotonic()
    kernel.interrupt()
    kernel.finish(cell)
    assert time.monotonic() - begun < within_s
    assert cell.error == "KeyboardInterrupt"


def begun(kernel: Kernel, cell: Cell) -> Cell:
    kernel.wait(lambda: "begun" in cell.text, cell=cell)
    return cell


def test_while_it_waits_for_an_answer(kernel: Kernel) -> None:
    cell = kernel.send("%%agent --new\nthe first")
    question(kernel, page(kernel, cell))
    interrupt(kernel, cell)
    assert kernel.run("print(done, _result.status)").text == "[] interrupted\n"


def test_while_code_runs_on_the_main_thread(kernel: Kernel) -> None:
    interrupt(kernel, begun(kernel, kernel.send(SLEEP)))
    assert kernel.run("print(_result.status)").text == "interrupted\n"
    assert kernel.run("%%agent\nsay still here").error is None


def test_the_error_is_one_line(kernel: Kernel) -> None:
    cell = begun(kernel, kernel.send(SLEEP))
    interrupt(kernel, cell)
    errors = [m["content"] for m in cell.messages if m["header"]["msg_type"] == "error"]
    assert [e["traceback"] for e in errors] == [["KeyboardInterrupt: the agent was interrupted"]]


def test_code_that_swallows_interrupts_is_interrupted_again(kernel: Kernel) -> None:
    stubborn = """
    print('begun')
    for _ in range(2):
        try:
            time.sleep(30)
        except KeyboardInterrupt:
            pass
    time.sleep(30)
    """
    code = "\n".join(line[4:] for line in stubborn.splitlines())
    kernel.run(f"stubborn = {code!r}")
    cell = kernel.send("%%agent --new --allow run_python\npy: exec(stubborn)")
    interrupt(kernel, begun(kernel, cell), within_s=6.0)
    assert kernel.run("print(_result.status)").text == "interrupted\n"


def test_code_that_cleans_up_is_let_to(kernel: Kernel) -> None:
    code = "print('begun')\ntry:\n    time.sleep(30)\nfinally:\n    time.sleep(0.4); done.append(1)"
    kernel.run(f"cleaning = {code!r}")
    cell = kernel.send("%%agent --new --allow run_python\npy: exec(cleaning)")
    interrupt(kernel, begun(kernel, cell))
    assert kernel.run("print(done)").text == "[1]\n"


def test_pressing_several_times_at_once_does_not_tear_the_closing_view(kernel: Kernel) -> None:
    cell = begun(kernel, kernel.send(SLEEP))
    for _ in range(3):
        kernel.interrupt()
    kernel.finish(cell)
    assert cell.error == "KeyboardInterrupt"
    kinds = [m["header"]["msg_type"] for m in cell.messages]
    assert "update_display_data" in kinds
    assert kernel.run("print('next')").text == "next\n"


def test_a_time_limit_on_the_main_thread_ends_the_code_but_not_the_run(kernel: Kernel) -> None:
    kernel.run("%agent_config tool_timeout_s=0.3")
    cell = kernel.run(SLEEP)
    kernel.run("%agent_config tool_timeout_s=300")
    assert cell.error is None
    assert "ran longer than 0.3 s" in cell.text


def test_a_retry_that_is_offered(kernel: Kernel) -> None:
    kernel.run("from smoke_monkey_nb import RetryPolicy; once = RetryPolicy(max_attempts=1)")
    kernel.run("%agent_config retry=once")
    cell = kernel.send("%%agent --new\nhiccup")
    question(kernel, page(kernel, cell))
    interrupt(kernel, cell)
    assert kernel.run("print(_result.status)").text == "failed\n"


def test_a_blocking_run_in_a_cell_that_also_awaits(kernel: Kernel) -> None:
    kernel.run("own = create_agent(orders, tools=tools_, permissions='allow')")
    cell = kernel.send(
        "await asyncio.sleep(0)\nown.run_sync('py: print(\"begun\"); time.sleep(30)')"
    )
    interrupt(kernel, begun(kernel, cell))


def test_a_run_that_does_not_clean_up_in_time_is_left(kernel: Kernel) -> None:
    kernel.run(
        "@tool(read_only=True)\n"
        "async def cling() -> str:\n"
        "    'Cling.'\n"
        "    print('begun')\n"
        "    for _ in range(100):\n"
        "        try: await asyncio.sleep(0.1)\n"
        "        except asyncio.CancelledError: pass\n"
        "clinging = ScriptedProvider([calls(('cling', {}))])\n"
        "own = create_agent(clinging, tools=[cling])"
    )
    cell = begun(kernel, kernel.send("own.run_sync('go')"))
    interrupt(kernel, cell, within_s=4.5)
