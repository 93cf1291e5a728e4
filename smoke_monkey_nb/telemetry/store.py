"""The store on disk: attempts, tool calls and named conversations in one SQLite file (WAL).

A record is committed before the call returns, so a killed kernel loses nothing that was reported.
What goes wrong (full or read-only disk) is reported once as ``transport_store_failed``; the run
then goes on in memory. A corrupt file is set aside, never deleted. Several kernels may share the
file.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import sqlite3
import threading
from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..errors import AgentErrorInfo, error_info
from ..events import now
from ..records import AttemptRecord, ToolRecord
from ..usage import Cost, Usage

logger = logging.getLogger("smoke_monkey_nb")

FILE_NAME = "smoke-monkey.sqlite3"
SCHEMA_VERSION = 1
#: Another kernel's write is waited for at most this long.
BUSY_MS = 2_000

_USAGE = tuple(f.name for f in fields(Usage))
_COST = ("input_usd", "output_usd", "total_usd")
_ATTEMPT = tuple(f.name for f in fields(AttemptRecord) if f.name not in ("usage", "cost"))
_TOOL = tuple(f.name for f in fields(ToolRecord))
_SCHEMA = f"""
CREATE TABLE attempts (id INTEGER PRIMARY KEY, {", ".join((*_ATTEMPT, *_USAGE, *_COST))});
CREATE INDEX attempts_by_session ON attempts (session_id);
CREATE TABLE tool_calls (id INTEGER PRIMARY KEY, {", ".join(_TOOL)});
CREATE TABLE conversations (session_id TEXT PRIMARY KEY, messages TEXT, updated_at TEXT);
PRAGMA user_version = {SCHEMA_VERSION};
"""


def data_directory() -> Path:
    """Where the store lives: ``SMOKE_MONKEY_HOME``, else the user's data directory."""
    home = os.environ.get("SMOKE_MONKEY_HOME")
    if home:
        return Path(home).expanduser()
    from platformdirs import user_data_path

    return user_data_path("smoke-monkey", appauthor=False)


class Store:
    """One SQLite file, opened at the first use. Any thread; survives a fork by opening anew."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / FILE_NAME
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._pid = 0
        self._broken = False

    def add_attempt(self, record: AttemptRecord) -> AgentErrorInfo | None:
        """Write an attempt; returns the failure to report, once."""
        usage: list[Any] = [None] * len(_USAGE)
        if record.usage is not None:
            usage = [getattr(record.usage, name) for name in _USAGE]
        cost: list[Any] = [None] * len(_COST)
        if record.cost is not None:
            cost = [getattr(record.cost, name) for name in _COST]
        values = [_plain(getattr(record, name)) for name in _ATTEMPT]
        return self._insert("attempts", (*_ATTEMPT, *_USAGE, *_COST), [*values, *usage, *cost])

    def add_tool_call(self, record: ToolRecord) -> AgentErrorInfo | None:
        """Write a tool call; returns the failure to report, once."""
        return self._insert("tool_calls", _TOOL, [_plain(getattr(record, n)) for n in _TOOL])

    def attempts(self, session: str | None = None) -> list[AttemptRecord]:
        """The attempts on disk, oldest first; of one session, or all."""
        where, values = ("WHERE session_id = ?", (session,)) if session is not None else ("", ())
        rows = self._read(f"SELECT * FROM attempts {where} ORDER BY started_at, id", values)  # noqa: S608 - fixed text
        return [_attempt(row) for row in rows]

    def save_conversation(
        self, session_id: str, messages: Sequence[Mapping[str, Any]]
    ) -> AgentErrorInfo | None:
        """Write a session's conversation; returns the failure to report, once."""
        text = json.dumps(list(messages), ensure_ascii=True)
        columns = ("session_id", "messages", "updated_at")
        return self._insert("conversations", columns, [session_id, text, now().isoformat()])

    def load_conversation(self, session_id: str) -> list[dict[str, Any]] | None:
        """A session's conversation, ``None`` if there is none (or none that can be read)."""
        query = "SELECT messages FROM conversations WHERE session_id = ?"
        rows = self._read(query, (session_id,))
        if not rows:
            return None
        try:
            messages = json.loads(rows[0]["messages"])
        except ValueError:
            logger.warning("the stored conversation %r cannot be read", session_id)
            return None
        return messages if isinstance(messages, list) else None

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            if self._connection is not None and self._pid == os.getpid():
                self._connection.close()
            self._connection = None

    def _insert(
        self, table: str, columns: Sequence[str], values: Sequence[Any]
    ) -> AgentErrorInfo | None:
        marks = ", ".join("?" * len(columns))
        statement = f"INSERT OR REPLACE INTO {table} ({', '.join(columns)}) VALUES ({marks})"  # noqa: S608 - our names
        with self._lock:
            if self._broken:
                return None
            try:
                self._open().execute(statement, values)
            except (sqlite3.Error, OSError) as error:
                return self._fail(error)
        return None

    def _read(self, query: str, values: Sequence[Any]) -> list[sqlite3.Row]:
        with self._lock:
            if self._broken or not self.path.exists():
                return []
            try:
                return self._open().execute(query, values).fetchall()
            except (sqlite3.Error, OSError) as error:
                logger.warning("the store %s cannot be read: %s", self.path, error)
                return []

    def _open(self) -> sqlite3.Connection:
        if self._connection is not None and self._pid == os.getpid():
            return self._connection
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            self._connection = _connect(self.path)
        except sqlite3.OperationalError:  # locked, full, read-only: the file itself is sound
            raise
        except sqlite3.DatabaseError:
            aside = self.path.with_suffix(f".corrupt-{now():%Y%m%d-%H%M%S-%f}")
            self.path.rename(aside)
            logger.warning("the store was corrupt and has been set aside as %s", aside)
            self._connection = _connect(self.path)
        self._pid = os.getpid()
        return self._connection

    def _fail(self, error: Exception) -> AgentErrorInfo:
        self._broken = True
        with contextlib.suppress(sqlite3.Error):
            self.close()
        return error_info(
            "transport_store_failed",
            f"The ledger cannot be written to disk ({error}); it goes on in memory.",
            hint=f"Make room or permission at {self.path.parent}, then restart the kernel.",
            details={"path": str(self.path)},
        )


def _connect(path: Path) -> sqlite3.Connection:
    # 0600 from the start: conversations are private
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    connection = sqlite3.connect(
        path, check_same_thread=False, isolation_level=None, timeout=BUSY_MS / 1000
    )
    try:
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA journal_mode = WAL")
        # A killed process loses nothing in WAL with NORMAL; only a power cut may lose the last
        # rows.
        connection.execute("PRAGMA synchronous = NORMAL")
        _migrate(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _migrate(connection: sqlite3.Connection) -> None:
    if connection.execute("PRAGMA user_version").fetchone()[0] >= SCHEMA_VERSION:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another kernel may have made the tables while this one waited.
        if connection.execute("PRAGMA user_version").fetchone()[0] < SCHEMA_VERSION:
            for statement in _SCHEMA.split(";"):
                connection.execute(statement)
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value


def _attempt(row: sqlite3.Row) -> AttemptRecord:
    facts: dict[str, Any] = {name: row[name] for name in _ATTEMPT}
    facts["started_at"] = datetime.fromisoformat(facts["started_at"])
    facts["failed"] = bool(facts["failed"])
    known = row["prompt_tokens"] is not None
    usage = Usage(*(row[name] for name in _USAGE)) if known else None
    cost = Cost(*(row[name] for name in _COST)) if row["total_usd"] is not None else None
    return AttemptRecord(**facts, usage=usage, cost=cost)


@lru_cache(maxsize=8)
def _store_at(directory: Path) -> Store:
    return Store(directory)


def default_store() -> Store:
    """The store of this user; the same object for the same directory."""
    return _store_at(data_directory())
