"""The ledger: every attempt and tool call of an agent, append-only, in memory and in the store.

Ledgers that hold anything are kept for the life of the process, so that ``costs()`` covers every
agent of the kernel, those that are gone included.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace

from ..errors import AgentErrorInfo
from ..records import AttemptRecord, ToolRecord
from ..redact import scrub
from .attempt_log import AttemptLog
from .store import Store


class Ledger:
    """Implements ``records.Recorder``; any thread. Records are on disk before ``attempt``
    returns.
    """

    def __init__(self, store: Store | None = None) -> None:
        self._store = store
        self._attempts = AttemptLog()
        self._tool_calls: list[ToolRecord] = []

    def attempt(self, record: AttemptRecord) -> AgentErrorInfo | None:
        """Keep an attempt; returns what went wrong with the store, once."""
        if not self._attempts:
            with _lock:
                if self._attempts not in _logs:
                    _logs.append(self._attempts)
        self._attempts.append(record)
        return self._store.add_attempt(record) if self._store is not None else None

    def tool_call(self, record: ToolRecord) -> AgentErrorInfo | None:
        """Keep a tool call, keys masked; returns what went wrong with the store, once."""
        record = replace(record, input=scrub(record.input), result=scrub(record.result))
        self._tool_calls.append(record)
        return self._store.add_tool_call(record) if self._store is not None else None

    @property
    def attempts(self) -> Sequence[AttemptRecord]:
        """The attempts so far, oldest first; it grows with the ledger."""
        return self._attempts

    @property
    def tool_calls(self) -> Sequence[ToolRecord]:
        """The tool calls so far, oldest first; a copy."""
        return tuple(self._tool_calls)


_logs: list[AttemptLog] = []
_lock = threading.Lock()


def all_attempts() -> list[AttemptLog]:
    """The attempts of this process, a log for each ledger."""
    with _lock:
        return _logs[:]
