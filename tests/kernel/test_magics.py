"""The magics in a kernel: conversations, options, variables, help, mistakes."""

from __future__ import annotations

import pytest

from tests.kernels import VERSIONS, Kernel

pytestmark = pytest.mark.kernel


@pytest.fixture
def kernel(kernel: Kernel) -> Kernel:
    """Each test begins with the defaults of the set-up."""
    assert (
        kernel.run("%reload_ext smoke_monkey_nb\n%agent_config model=orders tools=tools_").error
        is None
    )
    assert kernel.run("%agent_config retry_offer_s=0").error is None
    return kernel


latest = pytest.mark.parametrize("kernel", [VERSIONS[-1]], indirect=True)


def prompts(kernel: Kernel) -> str:
    return kernel.run("print([m['content'] for m in _agent.messages if m['role'] == 'user'])").text


def test_a_cell_leaves_agent_and_result(kernel: Kernel) -> None:
    cell = kernel.run("%%agent --new --output answer\nsay hello")
    assert cell.error is None
    shown = kernel.run("print(_result.text, answer is _result, _agent.model, _result.status)").text
    assert shown == "hello True scripted:script completed\n"


@latest
def test_the_next_cell_goes_on_and_new_begins_again(kernel: Kernel) -> None:
    kernel.run("%%agent --new\nsay one")
    kernel.run("%%agent\nsay two")
    assert prompts(kernel) == "['say one', 'say two']\n"
    kernel.run("%%agent --new\nsay three")
    assert prompts(kernel) == "['say three']\n"


@latest
def test_sessions_are_kept_apart(kernel: Kernel) -> None:
    for cell in ("-s left\nsay 1", "-s right\nsay 2", "-s left\nsay 3", "\nsay 4"):
        kernel.run(f"%%agent {cell}")
    assert prompts(kernel) == "['say 1', 'say 3', 'say 4']\n"
    kernel.run("%%agent -s left --new\nsay 5")
    assert prompts(kernel) == "['say 5']\n"


@latest
def test_model_and_tools_may_change_within_a_conversation(kernel: Kernel) -> None:
    kernel.run("%%agent --new\nsay one")
    kernel.run("%%agent -m demo: -t none\nHello.")
    assert kernel.run("print(_agent.model.split(':')[0], _agent.tools)").text == "demo {}\n"
    assert prompts(kernel) == "['say one', 'Hello.']\n"


@latest
def test_a_rule_counts_for_its_cell_alone(kernel: Kernel) -> None:
    cell = kernel.run("%%agent --new --allow change --view text\nit")
    assert "changed it" in cell.text
    cell = kernel.send("%%agent --view text\nother")
    kernel.answer_stdin("n")
    assert "changed other" not in kernel.finish(cell).text


@latest
def test_a_prompt_holds_values_and_previews(kernel: Kernel) -> None:
    kernel.run("import pandas as pd; df = pd.DataFrame({'a': [1, 2, 3]}); n = 42")
    cell = kernel.run("%%agent --new --input df\nsay {n} of {df.shape} {nn} {{n}}")
    assert cell.error is None
    said = kernel.run("print(_agent.messages[0]['content'])").text
    assert said.startswith("say 42 of (3, 1) {nn} {n}\n\nThe variable `df`:\n\n")
    assert "3" in said.split("`df`")[1]


def test_a_question_on_one_line_reaches_the_agent(kernel: Kernel) -> None:
    assert kernel.run("%agent --new say what is {1 + len(done)}?").error is None
    assert prompts(kernel) == "['say what is 1?']\n"


@latest
def test_a_failed_run_ends_the_cell_in_one_line(kernel: Kernel) -> None:
    cell = kernel.run("%%agent --new\nfail")
    assert cell.error == "AgentError"
    assert cell.reply is not None
    assert cell.reply["content"]["traceback"] == [
        "AgentError: [provider_bad_request] The provider refused."
    ]
    assert kernel.run("print(_result.error.code)").text == "provider_bad_request\n"


@latest
def test_no_raise_goes_on(kernel: Kernel) -> None:
    cell = kernel.run("%%agent --new --no-raise\nfail")
    assert cell.error is None
    assert "The provider refused." in cell.text


def test_cells_queued_behind_a_failed_run_are_aborted(kernel: Kernel) -> None:
    cell = kernel.send("%%agent --new\nfail")
    queued = kernel.send("print('not run')")
    kernel.finish(cell)
    kernel.wait(lambda: queued.reply)
    assert queued.reply is not None
    assert queued.reply["content"]["status"] == "aborted"
    assert kernel.run("print('alive')").text == "alive\n"


MISTAKES = {
    "%%agent --modle x\nhi": "did you mean --model?",
    "%%agent -m nowhere:x\nhi": "nowhere",
    "%%agent -t nothing\nhi": "nothing",
    "%%agent --input missing\nhi": "'missing'",
    "%%agent --budget x\nhi": "'x'",
    "%%agent\n   ": "empty",
    "%%agent\n{done.nothing}": "AttributeError",
    "%agent_config modle=x": "Did you mean model?",
    "%agent_config zzz=1": "Known: model",
    "%agent_config max_steps=0": "max_steps",
    "%agent_config model=nowhere:x": "nowhere",
    "%agent_config tools=nothing": "nothing",
    "%agent_config view=fancy": "auto, widget",
    "%agent_config retry_offer_s=-1": "0 or more",
    "%agent_config hello": "'hello'",
    "%agent_reset now": "no arguments",
    "%agent_costs --nothing": "--session NAME",
    "%agent_costs 'x": "quotation",
}  # fmt: skip


@latest
@pytest.mark.parametrize("code", MISTAKES)
def test_a_mistake_is_one_line_without_a_traceback(kernel: Kernel, code: str) -> None:
    cell = kernel.run(code)
    assert MISTAKES[code] in cell.text
    assert "Traceback" not in cell.text
    assert len(cell.text.strip().splitlines()) == 1


@latest
def test_a_mistake_changes_no_conversation(kernel: Kernel) -> None:
    kernel.run("%%agent --new\nsay one")
    kernel.run("%%agent -m nowhere:x\nsay lost")
    assert kernel.run("%%agent\nsay two").error is None
    assert prompts(kernel) == "['say one', 'say two']\n"


@latest
@pytest.mark.parametrize(
    "magic", ["%%agent ?", "%agent ?", "%agent_costs ?", "%agent_reset ?", "%agent_config ?"]
)
def test_each_magic_answers_with_its_help(kernel: Kernel, magic: str) -> None:
    text = kernel.run(magic).text
    assert magic.split()[0].lstrip("%") in text
    assert len(text) > 60
    assert kernel.run(magic.replace(" ", "")).error is None


@latest
def test_costs_are_a_frame(kernel: Kernel) -> None:
    kernel.run("%%agent --new -s billed\nsay one")
    assert kernel.run("frame = %agent_costs\nprint(type(frame).__name__)").text == "DataFrame\n"
    assert kernel.run("frame = %agent_costs --session billed\nprint(len(frame))").text == "1\n"


@latest
def test_reset_forgets_the_conversation(kernel: Kernel) -> None:
    kernel.run("%%agent --new\nsay one")
    assert "reset" in kernel.run("%agent_reset").text
    assert kernel.run("print(_agent.messages)").text == "[]\n"


@latest
def test_keys_are_masked(kernel: Kernel) -> None:
    cell = kernel.run("my_key = 'sk-very-secret'\n%agent_config api_key=my_key user_id=ann")
    assert "api_key = '(set)'" in cell.text
    assert "user_id = 'ann'" in cell.text
    assert "very-secret" not in cell.text + kernel.run("%agent_config").text
    kernel.run("%agent_config api_key=None")


@latest
def test_a_busy_agent_is_an_error_in_one_line(kernel: Kernel) -> None:
    kernel.run("%%agent --new\nsay one")
    kernel.run(
        "_agent.on('permission.required', lambda e: None)\n"
        "running = asyncio.ensure_future(_agent.run('it'))"
    )
    kernel.wait(lambda: kernel.run("print(_agent.active_run)").text == "True\n")
    for code in ("%%agent\nsay two", "%agent_reset", "%agent_config max_steps=5"):
        cell = kernel.run(code)
        assert cell.error == "AgentError"
        assert "running" in cell.text
        assert "Traceback" not in cell.text
    kernel.run("_agent.abort()\nprint((await running).status)")
    assert kernel.run("%%agent\nsay two").error is None


def test_loading_again_keeps_the_conversation(kernel: Kernel) -> None:
    kernel.run("%%agent --new\nsay one")
    assert "already loaded" in kernel.run("%load_ext smoke_monkey_nb").text
    assert kernel.run("%reload_ext smoke_monkey_nb").error is None
    kernel.run("%%agent\nsay two")
    assert prompts(kernel) == "['say one', 'say two']\n"


@latest
def test_reloading_starts_no_further_threads(kernel: Kernel) -> None:
    count = "print(sum(t.name == 'smn-loop' for t in threading.enumerate()))"
    kernel.run("%%agent --new\nsay one")
    before = kernel.run(count).text
    for _ in range(3):
        kernel.run("%reload_ext smoke_monkey_nb")
        kernel.run("%%agent\nsay again")
    assert kernel.run(count).text == before


@latest
def test_unloading_takes_the_magics_away(kernel: Kernel) -> None:
    kernel.run("%unload_ext smoke_monkey_nb")
    assert "not found" in kernel.run("%agent say hello").text
    assert kernel.run("%load_ext smoke_monkey_nb").error is None
    assert kernel.run("%%agent --new\nsay hello").error is None


@latest
def test_an_agent_made_by_hand_blocks_and_awaits(kernel: Kernel) -> None:
    make = "mine = create_agent(model=orders, tools=tools_, permissions='allow')\n"
    assert "fine" in kernel.run(make + "print(mine.run_sync('say fine').text)").text
    code = "threading.current_thread() is threading.main_thread()"
    assert "True" in kernel.run(f"r = await mine.run('py: {code}')\nprint(r.text)").text


@latest
def test_nobody_is_asked_by_a_run_without_a_view(kernel: Kernel) -> None:
    make = "mine = create_agent(model=orders, tools=tools_)\n"
    for run in ("mine.run_sync('it')", "await mine.run('it')"):
        assert "nobody is there" in kernel.run(f"{make}print(({run}).text)").text
