"""Answers to permission questions: what counts is what will run, and nothing runs after a no."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from smoke_monkey_nb import Rule, tool
from smoke_monkey_nb.testing import calls

from .helpers import check_invariants, make, of

ran: list[str] = []


@tool
def change(path: str) -> str:
    """Change something."""
    ran.append(path)
    return f"changed {path}"


@pytest.fixture(autouse=True)
def fresh() -> None:
    ran.clear()


async def test_an_edited_command_is_what_is_remembered(tmp_path: Path) -> None:
    ask = [calls(("run_command", {"command": "touch bad"})), "done"]
    agent, events = make([*ask, *ask], tools=["terminal"], workspace=tmp_path)
    agent.on(
        "permission.required",
        lambda e: agent.resolve_permission(
            e.data["tool_call_id"], "allow", remember="session", input={"command": "touch good"}
        ),
    )
    await agent.run("do it")
    await agent.run("again")
    assert [e["input"] for e in of(events, "permission.required")] == [{"command": "touch bad"}] * 2
    assert [p.name for p in tmp_path.iterdir()] == ["good"]


async def test_a_deny_rule_holds_for_an_edited_input(tmp_path: Path) -> None:
    agent, events = make(
        [calls(("write_file", {"path": "a.txt", "content": "x"})), "done"],
        tools=["files"],
        workspace=tmp_path,
        permissions=[Rule("deny", "write_file", "*.env")],
    )
    agent.on(
        "permission.required",
        lambda e: agent.resolve_permission(
            e.data["tool_call_id"], "allow", input={"path": "b.env", "content": "x"}
        ),
    )
    await agent.run("do it")
    failure = of(events, "tool.failed")[0]
    assert (failure["error_info"].code, failure["blocked"]) == ("permission_denied", True)
    assert list(tmp_path.iterdir()) == []
    check_invariants(events, agent.messages)


async def test_a_path_that_changed_while_it_was_asked_about_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    (tmp_path / "b.env").write_text("b")
    agent, _ = make(
        [calls(("write_file", {"path": "a.txt", "content": "x"})), "done"],
        tools=["files"],
        workspace=tmp_path,
    )

    def swap(event: Any) -> None:
        (tmp_path / "a.txt").unlink()
        (tmp_path / "a.txt").symlink_to("b.env")
        agent.resolve_permission(event.data["tool_call_id"], "allow")

    agent.on("permission.required", swap)
    await agent.run("do it")
    assert (tmp_path / "b.env").read_text() == "b"


@pytest.mark.parametrize("abort_first", [True, False])
async def test_an_answer_together_with_an_abort_starts_nothing(abort_first: bool) -> None:
    for _ in range(50):
        agent, events = make([calls(("change", {"path": "a"})), "done"], tools=[change])

        def answer(event: Any, agent: Any = agent) -> None:
            if abort_first:
                agent.abort()
            agent.resolve_permission(event.data["tool_call_id"], "allow")
            agent.abort()

        agent.on("permission.required", answer)
        result = await agent.run("do it")
        assert (result.status, ran) == ("interrupted", [])
        check_invariants(events, agent.messages)


async def test_of_answers_from_many_threads_the_first_alone_counts() -> None:
    for _ in range(30):
        agent, events = make([calls(("change", {"path": "a"})), "done"], tools=[change])

        def answer(event: Any, agent: Any = agent) -> None:
            call_id = event.data["tool_call_id"]
            decisions = ["deny", "allow"] * 8
            threads = [
                threading.Thread(target=agent.resolve_permission, args=(call_id, decision))
                for decision in decisions
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

        ran.clear()
        agent.on("permission.required", answer)
        await agent.run("do it")
        said = [e["decision"] for e in of(events, "permission.resolved")]
        assert said == (["allow"] if ran else ["deny"])
        check_invariants(events, agent.messages)


async def test_an_answer_to_a_question_of_a_forgotten_conversation_answers_no_new_one() -> None:
    from smoke_monkey_nb.providers.base import ModelResponse, ToolCall

    call = ModelResponse(tool_calls=(ToolCall("call_1", "change", '{"path": "a"}'),))
    agent, events = make([call, "done", call, "done"], tools=[change], permission_timeout_s=0.1)
    agent.on("permission.required", lambda e: None)
    await agent.run("do it")
    agent.reset()
    agent.on("permission.required", lambda e: agent.resolve_permission("call_1", "allow"))
    await agent.run("do it")
    assert len({e["tool_call_id"] for e in of(events, "permission.required")}) == 2
    assert ran == []
