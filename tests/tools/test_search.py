"""``glob`` and ``grep``: what git sees, bounded in time and size."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from smoke_monkey_nb.tools import search
from smoke_monkey_nb.tools.base import ToolContext
from smoke_monkey_nb.tools.errors import ToolError
from smoke_monkey_nb.tools.globs import Glob
from smoke_monkey_nb.tools.walking import files
from smoke_monkey_nb.tools.workspace import Workspace


@pytest.fixture
def tree(workspace: Path) -> Path:
    for path, text in {
        "a.py": "import os\nprint('ä')\n",
        "b.csv": "x,y\n1,2\n",
        "sub/c.py": "import sys\n",
        "sub/deep/d.py": "IMPORT = 1\n",
        "build/out.py": "import built\n",
        "x.log": "import\n",
        "keep.log": "import\n",
        ".env": "KEY=import\n",
        ".gitignore": "*.log\n!keep.log\nbuild/\n",
        "sub/.gitignore": "/deep/e.py\n",
        "sub/deep/e.py": "import ignored\n",
        ".git/config": "import",
    }.items():
        (workspace / path).parent.mkdir(parents=True, exist_ok=True)
        (workspace / path).write_text(text)
    (workspace / "data.bin").write_bytes(b"import\x00")
    os.symlink("/etc", workspace / "etc")
    os.symlink("..", workspace / "up")
    return workspace


def glob(context: ToolContext, **arguments: Any) -> list[str]:
    return search.glob(context=context, **arguments).splitlines()


def grep(context: ToolContext, **arguments: Any) -> list[str]:
    return search.grep(context=context, **arguments).splitlines()


@pytest.mark.usefixtures("tree")
@pytest.mark.parametrize(
    ("pattern", "path", "found"),
    [
        ("*.py", ".", ["a.py"]),
        ("**/*.py", ".", ["a.py", "sub/c.py", "sub/deep/d.py"]),
        ("*.{csv,log}", ".", ["b.csv", "keep.log"]),
        ("*.py", "sub", ["sub/c.py"]),
        ("**/d*", "sub", ["sub/deep/d.py"]),
        ("sub/**", ".", ["sub/.gitignore", "sub/c.py", "sub/deep/d.py"]),
        ("[ab].*", ".", ["a.py", "b.csv"]),
        ("deep/?.py", "sub", ["sub/deep/d.py"]),
        ("*.nope", ".", ["No file matches '*.nope'."]),
    ],
)
def test_files_are_found_by_name(
    context: ToolContext, pattern: str, path: str, found: list[str]
) -> None:
    assert glob(context, pattern=pattern, path=path) == found


@pytest.mark.usefixtures("tree")
@pytest.mark.parametrize(
    "arguments",
    [
        {"pattern": "../*"},
        {"pattern": "/etc/*"},
        {"pattern": ""},
        {"pattern": "*", "path": "etc"},
        {"pattern": "*", "path": "up"},
        {"pattern": "*", "path": "nope"},
        {"pattern": "{a,b}" * 10},
    ],
)
def test_a_search_does_not_leave_the_workspace(
    context: ToolContext, arguments: dict[str, str]
) -> None:
    with pytest.raises(ToolError):
        glob(context, **arguments)


def test_the_walk_agrees_with_git(tree: Path) -> None:
    (tree / ".git/config").unlink()
    (tree / ".git").rmdir()
    git = ["git", "-c", "init.defaultBranch=main"]
    subprocess.run([*git, "init", "-q", "."], cwd=tree, check=True)
    for name in ("sub/q.tmp", "sub/deep/r.tmp", "doc/a b.txt", "ä.py"):
        (tree / name).parent.mkdir(exist_ok=True)
        (tree / name).write_text("")
    (tree / ".git/info/exclude").write_text("*.tmp\n")
    (tree / "sub/deep/.gitignore").write_text("!r.tmp\n")
    listed = subprocess.run(
        [*git, "-c", "core.quotePath=false", "ls-files", "-co", "--exclude-standard"],
        cwd=tree, check=True, capture_output=True, text=True,
    ).stdout.splitlines()  # fmt: skip
    found = [
        file.path for file in files(Workspace(tree), ".") if not (tree / file.path).is_symlink()
    ]
    assert sorted(found) == sorted(name for name in listed if not (tree / name).is_symlink())
    below = [file.path for file in files(Workspace(tree), "sub/deep")]
    assert below == ["sub/deep/.gitignore", "sub/deep/d.py", "sub/deep/r.tmp"]


def test_the_walk_is_the_same_without_folder_handles(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [file.path for file in files(Workspace(tree), ".")]
    monkeypatch.setattr("smoke_monkey_nb.tools.workspace._BY_HANDLE", False)
    walked = list(files(Workspace(tree), "."))
    assert [file.path for file in walked] == paths
    deep = next(file for file in walked if file.path == "sub/deep/d.py")
    assert deep.place().read(100) == b"IMPORT = 1\n"


@pytest.mark.usefixtures("tree")
@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        (
            {"pattern": "^import"},
            ["(3 lines in 3 files)", "a.py:1: import os", "keep.log:1: import",
             "sub/c.py:1: import sys"],
        ),
        (
            {"pattern": "import", "ignore_case": True, "path": "sub"},
            ["(2 lines in 2 files)", "sub/c.py:1: import sys", "sub/deep/d.py:1: IMPORT = 1"],
        ),
        ({"pattern": "ä"}, ["(1 line in 1 file)", "a.py:2: print('ä')"]),
        ({"pattern": r"\d,\d", "glob": "*.csv"}, ["(1 line in 1 file)", "b.csv:2: 1,2"]),
        ({"pattern": "import", "path": "a.py"}, ["(1 line in 1 file)", "a.py:1: import os"]),
        ({"pattern": "KEY", "path": ".env"}, ["(1 line in 1 file)", ".env:1: KEY=import"]),
        ({"pattern": "nowhere", "path": "sub"}, ["No line matches."]),
    ],
)  # fmt: skip
def test_lines_are_found(context: ToolContext, arguments: dict[str, Any], lines: list[str]) -> None:
    found = [line for line in grep(context, **arguments) if not line.startswith("(Not searched")]
    assert found == lines


@pytest.mark.usefixtures("tree")
def test_files_with_secrets_are_passed_over_and_asked_for_by_name(context: ToolContext) -> None:
    lines = grep(context, pattern="KEY")
    assert lines == [
        "No line matches.", "(Not searched, as they usually hold secrets: 1 file.)",
    ]  # fmt: skip
    tool = next(t for t in search.TOOLS if t.name == "grep")
    assert tool.asks is not None
    assert tool.asks({"pattern": "x", "path": "."}, context) is None
    assert "usually holds secrets" in (tool.asks({"pattern": "x", "path": ".env"}, context) or "")


@pytest.mark.parametrize("pattern", ["(", "a{2,1}", "[", "*", r"\p"])
def test_a_wrong_expression_says_what_is_wrong(context: ToolContext, pattern: str) -> None:
    with pytest.raises(ToolError, match="no regular expression"):
        grep(context, pattern=pattern)


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*b", "(a|aa)+$"])
def test_an_evil_expression_is_ended(
    context: ToolContext, workspace: Path, pattern: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "_TIME_S", 0.5)
    (workspace / "a.txt").write_text("a" * 60 + "!\n")
    started = time.perf_counter()
    lines = grep(context, pattern=pattern)
    assert time.perf_counter() - started < 5
    assert lines[1] == "(Stopped at a.txt: the pattern takes too long; simplify it.)"


def test_an_expression_that_is_costly_to_compile_is_ended(
    context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "_TIME_S", 0.0001)
    with pytest.raises(ToolError, match="takes too long to compile"):
        grep(context, pattern="(a|b)c")


def test_many_matches_and_long_lines_are_bounded(context: ToolContext, workspace: Path) -> None:
    (workspace / "a.txt").write_text(f"{'x' * 5_000}needle{'y' * 5_000}\n" * 600)
    lines = grep(context, pattern="needle")
    assert len(lines) == 502
    assert all("needle" in line for line in lines[1:-1])
    assert max(map(len, lines)) < 400
    assert lines[-1] == "(Stopped after 500 lines; narrow the search.)"


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("**", "a/b/c", True),
        ("a/**/c", "a/c", True),
        ("a/**/c", "a/x/y/c", True),
        ("a/*/c", "a/x/y/c", False),
        ("**/b/**", "a/b/c", True),
        ("**/*.py", "x.py", True),
        ("*", "a/b", False),
        (".*", ".env", True),
        ("*.PY", "a.py", False),
    ],
)
def test_globs_follow_the_usual_rules(pattern: str, path: str, fits: bool) -> None:
    assert Glob(pattern).matches(path) is fits


def test_no_glob_takes_long() -> None:
    started = time.perf_counter()
    Glob("**/" * 40 + "*a" * 40 + "b").matches("/".join(["a" * 200] * 40))
    assert time.perf_counter() - started < 1
