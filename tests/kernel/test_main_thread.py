"""Where code runs and where its output goes."""

from __future__ import annotations

import pytest

from tests.kernels import Kernel

pytestmark = pytest.mark.kernel


def test_run_python_runs_on_the_main_thread_and_prints_into_the_cell(kernel: Kernel) -> None:
    code = "print('thread', threading.current_thread() is threading.main_thread())"
    cell = kernel.run(f"%%agent --new --allow run_python\npy: {code}")
    streams = [m["content"]["text"] for m in cell.messages if m["header"]["msg_type"] == "stream"]
    assert "thread True\n" in streams


@pytest.mark.parametrize("word", ["one", "two"])
def test_prints_of_the_loop_thread_land_in_the_cell_of_their_run(kernel: Kernel, word: str) -> None:
    cell = kernel.run(f"%%agent --new\nspeak {word}")
    streams = [m["content"]["text"] for m in cell.messages if m["header"]["msg_type"] == "stream"]
    assert f"spoken {word}\n" in streams
    assert "smn-loop" in cell.text


NESTED = [
    "get_ipython().run_cell_magic('agent', '', 'say hello')",
    "create_agent(orders).run_sync('say hello')",
]


@pytest.mark.parametrize("code", NESTED, ids=["magic", "run_sync"])
def test_an_agent_started_by_an_agents_code_is_refused(kernel: Kernel, code: str) -> None:
    cell = kernel.run(f"%%agent --new --allow run_python\npy: {code}")
    assert cell.error is None
    assert "An agent is running in this kernel already." in cell.text


def test_agents_in_a_thread_pool_run_their_code_though_the_main_thread_waits(
    kernel: Kernel,
) -> None:
    cell = kernel.run(
        "from concurrent.futures import ThreadPoolExecutor\n"
        "def ask(i):\n"
        "    agent = create_agent(orders, tools=tools_, permissions='allow')\n"
        "    return agent.run_sync(f'py: {i} * {i}').text\n"
        "with ThreadPoolExecutor(3) as pool:\n"
        "    print(list(pool.map(ask, range(3))))"
    )
    assert cell.text.endswith("['The tool said: 0', 'The tool said: 1', 'The tool said: 4']\n")


def test_an_agents_tool_may_run_another_agent(kernel: Kernel) -> None:
    cell = kernel.run(
        "where = []\n"
        "@tool(read_only=True)\n"
        "def delegate() -> str:\n"
        "    'Ask another agent.'\n"
        "    sub = create_agent(orders, tools=tools_, permissions='allow')\n"
        "    return sub.run_sync('py: threading.current_thread().name').text\n"
        "lead = create_agent(ScriptedProvider([calls(('delegate', {})), 'ok']), tools=[delegate])\n"
        "lead.run_sync('go')\n"
        "print([m['content'] for m in lead.messages if m['role'] == 'tool'])"
    )
    assert "MainThread" in cell.text


def test_a_blocking_run_on_the_loop_itself_is_refused(kernel: Kernel) -> None:
    cell = kernel.run(
        "@tool(read_only=True)\n"
        "async def block() -> str:\n"
        "    'Block.'\n"
        "    return create_agent(orders).run_sync('say hello').text\n"
        "lead = create_agent(ScriptedProvider([calls(('block', {})), 'ok']), tools=[block])\n"
        "print(lead.run_sync('go').status)\n"
        "print([m['content'] for m in lead.messages if m['role'] == 'tool'])"
    )
    assert cell.text.startswith("completed\n")
    assert "cannot be started on the agents' own loop" in cell.text


def test_a_cell_of_a_subshell_runs_though_the_main_thread_is_busy(kernel: Kernel) -> None:
    if kernel.version.startswith("6."):
        pytest.skip("ipykernel 6 has no subshells")
    busy = kernel.send("while not done: time.sleep(0.01)")
    cell = kernel.send(
        "%%agent --new --allow run_python\npy: done.append(threading.current_thread().name)",
        subshell=kernel.subshell(),
    )
    assert kernel.finish(cell).error is None
    assert kernel.finish(busy).error is None
    assert kernel.run("print(done[0].startswith('subshell'))").text == "True\n"
