"""One ``openai`` client for each event loop, closed with that loop.

Connections belong to the loop they were opened on, and an agent may run on the kernel's loop now
and on its own later. ``asyncio`` tells no one that a loop ends, but it does close the async
generators that were begun on it: so each client is owned by a small generator that waits, and
closes the client when it is closed itself.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from ..aio import call_in_thread
from ..redact import scrub

if TYPE_CHECKING:
    from openai import AsyncOpenAI


@dataclass(frozen=True)
class Endpoint:
    """Where a provider is, and how to get in. Its repr shows no key."""

    base_url: str
    api_key: str
    azure_api_version: str | None = None  # set: base_url is an Azure resource
    azure_ad_token: str | None = None

    def __repr__(self) -> str:
        return f"Endpoint({scrub(self.base_url)!r})"

    def make_client(self) -> AsyncOpenAI:
        """A client that never retries and has no time limit of its own (the transport keeps
        time)."""
        import openai

        if self.azure_api_version is not None:
            return openai.AsyncAzureOpenAI(
                azure_endpoint=self.base_url,
                api_key=self.api_key or None,
                azure_ad_token=self.azure_ad_token,
                api_version=self.azure_api_version,
                max_retries=0,
                timeout=None,
            )
        direct = None
        if is_loopback(self.base_url):
            # A proxy of the environment cannot reach this machine's own servers; and where no TLS
            # is spoken, reading the certificates would be 30 ms for nothing.
            tls = self.base_url.lower().startswith("https:")
            direct = openai.DefaultAsyncHttpxClient(trust_env=False, verify=tls)
        return openai.AsyncOpenAI(
            base_url=self.base_url,
            api_key=self.api_key,
            max_retries=0,
            timeout=None,
            http_client=direct,
        )


def is_loopback(url: str) -> bool:
    """Whether a server at ``url`` runs on this machine."""
    host = urlsplit(url).hostname or ""
    return host in ("localhost", "::1") or host.startswith("127.")


class LoopClients:
    """The clients of one provider, for any number of loops. ``make`` is called on a thread."""

    def __init__(self, make: Callable[[], AsyncOpenAI]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._owners: WeakKeyDictionary[
            asyncio.AbstractEventLoop, tuple[AsyncOpenAI, AsyncGenerator[None, None]]
        ] = WeakKeyDictionary()

    async def get(self) -> AsyncOpenAI:
        """The client of the running loop."""
        loop = asyncio.get_running_loop()
        with self._lock:
            found = self._owners.get(loop)
        if found is not None:
            return found[0]
        # Importing openai takes half a second and its TLS setup some more: the loop stays free
        # meanwhile.
        client = await call_in_thread(self._make)
        with self._lock:
            found = self._owners.get(loop)
            if found is None:
                self._forget_closed_loops()
                owner = self._own(client)
                self._owners[loop] = (client, owner)
        if found is not None:  # two first calls at once
            await client.close()
            return found[0]
        await owner.__anext__()
        return client

    async def aclose(self) -> None:
        """Close the running loop's client; it may be made again later."""
        with self._lock:
            found = self._owners.pop(asyncio.get_running_loop(), None)
        if found is not None:
            await found[1].aclose()

    async def _own(self, client: AsyncOpenAI) -> AsyncGenerator[None, None]:
        loop = asyncio.get_running_loop()
        try:
            yield
        finally:
            with self._lock:
                if loop in self._owners and self._owners[loop][0] is client:
                    del self._owners[loop]
            with contextlib.suppress(Exception):  # broken connections are closed all the same
                await client.close()

    def _forget_closed_loops(self) -> None:
        for loop in [loop for loop in self._owners if loop.is_closed()]:
            del self._owners[loop]
