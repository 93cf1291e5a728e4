"""A model file run in this process by llama.cpp (``local:/path/to/model.gguf``, extra ``[local]``).

The model works on a thread of its own and hands its chunks to the loop; a run that is stopped stops
it at the next token. Loaded models are kept, one for each path, since loading takes seconds and
gigabytes; a model answers one request at a time.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ..errors import AgentError, agent_error, error_info
from .asked import Asked
from .assemble import Assembler
from .base import Delta, ModelRequest
from .tagged_calls import TaggedCalls

_CONTEXT = 8192  # tokens; what the file allows may need more memory than there is
_END = object()
_models: dict[str, tuple[Any, threading.Lock]] = {}
_loading = threading.Lock()


def load_model(path: str) -> Any:
    """The llama.cpp model in this file.

    Raises:
        AgentError: no such file, no llama-cpp-python, or a file it cannot read.
    """
    if not Path(path).is_file():
        message = f"There is no model file at {path}."
        hint = "Write local:/path/to/model.gguf."
        raise agent_error("provider_model_not_found", message, hint=hint)
    try:
        from llama_cpp import Llama  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        message = "Local models need the package llama-cpp-python, which is not installed."
        hint = 'Install it with: pip install "smoke_monkey_nb[local]".'
        raise agent_error("provider_bad_request", message, hint=hint) from None
    try:
        return Llama(model_path=path, n_ctx=_CONTEXT, n_gpu_layers=-1, verbose=False)
    except Exception as error:
        message = f"llama.cpp cannot read {Path(path).name}: {type(error).__name__}."
        raise agent_error("provider_bad_request", message) from None


class LocalModel:
    """Implements ``base.Provider`` over a model file."""

    name = "local"
    takes_images = False

    def __init__(self, path: str, load: Callable[[str], Any] = load_model) -> None:
        self.model = path
        self._path = str(Path(path).expanduser())
        self._load = load
        self._asked = Asked(provider="local", model=Path(path).name, title="the local model")

    async def stream(self, request: ModelRequest) -> AsyncIterator[Delta]:
        """Run the model; closing the iterator stops it at its next token."""
        loop = asyncio.get_running_loop()
        queue: asyncio.Queue[Any] = asyncio.Queue()
        stopped = threading.Event()

        def put(item: Any) -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody listens any more
                loop.call_soon_threadsafe(queue.put_nowait, item)

        def work() -> None:
            try:
                for chunk in self._chunks(request, stopped):
                    put(chunk)
                put(_END)
            except Exception as error:
                put(error)

        threading.Thread(target=work, name="smn-local-model", daemon=True).start()
        assembler = Assembler(self._asked)
        try:
            while (item := await queue.get()) is not _END:
                if isinstance(item, Exception):
                    raise self._translated(item)
                for delta in assembler.feed(item):
                    yield delta
            for delta in assembler.finish(done=True):
                yield delta
        finally:
            stopped.set()

    async def aclose(self) -> None:
        """Nothing is held for a loop; loaded models are kept for the next call."""

    def _chunks(self, request: ModelRequest, stopped: threading.Event) -> Iterator[dict[str, Any]]:
        model, lock = self._model()
        tags, count = TaggedCalls(), 0
        with lock:
            answer = model.create_chat_completion(
                messages=[_for_template(message) for message in request.messages],
                tools=list(request.tools) or None,
                stream=True,
            )
            with contextlib.closing(answer):
                for chunk in answer:
                    if stopped.is_set():
                        return
                    count += 1
                    yield _with_calls(chunk, tags)
            text, calls = tags.flush()
            yield _chunk({"content": text, "tool_calls": calls})
            total = int(getattr(model, "n_tokens", 0))
        usage = {"prompt_tokens": max(0, total - count), "completion_tokens": count}
        yield {"choices": [], "usage": usage}

    def _model(self) -> tuple[Any, threading.Lock]:
        with _loading:
            if self._path not in _models:
                _models[self._path] = (self._load(self._path), threading.Lock())
            return _models[self._path]

    def _translated(self, error: Exception) -> AgentError:
        if isinstance(error, AgentError):
            return error
        from .classify import classify

        found = classify(400, None, str(error), self._asked)
        if found.code == "provider_context_overflow":
            return AgentError(found)
        message = f"The local model failed: {type(error).__name__}."
        return AgentError(error_info("provider_bad_response", message))


def _with_calls(chunk: Mapping[str, Any], tags: TaggedCalls) -> dict[str, Any]:
    choices = chunk.get("choices") or [{}]
    delta = dict(choices[0].get("delta") or {})
    text, calls = tags.feed(delta.get("content") or "")
    delta["content"] = text
    if calls:
        delta["tool_calls"] = [*(delta.get("tool_calls") or ()), *calls]
    return _chunk(delta, choices[0].get("finish_reason"))


def _chunk(delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}


def _for_template(message: Mapping[str, Any]) -> dict[str, Any]:
    """Chat templates want text alone, and the arguments of earlier calls as objects."""
    out = dict(message)
    if isinstance(content := out.get("content"), list):
        parts = (part.get("text", "") for part in content if isinstance(part, dict))
        out["content"] = "".join(parts)
    if calls := out.get("tool_calls"):
        out["tool_calls"] = [_call_for_template(call) for call in calls]
    return out


def _call_for_template(call: Mapping[str, Any]) -> dict[str, Any]:
    function = dict(call["function"])
    with contextlib.suppress(ValueError):
        function["arguments"] = json.loads(function.get("arguments") or "{}")
    return {**call, "function": function}
