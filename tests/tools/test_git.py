"""Git's views: read-only, inside the workspace, and deaf to a repository's configuration."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from smoke_monkey_nb.tools.base import ToolContext
from smoke_monkey_nb.tools.errors import ToolError
from smoke_monkey_nb.tools.git import TOOLS, git_diff, git_log, git_status


def git(folder: Path, *arguments: str) -> None:
    identity = [
        "-c",
        "user.name=Ann",
        "-c",
        "user.email=a@example.org",
        "-c",
        "commit.gpgsign=false",
    ]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(workspace: Path) -> Path:
    git(workspace, "-c", "init.defaultBranch=main", "init", "-q", ".")
    (workspace / "a.py").write_text("x = 1\n")
    (workspace / ".env").write_text("KEY=1\n")
    (workspace / "sub").mkdir()
    (workspace / "sub/b.py").write_text("y = 1\n")
    git(workspace, "add", "-A")
    git(workspace, "commit", "-q", "-m", "Begin")
    return workspace


def test_a_clean_tree_is_said(context: ToolContext, repository: Path) -> None:
    assert git_status(context) == "## main\n(Nothing is changed.)"
    assert git_diff(context) == "Nothing is changed."
    assert git_diff(context, staged=True) == "Nothing is staged."


def test_changes_are_shown(context: ToolContext, repository: Path) -> None:
    (repository / "a.py").write_text("x = 2\n")
    (repository / "new.py").write_text("")
    (repository / "sub/b.py").write_text("y = 2\n")
    git(repository, "add", "sub/b.py")
    assert git_status(context).splitlines() == ["## main", " M a.py", "M  sub/b.py", "?? new.py"]
    assert "-x = 1\n+x = 2" in git_diff(context)
    assert "y = 2" not in git_diff(context)
    assert "-y = 1\n+y = 2" in git_diff(context, staged=True)
    assert git_diff(context, path="sub") == "Nothing is changed."
    assert "+x = 2" in git_diff(context, path="a.py")


def test_commits_are_listed(context: ToolContext, repository: Path) -> None:
    git(repository, "commit", "-q", "--allow-empty", "-m", "Go on")
    log = git_log(context, n=1)
    assert "Ann" in log
    assert log.splitlines()[1] == "    Go on"
    assert len(git_log(context).splitlines()) == 4


def test_a_part_of_a_repository_sees_its_part(context: ToolContext, repository: Path) -> None:
    (repository / "a.py").write_text("x = 2\n")
    git(repository, "commit", "-q", "-am", "Outside")
    (repository / "a.py").write_text("x = 3\n")
    part = replace(context, workspace=repository / "sub")
    assert git_status(part) == "## main\n(Nothing is changed.)"
    assert git_diff(part) == "Nothing is changed."
    assert "Outside" not in git_log(part)
    with pytest.raises(ToolError, match="outside the workspace"):
        git_diff(part, path="../a.py")


def test_changes_of_secret_files_are_left_out_until_named(
    context: ToolContext, repository: Path
) -> None:
    (repository / ".env").write_text("KEY=2\n")
    (repository / "a.py").write_text("x = 2\n")
    shown = git_diff(context)
    assert "KEY" not in shown
    assert "+x = 2" in shown
    assert "(Left out, as they usually hold secrets: .env." in shown
    assert "+KEY=2" in git_diff(context, path=".env")
    asks = next(t for t in TOOLS if t.name == "git_diff").asks
    assert asks is not None
    assert asks({}, context) is None
    assert "usually holds secrets" in (asks({"path": "./.env"}, context) or "")


def test_no_program_of_the_repository_runs(context: ToolContext, repository: Path) -> None:
    traps = {
        "core.fsmonitor": "1", "diff.external": "2", "filter.x.clean": "3", "filter.x.process": "4",
        "diff.d.textconv": "5", "diff.d.command": "6", "gpg.program": "7", "core.pager": "8",
        "core.sshCommand": "9",
    }  # fmt: skip
    for setting, number in traps.items():
        git(repository, "config", setting, f"touch {repository}/ran{number}; cat")
    git(repository, "config", "log.showSignature", "true")
    git(repository, "config", "core.hooksPath", str(repository / "hooks"))
    (repository / "hooks").mkdir()
    for hook in ("post-index-change", "reference-transaction"):
        (repository / "hooks" / hook).write_text(f"#!/bin/sh\ntouch {repository}/ran-hook\n")
        (repository / "hooks" / hook).chmod(0o755)
    (repository / ".gitattributes").write_text("*.py filter=x diff=d\n")
    (repository / "a.py").write_text("x = 2\n")
    git_status(context)
    assert "+x = 2" in git_diff(context)
    git_diff(context, staged=True)
    git_log(context)
    assert [p.name for p in repository.iterdir() if p.name.startswith("ran")] == []


def test_variables_that_steer_git_are_not_passed_on(
    context: ToolContext, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", f"touch {repository}/ran;")
    (repository / "a.py").write_text("x = 2\n")
    assert "+x = 2" in git_diff(context)
    assert not (repository / "ran").exists()


def test_a_repository_without_commits_is_said(context: ToolContext, workspace: Path) -> None:
    git(workspace, "-c", "init.defaultBranch=main", "init", "-q", ".")
    assert git_log(context) == "There are no commits."
    assert git_status(context).startswith("## No commits yet on main")


def test_no_repository_is_said(context: ToolContext, monkeypatch: pytest.MonkeyPatch) -> None:
    for view in (git_status, git_diff, git_log):
        with pytest.raises(ToolError, match="not in a git repository"):
            view(context)
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(ToolError, match="not installed"):
        git_status(context)


def test_all_are_read_only() -> None:
    assert all(tool.read_only for tool in TOOLS)
