"""The ledger: every attempt and tool call of an agent, append-only, in memory and in the store.

Ledgers of one process are kept in a list, so that ``costs()`` covers every agent of the kernel.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

from ..errors import AgentErrorInfo
from ..records import AttemptRecord, ToolRecord
from .store import Store


class Ledger:
    """Implements ``records.Recorder``; any thread. Records are on disk before ``attempt``
    returns.
    """

    def __init__(self, store: Store | None = None) -> None:
        self._store = store
        self._attempts: list[AttemptRecord] = []
        self._tool_calls: list[ToolRecord] = []
        with _lock:
            _ledgers.append(self)

    def attempt(self, record: AttemptRecord) -> AgentErrorInfo | None:
        """Keep an attempt; returns what went wrong with the store, once."""
        warning = self._store.add_attempt(record) if self._store is not None else None
        self._attempts.append(record)
        return warning

    def tool_call(self, record: ToolRecord) -> AgentErrorInfo | None:
        """Keep a tool call; returns what went wrong with the store, once."""
        warning = self._store.add_tool_call(record) if self._store is not None else None
        self._tool_calls.append(record)
        return warning

    @property
    def attempts(self) -> Sequence[AttemptRecord]:
        """The attempts so far, oldest first; a copy."""
        return tuple(self._attempts)

    @property
    def tool_calls(self) -> Sequence[ToolRecord]:
        """The tool calls so far, oldest first; a copy."""
        return tuple(self._tool_calls)


_ledgers: list[Ledger] = []
_lock = threading.Lock()


def all_attempts() -> list[AttemptRecord]:
    """The attempts of every ledger of this process, oldest first."""
    with _lock:
        ledgers = tuple(_ledgers)
    found = [record for ledger in ledgers for record in ledger.attempts]
    return sorted(found, key=lambda r: r.started_at)
