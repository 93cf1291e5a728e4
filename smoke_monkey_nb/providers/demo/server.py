"""The demo's HTTP server: one a process, on a free loopback port, started at first use.

``serve()`` may be called from any thread and as often as one likes. A forked child does not own its
parent's threads, so it starts a server of its own. Pages in the user's browser could reach a
loopback port, too: without the token that ``api_key()`` returns, nothing is answered.
"""

from __future__ import annotations

import hmac
import json
import os
import secrets
import socketserver
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from .faults import Fault, Faults
from .planner import next_reply
from .wire import Chunk, completion, error_body, read_request, stream

#: Set to 0 to stream without pauses (tests), else words a second.
PACE_VARIABLE = "SMOKE_MONKEY_DEMO_PACE"
_WORDS_A_SECOND = 70.0
_BODY_LIMIT = 64 * 1024 * 1024


class _TcpServer(socketserver.ThreadingTCPServer):
    # Not http.server.HTTPServer: its bind asks the resolver for the host's name, which can take
    # seconds offline.
    daemon_threads = True
    block_on_close = False
    token: str
    faults: Faults

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A reader that went away in mid-answer (an interrupt) is no error worth a traceback in the
        notebook.
        """


@dataclass
class _Running:
    """The server of this process, if there is one. ``lock`` guards the rest."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    server: _TcpServer | None = None

    def start(self) -> _TcpServer:
        with self.lock:
            if self.server is None:
                server = _TcpServer(("127.0.0.1", 0), _Handler)
                server.token = "demo-" + secrets.token_urlsafe(24)
                server.faults = Faults()
                thread = threading.Thread(
                    target=server.serve_forever, name="smoke-monkey-demo", daemon=True
                )
                thread.start()
                self.server = server
            return self.server

    def forget(self) -> None:
        """In a forked child: the threads stayed behind, and the lock may be held by one of them."""
        self.lock = threading.Lock()
        if self.server is not None:
            self.server.socket.close()  # the child's copy only
            self.server = None


_running = _Running()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_running.forget)


def serve() -> str:
    """Start the server unless it runs already; returns its base URL
    (``http://127.0.0.1:<port>/v1``).
    """
    return f"http://127.0.0.1:{_running.start().server_address[1]}/v1"


def api_key() -> str:
    """The bearer token that the server asks for; new with every process."""
    return _running.start().token


def _pause_s() -> float:
    text = os.environ.get(PACE_VARIABLE, "")
    try:
        pace = float(text) if text else _WORDS_A_SECOND
    except ValueError:
        pace = _WORDS_A_SECOND
    return 1.0 / pace if pace > 0 else 0.0


class _Handler(BaseHTTPRequestHandler):
    server: _TcpServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = 600  # an idle kept-alive connection does not hold its thread for ever

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Nothing: the notebook's output is no access log."""

    def do_GET(self) -> None:
        """``/v1/models``."""
        if self._welcome("/v1/models"):
            models = [{"id": "demo-rules", "object": "model", "owned_by": "smoke_monkey_nb"}]
            self._send(200, {"object": "list", "data": models})

    def do_POST(self) -> None:
        """``/v1/chat/completions``."""
        body = self._body()
        if body is None or not self._welcome("/v1/chat/completions"):
            return
        try:
            request = read_request(json.loads(body))
        except ValueError as problem:
            self._send(400, error_body(f"This is no chat-completions request: {problem}"))
            return
        fault = self.server.faults.next(request)
        if fault is not None and fault.status != 200:
            self._send(fault.status, fault.body, fault.headers)
            return
        try:
            reply = next_reply(request)
        except Exception as mistake:  # a rule's own mistake: an error like any provider's
            message = f"The demo's rules failed: {type(mistake).__name__}"
            self._send(500, error_body(message, "demo_rules_failed"))
            return
        if request.stream:
            self._send_events(stream(request, reply), fault)
        else:
            self._send(200, completion(request, reply))

    def _body(self) -> bytes | None:
        try:
            length = int(self.headers.get("Content-Length") or 0)
        except ValueError:
            length = -1
        if not 0 <= length <= _BODY_LIMIT:
            self.close_connection = True
            self._send(413, error_body("The request is too large or has no length."))
            return None
        return self.rfile.read(length)

    def _welcome(self, path: str) -> bool:
        given = self.headers.get("Authorization", "").encode()
        if not hmac.compare_digest(given, f"Bearer {self.server.token}".encode()):
            body = error_body("The demo server's token is missing or wrong.", "invalid_api_key")
            self._send(401, body)
            return False
        if self.path.split("?", 1)[0] != path:
            self._send(404, error_body(f"Nothing here; try {path}."))
            return False
        return True

    def _send(
        self, status: int, body: dict[str, Any], headers: dict[str, str] | None = None
    ) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def _send_events(self, chunks: Iterator[Chunk], fault: Fault | None) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-store")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        pause = _pause_s()
        for number, chunk in enumerate(chunks):
            if fault is not None and number >= fault.cut_after:
                self.close_connection = (
                    True  # without the last chunk: the reader sees a broken stream
                )
                return
            self._send_event(json.dumps(chunk.data))
            if pause:
                time.sleep(pause * chunk.words)
        self._send_event("[DONE]")
        self.wfile.write(b"0\r\n\r\n")

    def _send_event(self, text: str) -> None:
        data = f"data: {text}\n\n".encode()
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
