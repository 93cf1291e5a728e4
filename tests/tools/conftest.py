"""A workspace, and a context whose interaction notes what a tool asks of it."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from smoke_monkey_nb.tools.base import ToolContext


@dataclass
class NotingInteraction:
    """Answers questions from ``answer`` and keeps everything else."""

    answer: str | None = None
    shown: list[str] = field(default_factory=list)
    asked: list[tuple[str, Sequence[str] | None]] = field(default_factory=list)
    lists: list[Sequence[Mapping[str, Any]]] = field(default_factory=list)

    def output(self, text: str) -> None:
        self.shown.append(text)

    async def ask(self, question: str, choices: Sequence[str] | None) -> str | None:
        self.asked.append((question, choices))
        return self.answer

    def todos(self, items: Sequence[Mapping[str, Any]]) -> None:
        self.lists.append(items)


@pytest.fixture
def interaction() -> NotingInteraction:
    return NotingInteraction()


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A workspace with a secret beside it."""
    (tmp_path / "outside.txt").write_text("outside")
    root = tmp_path / "workspace"
    root.mkdir()
    return root.resolve()


@pytest.fixture
def context(workspace: Path, interaction: NotingInteraction) -> ToolContext:
    return ToolContext("call_1", workspace, "run_1", "session_1", interaction, {})


@pytest.fixture(autouse=True)
def no_open_figures() -> None:
    """A figure that another test left open would be drawn into instead of a new one."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.close("all")
