"""The store under several processes: at once, killed, forked."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from smoke_monkey_nb.telemetry.store import Store

from .helpers import ROOT, attempt, start_writer


def stored(directory: Path) -> list[int]:
    """The numbers of the attempts on disk."""
    return [int(a.run_id.removeprefix("run_")) for a in Store(directory).attempts()]


def test_kernels_that_write_at_once_lose_nothing_and_wait_for_each_other(tmp_path: Path) -> None:
    writers = [start_writer(tmp_path, first, 200) for first in (0, 1000, 2000)]
    said = [writer.communicate(timeout=60)[0].split("\n")[:-1] for writer in writers]
    assert said == [[str(n) for n in range(first, first + 200)] for first in (0, 1000, 2000)]
    assert sorted(stored(tmp_path)) == [
        n for first in (0, 1000, 2000) for n in range(first, first + 200)
    ]


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL here")
@pytest.mark.parametrize("seed", range(20))
def test_what_was_reported_before_a_kill_is_on_disk(tmp_path: Path, seed: int) -> None:
    moment = random.Random(seed)
    writer = start_writer(tmp_path, 0, 1_000_000)
    assert writer.stdout is not None
    lines = [writer.stdout.readline() for _ in range(moment.randrange(200))]
    time.sleep(moment.random() / 100)
    writer.send_signal(signal.SIGKILL)
    lines += writer.stdout.readlines()
    writer.stdout.close()
    writer.wait(timeout=60)
    reported = [int(line) for line in lines if line.endswith("\n")]

    found = stored(tmp_path)

    assert found[: len(reported)] == reported
    assert len(found) <= len(reported) + 1  # one may have been stored and not reported yet
    assert Store(tmp_path).add_attempt(attempt(7)) is None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_writes_by_a_connection_of_its_own(tmp_path: Path) -> None:
    script = """
import os, sys
from pathlib import Path
from smoke_monkey_nb.telemetry.store import Store
from tests.telemetry.helpers import attempt

store = Store(Path(sys.argv[1]))
store.add_attempt(attempt(0))
child = os.fork()
warning = store.add_attempt(attempt(2 if child else 1))
if child:
    assert os.waitpid(child, 0)[1] == 0
    store.add_attempt(attempt(3))
assert warning is None, warning
"""
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], cwd=ROOT, check=True)
    assert stored(tmp_path) == [0, 1, 2, 3]


def test_importing_and_making_a_store_touches_no_file(tmp_path: Path) -> None:
    script = "from smoke_monkey_nb.telemetry.store import default_store; default_store().attempts()"
    home = tmp_path / "home"
    environ = {**os.environ, "SMOKE_MONKEY_HOME": str(home)}
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, env=environ, check=True)
    assert not home.exists()
