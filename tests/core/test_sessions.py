"""Named sessions: the conversation outlives its kernel, step by step."""

from __future__ import annotations

from typing import Any

from smoke_monkey_nb import create_agent, tool
from smoke_monkey_nb.errors import error_info
from smoke_monkey_nb.testing import ScriptedProvider, calls

from .helpers import check_conversation, make


@tool(read_only=True)
def look(n: int) -> str:
    """Look."""
    return f"saw {n}"


def again(session: str) -> Any:
    """What another kernel would find."""
    return create_agent(model=ScriptedProvider([]), tools=[], session=session).messages


async def test_a_named_session_goes_on_in_another_agent() -> None:
    agent, _ = make(["first"], session="s")
    await agent.run("one")
    assert again("s") == agent.messages


async def test_every_finished_step_is_on_disk_before_it_is_reported() -> None:
    agent, _ = make(
        [calls(("look", {"n": 1})), calls(("look", {"n": 2})), "ok"], tools=[look], session="s"
    )
    found: list[list[Any]] = []
    agent.attach(lambda e: found.append(again("s")) if e.type == "step.ended" else None)
    await agent.run("go")
    assert [len(m) for m in found] == [3, 5, 6]
    for messages in found:
        check_conversation(messages)


async def test_a_prompt_that_failed_leaves_nothing_on_disk() -> None:
    agent, _ = make([error_info("provider_auth", "No.")], session="s")
    await agent.run("go")
    assert again("s") == []


async def test_a_reset_is_kept() -> None:
    agent, _ = make(["first"], session="s")
    await agent.run("one")
    agent.reset()
    assert again("s") == []


async def test_without_a_name_no_conversation_is_written() -> None:
    agent, _ = make(["first"])
    await agent.run("one")
    assert again(agent.session_id) == []
