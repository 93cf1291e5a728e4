"""What else a page may answer than allow or deny, and *Stop* while code holds the main thread."""

from __future__ import annotations

import pytest

from tests.kernel.test_clicks import click, page, question
from tests.kernels import VERSIONS, Kernel

pytestmark = pytest.mark.kernel

latest = pytest.mark.parametrize("kernel", [VERSIONS[-1]], indirect=True)


@latest
def test_allow_for_the_session_asks_no_more(kernel: Kernel) -> None:
    cell = kernel.send("%%agent --new\none")
    click(kernel, page(kernel, cell), "allow-session")
    kernel.finish(cell)
    assert kernel.run("%%agent\ntwo").error is None
    assert kernel.run("print(done)").text == "['one', 'two']\n"


@latest
def test_a_denial_carries_its_reason_to_the_model(kernel: Kernel) -> None:
    cell = kernel.send("%%agent --new\none")
    comm = page(kernel, cell)
    said = {"t": "answer", "id": question(kernel, comm)["id"], "action": "deny"}
    kernel.send_custom(comm, {**said, "feedback": "use a copy"})
    assert "use a copy" in kernel.finish(cell).text


@latest
def test_a_question_of_the_agent_is_answered(kernel: Kernel) -> None:
    asks = "calls(('ask_user', {'question': 'Which?', 'choices': ['red', 'blue']}))"
    kernel.run(f"asker = ScriptedProvider([{asks}, lambda r: r.messages[-1]['content']])")
    kernel.run("%agent_config model=asker tools=agent")
    cell = kernel.send("%%agent --new\nAsk me.")
    comm = page(kernel, cell)
    asked = question(kernel, comm)
    assert asked["choices"] == ["red", "blue"]
    kernel.send_custom(comm, {"t": "answer", "id": asked["id"], "action": "answer", "text": "blue"})
    assert "blue" in kernel.finish(cell).text
    assert kernel.run("%agent_config model=orders tools=tools_").error is None


def test_stop_ends_code_on_the_main_thread(kernel: Kernel) -> None:
    if kernel.version.startswith("6"):
        pytest.skip("ipykernel 6 has no subshell that could hear it; Interrupt works")
    subshell = kernel.subshell()
    cell = kernel.send(
        "%%agent --new --allow run_python\npy: print('begun', flush=True)\nwhile True: pass"
    )
    comm = page(kernel, cell)
    kernel.wait(lambda: "begun" in cell.text, 10, cell)
    kernel.send_custom(comm, {"t": "stop"}, subshell)
    assert kernel.finish(cell, 5).error == "AgentError"  # stops Run All, as an interrupt does
    assert kernel.run("print(_result.status)").text == "interrupted\n"


STREAM = """
from smoke_monkey_nb.providers.base import TextDelta
class Endless(ScriptedProvider):
    async def stream(self, request):
        while True:
            yield TextDelta("word ")
            await asyncio.sleep(0.02)
endless = Endless([])
"""
BUSY = """
from smoke_monkey_nb import RetryPolicy
patient = RetryPolicy(max_attempts=3, initial_delay_s=30)
%agent_config retry=patient
"""


def test_interrupting_a_stream_keeps_what_was_said(kernel: Kernel) -> None:
    kernel.run(STREAM + "%agent_config model=endless")
    cell = kernel.send("%%agent --new\nTalk.")
    comm = page(kernel, cell)
    kernel.wait(lambda: "word" in str(kernel.custom(comm)), cell=cell)
    kernel.interrupt()
    assert kernel.finish(cell, 2).error == "KeyboardInterrupt"
    kernel.run("%agent_config model=orders")
    assert kernel.run("%%agent\nsay go on").error is None
    roles = kernel.run("print([m['role'] for m in _agent.messages])").text
    assert roles == "['user', 'assistant', 'user', 'assistant']\n"


def test_interrupting_the_wait_before_a_retry_ends_it(kernel: Kernel) -> None:
    kernel.run(BUSY)
    cell = kernel.send("%%agent --new\nhiccup")
    comm = page(kernel, cell)
    kernel.wait(lambda: "provider_unavailable" in str(kernel.custom(comm)), cell=cell)
    kernel.interrupt()
    assert kernel.finish(cell, 2).error == "KeyboardInterrupt"
    assert kernel.run("plain = RetryPolicy()\n%agent_config retry=plain").error is None
    assert kernel.run("%%agent\nsay go on").error is None


def test_figures_and_databases_of_the_user_work_in_the_agents_code(kernel: Kernel) -> None:
    kernel.run("%matplotlib inline\nimport matplotlib.pyplot as plt, sqlite3")
    kernel.run("db = sqlite3.connect(':memory:')\n_ = db.execute('create table t (a)')")
    code = "db.execute('insert into t values (7)'); plt.plot([1, 2]); plt.show()"
    cell = kernel.run(f"%%agent --new --allow run_python\npy: {code}")
    assert cell.error is None
    shown = [m["content"]["data"] for m in cell.messages if m["msg_type"] == "display_data"]
    assert any("image/png" in data for data in shown)
    assert kernel.run("print(list(db.execute('select * from t')))").text == "[(7,)]\n"


@latest
def test_what_the_agents_code_defines_stays(kernel: Kernel) -> None:
    assert kernel.run("%%agent --new --allow run_python\npy: left_over = 41 + 1").error is None
    assert kernel.run("print(left_over)").text == "42\n"


def test_interrupting_code_of_an_awaited_run_ends_the_cell_not_the_kernel(kernel: Kernel) -> None:
    order = "py: print('begun', flush=True); time.sleep(30)"
    cell = kernel.send(
        "mine = create_agent(model=orders, tools=tools_, permissions='allow')\n"
        f"await mine.run({order!r})"
    )
    kernel.wait(lambda: "begun" in cell.text, cell=cell)
    kernel.interrupt()
    assert kernel.finish(cell, 3).error == "CancelledError"
    assert kernel.run("print(mine.active_run, mine.messages[-1]['role'])").text == "False tool\n"
    assert kernel.run("print((await mine.run('say go on')).text)").text == "go on\n"
