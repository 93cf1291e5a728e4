"""From wire chunks to deltas, and at the end to one ``ModelResponse``.

Every quirk of a chat-completions stream ends here: null choices, usage in any chunk, reasoning in
three places, content as a list of parts, refusals, legacy ``function_call``, errors inside a good
stream. What decides whether an answer is finished is ``finish``: a finish reason, ``[DONE]`` or the
closing usage chunk, else it was cut off (the bare ``openai`` client takes a truncated stream for a
whole answer)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..errors import AgentError, agent_error
from ..usage import Usage
from .asked import UNKNOWN, Asked
from .base import (
    Completed,
    Delta,
    ModelResponse,
    TextDelta,
    ThoughtDelta,
    ToolCallDelta,
    UsageDelta,
)
from .fragments import ToolCallAssembler, make_call_id
from .think import ThinkSplitter
from .tokens import read_usage

#: ``finish_reason`` of answers that a filter stopped, in the words of OpenAI, Azure and Gemini
FILTERED = {"content_filter", "safety", "prohibited_content", "blocklist", "sensitive"}


class Assembler:
    """One answer. Feed it the chunks in order, then ``finish``. Not thread-safe."""

    def __init__(self, asked: Asked = UNKNOWN, new_id: Callable[[], str] = make_call_id) -> None:
        self._asked = asked
        self._text: list[str] = []
        self._thought: list[str] = []
        self._refused = False
        self._calls = ToolCallAssembler(new_id)
        self._think = ThinkSplitter()
        self._usage: Usage | None = None
        self._finish_reason: str | None = None
        self._model: str | None = None
        self._closed = False  # a closing usage chunk came after the answer

    @property
    def ended(self) -> bool:
        """Whether the model said that its answer is over (what may follow is bookkeeping)."""
        return bool(self._finish_reason) or self._closed

    def feed(self, chunk: Any) -> list[Delta]:
        """The deltas in one chunk.

        Raises:
            AgentError: the chunk is an error object, or nothing that a chat completion may hold.
        """
        if not isinstance(chunk, dict):
            raise agent_error("provider_bad_response", "The answer is no chat completion.")
        choices = chunk.get("choices")
        if type(choices) is not list or not choices or chunk.get("error"):
            self._check(chunk, choices)
        out: list[Delta] = []
        if choices:
            choice = choices[0]
            if isinstance(choice, dict) and not choice.get("index"):  # further choices are not ours
                self._choice(choice, out)
        if (usage := chunk.get("usage")) is not None:
            self._take_usage(usage, out, closing=not choices)
        if self._model is None and isinstance(model := chunk.get("model"), str):
            self._model = model or None
        return out

    def finish(self, *, done: bool) -> list[Delta]:
        """The last deltas, ``Completed`` among them; ``done`` says whether ``[DONE]`` came.

        Raises:
            AgentError: the answer was cut off or filtered.
        """
        reason = self._finish_reason
        if reason and reason.lower() in FILTERED:
            raise agent_error(
                "provider_content_filtered",
                "The provider's content filter stopped the answer.",
                hint="Rephrase the prompt, or leave out the part that was filtered.",
                details={"finish_reason": reason},
            )
        if not done and not self.ended:
            raise agent_error(
                "provider_stream_interrupted", "The answer ended before it was finished."
            )
        out: list[Delta] = []
        thought, text = self._think.flush()
        self._say_thought(thought, out)
        self._say(text, out)
        response = ModelResponse(
            text="".join(self._text),
            thought="".join(self._thought),
            tool_calls=self._calls.result(),
            finish_reason=reason,
            usage=self._usage,
            model=self._model,
            refusal=self._refused,
        )
        return [*out, Completed(response)]

    def _check(self, chunk: dict[str, Any], choices: Any) -> None:
        kinds = (chunk.get("object"), chunk.get("type"))
        if chunk.get("error") or "error" in kinds:
            raise self._error(chunk)
        if choices is not None and not isinstance(choices, list):
            raise agent_error("provider_bad_response", "The answer's choices are no list.")

    def _error(self, payload: dict[str, Any]) -> AgentError:
        from .classify import stream_error  # late: its patterns cost a start 20 ms

        return stream_error(payload, self._asked)

    def _choice(self, choice: dict[str, Any], out: list[Delta]) -> None:
        delta = choice.get("delta")
        if delta is None and "delta" not in choice:
            delta = choice.get("message")  # a whole answer
        if isinstance(delta, dict):
            content = delta.get("content")
            if content and type(content) is str and self._think.in_answer:
                self._text.append(content)
                out.append(TextDelta(content))
                # A text chunk of the common shape has nothing else in it.
                if len(delta) == 1 and not choice.get("finish_reason"):
                    return
                content = None
            self._delta(delta, content, out)
        if reason := choice.get("finish_reason"):
            self._finish_reason = str(reason)
            if reason == "error" or choice.get("error"):
                raise self._error(choice)
            if (usage := choice.get("usage")) is not None:  # Moonshot
                self._take_usage(usage, out, closing=False)

    def _delta(self, delta: Mapping[str, Any], content: Any, out: list[Delta]) -> None:
        for name in ("reasoning_content", "reasoning", "thinking"):
            if thought := delta.get(name):  # vLLM sends the same text under two names
                self._say_thought(_plain(thought), out)
                break
        if content:
            self._content(content, out)
        if refusal := delta.get("refusal"):
            self._refused = True
            self._say(_plain(refusal), out)
        for fragment in delta.get("tool_calls") or ():
            self._fragment(fragment, out)
        if isinstance(legacy := delta.get("function_call"), dict):
            self._fragment({"index": "function_call", "function": legacy}, out)

    def _content(self, content: Any, out: list[Delta]) -> None:
        if not isinstance(content, list):
            return self._split(_plain(content), out)
        for part in content:  # Mistral's way to think; others just like lists
            thought = None
            if isinstance(part, dict):
                thought = part.get("thinking") or part.get("reasoning")
            if thought:
                self._say_thought(_plain(thought), out)
            else:
                self._split(_plain(part), out)
        return None

    def _split(self, content: str, out: list[Delta]) -> None:
        thought, text = self._think.feed(content)
        self._say_thought(thought, out)
        self._say(text, out)

    def _fragment(self, fragment: Any, out: list[Delta]) -> None:
        if isinstance(fragment, Mapping) and (name := self._calls.add(fragment)):
            out.append(ToolCallDelta(name))

    def _say(self, text: str, out: list[Delta]) -> None:
        if text:
            self._text.append(text)
            out.append(TextDelta(text))

    def _say_thought(self, text: str, out: list[Delta]) -> None:
        if text:
            self._thought.append(text)
            out.append(ThoughtDelta(text))

    def _said_something(self) -> bool:
        return bool(self._text or self._thought or len(self._calls))

    def _take_usage(self, raw: Any, out: list[Delta], *, closing: bool) -> None:
        usage = read_usage(raw)
        if usage is None:
            return
        self._closed = self._closed or (closing and self._said_something())
        if usage != self._usage:
            self._usage = usage
            out.append(UsageDelta(usage))


def _plain(value: Any) -> str:
    """The text in a string, in a part, or in a list of them."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return _plain(value.get("text") or value.get("content"))
    return "".join(_plain(part) for part in value) if isinstance(value, list) else ""
