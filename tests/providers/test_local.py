"""A model in this process: a stand-in with llama.cpp's interface shows what it is asked and
stopped."""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from smoke_monkey_nb.providers.base import ModelRequest, TextDelta
from smoke_monkey_nb.providers.local import LocalModel
from smoke_monkey_nb.providers.tagged_calls import TaggedCalls

from .helpers import HI, collect


class FakeLlama:
    """Speaks these pieces; remembers what it was asked."""

    n_tokens = 12

    def __init__(self, *pieces: str) -> None:
        self.pieces = pieces
        self.asked: dict[str, Any] = {}
        self.closed = threading.Event()

    def create_chat_completion(self, **asked: Any) -> Iterator[dict[str, Any]]:
        self.asked = asked
        try:
            for piece in self.pieces:
                yield {"choices": [{"delta": {"content": piece}, "finish_reason": None}]}
            yield {"choices": [{"delta": {}, "finish_reason": "stop"}]}
        finally:
            self.closed.set()


_paths = (f"/models/{n}.gguf" for n in itertools.count())


def local(model: Any) -> LocalModel:
    return LocalModel(next(_paths), load=lambda _: model)


async def test_text_streams() -> None:
    outcome = await collect(local(FakeLlama("Hel", "lo")), ModelRequest("m", HI))
    assert outcome.of(TextDelta) == ["Hel", "lo"]
    assert outcome.response.usage is not None
    assert outcome.response.usage.total_tokens == 12


async def test_tagged_calls_become_tool_calls() -> None:
    model = FakeLlama("Sure. <tool", '_call>{"name": "f", "argu', 'ments": {"a": 1}}</tool_call>')
    response = (await collect(local(model), ModelRequest("m", HI))).response
    assert response.text == "Sure. "
    assert [(c.name, c.arguments) for c in response.tool_calls] == [("f", '{"a": 1}')]


async def test_earlier_calls_go_to_the_template_as_objects() -> None:
    function = {"name": "f", "arguments": '{"a": 1}'}
    asked = [{"role": "assistant", "content": None, "tool_calls": [{"function": function}]}]
    model = FakeLlama("x")
    await collect(local(model), ModelRequest("m", asked))
    sent = model.asked["messages"][0]["tool_calls"][0]["function"]
    assert sent == {"name": "f", "arguments": {"a": 1}}
    assert function["arguments"] == '{"a": 1}'


async def test_closing_stops_the_model_at_its_next_token() -> None:
    go = threading.Event()

    class Endless(FakeLlama):
        def create_chat_completion(self, **asked: Any) -> Iterator[dict[str, Any]]:
            try:
                yield {"choices": [{"delta": {"content": "a"}}]}
                while True:
                    go.wait(10)
                    yield {"choices": [{"delta": {"content": "b"}}]}
            finally:
                self.closed.set()

    model = Endless()
    deltas: Any = local(model).stream(ModelRequest("m", HI))
    assert await anext(deltas) == TextDelta("a")
    await deltas.aclose()
    go.set()
    assert await asyncio.to_thread(model.closed.wait, 5)


async def test_a_prompt_that_is_too_long_is_an_overflow() -> None:
    class Full(FakeLlama):
        def create_chat_completion(self, **asked: Any) -> Iterator[dict[str, Any]]:
            raise ValueError("Requested tokens (9010) exceed context window of 8192")
            yield {}

    error = (await collect(local(Full()), ModelRequest("m", HI))).error
    assert error and error.code == "provider_context_overflow"
    assert error.details and error.details["request_tokens"] == 9010


async def test_no_such_file_is_no_such_model() -> None:
    outcome = await collect(LocalModel("/no/such.gguf"), ModelRequest("m", HI))
    assert outcome.code == "provider_model_not_found"


async def test_a_missing_package_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "llama_cpp", None)
    path = tmp_path / "model.gguf"
    path.write_bytes(b"GGUF")
    error = (await collect(LocalModel(str(path)), ModelRequest("m", HI))).error
    assert error and "[local]" in str(error.hint)


@pytest.mark.parametrize("cut", range(1, 60))
def test_tags_are_found_however_the_text_is_cut(cut: int) -> None:
    whole = 'a <b> <tool_call>{"name": "f", "arguments": {}}</tool_call> c <tool_'
    tags = TaggedCalls()
    parts = [tags.feed(whole[:cut]), tags.feed(whole[cut:]), tags.flush()]
    assert "".join(text for text, _ in parts) == "a <b>  c <tool_"
    assert [call["function"]["name"] for _, calls in parts for call in calls] == ["f"]
