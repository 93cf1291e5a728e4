"""Permissions: who decides, who answers, and that denied means not executed."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from smoke_monkey_nb import Rule, create_agent, tool
from smoke_monkey_nb.permissions import Policy, Subject
from smoke_monkey_nb.testing import ScriptedProvider, calls

from .helpers import check_invariants, make, of, run, types

ran: list[Any] = []


@tool
def change(path: str) -> str:
    """Change something."""
    ran.append(path)
    return f"changed {path}"


@tool(read_only=True)
def look(path: str) -> str:
    """Look at something."""
    ran.append(path)
    return path


@pytest.fixture(autouse=True)
def fresh() -> None:
    ran.clear()


def once(name: str = "change", path: str = "a.txt") -> list[Any]:
    return [calls((name, {"path": path})), "done"]


async def test_nobody_to_ask_denies_at_once_with_a_hint() -> None:
    _, events, agent = await run(once(), tools=[change])
    failure = of(events, "tool.failed")[0]
    assert failure["error_info"].code == "permission_denied"
    assert "--allow" in failure["error_info"].hint
    assert ran == []
    check_invariants(events, agent.messages)


async def test_read_only_calls_run_at_once() -> None:
    await run(once("look"), tools=[look])
    assert ran == ["a.txt"]


async def test_on_any_only_watches() -> None:
    agent, events = make(once(), tools=[change])
    agent.on_any(lambda e: None)
    await agent.run("do it")
    assert of(events, "permission.required") == []
    assert ran == []


async def test_a_subscriber_answers() -> None:
    agent, events = make(once(), tools=[change])
    agent.on(
        "permission.required", lambda e: agent.resolve_permission(e.data["tool_call_id"], "allow")
    )
    await agent.run("do it")
    assert ran == ["a.txt"]
    names = types(events)
    order = ["permission.required", "permission.resolved", "tool.started", "tool.completed"]
    assert [n for n in names if n in order] == order
    assert of(events, "permission.resolved")[0]["by"] == "user"


async def test_the_consumer_of_a_stream_answers() -> None:
    agent, _ = make(once(), tools=[change])
    async for event in agent.stream("do it"):
        if event.type == "permission.required":
            agent.resolve_permission(event.data["tool_call_id"], "allow")
    assert ran == ["a.txt"]


async def test_a_denial_with_feedback_reaches_the_model() -> None:
    agent, events = make(once(), tools=[change])
    agent.on(
        "permission.required",
        lambda e: agent.resolve_permission(e.data["tool_call_id"], "deny", feedback="use b.txt"),
    )
    await agent.run("do it")
    assert ran == []
    assert "use b.txt" in agent.messages[2]["content"]
    assert of(events, "tool.failed")[0]["error_info"].code == "permission_denied"


async def test_the_answer_may_replace_the_input() -> None:
    agent, events = make(once(), tools=[change])
    agent.on(
        "permission.required",
        lambda e: agent.resolve_permission(
            e.data["tool_call_id"], "allow", input={"path": "b.txt"}
        ),
    )
    await agent.run("do it")
    assert ran == ["b.txt"]
    assert of(events, "tool.started")[0]["input"] == {"path": "b.txt"}


async def test_a_replaced_input_is_validated() -> None:
    agent, events = make(once(), tools=[change])
    agent.on(
        "permission.required",
        lambda e: agent.resolve_permission(e.data["tool_call_id"], "allow", input={"nope": 1}),
    )
    await agent.run("do it")
    assert ran == []
    assert of(events, "tool.failed")[0]["error_info"].code == "tool_invalid_input"


async def test_no_answer_in_time_denies() -> None:
    agent, events = make(once(), tools=[change], permission_timeout_s=0.05)
    agent.on("permission.required", lambda e: None)
    await agent.run("do it")
    assert of(events, "permission.resolved")[0] | {"tool_call_id": ""} == {
        "tool_call_id": "", "decision": "deny", "by": "timeout", "remember": None, "feedback": None,
    }  # fmt: skip
    assert ran == []


@pytest.mark.parametrize(
    ("remember", "asked"), [(None, [2, 2]), ("run", [1, 1]), ("session", [1, 0])]
)
async def test_remember_allows_the_same_tool_again(remember: Any, asked: list[int]) -> None:
    replies = [calls(("change", {"path": "a"})), calls(("change", {"path": "b"})), "done"] * 2
    agent, events = make([*replies], tools=[change])
    agent.on(
        "permission.required",
        lambda e: agent.resolve_permission(e.data["tool_call_id"], "allow", remember=remember),
    )
    counts = []
    for _ in range(2):
        events.clear()
        await agent.run("do it")
        counts.append(len(of(events, "permission.required")))
    assert counts == asked
    assert ran == ["a", "b"] * 2


async def test_the_first_answer_counts() -> None:
    agent, _ = make(once(), tools=[change])

    def twice(event: Any) -> None:
        agent.resolve_permission(event.data["tool_call_id"], "deny")
        agent.resolve_permission(event.data["tool_call_id"], "allow")

    agent.on("permission.required", twice)
    await agent.run("do it")
    assert ran == []


def test_an_unknown_question_is_a_lookup_error() -> None:
    agent, _ = make([])
    with pytest.raises(LookupError):
        agent.resolve_permission("nope", "allow")
    with pytest.raises(LookupError):
        agent.respond("nope", "text")


async def test_a_waiting_call_suspends_itself_alone() -> None:
    looked = asyncio.Event()

    @tool(read_only=True)
    async def peek() -> str:
        looked.set()
        return "seen"

    agent, _ = make([calls(("change", {"path": "a"}), ("peek", {})), "done"], tools=[change, peek])

    async def later(event: Any) -> None:
        await looked.wait()
        agent.resolve_permission(event.data["tool_call_id"], "allow")

    agent.on("permission.required", later)
    assert (await agent.run("do it")).status == "completed"


async def test_abort_while_asking_does_not_execute() -> None:
    agent, events = make(once(), tools=[change])
    agent.on("permission.required", lambda e: agent.abort())
    result = await agent.run("do it")
    assert result.status == "interrupted"
    assert ran == []
    assert of(events, "permission.resolved")[0]["by"] == "interrupted"
    check_invariants(events, agent.messages)


@pytest.mark.parametrize(
    ("policy", "runs"),
    [
        ("allow", True), ("deny", False), (lambda r: "allow", True), (lambda r: "deny", False),
        (lambda r: "perhaps", False), (lambda r: 1 / 0, False), (lambda r: "ask", False),
        ([Rule("allow", "change")], True), ([Rule("allow", "ch*", "a.*")], True),
        ([Rule("allow", "change", "b.*")], False),
        ([Rule("allow", "*"), Rule("deny", "change")], False),
    ],
)  # fmt: skip
async def test_policies(policy: Any, runs: bool) -> None:
    from dataclasses import replace

    by_path = replace(change, subject=lambda i, _: str(i["path"]))
    await run(once(), tools=[by_path], permissions=policy)
    assert bool(ran) is runs


async def test_a_deny_rule_holds_for_read_only_tools() -> None:
    _, events, _ = await run(once("look"), tools=[look], permissions=[Rule("deny", "look")])
    assert ran == []
    assert of(events, "tool.failed")[0]["error_info"].code == "permission_denied"


async def test_an_async_policy_sees_the_request() -> None:
    seen: list[Any] = []

    async def policy(request: Any) -> str:
        seen.append((request.tool_name, dict(request.input)))
        return "allow"

    await run(once(), tools=[change], permissions=policy)
    assert seen == [("change", {"path": "a.txt"})]


@pytest.mark.parametrize(
    ("command", "effect"),
    [
        ("git status", "allow"),
        ("git status -s", "allow"),
        ("git   status", "allow"),
        ("git status; rm -rf /", None),
        ("git status && rm x", None),
        ("git status | tee x", None),
        ("git status & rm x", None),
        ("git status `rm x`", None),
        ("git status $(rm x)", None),
        ("git status > x", None),
        ("git status < x", None),
        ("git status\nrm x", None),
        ("X=1 git status", None),
        ("git status 'open", None),
        ("(git status)", None),
        ("git status && git status -s", "allow"),
        ("rm -rf x", "deny"),
        ("git status; rm -rf x", "deny"),
        ("echo 'a;b'", None),
    ],
)
def test_shell_rules_match_the_parsed_command(command: str, effect: Any) -> None:
    policy = Policy(
        [Rule("allow", "run_command", "git status*"), Rule("deny", "run_command", "rm *")]
    )
    assert policy.by_rule(Subject("run_command", command, True)) == effect or (
        effect is None and policy.by_rule(Subject("run_command", command, True)) == "deny"
    )


def test_options_that_carry_code_match_no_allow_pattern_that_does_not_name_them() -> None:
    policy = Policy([Rule("allow", "run_command", "python *")])
    assert policy.by_rule(Subject("run_command", "python script.py", True)) == "allow"
    assert policy.by_rule(Subject("run_command", "python -c 'import os'", True)) is None


@pytest.mark.parametrize("bad", ["maybe", 3, ["allow"], [Rule]])
def test_a_wrong_policy_is_refused_at_once(bad: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        create_agent(model=ScriptedProvider([]), tools=[], permissions=bad)
