"""The SQLite file behind the store: opened at the first use, shared by kernels, never thrown away.

WAL with one statement a transaction: what was executed survives the end of the process, and readers
do not wait for writers. A corrupt file is renamed with its side files (SQLite would replay an old
``-wal`` into a new file) and a fresh one begun. A connection is never used, nor closed, by another
process than the one that opened it: closing a forked copy would drop the parent's locks.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from ..events import now

logger = logging.getLogger("smoke_monkey_nb")

Result = TypeVar("Result")
#: Another kernel's write is waited for at most this long.
BUSY_S = 2.0
#: Steps of the schema; ``PRAGMA user_version`` counts those a file has had. Only ever append.
MIGRATIONS = (
    """
    CREATE TABLE attempts (
        id INTEGER PRIMARY KEY, run_id, session_id, user_id, step, attempt, provider, model,
        started_at, duration_ms, ttft_ms, finish_reason, tool_calls, failed, error_code, cell_id,
        prompt_tokens, completion_tokens, total_tokens, cached_tokens, cache_write_tokens,
        reasoning_tokens, input_usd, output_usd, total_usd
    );
    CREATE INDEX attempts_by_session ON attempts (session_id);
    CREATE TABLE tool_calls (
        id INTEGER PRIMARY KEY, run_id, session_id, user_id, step, tool_call_id, tool_name, input,
        started_at, duration_ms, status, blocked, error_code, decision, decided_by, result, cell_id
    );
    CREATE TABLE conversations (session_id TEXT PRIMARY KEY, messages TEXT, updated_at TEXT);
    """,
    "CREATE INDEX attempts_by_time ON attempts (started_at);",
)
_SIDE_FILES = ("", "-wal", "-shm")
#: Connections of a parent process, kept so that collecting them does not close them here.
_inherited: list[sqlite3.Connection] = []


class Database:
    """One file, one connection. Any thread; one statement at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.set_aside: Path | None = None  # where a corrupt file was put
        self.lock = threading.RLock()  # its owner may hold it over several statements
        self._connection: sqlite3.Connection | None = None
        self._identity: tuple[int, int] | None = None
        self._finalizer: weakref.finalize[..., Any] | None = None
        _databases.add(self)

    def write(self, statement: str, values: Sequence[Any]) -> None:
        """Execute ``statement``; committed when it returns.

        Raises:
            sqlite3.Error, OSError: it could not be written.
        """
        with self.lock:
            self._sound(lambda connection: connection.execute(statement, values))

    def read(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """The rows of a query; none where there is no file.

        Raises:
            sqlite3.Error, OSError: it could not be read.
        """
        with self.lock:
            if not self.path.exists():
                return []
            return self._sound(lambda connection: connection.execute(query, values).fetchall())

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self.lock:
            if self._finalizer is not None:
                self._finalizer()
            self._connection = self._finalizer = None

    def forget(self) -> None:
        """In a forked child: leave the connection, and a lock that may be held, to the parent."""
        if self._connection is not None:
            _inherited.append(self._connection)
        if self._finalizer is not None:
            self._finalizer.detach()
        self._connection = self._finalizer = None
        self.lock = threading.RLock()

    def _sound(self, action: Callable[[sqlite3.Connection], Result]) -> Result:
        """Do ``action`` with the connection; once more with a fresh file if this one is corrupt."""
        try:
            return action(self._opened())
        except sqlite3.DatabaseError as error:
            if not _is_corruption(error):
                raise
        self._put_aside()
        return action(self._opened())

    def _opened(self) -> sqlite3.Connection:
        if self._connection is not None:
            if self._identity == _identity(self.path):
                return self._connection
            self.close()  # the file was removed or set aside by somebody: begin anew
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            # 0600 from the start, for conversations are private. Never open and close a file that
            # is there: that drops the locks which this process may hold on it.
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        self._identity = _identity(self.path)
        connection = sqlite3.connect(
            self.path, check_same_thread=False, isolation_level=None, timeout=BUSY_S
        )
        try:
            _prepare(connection)
        except BaseException:
            connection.close()
            raise
        self._connection = connection
        self._finalizer = weakref.finalize(self, connection.close)
        return connection

    def _put_aside(self) -> None:
        """Rename the corrupt file, unless another kernel did and began a fresh one."""
        self.close()
        if _identity(self.path) != self._identity:
            return
        aside = self.path.with_name(f"{self.path.stem}.corrupt-{now():%Y%m%d-%H%M%S-%f}.sqlite3")
        for ending in _SIDE_FILES:
            with contextlib.suppress(FileNotFoundError):
                Path(f"{self.path}{ending}").rename(f"{aside}{ending}")
        self.set_aside = aside
        logger.warning("the store was corrupt and has been set aside as %s", aside)


_databases: weakref.WeakSet[Database] = weakref.WeakSet()


def _forget_all() -> None:
    for database in tuple(_databases):
        database.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)


def _prepare(connection: sqlite3.Connection) -> None:
    # Changing the journal mode does not wait for other kernels as statements do: try for as long.
    deadline = time.monotonic() + BUSY_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            break
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
    # A killed process loses nothing in WAL with NORMAL; only a power cut may lose the last rows.
    connection.execute("PRAGMA synchronous = NORMAL")
    migrate(connection)


def migrate(connection: sqlite3.Connection, steps: Sequence[str] = MIGRATIONS) -> None:
    """Bring the schema up to date, in one transaction. A file from a later version stays as it
    is.
    """
    if _version(connection) >= len(steps):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another kernel may have done it while this one waited.
        for step in steps[_version(connection) :]:
            for statement in step.split(";"):
                connection.execute(statement)
        if _version(connection) < len(steps):
            connection.execute(f"PRAGMA user_version = {len(steps)}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _version(connection: sqlite3.Connection) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def _is_corruption(error: sqlite3.DatabaseError) -> bool:
    # "malformed" and "not a database" come as the bare class; a locked, full or read-only file, or
    # a wrong statement, as one of its subclasses.
    return type(error) is sqlite3.DatabaseError


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        facts = path.stat()
    except OSError:
        return None
    return facts.st_dev, facts.st_ino
