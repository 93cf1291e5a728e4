"""Puts streamed tool-call fragments together, however a server labels them.

OpenAI's rule (head with ``index`` and ``id``, then pieces with ``index``) is kept by few others:
Gemini-compatible proxies leave out ``index``, Ollama left out ``id``, some say index 0 for every
call, some repeat id and name in each piece. So a piece goes to the call of its id, else of its
index, else to the call that is open; and a head that cannot belong to the call it points at begins
a new one. Nothing is dropped, nothing is merged."""

from __future__ import annotations

import json
import secrets
import string
from collections.abc import Callable, Mapping
from typing import Any

from .base import ToolCall

_LETTERS = string.ascii_letters + string.digits


def make_call_id() -> str:
    """Nine letters and digits: the only form of id that Mistral takes, and nobody else minds."""
    return "".join(secrets.choice(_LETTERS) for _ in range(9))


class _Open:
    """A call being written."""

    __slots__ = ("id", "index", "name", "parts")

    def __init__(self, id: str, index: Any) -> None:  # noqa: A002 - the wire's own word
        self.id, self.index = id, index
        self.name = ""
        self.parts: list[str] = []

    def whole(self) -> bool:
        """Whether its arguments are finished JSON."""
        if not self.parts or not self.parts[-1].rstrip().endswith(("}", "]", '"')):
            return False
        try:
            json.loads("".join(self.parts))
        except ValueError:
            return False
        return True


class ToolCallAssembler:
    """Collects the fragments of one answer. Not thread-safe."""

    def __init__(self, new_id: Callable[[], str] = make_call_id) -> None:
        self._new_id = new_id
        self._calls: list[_Open] = []
        self._by_id: dict[str, _Open] = {}
        self._by_index: dict[Any, _Open] = {}

    def __len__(self) -> int:
        return len(self._calls)

    def add(self, fragment: Mapping[str, Any]) -> str | None:
        """Take one entry of ``delta.tool_calls``; the name of the call if this fragment made it
        known."""
        function = fragment.get("function")
        function = function if isinstance(function, Mapping) else fragment
        name, arguments = _text(function.get("name")), _arguments(function.get("arguments"))
        index = fragment.get("index")
        index = index if isinstance(index, (int, str)) else None
        call = self._route(_text(fragment.get("id")), index, name, arguments)
        new_name = None
        if name and call.name != name:
            # A head without a name, or (never seen with arguments before) a name in pieces.
            new_name = name if not call.name else None
            call.name += name
        if arguments:
            call.parts.append(arguments)
        return new_name

    def result(self) -> tuple[ToolCall, ...]:
        """The calls, with ids that are unique and names that are not empty."""
        used: set[str] = set()
        out = []
        for call in self._calls:
            arguments = "".join(call.parts)
            if not call.name and not arguments.strip():
                continue  # an entry without any content
            call_id = call.id if call.id and call.id not in used else self._new_id()
            used.add(call_id)
            out.append(
                ToolCall(call_id, call.name or "unnamed", arguments if arguments.strip() else "{}")
            )
        return tuple(out)

    def _route(self, call_id: str, index: Any, name: str, arguments: str) -> _Open:
        open_call = self._calls[-1] if self._calls else None
        if call_id:
            known = self._by_id.get(call_id)
            if known is not None:
                moved = index is not None and known.index is not None and index != known.index
                fresh = bool(name) and (moved or _begins_another(known, name, arguments))
                return self._start(call_id, index) if fresh else known
            at_index = self._by_index.get(index) if index is not None else open_call
            # Old vLLM made up a new id for every piece: a piece has no name and its call is not
            # finished.
            if at_index and not name and arguments and at_index.name and not at_index.whole():
                return at_index
            return self._start(call_id, index)
        if index is None:
            if open_call is None or (name and _begins_another(open_call, name, arguments)):
                return self._start("", None)
            return open_call
        return self._by_its_index(index, name, arguments, open_call)

    def _by_its_index(
        self, index: int | str, name: str, arguments: str, open_call: _Open | None
    ) -> _Open:
        known = self._by_index.get(index)
        if known is None:
            if not name and open_call is not None:
                return open_call  # a piece with a wrong index
            return self._start("", index)
        if name and known.parts and _begins_another(known, name, arguments):
            return self._start("", index)
        if known is not open_call and open_call is not None and arguments.strip() and known.whole():
            return open_call  # a finished call takes no more: the index is wrong
        return known

    def _start(self, call_id: str, index: Any) -> _Open:
        call = _Open(call_id, index)
        self._calls.append(call)
        if call_id:
            self._by_id[call_id] = call
        if index is not None:
            self._by_index[index] = call
        return call


def _begins_another(known: _Open, name: str, arguments: str) -> bool:
    """Whether a named fragment that points at ``known`` is the head of a further call."""
    if not known.name:
        return False
    if known.name != name:
        return True
    return bool(arguments.strip()) and known.whole()


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)


def _arguments(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)
