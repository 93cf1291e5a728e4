"""The store: what comes back, who may read it, and what happens when the disk fails."""

from __future__ import annotations

import os
import sqlite3
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from smoke_monkey_nb.records import ToolRecord
from smoke_monkey_nb.redact import remember_key
from smoke_monkey_nb.telemetry.database import MIGRATIONS, migrate
from smoke_monkey_nb.telemetry.store import RETRY_S, Store, data_directory, default_store

from .helpers import FAILED, START, attempt, tool_call

needs_posix = pytest.mark.skipif(os.name != "posix", reason="POSIX files")


def test_attempts_come_back_as_they_were(tmp_path: Path) -> None:
    records = [attempt(0), attempt(1, **FAILED), attempt(2, user_id="ada", started_at=START)]
    for record in records:
        assert Store(tmp_path).add_attempt(record) is None
    assert Store(tmp_path).attempts() == [records[0], records[2], records[1]]


def test_attempts_are_found_by_session_and_by_time(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for number, session in enumerate(["a", "b", "a", "b"]):
        store.add_attempt(attempt(number, session_id=session))
    since = START + timedelta(milliseconds=2)
    assert [a.run_id for a in store.attempts("a")] == ["run_0", "run_2"]
    assert [a.run_id for a in store.attempts(since=since)] == ["run_2", "run_3"]
    assert [a.run_id for a in store.attempts("b", since)] == ["run_3"]


def test_tool_calls_are_stored_whole(tmp_path: Path) -> None:
    store, record = Store(tmp_path), tool_call(result="é\x00\ud800" * 3, blocked=True)
    assert store.add_tool_call(record) is None
    with sqlite3.connect(store.path) as connection:
        connection.row_factory = sqlite3.Row
        (row,) = connection.execute("SELECT * FROM tool_calls").fetchall()
    connection.close()
    assert set(row.keys()) - {"id"} == {f.name for f in fields(ToolRecord)}
    assert (row["result"], row["blocked"]) == ("é\x00?" * 3, 1)


def test_a_conversation_comes_back_after_a_restart(tmp_path: Path) -> None:
    messages = [{"role": "user", "content": "grüß\ud800 dich"}, {"role": "assistant", "n": None}]
    Store(tmp_path).save_conversation("s1", [{"role": "user", "content": "old"}])
    assert Store(tmp_path).save_conversation("s1", messages) is None
    assert Store(tmp_path).load_conversation("s1") == messages
    assert Store(tmp_path).load_conversation("another") is None


def test_a_key_is_not_written_with_a_conversation(tmp_path: Path) -> None:
    remember_key("my-very-own-key-4711")
    store = Store(tmp_path)
    store.save_conversation("s1", [{"role": "tool", "content": "it is my-very-own-key-4711"}])
    store.close()
    assert b"4711" not in store.path.read_bytes()


@needs_posix
def test_the_files_are_for_their_owner_alone(tmp_path: Path) -> None:
    store = Store(tmp_path / "new" / "home")
    store.add_attempt(attempt())
    modes = {p.name: stat.S_IMODE(p.stat().st_mode) for p in store.path.parent.iterdir()}
    assert set(modes.values()) == {0o600}
    assert stat.S_IMODE(store.path.parent.stat().st_mode) == 0o700


def test_any_thread_may_write(tmp_path: Path) -> None:
    store = Store(tmp_path)

    def write(first: int) -> None:
        for number in range(first, first + 50):
            assert store.add_attempt(attempt(number)) is None

    threads = [threading.Thread(target=write, args=(first,)) for first in (0, 50, 100, 150)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.attempts() == [attempt(number) for number in range(200)]


def test_the_environment_names_the_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SMOKE_MONKEY_HOME", "here")
    assert data_directory() == tmp_path / "here"
    assert default_store() is default_store()
    monkeypatch.delenv("SMOKE_MONKEY_HOME")
    assert data_directory().name == "smoke-monkey"


def test_a_file_of_an_earlier_version_is_brought_up_to_date(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with sqlite3.connect(store.path) as connection:
        connection.isolation_level = None
        migrate(connection, MIGRATIONS[:1])
        connection.execute("INSERT INTO conversations VALUES ('s1', '[]', '')")
    connection.close()
    assert store.add_attempt(attempt()) is None
    assert store.load_conversation("s1") == []
    store.close()
    with sqlite3.connect(store.path) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS),)
    connection.close()


def test_a_file_of_a_later_version_is_used_and_left_as_it_is(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.add_attempt(attempt(0))
    store.close()
    with sqlite3.connect(store.path) as connection:
        connection.execute("ALTER TABLE attempts ADD COLUMN novelty")
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    assert store.add_attempt(attempt(1)) is None
    assert store.attempts() == [attempt(0), attempt(1)]


# -- a disk that fails -----------------------------------------------------------------------------


@contextmanager
def full_disk() -> Iterator[None]:
    """No file may grow beyond a few pages."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def no_permission(directory: Path) -> Iterator[None]:
    """Files here belong to somebody else."""
    if os.geteuid() == 0:
        os.seteuid(65534)
        try:
            yield
        finally:
            os.seteuid(0)
    else:
        directory.chmod(0o500)
        try:
            yield
        finally:
            directory.chmod(0o700)


def fill(store: Store, count: int = 200) -> list[Any]:
    """Write attempts and say which warnings came back."""
    warnings = [store.add_attempt(attempt(number)) for number in range(count)]
    return [warning for warning in warnings if warning is not None]


@needs_posix
def test_a_full_disk_is_reported_once_and_the_accounts_go_on(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with full_disk():
        warnings = fill(store)
        assert [w.code for w in warnings] == ["transport_store_failed"]
        assert "full" in warnings[0].message or "I/O" in warnings[0].message
        assert store.attempts() == [attempt(number) for number in range(200)]


@needs_posix
def test_what_a_full_disk_refused_is_written_once_there_is_room(tmp_path: Path) -> None:
    seconds = 0.0
    store = Store(tmp_path, clock=lambda: seconds)
    with full_disk():
        fill(store)
        store.save_conversation("s1", [{"role": "user", "content": "x"}])
        assert store.load_conversation("s1") == [{"role": "user", "content": "x"}]
    seconds = RETRY_S
    assert store.add_attempt(attempt(200)) is None
    assert Store(tmp_path).attempts() == [attempt(number) for number in range(201)]
    assert Store(tmp_path).load_conversation("s1") == [{"role": "user", "content": "x"}]


@needs_posix
def test_a_directory_without_permission_is_reported_once(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with no_permission(tmp_path):
        warnings = fill(store, 3)
    (warning,) = warnings
    assert (warning.code, warning.layer, warning.severity) == (
        "transport_store_failed",
        "transport",
        "warning",
    )
    assert str(tmp_path) in warning.hint
    assert store.attempts() == [attempt(0), attempt(1), attempt(2)]


def test_a_directory_that_cannot_be_made_is_reported_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    store = Store(tmp_path / "file" / "home")
    assert len(fill(store, 3)) == 1
    assert [a.run_id for a in store.attempts("s1")] == ["run_0", "run_1", "run_2"]


def test_a_file_that_another_process_keeps_locked_is_reported_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("smoke_monkey_nb.telemetry.database.BUSY_S", 0.05)
    store = Store(tmp_path)
    Store(tmp_path).add_attempt(attempt(99))
    other = sqlite3.connect(store.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert len(fill(store, 3)) == 1
    other.close()


# -- a file that is broken -------------------------------------------------------------------------


def set_aside(store: Store) -> Path:
    """The one file that was set aside."""
    (aside,) = store.path.parent.glob("*.corrupt-*.sqlite3")
    return aside


def test_a_corrupt_file_is_kept_aside_and_a_new_one_begun(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.path.write_bytes(b"this is no database" * 500)
    (warning,) = fill(store, 2)
    assert warning.code == "transport_store_failed"
    assert set_aside(store).name in warning.hint
    assert set_aside(store).read_bytes() == b"this is no database" * 500
    assert Store(tmp_path).attempts() == [attempt(0), attempt(1)]


def test_a_file_damaged_in_its_pages_is_set_aside_at_the_write_that_finds_it(
    tmp_path: Path,
) -> None:
    store = Store(tmp_path)
    fill(store, 500)
    store.close()
    size = store.path.stat().st_size
    with store.path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (size - 4096))
    (warning,) = fill(store, 2)
    assert str(set_aside(store)) in warning.hint
    assert set_aside(store).stat().st_size == size
    assert store.attempts() == [attempt(0), attempt(1)]


def test_a_file_that_two_kernels_have_open_is_set_aside_once_with_its_journal(
    tmp_path: Path,
) -> None:
    first, second = Store(tmp_path), Store(tmp_path)
    first.add_attempt(attempt(0))
    second.add_attempt(attempt(1))
    with sqlite3.connect(first.path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    with first.path.open("r+b") as file:
        file.write(b"?" * first.path.stat().st_size)
    late = Store(tmp_path)
    assert [len(fill(store, 1)) for store in (late, second, first)] == [1, 0, 0]
    assert Path(f"{set_aside(first)}-wal").exists()
    assert Store(tmp_path).attempts() == [attempt(0)] * 3


def test_an_empty_file_is_as_good_as_none(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.path.touch()
    assert fill(store, 1) == []
    assert list(tmp_path.glob("*.corrupt-*")) == []


def test_a_file_removed_meanwhile_is_made_anew(tmp_path: Path) -> None:
    store = Store(tmp_path)
    fill(store, 2)
    for path in tmp_path.iterdir():
        path.unlink()
    assert store.add_attempt(attempt(2)) is None
    assert Store(tmp_path).attempts() == [attempt(2)]


def test_a_conversation_that_is_no_json_reads_as_none(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.save_conversation("s1", [])
    store.close()
    with sqlite3.connect(store.path) as connection:
        connection.execute("UPDATE conversations SET messages = '{[' ")
    connection.close()
    assert store.load_conversation("s1") is None
