"""Doubles for your own tests: a provider that plays a script, without network.

A script that runs out is an error of the test, not an answer.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any

from .errors import AgentError, AgentErrorInfo, agent_error
from .providers.base import (
    Completed,
    Delta,
    ModelRequest,
    ModelResponse,
    TextDelta,
    ToolCall,
    UsageDelta,
)
from .usage import Usage

#: What a script may hold: an answer's text, a response, an error to raise, a list of deltas, or a
#: function of the request that gives one of these.
Reply = str | ModelResponse | AgentErrorInfo | Sequence[Delta] | Callable[[ModelRequest], Any]


class ScriptedProvider:
    """Answers with the given replies, one a call; ``requests`` keeps what it was asked.

    ``chunk`` is the number of characters of a text delta; ``usage`` is reported with every text
    reply.
    """

    def __init__(
        self,
        replies: Sequence[Reply],
        *,
        name: str = "scripted",
        model: str = "script",
        chunk: int = 8,
        usage: Usage | None = None,
        takes_images: bool = False,
    ) -> None:
        self.name = name
        self.model = model
        self.takes_images = takes_images
        self.requests: list[ModelRequest] = []
        self._replies = iter(replies)
        self._chunk = chunk
        self._usage = usage

    async def stream(self, request: ModelRequest) -> AsyncIterator[Delta]:
        """Play the next reply."""
        self.requests.append(
            ModelRequest(
                request.model,
                json.loads(json.dumps(list(request.messages))),
                json.loads(json.dumps(list(request.tools))),
            )
        )
        reply = next(self._replies, None)
        if reply is None:
            raise agent_error(
                "provider_bad_request", f"The script ran out at request {len(self.requests)}."
            )
        for delta in self._deltas(reply(request) if callable(reply) else reply):
            await asyncio.sleep(0)
            yield delta

    async def aclose(self) -> None:
        """Nothing to free."""

    def _deltas(self, reply: Any) -> Sequence[Delta]:
        if isinstance(reply, AgentErrorInfo):
            raise AgentError(reply)
        if isinstance(reply, str):
            reply = ModelResponse(text=reply, finish_reason="stop", usage=self._usage)
        if not isinstance(reply, ModelResponse):
            return list(reply)
        pieces = [reply.text[i : i + self._chunk] for i in range(0, len(reply.text), self._chunk)]
        usage = [UsageDelta(reply.usage)] if reply.usage else []
        return [*(TextDelta(p) for p in pieces), *usage, Completed(reply)]


_ids = itertools.count(1)


def calls(*wanted: tuple[str, Mapping[str, Any] | str], text: str = "") -> ModelResponse:
    """A response that calls tools: ``calls(("read_file", {"path": "a.txt"}))``; arguments as dict
    or raw text.
    """
    return ModelResponse(
        text=text,
        tool_calls=tuple(
            ToolCall(f"call_{next(_ids)}", name, a if isinstance(a, str) else json.dumps(dict(a)))
            for name, a in wanted
        ),
        finish_reason="tool_calls",
    )
