"""Shared fixtures: an own data directory, no keys, and no network but loopback for every test."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from smoke_monkey_nb.providers.catalog import PROVIDERS


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The tests that keep one browser open come last: its driver occupies this thread's loop."""
    items.sort(key=lambda item: "tests/browser" in item.path.as_posix())


@pytest.fixture(autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Each test has its own store and no key of the machine's."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("SMOKE_MONKEY_HOME", str(home))
    for spec in PROVIDERS.values():
        for variable in spec.key_variables:
            monkeypatch.delenv(variable, raising=False)
    for variable in ("SMOKE_MONKEY_MODEL", "SMOKE_MONKEY_VIEW", "OPENAI_BASE_URL", "OLLAMA_HOST"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("SMOKE_MONKEY_DEMO_PACE", "0")
    return home


@pytest.fixture(autouse=True)
def loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any real network call fails."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: object) -> None:
        host = address[0] if isinstance(address, tuple) else None
        if host is not None and host not in ("127.0.0.1", "::1", "localhost"):
            raise OSError(f"tests may not connect to {host}")
        connect(self, address)  # type: ignore[arg-type]

    monkeypatch.setattr(socket.socket, "connect", guarded)
