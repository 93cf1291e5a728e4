"""Bytes of a 200 answer to deltas, whatever the body turns out to be.

A request for a stream is answered with a stream, with one whole JSON completion, with an error
object, or with a login page. The content type says little (proxies set it as they like), the first
byte says all: no event stream begins with ``{``, ``[`` or ``<``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import groupby
from typing import Any

from ..errors import AgentError, agent_error
from .asked import UNKNOWN, Asked
from .assemble import Assembler
from .base import Delta, TextDelta, ThoughtDelta
from .fragments import make_call_id
from .sse import ErrorData, SSEDecoder
from .wire_json import WireJson

#: more deltas than this in one read are a burst: nobody could see them one by one
_BURST = 32
_KINDS = {b"{": "json", b"[": "json", b"<": "page"}


class Answer:
    """One body. Feed it bytes, call ``end`` at the end unless it is ``complete``. Not thread-safe.

    What is wrong is kept in ``failure`` and not raised, so that the deltas before it are not lost:
    the tokens of a failed attempt are billed too.
    """

    def __init__(
        self,
        headers: Mapping[str, str],
        asked: Asked = UNKNOWN,
        new_id: Callable[[], str] = make_call_id,
    ) -> None:
        self._headers, self._asked = headers, asked
        self._assembler = Assembler(asked, new_id)
        self._events = SSEDecoder()
        self._json = WireJson()
        self._kind = ""  # "" until the first byte that is no space
        self._body: list[bytes] = []
        self.complete = False  # ``Completed`` is among the deltas given out
        self.failure: AgentError | None = None

    @property
    def ended(self) -> bool:
        """Whether the model's answer is over, though the stream is still open."""
        return self._assembler.ended

    def feed(self, data: bytes) -> list[Delta]:
        """The deltas in these bytes."""
        if self._kind == "events":
            return self._take(self._events.feed(data))
        self._body.append(data)
        if not self._kind:
            head = b"".join(self._body).removeprefix(b"\xef\xbb\xbf").lstrip()
            if not head:
                return []
            self._kind = _KINDS.get(head[:1], "events")
            if self._kind == "events":
                self._body = []
                return self._take(self._events.feed(head))
        return []

    def end(self) -> list[Delta]:
        """The last deltas, once the body is over or the connection broke."""
        out: list[Delta] = []
        try:
            if self._kind == "events":
                out = self._take(self._events.flush(), cut_off=True)
                if not (self.complete or self.failure):
                    self._finish(out, done=False)
            else:
                self._whole(out)
        except AgentError as error:
            self.failure = error
        return out

    def _take(self, datas: list[bytes], *, cut_off: bool = False) -> list[Delta]:
        out: list[Delta] = []
        feed, parse = self._assembler.feed, self._json.parse
        try:
            for data in datas:
                if data[0] == 91 and data.strip() == b"[DONE]":  # 91 is "["
                    self._finish(out, done=True)
                    break
                try:
                    chunk = parse(data)
                except ValueError:
                    if cut_off:  # half an event is no event
                        break
                    raise self._bad("An event of the answer's stream is no JSON.") from None
                if type(data) is ErrorData:
                    raise self._stream_error(chunk)
                out += feed(chunk)
        except AgentError as error:
            self.failure = error
        return out if len(out) <= _BURST else _merged(out)

    def _finish(self, out: list[Delta], *, done: bool) -> None:
        out += self._assembler.finish(done=done)
        self.complete = True

    def _whole(self, out: list[Delta]) -> None:
        """A body that is no event stream."""
        if not self._kind:
            raise self._bad(f"{self._asked.subject} sent an empty answer.")
        if self._kind == "page":
            raise self._bad(f"{self._asked.subject} sent a web page instead of an answer.")
        try:
            value = self._json.parse(b"".join(self._body))
        except ValueError:
            raise self._bad(f"{self._asked.subject} sent broken JSON.") from None
        value = value[0] if isinstance(value, list) and value else value
        if isinstance(value, dict) and (value.get("error") or value.get("object") == "error"):
            raise self._error_object(value)
        choices = value.get("choices") if isinstance(value, dict) else None
        first = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(first, dict) or not isinstance(first.get("message"), dict):
            raise self._bad(f"{self._asked.subject} sent JSON that is no chat completion.")
        out += self._assembler.feed(value)
        self._finish(out, done=True)

    def _stream_error(self, value: Any) -> AgentError:
        from .classify import stream_error  # late: its patterns cost a start 20 ms

        return stream_error(value, self._asked)

    def _error_object(self, value: dict[str, Any]) -> AgentError:
        from .classify import classify
        from .error_body import read_error_body

        info = classify(None, self._headers, value, self._asked)
        if info.code == "provider_unavailable" and read_error_body(value).status is None:
            return self._bad(info.message)
        return AgentError(info)

    def _bad(self, message: str) -> AgentError:
        url = self._asked.base_url
        hint = f"Check the base URL {url} (it usually ends with /v1)." if url else None
        return agent_error("provider_bad_response", message, hint=hint, details={"status": 200})


def _merged(deltas: list[Delta]) -> list[Delta]:
    """The same with neighbouring pieces of text in one: a burst costs its readers one event."""
    out: list[Delta] = []
    for kind, run in groupby(deltas, type):
        if issubclass(kind, (TextDelta, ThoughtDelta)):
            out.append(kind("".join(delta.text for delta in run)))  # type: ignore[union-attr]
        else:
            out += run
    return out
