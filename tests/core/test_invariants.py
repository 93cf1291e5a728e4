"""Whatever the model says, hooks decide, people deny and whenever somebody aborts: the invariants
hold.
"""

from __future__ import annotations

import asyncio
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from smoke_monkey_nb import Block, Hooks, create_agent, tool
from smoke_monkey_nb.errors import AgentError, error_info
from smoke_monkey_nb.providers.base import (
    Completed,
    ModelResponse,
    TextDelta,
    ThoughtDelta,
    ToolCall,
    Usage,
    UsageDelta,
)
from smoke_monkey_nb.testing import ScriptedProvider

from .helpers import FAST, check_invariants


@tool(read_only=True)
def look(n: int) -> str:
    return f"saw {n}"


@tool
def change(n: int) -> str:
    if n % 3 == 0:
        raise ValueError(f"cannot {n}")
    return f"changed {n}"


@tool(read_only=True)
async def linger(n: int) -> str:
    await asyncio.sleep(0.0005 * (n % 4))
    return "lingered"


arguments = st.one_of(
    st.integers(0, 9).map(lambda n: f'{{"n": {n}}}'),
    st.sampled_from(
        ["", "{", "[]", '{"n": NaN}', '{"n": "x"}', '"{}"', '{"m": 1}', "null", '{"n": 1} extra']
    ),
)
tool_call = st.builds(
    ToolCall,
    id=st.sampled_from(["", "a", "b", "c", "call_1"]),
    name=st.sampled_from(["look", "change", "linger", "unknown", ""]),
    arguments=arguments,
)
words = st.sampled_from(["", " ", "hello ", "\ud800", "wörld\n", "<b>", "{x}"])
response = st.builds(
    ModelResponse,
    text=st.lists(words, max_size=3).map("".join),
    tool_calls=st.lists(tool_call, max_size=3).map(tuple),
    finish_reason=st.sampled_from(["stop", "tool_calls", "", None]),
    usage=st.sampled_from([None, Usage(3, 4, 7)]),
)
failure = st.sampled_from(
    [
        "provider_rate_limited",
        "provider_stream_interrupted",
        "provider_auth",
        "provider_context_overflow",
    ]
).map(lambda code: error_info(code, "It broke."))


@st.composite
def attempt(draw: Any) -> list[Any]:
    """Deltas, possibly ending in an error instead of an answer."""
    whole = draw(response)
    deltas: list[Any] = [TextDelta(c) for c in whole.text]
    if draw(st.booleans()):
        deltas.insert(0, ThoughtDelta("thinking"))
    broken = draw(st.one_of(st.none(), failure))
    if broken is None:
        return [*deltas, UsageDelta(Usage(1, 1, 2)), Completed(whole)]
    return [*deltas[: draw(st.integers(0, len(deltas)))], broken]


class Playing(ScriptedProvider):
    """A script whose deltas may be errors to raise."""

    async def stream(self, request: Any) -> Any:
        async for delta in super().stream(request):
            if hasattr(delta, "code"):
                raise AgentError(delta)
            yield delta


def misbehave(kind: str) -> Any:
    return {
        "none": lambda c: None,
        "block": lambda c: Block("no"),
        "raise": lambda c: 1 / 0,
        "nonsense": lambda c: 42,
        "replace": lambda c: {"input": {"n": 5}} if hasattr(c, "input") else None,
        "break": lambda c: {"input": {"x": 5}} if hasattr(c, "input") else None,
    }[kind]


hook_kind = st.sampled_from(["none", "none", "block", "raise", "nonsense", "replace", "break"])
decision = st.sampled_from(["allow", "deny", "edit", "bad edit", "twice", "abort"])


@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(
    runs=st.lists(st.lists(attempt(), max_size=6), min_size=1, max_size=3),
    before_tool=hook_kind,
    before_model=st.sampled_from(["none", "none", "none", "raise", "block"]),
    after=st.sampled_from(["none", "raise"]),
    decisions=st.lists(decision, max_size=6),
    abort_at=st.one_of(st.none(), st.integers(0, 30)),
    subscriber_fails=st.booleans(),
)
def test_the_invariants_hold_whatever_happens(  # noqa: C901 - one dial for each kind of misfortune
    runs: list[list[Any]],
    before_tool: str,
    before_model: str,
    after: str,
    decisions: list[str],
    abort_at: int | None,
    subscriber_fails: bool,
) -> None:
    hooks = Hooks(
        before_tool_call=misbehave(before_tool),
        before_model_call=misbehave(before_model),
        after_tool_call=misbehave(after),
        after_model_call=misbehave(after),
    )
    provider = Playing([a for script in runs for a in script])
    agent = create_agent(
        model=provider, tools=[look, change, linger], hooks=hooks, retry=FAST, max_steps=6,
        permission_timeout_s=0.01,
    )  # fmt: skip
    answers = iter(decisions)
    seen = 0
    events: list[Any] = []

    def answer(event: Any) -> None:
        call_id, said = event.data["tool_call_id"], next(answers, "silence")
        if said in ("allow", "deny"):
            agent.resolve_permission(call_id, said)
        elif said == "edit":
            agent.resolve_permission(call_id, "allow", input={"n": 8})
        elif said == "bad edit":
            agent.resolve_permission(call_id, "allow", input={"nope": 8})
        elif said == "twice":
            agent.resolve_permission(call_id, "allow")
            agent.resolve_permission(call_id, "deny")
        elif said == "abort":
            agent.abort()

    def watch(event: Any) -> None:
        nonlocal seen
        seen += 1
        if seen - 1 == abort_at:
            agent.abort("the test says so")
        if subscriber_fails:
            raise RuntimeError("subscriber")

    agent.attach(events.append)
    agent.on("permission.required", answer)
    agent.on_any(watch)

    async def play() -> None:
        for _ in runs:
            events.clear()
            result = await agent.run("go")
            check_invariants(events, agent.messages)
            assert events[-1].type == f"run.{result.status}"
            for event in events:
                event.to_dict()

    asyncio.run(play())
    attempts = len(agent.costs)
    assert attempts == len(provider.requests)
    for request in provider.requests:
        check_invariants_of_request(request)


def check_invariants_of_request(request: Any) -> None:
    from .helpers import check_conversation

    check_conversation([m for m in request.messages if m["role"] != "system"])
