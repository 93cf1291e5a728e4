"""Small ways to run a scripted agent and to look at what it did."""

from __future__ import annotations

from typing import Any

from smoke_monkey_nb import Agent, AgentEvent, RetryPolicy, RunResult, create_agent
from smoke_monkey_nb.testing import ScriptedProvider

FAST = RetryPolicy(initial_delay_s=0.001, max_delay_s=0.002)


def make(replies: list[Any], tmp_path: Any = ".", **options: Any) -> tuple[Agent, list[AgentEvent]]:
    """An agent on a script, and the list that its events go to."""
    options = {"tools": [], "retry": FAST, "workspace": tmp_path, **options}
    agent = create_agent(model=ScriptedProvider(replies), **options)
    events: list[AgentEvent] = []
    agent.attach(events.append)
    return agent, events


async def run(replies: list[Any], **options: Any) -> tuple[RunResult, list[AgentEvent], Agent]:
    """Run one turn of a scripted agent."""
    agent, events = make(replies, **options)
    return await agent.run("do it"), events, agent


def types(events: list[AgentEvent]) -> list[str]:
    """The event types in order."""
    return [e.type for e in events]


def of(events: list[AgentEvent], event_type: str) -> list[dict[str, Any]]:
    """The data of the events of one type."""
    return [e.data for e in events if e.type == event_type]


def check_invariants(events: list[AgentEvent], messages: list[dict[str, Any]]) -> None:
    """What holds of every run, whatever happened in it."""
    terminal = {"run.completed", "run.failed", "run.interrupted"}
    assert [e.seq for e in events] == list(range(len(events)))
    assert events[0].type == "run.started"
    assert [e.type in terminal for e in events] == [False] * (len(events) - 1) + [True]
    check_text(events)
    check_tools(events)
    check_conversation(messages)


def check_text(events: list[AgentEvent]) -> None:
    """Deltas since the step began, or the last reset, are the step's text."""
    text = ""
    for event in events:
        if event.type in ("step.started", "text.reset"):
            text = ""
        elif event.type == "text.delta":
            text += event.data["text"]
        elif event.type == "text.end":
            assert event.data["text"] == text


def check_tools(events: list[AgentEvent]) -> None:
    """Each call starts once and then ends once."""
    started: set[str] = set()
    ended: set[str] = set()
    for event in events:
        call_id = event.data.get("tool_call_id", "")
        if event.type == "tool.started":
            assert call_id not in started
            started.add(call_id)
        elif event.type in ("tool.completed", "tool.failed"):
            assert call_id in started
            assert call_id not in ended
            ended.add(call_id)
        elif event.type == "tool.output":
            assert call_id in started - ended
    assert started == ended


def check_conversation(messages: list[dict[str, Any]]) -> None:
    """What a strict provider checks."""
    import json

    unanswered: list[str] = []
    seen: set[str] = set()
    for message in messages:
        role = message["role"]
        if role == "tool":
            assert message["tool_call_id"] in unanswered
            unanswered.remove(message["tool_call_id"])
            assert isinstance(message["content"], str)
            assert message["content"]
            continue
        assert unanswered == []
        assert message["content"] is not None
        if "tool_calls" in message:
            assert role == "assistant"
            assert message["tool_calls"]
            for call in message["tool_calls"]:
                assert call["id"]
                assert call["id"] not in seen
                seen.add(call["id"])
                unanswered.append(call["id"])
                assert isinstance(json.loads(call["function"]["arguments"]), dict)
    assert unanswered == []
    json.dumps(messages).encode()
