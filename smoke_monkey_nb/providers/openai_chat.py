"""The transport: one chat completion over an ``openai`` client, as a stream of deltas.

The client brings authentication, base URLs, Azure, proxies and connections; it is not the parser.
For each call it walks the whole conversation to transform it and builds an object for every chunk,
which is 20 to 50 times the cost of the answer itself: so messages go in through ``extra_body`` and
bytes are read here.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any

from ..errors import AgentError
from .answer import Answer
from .asked import Asked
from .base import Delta, ModelRequest
from .clients import Endpoint, LoopClients
from .fragments import make_call_id
from .options import refused_by, refused_option, remember_refusal, request_body
from .reading import Reading, Stalled
from .translate import timed_out, translate

if TYPE_CHECKING:
    from openai import AsyncOpenAI

#: how long the rest of a finished answer is read for, so that its connection can be used again
_DRAIN_S = 2.0


class OpenAIChat:
    """A provider that speaks chat completions over HTTP. Implements ``base.Provider``.

    ``endpoint`` is called on a thread, at the first call of each loop. ``request_timeout_s`` limits
    the wait for the answer's headers, ``stall_timeout_s`` the silence within the answer; ``None``
    is no limit.
    """

    def __init__(
        self,
        asked: Asked,
        endpoint: Callable[[], Endpoint],
        *,
        takes_images: bool = False,
        request_timeout_s: float | None = 120,
        stall_timeout_s: float | None = 60,
        new_id: Callable[[], str] = make_call_id,
    ) -> None:
        self.name, self.model = asked.provider, asked.model
        self.takes_images = takes_images
        self._asked = asked
        self._endpoint = endpoint
        self._request_timeout_s, self._stall_timeout_s = request_timeout_s, stall_timeout_s
        self._new_id = new_id
        self._clients = LoopClients(self._make_client)
        self._draining: set[asyncio.Task[None]] = set()

    def __repr__(self) -> str:
        return f"<OpenAIChat {self.name}:{self.model}>"

    async def stream(self, request: ModelRequest) -> AsyncIterator[Delta]:
        """Start the call; iterate for its deltas. Closing the iterator closes the connection."""
        reading = await self._open(request)
        try:
            answer = Answer(reading.headers or {}, self._asked, self._new_id)
            while not answer.complete:
                data = await self._some(reading, answer)
                for delta in answer.feed(data) if data else answer.end():
                    yield delta
                if answer.failure is not None:
                    raise answer.failure
            if not reading.over:
                self._drain(reading)
        finally:
            if not reading.over and reading.task not in self._draining:
                await reading.close()

    async def aclose(self) -> None:
        """Close the connections of the running loop; the provider may be used again."""
        loop = asyncio.get_running_loop()
        for task in [task for task in self._draining if task.get_loop() is loop]:
            task.cancel()
        await self._clients.aclose()

    def _make_client(self) -> AsyncOpenAI:
        return self._endpoint().make_client()

    async def _open(self, request: ModelRequest) -> Reading:
        """Send the request, without optional parts that this server refuses."""
        url = self._asked.base_url or self.name
        known = without = refused_by(url)
        while True:
            reading = Reading(lambda without=without: self._send(request, without))  # type: ignore[misc]
            refusal, failure = await self._started(reading, request, without)
            if failure is None:
                if without != known:
                    remember_refusal(url, without)
                return reading
            if refusal is None:
                raise failure
            without = without | {refusal}

    async def _send(self, request: ModelRequest, without: frozenset[str]) -> Any:
        client = await self._clients.get()
        return client.chat.completions.with_streaming_response.create(
            model=request.model or self.model,
            messages=[],
            stream=True,
            extra_body=request_body(request, without),
        )

    async def _started(
        self, reading: Reading, request: ModelRequest, without: frozenset[str]
    ) -> tuple[str | None, AgentError | None]:
        """Wait for the headers: (the option refused, what went wrong)."""
        try:
            await reading.started(self._request_timeout_s)
        except Stalled:
            await reading.close()
            limit = self._request_timeout_s or 0
            return None, AgentError(timed_out(self._asked, limit, "no answer"))
        except Exception as error:
            return _refusal(error, request, without), translate(
                error, self._asked, "before the answer"
            )
        except BaseException:
            await reading.close()
            raise
        return None, None

    async def _some(self, reading: Reading, answer: Answer) -> bytes:
        """More bytes; empty at the end, which a break after the answer's own end is too."""
        try:
            return await reading.some(self._stall_timeout_s)
        except Stalled:
            limit = self._stall_timeout_s or 0
            failure = AgentError(timed_out(self._asked, limit, "nothing more"))
        except Exception as error:
            failure = translate(error, self._asked, "in the answer")
        if answer.ended:
            return b""
        raise failure

    def _drain(self, reading: Reading) -> None:
        task = reading.let_finish(_DRAIN_S)
        self._draining.add(task)
        task.add_done_callback(self._draining.discard)


def _refusal(error: Exception, request: ModelRequest, without: frozenset[str]) -> str | None:
    response = getattr(error, "response", None)
    status = getattr(error, "status_code", None)
    if response is None or not isinstance(status, int):
        return None
    try:
        text: str = response.text
    except Exception:  # the body was never read
        return None
    return refused_option(status, text, request, without)
