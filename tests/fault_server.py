"""A chat-completions server that misbehaves to order: loopback, free port, a thread of its own.

Give it a script, point a provider at ``server.base_url``, look at what it received:

    with FaultServer([rate_limited(retry_after_ms="5"), text("Hello")]) as server:
        provider = resolve_provider("test-model", base_url=server.base_url, api_key="k").provider
        ...
        assert [r.json["messages"] for r in server.requests] == [...]

A script is a list of replies (one a request, in order of arrival), one reply (for every request),
or a function ``Received -> Reply``. A list that runs out is a mistake of the test: the request is
answered with a 500 that says so, and ``server.errors`` has it; leaving the ``with`` block then
raises. Named replies (``tests.replies``) and what they are built of (``tests.wire``) can all be
imported from here.

``GET …/models``, ``/api/version`` and ``/api/tags`` answer as Ollama does, and are kept in
``server.other_requests``. Every ``Received`` has ``gone``, a ``threading.Event`` that is set when
the client closed the connection before the answer was over.

To keep its CPU out of a measurement: ``python -m tests.fault_server --deltas 2000`` prints its base
URL and answers every request with that many text deltas.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import socket
import struct
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from .replies import *  # noqa: F403 - the library of replies is offered from here
from .replies import error_status, json_reply, long_text
from .wire import *  # noqa: F403
from .wire import Drop, Gate, Hang, Pause, Reply, Reset, Step

MODELS = {"object": "list", "data": [{"id": "test-model", "object": "model"}]}
TAGS = {"models": [{"name": "test-model", "model": "test-model"}]}


@dataclass(frozen=True)
class Received:
    """One request as it came. Header names are lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    port: int = 0  # the client's: tells connections apart
    gone: threading.Event = field(default_factory=threading.Event)

    @cached_property
    def json(self) -> Any:
        """The body, parsed on first use (so that large requests cost the server nothing)."""
        return json.loads(self.body)


Script = Reply | Sequence[Reply] | Callable[[Received], Reply]


class FaultServer:
    """Plays a script. All methods may be called from any thread; use it as a context manager."""

    def __init__(self, script: Script = ()) -> None:
        self.requests: list[Received] = []
        self.other_requests: list[Received] = []
        self.errors: list[str] = []
        self._arrived = threading.Condition()
        self._tasks: set[asyncio.Task[None]] = set()
        self.play(script)

    def play(self, script: Script) -> None:
        """Go on with another script."""
        if isinstance(script, Reply):
            self._next: Callable[[Received], Reply] = lambda _: script
        elif callable(script):
            self._next = script
        else:
            self._next = _in_order(list(script), self.errors)

    @property
    def root_url(self) -> str:
        """``http://127.0.0.1:<port>``, without the ``/v1``."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def base_url(self) -> str:
        """What a client takes as its base URL."""
        return f"{self.root_url}/v1"

    def wait_for_requests(self, count: int, timeout_s: float = 10) -> list[Received]:
        """Block until so many chat requests have arrived; they are returned."""
        with self._arrived:
            if not self._arrived.wait_for(lambda: len(self.requests) >= count, timeout_s):
                raise AssertionError(f"{len(self.requests)} of {count} requests came")
            return list(self.requests)

    def start(self) -> FaultServer:
        """Listen. The thread is a daemon."""
        self._loop = asyncio.new_event_loop()
        self._stopping = asyncio.Event()
        listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self._port = listener.getsockname()[1]
        self._thread = threading.Thread(target=self._run, args=(listener,), daemon=True)
        self._thread.start()
        return self

    def stop(self) -> None:
        """Close every connection and the port; waits for the thread."""
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join(10)

    def __enter__(self) -> FaultServer:
        return self.start()

    def __exit__(self, kind: Any, *_: object) -> None:
        self.stop()
        if kind is None and self.errors:
            raise AssertionError("; ".join(self.errors))

    # -- on the server's thread ------------------------------------------------

    def _run(self, listener: socket.socket) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._serve(listener))
        finally:
            self._loop.close()

    async def _serve(self, listener: socket.socket) -> None:
        server = await asyncio.start_server(self._connection, sock=listener)
        await self._stopping.wait()
        server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        # asyncio does this only for sockets that name their protocol, and accepted ones do not:
        # without
        # it each answer waits 40 ms for an acknowledgement of its headers.
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            port = writer.get_extra_info("peername")[1]
            while (request := await _read_request(reader, port)) is not None:
                if not await self._answer(request, reader, writer):
                    break
        except (ConnectionError, asyncio.CancelledError):
            pass  # the client went away, or the server stops
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _answer(
        self, request: Received, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """Whether the connection can take another request."""
        reply = self._reply(request)
        try:
            for step in reply.before:
                if not await _play(step, request, reader, writer):
                    return False
            writer.write(_head(reply))
            for step in reply.steps:
                if isinstance(step, bytes):
                    if step:
                        writer.write(b"%x\r\n%b\r\n" % (len(step), step))
                elif not await _play(step, request, reader, writer):
                    return False
            writer.write(b"0\r\n\r\n")
            await writer.drain()
        except ConnectionError:
            request.gone.set()
            return False
        return True

    def _reply(self, request: Received) -> Reply:
        path = request.path.partition("?")[0]
        if request.method == "POST" and path.endswith("/chat/completions"):
            with self._arrived:
                self.requests.append(request)
                self._arrived.notify_all()
            try:
                return self._next(request)
            except Exception as error:
                self.errors.append(f"the script raised {error!r}")
                return error_status(500, self.errors[-1])
        self.other_requests.append(request)
        for end, body in (
            ("/models", MODELS),
            ("/api/tags", TAGS),
            ("/api/version", {"version": "0"}),
        ):
            if path.endswith(end):
                return json_reply(body)
        return error_status(404, f"no such path: {path}")


def _in_order(replies: list[Reply], errors: list[str]) -> Callable[[Received], Reply]:
    waiting = iter(replies)

    def take(request: Received) -> Reply:
        reply = next(waiting, None)
        if reply is None:
            errors.append(f"the script of {len(replies)} replies ran out")
            return error_status(500, errors[-1])
        return reply

    return take


async def _read_request(reader: asyncio.StreamReader, port: int) -> Received | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    except asyncio.IncompleteReadError:
        return None
    method, path, _ = head[0].split(" ", 2)
    headers = {
        name.lower(): value.strip() for name, _, value in (h.partition(":") for h in head[1:] if h)
    }
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Received(method, path, headers, body, port)


def _head(reply: Reply) -> bytes:
    lines = [f"HTTP/1.1 {reply.status} Status", "Transfer-Encoding: chunked"]
    lines += [f"{name}: {value}" for name, value in reply.headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


async def _play(
    step: Step, request: Received, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> bool:
    """Whether the answer goes on after this step."""
    if isinstance(step, Pause):
        return not await _client_left(request, reader, step.seconds)
    if isinstance(step, Gate):
        while not step.event.is_set():
            if await _client_left(request, reader, 0.002):
                return False
        return True
    if isinstance(step, Hang):
        return not await _client_left(request, reader, None)
    if isinstance(step, Reset):
        sock = writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()
    if isinstance(step, Drop):
        await writer.drain()
    return False


async def _client_left(
    request: Received, reader: asyncio.StreamReader, seconds: float | None
) -> bool:
    """Wait for the client to close, at most so long."""
    try:
        left = await asyncio.wait_for(reader.read(1), seconds) == b""
    except asyncio.TimeoutError:
        return False
    except ConnectionError:
        left = True
    if left:
        request.gone.set()
    return left


def main() -> None:
    """Serve long texts until the standard input closes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--deltas", type=int, default=2000)
    parser.add_argument("--pack", type=int, default=1, help="events a write")
    options = parser.parse_args()
    with FaultServer(long_text(options.deltas, pack=options.pack)) as server:
        print(server.base_url, flush=True)
        with contextlib.suppress(KeyboardInterrupt, EOFError):
            input()


if __name__ == "__main__":
    main()
