"""The store: attempts, tool calls and named conversations that outlive the kernel.

What is handed in is committed to disk before the call returns, so a killed kernel loses nothing
that was reported. Where the disk fails (full, read-only, locked for seconds), what could not be
written is kept in memory and counts as stored; the failure is returned once, to be shown as a
warning, and writing is tried again now and then, backlog first.
"""

from __future__ import annotations

import json
import logging
import os
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timezone
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..errors import AgentErrorInfo, error_info
from ..events import now
from ..records import AttemptRecord, ToolRecord
from ..redact import scrub_known
from ..usage import Cost, Usage
from .database import Database

logger = logging.getLogger("smoke_monkey_nb")

FILE_NAME = "smoke-monkey.sqlite3"
#: After a failure, writing is tried again at the first record this much later.
RETRY_S = 30.0

_USAGE = tuple(f.name for f in fields(Usage))
_COST = tuple(f.name for f in fields(Cost))
_ATTEMPT = tuple(f.name for f in fields(AttemptRecord) if f.name not in ("usage", "cost"))
_TOOL = tuple(f.name for f in fields(ToolRecord))
_NO_USAGE, _NO_COST = (None,) * len(_USAGE), (None,) * len(_COST)


def _insertion(table: str, columns: Sequence[str], verb: str = "INSERT") -> str:
    marks = ", ".join("?" * len(columns))
    return f"{verb} INTO {table} ({', '.join(columns)}) VALUES ({marks})"


_ADD_ATTEMPT = _insertion("attempts", (*_ATTEMPT, *_USAGE, *_COST))
_ADD_TOOL_CALL = _insertion("tool_calls", _TOOL)
_SAVE_CONVERSATION = _insertion(
    "conversations", ("session_id", "messages", "updated_at"), "INSERT OR REPLACE"
)


def data_directory() -> Path:
    """Where the store lives: ``SMOKE_MONKEY_HOME``, else the user's data directory."""
    home = os.environ.get("SMOKE_MONKEY_HOME")
    if home:
        return Path(os.path.expanduser(home)).absolute()
    from platformdirs import user_data_path

    return user_data_path("smoke-monkey", appauthor=False)


@dataclass(frozen=True)
class _Unwritten:
    statement: str
    row: tuple[Any, ...]


class Store:
    """One SQLite file in ``directory``, made at the first write. Any thread, any number of
    kernels.
    """

    def __init__(self, directory: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self.path = directory / FILE_NAME
        self._database = Database(self.path)
        self._clock = clock
        self._backlog: list[_Unwritten] = []
        self._failed_at: float | None = None

    def add_attempt(self, record: AttemptRecord) -> AgentErrorInfo | None:
        """Write an attempt; returns the failure to report, once."""
        usage = _values(record.usage, _USAGE) if record.usage is not None else _NO_USAGE
        cost = _values(record.cost, _COST) if record.cost is not None else _NO_COST
        return self._write(_ADD_ATTEMPT, (*_values(record, _ATTEMPT), *usage, *cost))

    def add_tool_call(self, record: ToolRecord) -> AgentErrorInfo | None:
        """Write a tool call; returns the failure to report, once."""
        return self._write(_ADD_TOOL_CALL, _values(record, _TOOL))

    def save_conversation(
        self, session_id: str, messages: Sequence[Mapping[str, Any]]
    ) -> AgentErrorInfo | None:
        """Write a session's conversation; returns the failure to report, once."""
        text = scrub_known(json.dumps(list(messages), default=str))
        row = (_plain(session_id), text, now().isoformat())
        with self._database.lock:  # the last one is the one that counts
            self._backlog = [
                u for u in self._backlog if u.statement != _SAVE_CONVERSATION or u.row[0] != row[0]
            ]
            return self._write(_SAVE_CONVERSATION, row)

    def attempts(
        self, session: str | None = None, since: datetime | None = None
    ) -> list[AttemptRecord]:
        """The attempts stored, oldest first: of one session or all, from ``since`` on."""
        wanted = [
            ("session_id = ?", None if session is None else _plain(session)),
            ("started_at >= ?", None if since is None else _plain(since)),
        ]
        where = " AND ".join(test for test, value in wanted if value is not None) or "1"
        columns = ", ".join((*_ATTEMPT, *_USAGE, *_COST))
        rows = self._read(
            f"SELECT {columns} FROM attempts WHERE {where} ORDER BY started_at, id",  # noqa: S608 - our own names
            [value for _, value in wanted if value is not None],
        )
        found = [_attempt(row) for row in rows]
        unwritten = [_attempt(row) for row in self._unwritten(_ADD_ATTEMPT)]
        found += [
            a
            for a in unwritten
            if session in (None, a.session_id) and (since is None or a.started_at >= since)
        ]
        return sorted(found, key=lambda a: a.started_at) if unwritten else found

    def load_conversation(self, session_id: str) -> list[dict[str, Any]] | None:
        """A session's conversation, ``None`` if there is none (or none that can be read)."""
        key = _plain(session_id)
        rows = [row[1:2] for row in self._unwritten(_SAVE_CONVERSATION) if row[0] == key]
        rows = rows or self._read("SELECT messages FROM conversations WHERE session_id = ?", [key])
        if not rows:
            return None
        try:
            messages = json.loads(rows[-1][0])
        except (ValueError, TypeError):
            logger.warning("the stored conversation %r cannot be read", session_id)
            return None
        return messages if isinstance(messages, list) else None

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        self._database.close()

    def _unwritten(self, statement: str) -> list[tuple[Any, ...]]:
        with self._database.lock:
            return [u.row for u in self._backlog if u.statement == statement]

    def _write(self, statement: str, row: tuple[Any, ...]) -> AgentErrorInfo | None:
        with self._database.lock:
            self._backlog.append(_Unwritten(statement, row))
            if self._failed_at is not None and self._clock() - self._failed_at < RETRY_S:
                return None
            try:
                self._write_backlog()
            except (sqlite3.Error, OSError) as error:
                is_news = self._failed_at is None
                self._failed_at = self._clock()
                self._database.close()
                return self._failure(error) if is_news else None
            self._failed_at = None
            return self._corruption()

    def _write_backlog(self) -> None:
        while self._backlog:
            first = self._backlog[0]
            self._database.write(first.statement, first.row)
            del self._backlog[0]

    def _read(self, query: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        try:
            return self._database.read(query, values)
        except (sqlite3.Error, OSError) as error:
            logger.warning("the store %s cannot be read: %s", self.path, error)
            return []

    def _failure(self, error: Exception) -> AgentErrorInfo:
        return error_info(
            "transport_store_failed",
            f"Accounts and sessions cannot be written to disk ({error}); they go on in memory.",
            hint=f"Make room or permission at {self.path.parent}, or set SMOKE_MONKEY_HOME.",
            details={"path": str(self.path)},
        )

    def _corruption(self) -> AgentErrorInfo | None:
        aside, self._database.set_aside = self._database.set_aside, None
        if aside is None:
            return None
        return error_info(
            "transport_store_failed",
            "The file of accounts and sessions was corrupt; a new one was begun.",
            hint=f"The old file was kept as {aside}.",
            details={"path": str(self.path), "set_aside": str(aside)},
        )


@lru_cache(maxsize=8)
def _store_at(directory: Path) -> Store:
    return Store(directory)


def default_store() -> Store:
    """The store of this user; the same object for the same directory."""
    return _store_at(data_directory())


def _values(record: Any, names: Sequence[str]) -> tuple[Any, ...]:
    return tuple([_plain(getattr(record, name)) for name in names])


def _plain(value: Any) -> Any:
    """As SQLite takes it. Times are of one width, so that their order is that of their text."""
    if isinstance(value, datetime):
        return value.astimezone(timezone.utc).isoformat(timespec="microseconds")
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**63 else float(value)
    return value if value is None or isinstance(value, float) else str(value)


def _attempt(row: Sequence[Any]) -> AttemptRecord:
    head, after = len(_ATTEMPT), len(_ATTEMPT) + len(_USAGE)
    facts: dict[str, Any] = dict(zip(_ATTEMPT, row, strict=False))
    facts["started_at"] = datetime.fromisoformat(facts["started_at"])
    facts["failed"] = bool(facts["failed"])
    usage, cost = row[head:after], row[after:]
    return AttemptRecord(
        **facts,
        usage=None if usage[0] is None else Usage(*usage),
        cost=None if cost[-1] is None else Cost(*cost),
    )
