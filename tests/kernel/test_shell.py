"""The magics in an IPython shell without a kernel."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd
import pytest
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from smoke_monkey_nb import AgentError, create_agent, load_ipython_extension
from smoke_monkey_nb import unload_ipython_extension as unload
from smoke_monkey_nb.errors import error_info
from smoke_monkey_nb.host import PlainHost, default_host
from smoke_monkey_nb.notebook.bridge import MainThreadBridge
from smoke_monkey_nb.testing import ScriptedProvider, calls
from smoke_monkey_nb.usage import Usage


@contextlib.contextmanager
def loaded_shell() -> Iterator[InteractiveShell]:
    made = InteractiveShell(config=Config({"HistoryManager": {"enabled": False}}))
    load_ipython_extension(made)
    yield made
    unload(made)
    made._smoke_monkey_magics.bridge.close()
    InteractiveShell.clear_instance()


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> Iterator[InteractiveShell]:
    monkeypatch.setenv("SMOKE_MONKEY_VIEW", "none")
    with loaded_shell() as made:
        yield made


@pytest.fixture
def cell(shell: InteractiveShell) -> Callable[..., None]:
    """Run a ``%%agent`` cell."""

    def run(line: str = "", text: str = "hello") -> None:
        shell.run_cell_magic("agent", line, text)

    return run


def use(shell: InteractiveShell, *replies: Any, **options: Any) -> ScriptedProvider:
    provider = ScriptedProvider(list(replies), **options)
    shell.user_ns["provider"] = provider
    shell.run_line_magic("agent_config", "model=provider tools=none")
    return provider


def said(provider: ScriptedProvider, request: int = -1) -> list[str]:
    """What the user said, as the model was told."""
    messages = provider.requests[request].messages
    return [m["content"] for m in messages if m["role"] == "user"]


# -- loading ---------------------------------------------------------------------------------------


def test_loading_installs_the_host_and_unloading_takes_all_away(shell: InteractiveShell) -> None:
    assert isinstance(default_host(), MainThreadBridge)
    load_ipython_extension(shell)  # twice changes nothing
    unload(shell)
    assert isinstance(default_host(), PlainHost)
    assert shell.find_cell_magic("agent") is None
    assert all(shell.find_line_magic(f"agent{end}") is None for end in ("", "_costs", "_config"))


@pytest.mark.parametrize("name", ["agent", "agent_costs", "agent_reset", "agent_config"])
def test_every_magic_answers_a_question_mark(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    shell.run_line_magic(name, "?")
    shown = capsys.readouterr().out.strip()
    magic = shell.find_line_magic(name)
    assert magic is not None
    assert shown == (magic.__doc__ or "").strip()  # what %magic? shows
    assert len(shown.splitlines()) > 2


# -- the cell --------------------------------------------------------------------------------------


def test_the_cell_leaves_agent_and_result(shell: InteractiveShell, cell: Any) -> None:
    use(shell, "Hello to you.")
    cell("--output answer")
    names = shell.user_ns
    assert names["_result"].text == "Hello to you."
    assert names["answer"] is names["_result"]
    assert names["_agent"].messages[-1]["content"] == "Hello to you."


def test_the_prompt_is_filled_in_and_inputs_are_added(
    shell: InteractiveShell, cell: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    provider = use(shell, "ok")
    shell.user_ns |= {"x": 3.14159, "frame": pd.DataFrame({"a": range(500)})}
    cell("--input frame", "Is {x:.2f} right? {fram} stays.")
    [prompt] = said(provider)
    assert prompt.startswith("Is 3.14 right? {fram} stays.\n\nThe variable `frame`:")
    assert "(500, 1)" in prompt
    assert "did you mean {frame}?" in capsys.readouterr().err


@pytest.mark.parametrize("line", ["", "--view none"])
@pytest.mark.parametrize("text", ["", "\n", "   \n\t\n"])
def test_an_empty_cell_is_a_usage_error(cell: Any, line: str, text: str) -> None:
    with pytest.raises(UsageError, match="empty"):
        cell(line, text)


@pytest.mark.parametrize(
    ("line", "text", "message"),
    [
        ("--frob", "x", "--frob"),
        ("--budget much", "x", "'much' is no number"),
        ("--max-steps 0", "x", "no number of steps"),
        ("--view film", "x", "invalid choice: 'film'"),
        ("--allow ''", "x", "is no rule"),
        ("--output 1x", "x", "no variable name"),
        ("--input absent", "x", "no variable 'absent'"),
        ('-s "open', "x", "No closing quotation"),
        ("-m nowhere:model", "x", "nowhere"),
        ("-t nothing_like_it", "x", "nothing_like_it"),
        ("", "{1 / 0 * _agent_count}", "ZeroDivisionError"),
    ],
)
def test_mistakes_are_one_line(
    shell: InteractiveShell, cell: Any, line: str, text: str, message: str
) -> None:
    shell.user_ns["_agent_count"] = 1
    with pytest.raises(UsageError) as caught:
        cell(line, text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_failed_run_raises_an_agent_error_of_one_line(shell: InteractiveShell, cell: Any) -> None:
    use(shell, error_info("provider_auth", "The key was refused.", hint="Set it."))
    with pytest.raises(AgentError) as caught:
        cell()
    assert type(caught.value).__name__ == "AgentError"
    assert caught.value._render_traceback_() == [  # type: ignore[attr-defined]
        "AgentError: [provider_auth] The key was refused. Set it."
    ]
    assert shell.user_ns["_result"].status == "failed"


def test_no_raise_does_not(shell: InteractiveShell, cell: Any) -> None:
    use(shell, error_info("provider_auth", "The key was refused."))
    cell("--no-raise")
    assert shell.user_ns["_result"].error.code == "provider_auth"


def test_allow_holds_for_its_cell_alone(shell: InteractiveShell, cell: Any) -> None:
    run = calls(("run_python", {"code": "1 + 1"}))
    use(shell, run, "ok", run, "ok")
    cell("-t run_python --allow run_python")
    cell()
    log = shell.user_ns["_agent"].tool_log
    assert log["error_code"].fillna("").tolist() == ["", "permission_denied"]


def test_max_steps_holds_for_its_cell_alone(shell: InteractiveShell, cell: Any) -> None:
    listing = calls(("list_variables", {}))
    use(shell, listing, listing, "ok")
    cell("--no-raise -t notebook --max-steps 1")
    assert shell.user_ns["_result"].error.code == "run_hard_stop"
    cell()
    assert shell.user_ns["_result"].status == "completed"


def test_a_budget_is_an_allowance_for_its_cell(shell: InteractiveShell, cell: Any) -> None:
    from smoke_monkey_nb.telemetry.pricing import Price

    listing = calls(("list_variables", {}))
    usage = Usage(prompt_tokens=1000, completion_tokens=0, total_tokens=1000)
    shell.user_ns["prices"] = {"script": Price(1000.0, 0.0)}
    shell.run_line_magic("agent_config", "prices=prices")

    def costly(_: Any) -> Any:
        from dataclasses import replace

        return replace(listing, usage=usage)

    use(shell, *[costly] * 4)
    for _ in range(2):  # the second cell has its own dollar
        cell("--no-raise -t notebook --budget 1")
        result = shell.user_ns["_result"]
        assert (result.error.code, result.steps) == ("run_budget_exceeded", 1)


# -- conversations ---------------------------------------------------------------------------------


def test_the_next_cell_goes_on_with_the_conversation(shell: InteractiveShell, cell: Any) -> None:
    provider = use(shell, "one", "two")
    cell("", "first")
    cell("", "second")
    assert said(provider) == ["first", "second"]


def test_new_begins_another_and_the_next_cell_goes_on_with_that(
    shell: InteractiveShell, cell: Any
) -> None:
    provider = use(shell, "one", "two", "three")
    shell.run_line_magic("agent_config", "session=configured")
    cell("", "first")
    cell("--new", "second")
    cell("", "third")
    assert [said(provider, i) for i in (0, 1, 2)] == [["first"], ["second"], ["second", "third"]]


def test_a_named_session_is_gone_back_to(shell: InteractiveShell, cell: Any) -> None:
    provider = use(shell, "1", "2", "3", "4")
    cell("-s a", "first")
    cell("-s b", "second")
    cell("-s a", "third")
    cell("", "fourth")
    assert said(provider) == ["first", "third", "fourth"]
    assert shell.user_ns["_agent"].session_id == "a"


def test_an_unnamed_conversation_is_gone_back_to_by_its_id(
    shell: InteractiveShell, cell: Any
) -> None:
    provider = use(shell, "1", "2", "3")
    cell("", "first")
    session = shell.user_ns["_agent"].session_id
    cell("--new", "second")
    cell(f"-s {session}", "third")
    assert said(provider) == ["first", "third"]


def test_a_named_session_survives_a_restart_and_new_begins_it_afresh(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SMOKE_MONKEY_VIEW", "none")
    heard = []
    for line in ("-s kept", "-s kept", "-s kept --new"):
        with loaded_shell() as shell:
            provider = use(shell, "ok")
            shell.run_cell_magic("agent", line, f"hello {len(heard)}")
            heard.append(said(provider))
    assert heard == [["hello 0"], ["hello 0", "hello 1"], ["hello 2"]]


def test_model_and_tools_may_change_between_cells(shell: InteractiveShell, cell: Any) -> None:
    first = use(shell, "one")
    cell("", "first")
    second = ScriptedProvider(["two"], name="other")
    shell.user_ns["second"] = second
    shell.run_line_magic("agent_config", "model=second")
    cell("-t notebook", "next")
    assert said(second) == ["first", "next"]
    assert len(first.requests[0].tools) == 0
    assert any(t["function"]["name"] == "run_python" for t in second.requests[0].tools)


def test_reset_forgets_the_conversation_but_not_its_costs(
    shell: InteractiveShell, cell: Any
) -> None:
    provider = use(shell, "one", "two")
    cell("", "first")
    shell.run_line_magic("agent_reset", "")
    cell("", "second")
    assert said(provider) == ["second"]
    assert len(shell.user_ns["_agent"].costs) == 2


def test_an_agent_that_runs_elsewhere_is_refused_in_one_line(
    shell: InteractiveShell, cell: Any
) -> None:
    use(shell, "one")
    cell()
    agent = shell.user_ns["_agent"]
    with agent._claim(), pytest.raises(AgentError) as caught:
        cell()
    assert caught.value.info.code == "run_busy"
    assert hasattr(caught.value, "_render_traceback_")


def test_a_cell_of_an_agents_own_code_is_refused(shell: InteractiveShell, cell: Any) -> None:
    code = "get_ipython().run_cell_magic('agent', '--new', 'hello')"
    use(shell, calls(("run_python", {"code": code})), "ok")
    cell("-t run_python --allow run_python")
    [told] = [m["content"] for m in shell.user_ns["_agent"].messages if m["role"] == "tool"]
    assert "An agent is running in this kernel already." in told


# -- the line magics -------------------------------------------------------------------------------


def test_a_line_holds_options_and_prompt(shell: InteractiveShell) -> None:
    provider = use(shell, "one")
    shell.user_ns["x"] = 7
    shell.run_line_magic("agent", "--output answer --max-steps 3 is {x} -- or $x -- odd?")
    assert said(provider) == ["is 7 -- or $x -- odd?"]
    assert shell.user_ns["answer"].text == "one"


def test_without_text_it_tells_the_status(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    shell.run_line_magic("agent", "")
    assert "No agent yet" in capsys.readouterr().out
    use(shell, "one")
    shell.run_cell_magic("agent", "-s mine", "hello")
    capsys.readouterr()
    shell.run_line_magic("agent", "")
    assert "scripted:script · session mine · 2 messages · $" in capsys.readouterr().out


def test_costs_is_the_frame_of_all_agents(shell: InteractiveShell, cell: Any) -> None:
    use(shell, "one")
    cell("-s mine", "hello")
    frame = shell.run_line_magic("agent_costs", "--session mine")
    assert frame["model"].tolist() == ["script"]
    assert len(shell.run_line_magic("agent_costs", "")) >= 1
    with pytest.raises(UsageError):
        shell.run_line_magic("agent_costs", "--frob")


# -- configuration ---------------------------------------------------------------------------------


def config(shell: InteractiveShell, line: str) -> None:
    shell.run_line_magic("agent_config", line)


def test_defaults_reach_the_agents_typed(shell: InteractiveShell, cell: Any) -> None:
    use(shell, "one")
    config(
        shell,
        'max_steps=7 budget_usd=0.5 instructions="be brief" permissions=deny session=12 '
        'tools=["files", "search"] permission_timeout_s=None',
    )
    cell()
    options = shell.user_ns["_agent"].options
    assert (options["max_steps"], options["budget_usd"]) == (7, 0.5)
    assert (options["instructions"], options["permissions"]) == ("be brief", "deny")
    assert (options["session"], options["tools"]) == ("12", ["files", "search"])


def test_a_value_may_be_a_variable(shell: InteractiveShell, cell: Any) -> None:
    use(shell, "one")
    shell.user_ns["manner"] = "Be brief."
    config(shell, "instructions=manner")
    cell()
    assert shell.user_ns["_agent"].options["instructions"] == "Be brief."


def test_what_is_set_is_shown_with_keys_masked(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    config(shell, "")
    assert "Nothing is set" in capsys.readouterr().out
    config(shell, "api_key=sk-secret-0123456789 max_steps=7")
    config(shell, "")
    shown = capsys.readouterr().out
    assert "sk-secret" not in shown
    assert "max_steps = 7" in shown


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("modle=demo:", "Did you mean model?"),
        ("frobnicate=1", "there is no option 'frobnicate'"),
        ("max_steps", "'max_steps' is not key=value"),
        ("max_steps=many", "max_steps must be int"),
        ("max_steps=0", "at least 1"),
        ("budget_usd=-1", "must not be negative"),
        ("model=nowhere:x", "nowhere"),
        ("tools=frobs", "frobs"),
        ("permissions=perhaps", "perhaps"),
        ("view=film", "view must be one of"),
        ("retry_offer_s=-1", "retry_offer_s"),
        ("workspace=/does/not/exist", "not a directory"),
        ('tools=["a"', "no closing ]"),
    ],
)
def test_a_wrong_default_is_refused_at_once_and_changes_nothing(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str], line: str, message: str
) -> None:
    with pytest.raises(UsageError) as caught:
        config(shell, f"user_id=me {line}")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    capsys.readouterr()
    config(shell, "")
    assert "Nothing is set" in capsys.readouterr().out


def test_agents_made_after_loading_live_in_the_shell(shell: InteractiveShell) -> None:
    shell.user_ns["x"] = 41
    run = calls(("run_python", {"code": "x += 1"}))
    provider = ScriptedProvider([run, "ok"])
    agent = create_agent(provider, tools="run_python", permissions="allow")
    assert agent.run_sync("go").status == "completed"
    assert shell.user_ns["x"] == 42
