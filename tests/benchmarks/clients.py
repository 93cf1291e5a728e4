"""The work to compare: the same conversation by the bare client, and by an agent with events and
ledger.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from smoke_monkey_nb import Agent, create_agent, tool

ARGUMENTS = '{"n": %d}'
PADDING = "some text that a tool might well return, of a modest length; " * 4


@contextmanager
def server(*arguments: str) -> Iterator[str]:
    """A server in a process of its own, so that its CPU is not in the figures; gives its base
    URL.
    """
    command = [sys.executable, "-m", "tests.benchmarks.server", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait()


@tool(read_only=True)
def note(n: int) -> str:
    """Take a note."""
    return f"{n}: {PADDING}"


@tool(read_only=True)
async def pause(n: int) -> str:
    """Take 50 ms."""
    await asyncio.sleep(0.05)
    return str(n)


def agent_for(base_url: str, max_steps: int = 1000) -> Agent:
    """An agent as a user makes one."""
    return create_agent(
        "openai:gpt-5-mini",
        base_url=base_url,
        api_key="k",
        tools=[note, pause],
        max_steps=max_steps,
    )


def openai_client(base_url: str) -> Any:
    """The bare client."""
    import openai

    return openai.AsyncOpenAI(base_url=base_url, api_key="k", max_retries=0)


async def bare_loop(client: Any) -> int:
    """The tool loop as one writes it by hand: stream, gather the fragments, call, append, again.
    Returns its steps.
    """
    tools = [note.wire(), pause.wire()]
    messages: list[Any] = [{"role": "user", "content": "go"}]
    steps = 0
    while True:
        steps += 1
        stream = await client.chat.completions.create(
            model="gpt-5-mini",
            messages=messages,
            tools=tools,
            stream=True,
            stream_options={"include_usage": True},
        )
        text, calls = await _gather(stream)
        if not calls:
            return steps
        messages.append({"role": "assistant", "content": text, "tool_calls": list(calls.values())})
        for call in calls.values():
            result = note(**json.loads(call["function"]["arguments"]))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})


async def _gather(stream: Any) -> tuple[str, dict[int, Any]]:
    text, calls = "", {}
    async for chunk in stream:
        if not chunk.choices:
            continue
        delta = chunk.choices[0].delta
        text += delta.content or ""
        for part in delta.tool_calls or ():
            call = calls.setdefault(
                part.index,
                {
                    "id": part.id,
                    "type": "function",
                    "function": {"name": part.function.name, "arguments": ""},
                },
            )
            call["function"]["arguments"] += part.function.arguments or ""
    return text, calls
