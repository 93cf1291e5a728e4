"""Whole runs: the real agent, its own tools, real HTTP, the user's data."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from smoke_monkey_nb import Block, Hooks, RetryPolicy, Rule, create_agent, tool
from smoke_monkey_nb.agent import Agent
from smoke_monkey_nb.host import PlainHost

from .helpers import sales

T = TypeVar("T")


class LendingHost(PlainHost):
    """Lends a namespace as a notebook does, and runs user code in place."""

    def __init__(self, **variables: Any) -> None:
        self._namespace = variables

    @property
    def namespace(self) -> dict[str, Any]:
        return self._namespace

    async def on_main(self, function: Callable[[], T]) -> T:
        return function()


def agent_on(workspace: Path, **options: Any) -> Agent:
    options.setdefault("permissions", "allow")
    agent = create_agent("demo:", workspace=workspace, **options)
    agent.host = LendingHost(sales=sales())
    return agent


def calls(agent: Agent) -> list[str]:
    return [
        call["function"]["name"]
        for message in agent.messages
        for call in message.get("tool_calls", ())
    ]


async def test_a_question_is_answered_from_the_users_data(tmp_path: Path) -> None:
    agent = agent_on(tmp_path)
    result = await agent.run("What is the mean revenue by region?")
    assert result.status == "completed"
    assert calls(agent) == ["list_variables", "inspect_variable", "run_python"]
    assert "North is highest with 65" in result.text
    assert "| South | 29 |" in result.text
    assert "1 row without `revenue` is not counted" in result.text
    assert list(agent.host.namespace["mean_revenue_by_region"]["region"]) == [
        "North",
        "East",
        "South",
    ]
    assert result.cost_usd == 0
    assert result.usage.total_tokens > 100
    await agent.aclose()


async def test_a_report_is_written_from_real_results(tmp_path: Path) -> None:
    agent = agent_on(tmp_path)
    result = await agent.run("Total revenue by product. Then write a report to out/report.md")
    assert result.status == "completed"
    assert "| Kettle | 148 |" in (tmp_path / "out" / "report.md").read_text()
    await agent.aclose()


async def test_with_nobody_to_ask_the_denial_is_admitted(tmp_path: Path) -> None:
    agent = agent_on(tmp_path, permissions="ask")
    result = await agent.run("mean revenue by region")
    assert result.status == "completed"
    assert "`run_python` was not allowed" in result.text
    await agent.aclose()


async def test_a_hook_that_blocks_is_admitted(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("TOKEN=abc123")

    def guard(call: Any) -> Block | None:
        return Block("no secrets") if call.tool_name == "read_file" else None

    agent = agent_on(tmp_path, hooks=Hooks(before_tool_call=guard))
    result = await agent.run("read .env")
    assert "A hook blocked `read_file`" in result.text
    assert "no secrets" in result.text
    assert "abc123" not in str(agent.messages)
    await agent.aclose()


async def test_a_hiccup_is_a_warning_and_a_retry(tmp_path: Path) -> None:
    agent = agent_on(tmp_path, retry=RetryPolicy(initial_delay_s=0.01, max_delay_s=0.02))
    warnings: list[str] = []
    agent.on("run.warning", lambda event: warnings.append(event.data["error_info"].code))
    result = await agent.run("hiccup: how many orders per region?")
    assert result.status == "completed"
    assert warnings == ["provider_rate_limited"]
    assert list(agent.costs["failed"][:2]) == [True, False]
    await agent.aclose()


async def test_a_cut_stream_is_voided_and_retried(tmp_path: Path) -> None:
    agent = agent_on(tmp_path, retry=RetryPolicy(initial_delay_s=0.01, max_delay_s=0.02))
    agent.configure(model="demo:cut")
    seen: list[str] = []
    agent.on_any(lambda event: seen.append(event.type))
    result = await agent.run("hello")
    assert result.status == "completed"
    assert "text.reset" in seen
    await agent.aclose()


@pytest.mark.parametrize(
    ("model", "code"),
    [("demo:fail", "provider_auth"), ("demo:overflow", "provider_context_overflow")],
)
async def test_moods_that_fail(tmp_path: Path, model: str, code: str) -> None:
    agent = agent_on(tmp_path)
    agent.configure(model=model)
    result = await agent.run("hello")
    assert result.error is not None
    assert result.error.code == code
    await agent.aclose()


async def test_files_and_own_tools_are_used(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("remember the milk")

    @tool(read_only=True)
    def exchange_rate(currency: str) -> float:
        """How much of a currency one euro buys."""
        return {"CHF": 0.95}[currency]

    rules = [Rule("deny", "run_python")]
    agent = agent_on(tmp_path, tools=["default", exchange_rate], permissions=rules)
    result = await agent.run("What files are here? Then read notes.txt")
    assert "remember the milk" in result.text
    result = await agent.run("Call exchange_rate with currency=CHF")
    assert "0.95" in result.text
    await agent.aclose()


async def test_without_a_frame_the_data_file_is_found_and_loaded(tmp_path: Path) -> None:
    sales().to_csv(tmp_path / "orders.csv", index=False)
    agent = agent_on(tmp_path)
    agent.host = LendingHost()
    result = await agent.run("mean revenue by region")
    assert "*load orders.csv*" in result.text
    await agent.aclose()
