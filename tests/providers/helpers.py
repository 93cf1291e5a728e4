"""Asking a provider that speaks to a misbehaving server."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from smoke_monkey_nb.errors import AgentError, AgentErrorInfo
from smoke_monkey_nb.providers.answer import Answer
from smoke_monkey_nb.providers.base import Completed, Delta, ModelRequest, ModelResponse
from smoke_monkey_nb.providers.catalog import resolve_provider
from smoke_monkey_nb.providers.openai_chat import OpenAIChat

from ..fault_server import FaultServer, Received, Reply

HI = [{"role": "user", "content": "hi"}]


@dataclass
class Outcome:
    """What came of a call."""

    deltas: list[Delta] = field(default_factory=list)
    error: AgentErrorInfo | None = None
    requests: list[Received] = field(default_factory=list)

    @property
    def response(self) -> ModelResponse:
        assert self.error is None, self.error
        last = self.deltas[-1]
        assert isinstance(last, Completed)
        return last.response

    @property
    def code(self) -> str | None:
        return self.error.code if self.error else None

    def of(self, kind: type) -> list[Any]:
        """What the deltas of one kind carry: their only field."""
        return [next(iter(vars_of(d))) for d in self.deltas if type(d) is kind]


def vars_of(delta: Any) -> list[Any]:
    return [getattr(delta, name) for name in delta.__slots__]


def provider_at(server: FaultServer, model: str = "test-model", **more: Any) -> OpenAIChat:
    provider = resolve_provider(model, base_url=server.base_url, api_key="key-1", **more).provider
    assert isinstance(provider, OpenAIChat)
    return provider


async def collect(provider: Any, request: ModelRequest) -> Outcome:
    outcome = Outcome()
    try:
        async with aclosing(provider.stream(request)) as deltas:
            async for delta in deltas:
                outcome.deltas.append(delta)
    except AgentError as error:
        outcome.error = error.info
    return outcome


async def ask(
    *replies: Reply, messages: Sequence[Any] = HI, tools: Sequence[Any] = (), **more: Any
) -> Outcome:
    """One call to a server that plays these replies."""
    with FaultServer(replies) as server:
        provider = provider_at(server, **more)
        outcome = await collect(provider, ModelRequest("test-model", messages, tools))
        await provider.aclose()
        outcome.requests = server.requests
    return outcome


def parse(*pieces: bytes) -> Outcome:
    """The same without a network: these bytes are the body of a 200 answer."""
    answer, outcome = Answer({}), Outcome()
    for piece in pieces:
        if not (answer.complete or answer.failure):
            outcome.deltas += answer.feed(piece)
    if not (answer.complete or answer.failure):
        outcome.deltas += answer.end()
    outcome.error = answer.failure.info if answer.failure else None
    return outcome


def parse_reply(reply: Reply) -> Outcome:
    return parse(*(step for step in reply.steps if isinstance(step, bytes)))
