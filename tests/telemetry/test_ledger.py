"""The ledger of one agent, and ``costs()`` over all of them."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pandas as pd
import pytest

import smoke_monkey_nb
from smoke_monkey_nb import create_agent
from smoke_monkey_nb.telemetry import costs
from smoke_monkey_nb.telemetry.frames import LEDGER_COLUMNS
from smoke_monkey_nb.telemetry.ledger import Ledger
from smoke_monkey_nb.telemetry.store import Store, default_store
from smoke_monkey_nb.testing import ScriptedProvider
from smoke_monkey_nb.usage import Usage

from .helpers import START, attempt, tool_call


def here(session: str) -> list[str]:
    """The runs of a session that this process's ledgers hold."""
    frame = costs()
    return list(frame[frame["session_id"] == session]["run_id"])


def test_a_ledger_keeps_what_it_was_given_in_order() -> None:
    ledger = Ledger()
    for number in (2, 0, 1):
        assert ledger.attempt(attempt(number)) is None
    assert ledger.tool_call(tool_call()) is None
    assert list(ledger.attempts) == [attempt(2), attempt(0), attempt(1)]
    assert list(ledger.tool_calls) == [tool_call()]


def test_a_record_is_on_disk_when_the_ledger_has_taken_it(tmp_path: Path) -> None:
    ledger = Ledger(Store(tmp_path))
    ledger.attempt(attempt(1))
    assert Store(tmp_path).attempts() == [attempt(1)]


def test_a_ledger_passes_the_warning_of_its_store_on_and_keeps_the_record(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    ledger = Ledger(Store(tmp_path / "file" / "home"))
    warnings = [ledger.attempt(attempt(number)) for number in range(2)]
    warnings.append(ledger.tool_call(tool_call()))
    assert [w.code if w else None for w in warnings] == ["transport_store_failed", None, None]
    assert (len(ledger.attempts), len(ledger.tool_calls)) == (2, 1)


def test_keys_are_masked_in_tool_calls() -> None:
    ledger = Ledger()
    ledger.tool_call(tool_call(input='{"key": "sk-abcdefghijkl"}', result="Bearer abcdefghijkl"))
    (kept,) = ledger.tool_calls
    assert (kept.input, kept.result) == ('{"key": "[redacted]"}', "Bearer [redacted]")


def test_costs_cover_every_ledger_of_the_process_oldest_first() -> None:
    first, second = Ledger(), Ledger()
    for number, ledger in enumerate([second, first, second]):
        ledger.attempt(attempt(number, session_id="both"))
    del first, second
    assert here("both") == ["run_0", "run_1", "run_2"]


def test_costs_of_this_kernel_leave_out_what_others_stored() -> None:
    default_store().add_attempt(attempt(0, session_id="elsewhere"))
    assert here("elsewhere") == []
    assert list(costs("elsewhere")["run_id"]) == ["run_0"]
    assert list(costs(all_time=True)["session_id"]) == ["elsewhere"]


def test_costs_since_a_time() -> None:
    ledger = Ledger(default_store())
    for number in range(3):
        ledger.attempt(attempt(number, session_id="since"))
    moment = START + timedelta(milliseconds=1)
    for frame in (costs(since=moment), costs("since", since=moment.replace(tzinfo=None))):
        assert list(frame[frame["session_id"] == "since"]["run_id"]) == ["run_1", "run_2"]


def test_costs_of_an_unknown_session_are_an_empty_ledger() -> None:
    frame = costs("nobody")
    assert {name: str(dtype) for name, dtype in frame.dtypes.items()} == LEDGER_COLUMNS
    assert len(frame) == 0


@pytest.mark.parametrize("arguments", [{"session": 3}, {"since": "yesterday"}])
def test_costs_asked_wrongly_say_so(arguments: dict[str, object]) -> None:
    with pytest.raises(TypeError, match=next(iter(arguments))):
        costs(**arguments)  # type: ignore[arg-type]


async def test_an_agent_of_a_named_session_finds_its_costs_after_a_restart() -> None:
    model = ScriptedProvider(["hi"], name="demo", usage=Usage(10, 5, 15))
    agent = create_agent(model=model, tools=[], session="kept", user_id="ada")
    agent.cell_id = "cell-9"
    result = await agent.run("hello")
    frame = smoke_monkey_nb.costs(session="kept")
    pd.testing.assert_frame_equal(frame, agent.costs)
    assert list(frame.loc[0, ["run_id", "user_id", "cell_id", "prompt_tokens", "cost_usd"]]) == [
        result.run_id, "ada", "cell-9", 10, 0.0,
    ]  # fmt: skip
