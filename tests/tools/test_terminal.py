"""``run_command``: output, exit code, environment, and nothing left behind."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from smoke_monkey_nb.tools.base import ToolContext
from smoke_monkey_nb.tools.environment import safe_environment
from smoke_monkey_nb.tools.errors import ToolError
from smoke_monkey_nb.tools.terminal import TOOLS, run_command

from .conftest import NotingInteraction


async def wait_for(condition: Callable[[], bool]) -> None:
    """Until it holds; the test's own time limit ends a wait in vain."""
    while not condition():
        await asyncio.sleep(0.01)


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        if not Path("/proc/self").exists():  # no /proc on this system
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, 0)
                return True
        return False
    return state != "Z"


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("echo hi", "hi\nExit code: 0"),
        ("echo out; echo err >&2; exit 3", "out\nerr\nExit code: 3"),
        ("true", "(no output)\nExit code: 0"),
        ("cat", "(no output)\nExit code: 0"),
        ("nonsense_command 2>/dev/null", "(no output)\nExit code: 127"),
        ("kill -9 $$", "(no output)\nExit code: -9 (ended by signal 9)"),
        (r"printf 'a\xffb\033[31mred\033[0m'", "a\ufffdbred\nExit code: 0"),
        ("echo one | tr a-z A-Z && cd .. && echo $((1+1))", "ONE\n2\nExit code: 0"),
    ],
)
async def test_output_and_exit_code_are_the_result(
    context: ToolContext, command: str, text: str
) -> None:
    assert await run_command(command, context) == text


async def test_it_runs_in_the_workspace(context: ToolContext, workspace: Path) -> None:
    assert (await run_command("pwd -P", context)).startswith(str(workspace))


async def test_output_shows_while_it_runs(
    context: ToolContext, interaction: NotingInteraction, workspace: Path
) -> None:
    task = asyncio.create_task(
        run_command("echo first; while [ ! -e go ]; do sleep 0.02; done; echo last", context)
    )
    await wait_for(lambda: "first" in "".join(interaction.shown))
    assert not task.done()
    (workspace / "go").touch()
    assert await task == "first\nlast\nExit code: 0"
    assert "".join(interaction.shown) == "first\nlast\n"


async def test_long_output_keeps_both_ends(
    context: ToolContext, interaction: NotingInteraction
) -> None:
    text = await run_command("seq 1 1000000", context)
    assert text.startswith("1\n2\n")
    assert text.endswith("1000000\nExit code: 0")
    assert len(text) < 30_100
    assert "characters left out" in text
    assert len("".join(interaction.shown)) <= 200_000


async def test_the_whole_group_is_ended_when_the_time_is_up(
    context: ToolContext, workspace: Path
) -> None:
    command = (
        "(trap '' TERM; echo $BASHPID > child; echo started; while :; do sleep 1; done) & wait"
    )
    with pytest.raises(
        ToolError, match=r"ran longer than 1 s and was ended\.\nIts output .*\nstart"
    ):
        await run_command(command, context, timeout_s=1)
    child = int((workspace / "child").read_text())
    await wait_for(lambda: not alive(child))


async def test_the_whole_group_is_ended_when_the_run_is_interrupted(
    context: ToolContext, workspace: Path
) -> None:
    command = "sleep 300 & echo $! > child.tmp; mv child.tmp child; sleep 300"
    task = asyncio.create_task(run_command(command, context))
    await wait_for((workspace / "child").exists)
    started = time.perf_counter()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.perf_counter() - started < 1
    await wait_for(lambda: not alive(int((workspace / "child").read_text())))


async def test_a_background_process_does_not_hold_the_call(
    context: ToolContext, workspace: Path
) -> None:
    text = await run_command("sleep 300 & echo $! > child; echo up", context)
    assert text == (
        "up\n(A background process goes on; its output is not read any more.)\nExit code: 0"
    )
    os.kill(int((workspace / "child").read_text()), 9)


async def test_a_command_that_cannot_start_says_why(context: ToolContext) -> None:
    with pytest.raises(ToolError, match="cannot be started"):
        await run_command("a\x00b", context)


async def test_keys_are_not_in_the_environment(
    context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "plain")
    monkeypatch.setenv("PLAIN_NAME", "kept")
    text = await run_command("env", context)
    assert "OPENAI_API_KEY" not in text
    assert "PLAIN_NAME=kept" in text


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("AWS_SECRET_ACCESS_KEY", "x"), ("GITHUB_TOKEN", "x"), ("DB_PASSWORD", "x"),
        ("JUPYTER_TOKEN", "x"), ("GOOGLE_APPLICATION_CREDENTIALS", "x"), ("SESSION_COOKIE", "x"),
        ("api_key", "x"), ("GH_PAT", "x"), ("SENTRY_DSN", "x"), ("DATABASE_URL", "pg://u:p@h/d"),
        ("INNOCENT", "sk-abcdefghijklmnopqrstuvwx"),
    ],
)  # fmt: skip
def test_a_variable_that_holds_a_key_is_dropped(name: str, value: str) -> None:
    assert name not in safe_environment({name: value})


@pytest.mark.parametrize("name", ["PATH", "HOME", "PWD", "SMOKE_MONKEY_HOME", "KEYBOARD", "LANG"])
def test_other_variables_stay(name: str) -> None:
    assert safe_environment({name: "/x"})[name] == "/x"


def test_the_person_sees_the_whole_command(context: ToolContext) -> None:
    (tool,) = TOOLS
    command = "echo 1\n" * 50
    assert tool.preview is not None
    assert tool.subject is not None
    assert (tool.preview({"command": command}, context).text, tool.runs_shell) == (command, True)
    assert tool.subject({"command": command}, context) == command
    assert (tool.where, tool.read_only) == ("loop", False)
