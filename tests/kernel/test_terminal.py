"""The magics in a plain IPython terminal: questions by prompt, Ctrl-C ends the run."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.kernels import ROOT

pexpect = pytest.importorskip("pexpect")
pytestmark = [
    pytest.mark.kernel,
    pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal"),
    pytest.mark.filterwarnings("ignore:.*use of forkpty.*:DeprecationWarning"),
]

SCRIPT = """
import sys, time
from IPython import start_ipython
from tests.kernel.conftest import SETUP
lines = [l for l in SETUP.splitlines() if not l.startswith("%")]
namespace = {}
exec("\\n".join(lines), namespace)
start_ipython(argv=["--simple-prompt", "--no-banner", "--colors=NoColor", "--no-confirm-exit",
    "--ext=smoke_monkey_nb",
    "--InteractiveShellApp.exec_lines=%agent_config model=orders tools=tools_ retry_offer_s=0"],
    user_ns=namespace)
"""


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Any]:
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "IPYTHONDIR": str(tmp_path / "ipython"),
        "SMOKE_MONKEY_HOME": str(tmp_path),
        "TERM": "dumb",
    }
    child = pexpect.spawn(
        sys.executable, ["-c", SCRIPT], env=environment, encoding="utf-8", timeout=20, echo=False
    )
    child.expect_exact("In [1]:")
    yield child
    child.close(force=True)


def test_a_question_is_asked_by_a_prompt(terminal: Any) -> None:
    terminal.sendline("%agent the first")
    terminal.expect_exact("Allow?")
    terminal.sendline("y")
    terminal.expect_exact("changed the first")
    terminal.expect(r"In \[\d+\]:")
    terminal.sendline("print('done:', done)")
    terminal.expect_exact("done: ['the first']")


def test_ctrl_c_at_the_prompt_ends_the_run_and_the_shell_goes_on(terminal: Any) -> None:
    terminal.sendline("%agent the first")
    terminal.expect_exact("Allow?")
    terminal.sendintr()
    terminal.expect_exact("KeyboardInterrupt: the agent was interrupted")
    terminal.expect(r"In \[\d+\]:")
    terminal.sendline("%agent say are you there?")
    terminal.expect_exact("are you there?")
    terminal.expect(r"In \[\d+\]:")


def test_ctrl_c_ends_code_that_runs(terminal: Any) -> None:
    terminal.sendline("%agent --allow run_python py: print('be' + 'gun'); time.sleep(60)")
    terminal.expect_exact("begun")
    terminal.sendintr()
    terminal.expect_exact("KeyboardInterrupt: the agent was interrupted")
    terminal.expect(r"In \[\d+\]:")
    terminal.sendline("print(_result.status)")
    terminal.expect_exact("interrupted")


def test_a_failed_run_is_one_line(terminal: Any) -> None:
    terminal.sendline("%agent fail")
    terminal.expect_exact("AgentError: [provider_bad_request]")
    assert "Traceback" not in terminal.before
