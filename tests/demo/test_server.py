"""The demo over HTTP, as any client sees it."""

from __future__ import annotations

import http.client
import json
import os
import socket
import threading
import urllib.parse
from collections.abc import Iterator
from typing import Any

import openai
import pytest

from smoke_monkey_nb.providers.demo import PACE_VARIABLE, api_key, serve

HELLO = [{"role": "user", "content": "hello"}]
TOOL = {"type": "function", "function": {"name": "read_file", "parameters": {}}}


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PACE_VARIABLE, "0")


@pytest.fixture
def client() -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=serve(), api_key=api_key(), max_retries=0) as made:
        yield made


def request(method: str, path: str, body: Any = None, token: str | None = None) -> tuple[int, Any]:
    address = urllib.parse.urlsplit(serve())
    connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=10)
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    data = body if isinstance(body, (bytes, str)) else json.dumps(body)
    connection.request(method, path, data, headers)
    answer = connection.getresponse()
    found = answer.status, json.loads(answer.read())
    connection.close()
    return found


def test_serve_is_idempotent_and_on_loopback_alone() -> None:
    assert serve() == serve()
    assert serve().startswith("http://127.0.0.1:")


def test_many_threads_get_the_same_server() -> None:
    found: list[str] = []
    threads = [threading.Thread(target=lambda: found.append(serve())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1


def test_text_streams_word_by_word_and_usage_comes_last(client: openai.OpenAI) -> None:
    chunks = list(client.chat.completions.create(model="demo-rules", messages=HELLO, stream=True))
    texts = [c.choices[0].delta.content or "" for c in chunks if c.choices]
    assert "".join(texts).startswith("I am the offline demo: rules, no model.")
    assert len(texts) > 50
    usage = chunks[-1].usage
    assert usage is not None
    assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens > 0


def test_tool_calls_come_in_fragments(client: openai.OpenAI) -> None:
    messages = [{"role": "user", "content": "read a/rather/long/path/to/some/notes.txt"}]
    chunks = client.chat.completions.create(
        model="demo-rules", messages=messages, tools=[TOOL], stream=True
    )
    parts = [c.choices[0] for c in chunks if c.choices]
    calls = [t for p in parts for t in p.delta.tool_calls or ()]
    assert len(calls) > 2
    arguments = "".join(c.function.arguments or "" for c in calls)
    assert json.loads(arguments) == {"path": "a/rather/long/path/to/some/notes.txt"}
    assert parts[-1].finish_reason == "tool_calls"


def test_an_answer_without_streaming_is_the_same(client: openai.OpenAI) -> None:
    answer = client.chat.completions.create(model="any-name", messages=HELLO)
    assert "offline demo" in (answer.choices[0].message.content or "")


def test_without_the_token_nothing_is_answered() -> None:
    for token in (None, "wrong"):
        status, body = request("POST", "/v1/chat/completions", {"messages": HELLO}, token)
        assert status == 401
        assert body["error"]["code"] == "invalid_api_key"


@pytest.mark.parametrize(
    "body", ["no json", [], {"messages": []}, {"messages": "x"}, {"messages": [1]}, {}]
)
def test_nonsense_is_a_400(body: Any) -> None:
    status, answer = request("POST", "/v1/chat/completions", body, api_key())
    assert status == 400
    assert "no chat-completions request" in answer["error"]["message"]


@pytest.mark.parametrize(
    "messages",
    [
        [{"role": "user", "content": None}],
        [{"role": "user", "content": [1, None, {"type": "text"}]}],
        [{"role": "assistant", "content": "", "tool_calls": [{"id": "a"}]}],
        [{"role": "user", "content": "x"}, {"role": "assistant", "tool_calls": ["x", None]}],
        [{"role": "user", "content": "x"}, {"role": "tool", "content": 3}],
    ],
)
def test_odd_messages_are_answered_all_the_same(messages: Any) -> None:
    status, _ = request("POST", "/v1/chat/completions", {"messages": messages}, api_key())
    assert status == 200


def test_hiccup_fails_once_and_lets_the_retry_through(client: openai.OpenAI) -> None:
    messages = [{"role": "user", "content": "hiccup, then hello"}]
    for _ in range(2):  # every run of the cell shows it again
        with pytest.raises(openai.RateLimitError) as caught:
            client.chat.completions.create(model="demo-rules", messages=messages)
        assert caught.value.response.headers["retry-after"] == "1"
        assert client.chat.completions.create(model="demo-rules", messages=messages).choices


def test_cut_breaks_the_stream_once(client: openai.OpenAI) -> None:
    def texts() -> list[str]:
        stream = client.chat.completions.create(model="cut", messages=HELLO, stream=True)
        return [c.choices[0].delta.content or "" for c in stream if c.choices]

    with pytest.raises(openai.APIConnectionError):
        texts()
    assert len(texts()) > 50


@pytest.mark.parametrize(("model", "status"), [("fail", 401), ("down", 503), ("overflow", 400)])
def test_models_that_fail_always(client: openai.OpenAI, model: str, status: int) -> None:
    for _ in range(2):
        with pytest.raises(openai.APIStatusError) as caught:
            client.chat.completions.create(model=model, messages=HELLO)
        assert caught.value.status_code == status


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_starts_a_server_of_its_own() -> None:
    parent = serve()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, serve().encode())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        assert pipe.read() not in ("", parent)
    assert request("GET", "/v1/models", None, api_key())[0] == 200


def test_a_reader_that_goes_away_leaves_the_server_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PACE_VARIABLE, "500")
    address = urllib.parse.urlsplit(serve())
    body = json.dumps({"messages": HELLO, "stream": True}).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {api_key()}\r\n"
    with socket.create_connection((address.hostname, address.port), timeout=10) as connection:
        connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        connection.recv(100)
    assert request("GET", "/v1/models", None, api_key())[0] == 200
