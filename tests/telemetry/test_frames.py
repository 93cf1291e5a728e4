"""The frames: columns, order and dtypes of the contract, empty or filled."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pandas as pd
import pytest

from smoke_monkey_nb.events import AgentEvent
from smoke_monkey_nb.telemetry.attempt_log import AttemptLog
from smoke_monkey_nb.telemetry.frames import (
    EVENT_COLUMNS,
    LEDGER_COLUMNS,
    TOOL_COLUMNS,
    costs_frame,
    event_frame,
    tool_frame,
)
from smoke_monkey_nb.usage import Usage

from .helpers import FAILED, START, attempt, tool_call

CONTRACT = [
    "run_id", "session_id", "user_id", "step", "attempt", "provider", "model", "started_at",
    "duration_ms", "ttft_ms", "prompt_tokens", "cached_tokens", "cache_write_tokens",
    "completion_tokens", "reasoning_tokens", "total_tokens", "input_cost_usd", "output_cost_usd",
    "cost_usd", "finish_reason", "tool_calls", "failed", "error_code", "cell_id",
]  # fmt: skip


def event(seq: int, **data: Any) -> AgentEvent:
    return AgentEvent("step.ended", data, seq, START, "run_0", "s1", None if seq == 0 else 1)


def dtypes(frame: pd.DataFrame) -> dict[str, str]:
    return {name: str(dtype) for name, dtype in frame.dtypes.items()}


def test_costs_have_the_columns_of_the_contract_in_its_order() -> None:
    assert list(costs_frame([attempt()]).columns) == CONTRACT


@pytest.mark.parametrize(
    "records", [[], [attempt()], [attempt(0, **FAILED)], [attempt(0), attempt(1, **FAILED)]]
)
def test_costs_have_the_same_dtypes_empty_unknown_and_filled(records: list[Any]) -> None:
    frame = costs_frame(records)
    assert dtypes(frame) == LEDGER_COLUMNS
    assert frame["started_at"].dtype == "datetime64[ns, UTC]"
    assert all(str(frame[c].dtype) == "Int64" for c in CONTRACT if c.endswith("tokens"))
    assert all(str(frame[c].dtype) == "Float64" for c in CONTRACT if c.endswith("_usd"))
    assert (str(frame["tool_calls"].dtype), str(frame["failed"].dtype)) == ("Int64", "boolean")
    assert (list(frame.index), len(frame)) == (list(range(len(records))), len(records))


def test_a_row_says_what_its_record_says() -> None:
    row = dict(costs_frame([attempt(3)]).iloc[0].items())
    assert row.pop("user_id") is pd.NA
    assert row.pop("error_code") is pd.NA
    assert row == {
        "run_id": "run_3",
        "session_id": "s1",
        "step": 1,
        "attempt": 1,
        "provider": "openai",
        "model": "gpt-5-mini",
        "started_at": pd.Timestamp(START + timedelta(milliseconds=3)),
        "duration_ms": 12.5,
        "ttft_ms": 3.25,
        "prompt_tokens": 100,
        "cached_tokens": 10,
        "cache_write_tokens": 5,
        "completion_tokens": 20,
        "reasoning_tokens": 7,
        "total_tokens": 120,
        "input_cost_usd": 0.25,
        "output_cost_usd": 0.5,
        "cost_usd": 0.75,
        "finish_reason": "stop",
        "tool_calls": 2,
        "failed": False,
        "cell_id": "cell-1",
    }


def test_what_is_unknown_is_na_and_never_zero() -> None:
    row = costs_frame([attempt(0, **FAILED)]).iloc[0]
    unknown = [name for name in CONTRACT if row[name] is pd.NA]
    assert unknown == [
        "user_id", "ttft_ms", "prompt_tokens", "cached_tokens", "cache_write_tokens",
        "completion_tokens", "reasoning_tokens", "total_tokens", "input_cost_usd",
        "output_cost_usd", "cost_usd", "finish_reason",
    ]  # fmt: skip


def test_usage_without_a_price_keeps_its_counts() -> None:
    row = costs_frame([attempt(0, cost=None)]).iloc[0]
    assert (row["prompt_tokens"], row["cost_usd"]) == (100, pd.NA)


def test_microseconds_are_kept() -> None:
    moment = START + timedelta(microseconds=123_457)
    assert costs_frame([attempt(0, started_at=moment)])["started_at"][0] == moment


def test_a_log_gives_its_records_back() -> None:
    records = [attempt(0), attempt(1, **FAILED), attempt(2, user_id="ada")]
    log = AttemptLog(records)
    assert list(log) == records
    assert (log[-1], log[:2], len(log)) == (records[2], tuple(records[:2]), 3)


def test_a_count_beyond_64_bits_is_unknown_rather_than_an_error() -> None:
    frame = costs_frame([attempt(0, usage=Usage(2**70, 1, 2))])
    assert list(frame.loc[0, ["prompt_tokens", "completion_tokens"]]) == [pd.NA, 1]


@pytest.mark.parametrize("reason", ["\ud800", {"a": 1}, 7])
def test_a_finish_reason_that_is_no_text_does_no_harm(reason: Any) -> None:
    frame = costs_frame([attempt(0, finish_reason=reason), attempt(1)])
    assert dtypes(frame) == LEDGER_COLUMNS
    assert frame["finish_reason"][1] == "stop"


@pytest.mark.parametrize("calls", [[], [tool_call()], [tool_call(result="\ud800\x00")]])
def test_tool_calls_have_the_same_columns_and_dtypes_empty_and_filled(calls: list[Any]) -> None:
    frame = tool_frame(calls)
    assert dtypes(frame) == TOOL_COLUMNS
    assert len(frame) == len(calls)


def test_a_tool_call_says_what_its_record_says() -> None:
    row = tool_frame([tool_call(decision="deny", decided_by="rule", status="failed")]).iloc[0]
    assert list(row[["tool_name", "input", "status", "decision", "decided_by", "user_id"]]) == [
        "read_file", '{"path": "a.txt"}', "failed", "deny", "rule", pd.NA,
    ]  # fmt: skip


@pytest.mark.parametrize("events", [[], [event(0), event(1)]])
def test_events_have_the_same_columns_and_dtypes_empty_and_filled(events: list[Any]) -> None:
    assert dtypes(event_frame(events)) == EVENT_COLUMNS


def test_the_data_of_an_event_is_json_with_our_own_types_in_it() -> None:
    frame = event_frame([event(0, usage=Usage(1, 2, 3), other=START)])
    assert frame["data"][0] == (
        '{"usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3, '
        '"cached_tokens": 0, "cache_write_tokens": 0, "reasoning_tokens": 0}, '
        '"other": "2026-03-01 12:00:00+00:00"}'
    )
    assert (frame["seq"][0], frame["step"][0], frame["time"][0]) == (0, pd.NA, START)
