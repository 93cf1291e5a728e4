"""Connections: closed early, used again, and one event loop after another."""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import aclosing
from typing import Any

import pytest

from smoke_monkey_nb.providers.base import ModelRequest, TextDelta

from ..fault_server import (
    FaultServer,
    Gate,
    Hang,
    Received,
    Reply,
    delta,
    finish,
    hang,
    sse,
    stall,
    text,
)
from .helpers import HI, collect, provider_at


async def test_deltas_come_while_the_answer_is_still_being_written() -> None:
    gate = threading.Event()
    with FaultServer(sse(delta(content="a"), Gate(gate), delta(content="b"), finish())) as server:
        provider = provider_at(server)
        async with aclosing(provider.stream(ModelRequest("m", HI))) as deltas:  # type: ignore[type-var]
            assert await anext(deltas) == TextDelta("a")
            gate.set()
            assert await anext(deltas) == TextDelta("b")
        await provider.aclose()


async def test_closing_the_iterator_closes_the_connection() -> None:
    with FaultServer(stall("Hello")) as server:
        provider = provider_at(server)
        deltas: Any = provider.stream(ModelRequest("m", HI))
        assert await anext(deltas) == TextDelta("Hello")
        await deltas.aclose()
        assert server.requests[0].gone.wait(2)
        await provider.aclose()


@pytest.mark.parametrize("reply", [hang(), stall("Hello")], ids=["headers", "body"])
async def test_cancelling_the_reader_closes_the_connection(reply: Reply) -> None:
    with FaultServer(reply) as server:
        provider = provider_at(server)
        asking = asyncio.create_task(collect(provider, ModelRequest("m", HI)))
        (request,) = await asyncio.to_thread(server.wait_for_requests, 1)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert await asyncio.to_thread(request.gone.wait, 2)
        await provider.aclose()


async def test_a_finished_answer_leaves_its_connection_for_the_next() -> None:
    ports = set()

    def reply(request: Received) -> Reply:
        ports.add(request.port)
        return text("Hello")

    with FaultServer(reply) as server:
        provider = provider_at(server)
        for _ in range(3):
            await collect(provider, ModelRequest("m", HI))
            await asyncio.sleep(0.05)
        await provider.aclose()
    assert len(ports) == 1


async def test_a_server_that_keeps_the_stream_open_after_done_holds_nobody_up() -> None:
    with FaultServer(sse(delta(content="x"), finish(), b"data: [DONE]\n\n", Hang())) as server:
        provider = provider_at(server)
        begun = time.monotonic()
        assert (await collect(provider, ModelRequest("m", HI))).response.text == "x"
        assert time.monotonic() - begun < 1.5
        await provider.aclose()
        assert server.requests[0].gone.wait(2)


async def test_two_calls_at_once_are_kept_apart() -> None:
    with FaultServer(lambda request: text(request.json["messages"][0]["content"])) as server:
        provider = provider_at(server)
        asked = [ModelRequest("m", [{"role": "user", "content": f"say {n}"}]) for n in range(5)]
        outcomes = await asyncio.gather(*(collect(provider, one) for one in asked))
        assert [one.response.text for one in outcomes] == [f"say {n}" for n in range(5)]
        await provider.aclose()


def test_a_provider_works_on_one_loop_after_another() -> None:
    with FaultServer(text("Hello")) as server:
        provider = provider_at(server)
        for _ in range(3):
            outcome = asyncio.run(collect(provider, ModelRequest("m", HI)))
            assert outcome.response.text == "Hello"


def test_a_provider_works_on_two_loops_at_once() -> None:
    found: list[str] = []
    with FaultServer(text("Hello")) as server:
        provider = provider_at(server)

        def work() -> None:
            outcome = asyncio.run(collect(provider, ModelRequest("m", HI)))
            found.append(outcome.response.text)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
    assert found == ["Hello"] * 4


async def test_a_provider_works_again_after_it_was_closed() -> None:
    with FaultServer(text("Hello")) as server:
        provider = provider_at(server)
        for _ in range(2):
            assert (await collect(provider, ModelRequest("m", HI))).response.text == "Hello"
            await provider.aclose()
            await provider.aclose()
