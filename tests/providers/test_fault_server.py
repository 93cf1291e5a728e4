"""The misbehaving server itself: others build on it."""

from __future__ import annotations

import http.client
import json

import pytest

from ..fault_server import FaultServer, error_status, hang, reset_midway, text


def ask(server: FaultServer, path: str = "/v1/chat/completions") -> tuple[int, bytes]:
    link = http.client.HTTPConnection(server.root_url.removeprefix("http://"), timeout=10)
    try:
        link.request("POST", path, json.dumps({"messages": ["hi"]}))
        answer = link.getresponse()
        return answer.status, answer.read()
    finally:
        link.close()


def test_a_script_is_played_in_order_and_requests_are_kept() -> None:
    with FaultServer([error_status(503), text("Hello")]) as server:
        assert [ask(server)[0], ask(server)[0]] == [503, 200]
        assert [r.json for r in server.requests] == [{"messages": ["hi"]}] * 2


def test_a_script_that_runs_out_fails_the_test() -> None:
    with (
        pytest.raises(AssertionError, match="script of 0 replies ran out"),
        FaultServer() as server,
    ):
        assert ask(server)[0] == 500


def test_a_function_answers_by_request() -> None:
    with FaultServer(lambda request: text(request.json["messages"][0])) as server:
        assert b'"content": "hi"' in ask(server)[1]


def test_a_reset_reaches_the_client_after_the_text() -> None:
    with FaultServer(reset_midway()) as server:
        link = http.client.HTTPConnection(server.root_url.removeprefix("http://"), timeout=10)
        link.request("POST", "/v1/chat/completions", "{}")
        answer = link.getresponse()
        assert b"Hello the" in answer.readline()
        with pytest.raises((ConnectionError, http.client.IncompleteRead)):
            answer.read()
        link.close()


def test_a_client_that_leaves_is_noticed() -> None:
    with FaultServer(hang()) as server:
        link = http.client.HTTPConnection(server.root_url.removeprefix("http://"), timeout=10)
        link.request("POST", "/v1/chat/completions", "{}")
        (received,) = server.wait_for_requests(1)
        link.close()
        assert received.gone.wait(5)


def test_a_stream_that_hangs_does_not_keep_the_server_from_stopping() -> None:
    server = FaultServer(hang()).start()
    link = http.client.HTTPConnection(server.root_url.removeprefix("http://"), timeout=10)
    link.request("POST", "/v1/chat/completions", "{}")
    server.wait_for_requests(1)
    server.stop()
    link.close()
    assert not server._thread.is_alive()
