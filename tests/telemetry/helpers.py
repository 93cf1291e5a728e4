"""Records to keep, and a process that keeps them and says which it has kept."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from smoke_monkey_nb.records import AttemptRecord, ToolRecord
from smoke_monkey_nb.usage import Cost, Usage

START = datetime(2026, 3, 1, 12, tzinfo=timezone.utc)
ROOT = Path(__file__).parents[2]


def attempt(number: int = 0, **changes: Any) -> AttemptRecord:
    """The ``number``-th attempt, told apart by ``run_id`` and time."""
    record = AttemptRecord(
        run_id=f"run_{number}",
        session_id="s1",
        user_id=None,
        step=1,
        attempt=1,
        provider="openai",
        model="gpt-5-mini",
        started_at=START + timedelta(milliseconds=number),
        duration_ms=12.5,
        ttft_ms=3.25,
        usage=Usage(100, 20, 120, 10, 5, 7),
        cost=Cost(0.25, 0.5, 0.75),
        finish_reason="stop",
        tool_calls=2,
        failed=False,
        error_code=None,
        cell_id="cell-1",
    )
    return replace(record, **changes)


FAILED: dict[str, Any] = {
    "usage": None,
    "cost": None,
    "ttft_ms": None,
    "finish_reason": None,
    "tool_calls": 0,
    "failed": True,
    "error_code": "provider_timeout",
}


def tool_call(**changes: Any) -> ToolRecord:
    """A tool call that went well."""
    record = ToolRecord(
        run_id="run_0",
        session_id="s1",
        user_id=None,
        step=1,
        tool_call_id="call_1",
        tool_name="read_file",
        input='{"path": "a.txt"}',
        started_at=START,
        duration_ms=1.5,
        status="completed",
        blocked=False,
        error_code=None,
        decision=None,
        decided_by=None,
        result="text",
        cell_id=None,
    )
    return replace(record, **changes)


def start_writer(directory: Path, first: int, count: int) -> subprocess.Popen[str]:
    """A process that writes attempts to the store in ``directory`` and prints each number after
    it.
    """
    command = [sys.executable, "-m", "tests.telemetry.writer", str(directory), str(first)]
    return subprocess.Popen([*command, str(count)], cwd=ROOT, stdout=subprocess.PIPE, text=True)
