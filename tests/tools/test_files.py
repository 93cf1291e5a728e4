"""File tools: pages, atomic writes, edits, the trash, previews, and what asks."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path
from typing import Any

import pytest

from smoke_monkey_nb.tools.base import Tool, ToolContext
from smoke_monkey_nb.tools.edits import TRASH
from smoke_monkey_nb.tools.errors import ToolError
from smoke_monkey_nb.tools.files import TOOLS
from smoke_monkey_nb.tools.walking import files
from smoke_monkey_nb.tools.workspace import Workspace

BY_NAME: dict[str, Tool] = {tool.name: tool for tool in TOOLS}


def call(context: ToolContext, name: str, **arguments: Any) -> str:
    tool = BY_NAME[name]
    return str(tool.function(**tool.validate(arguments), context=context))


def preview(context: ToolContext, name: str, **arguments: Any) -> tuple[str, str]:
    make = BY_NAME[name].preview
    assert make is not None
    shown = make(arguments, context)
    return shown.kind, shown.text


def test_lines_are_numbered_and_paged(context: ToolContext, workspace: Path) -> None:
    (workspace / "a.txt").write_text("".join(f"line {n}\n" for n in range(1, 11)))
    assert call(context, "read_file", path="a.txt", offset=4, limit=2) == (
        "     4\tline 4\n     5\tline 5\n(Lines 4 to 5 of 10; go on with offset=6.)"
    )
    assert call(context, "read_file", path="a.txt", offset=10) == "    10\tline 10"
    with pytest.raises(ToolError, match="has 10 lines; line 11 is beyond its end"):
        call(context, "read_file", path="a.txt", offset=11)


def test_a_page_ends_where_a_result_would_be_cut(context: ToolContext, workspace: Path) -> None:
    (workspace / "a.txt").write_text("x" * 999 + "\n" + ("y" * 99 + "\n") * 1_000)
    text = call(context, "read_file", path="a.txt")
    assert len(text) < 30_000
    assert "of 1,001; go on with offset=" in text


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", "(The file is empty.)"),
        (b"a\r\nb", "     1\ta\n     2\tb"),
        ("ä\n".encode(), "     1\tä"),
        ("ä\n".encode("utf-8-sig"), "     1\tä"),
        ("ä\nb".encode("utf-16"), "     1\tä\n     2\tb"),
        ("ä".encode("latin-1"), "     1\tä"),
        (b"\x1b[31mred\x1b[0m", "     1\tred"),
        (b"z" * 9_000 + b"\nnext", f"     1\t{'z' * 2_000}… (line cut)\n     2\tnext"),
    ],
)
def test_text_of_any_encoding_is_read(
    context: ToolContext, workspace: Path, data: bytes, text: str
) -> None:
    (workspace / "a.txt").write_bytes(data)
    assert call(context, "read_file", path="a.txt") == text


def test_a_binary_file_is_refused(context: ToolContext, workspace: Path) -> None:
    (workspace / "a.bin").write_bytes(b"PK\x03\x04\x00\x00")
    with pytest.raises(ToolError, match=r"'a\.bin' is a binary file of 6 bytes"):
        call(context, "read_file", path="a.bin")


def test_a_folder_is_listed(context: ToolContext, workspace: Path) -> None:
    (workspace / "data").mkdir()
    (workspace / "b.csv").write_text("12345")
    os.symlink("b.csv", workspace / "link")
    os.mkfifo(workspace / "pipe")
    assert call(context, "list_directory") == (
        "b.csv  (5 bytes)\ndata/\nlink -> b.csv\npipe  (special)"
    )
    assert call(context, "list_directory", path="data") == "(The folder is empty.)"


def test_a_file_is_created_with_its_folders(context: ToolContext, workspace: Path) -> None:
    done = call(context, "write_file", path="a/b/c.txt", content="one\ntwo\n")
    assert done == "Created a/b/c.txt (2 lines, 8 bytes)."
    assert (workspace / "a/b/c.txt").read_text() == "one\ntwo\n"


def test_a_replaced_file_keeps_its_mode_and_leaves_nothing_beside_it(
    context: ToolContext, workspace: Path
) -> None:
    script = workspace / "run.sh"
    script.write_text("old")
    script.chmod(0o751)
    call(context, "write_file", path="run.sh", content="new")
    assert (script.read_text(), stat.S_IMODE(script.stat().st_mode)) == ("new", 0o751)
    assert os.listdir(workspace) == ["run.sh"]


def test_readers_never_see_half_a_file(context: ToolContext, workspace: Path) -> None:
    (workspace / "a.txt").write_text("old")
    with (workspace / "a.txt").open() as reader:
        call(context, "write_file", path="a.txt", content="new")
        assert reader.read() == "old"


def test_a_read_only_file_is_not_replaced(context: ToolContext, workspace: Path) -> None:
    (workspace / "a.txt").write_text("old")
    (workspace / "a.txt").chmod(0o444)
    with pytest.raises(ToolError, match="read-only"):
        call(context, "write_file", path="a.txt", content="new")


def test_text_that_is_no_unicode_is_refused(context: ToolContext, workspace: Path) -> None:
    with pytest.raises(ToolError, match="half a surrogate pair"):
        call(context, "write_file", path="a.txt", content="a\ud800")
    assert os.listdir(workspace) == []


def test_one_passage_is_replaced(context: ToolContext, workspace: Path) -> None:
    (workspace / "a.py").write_text("x = 1\ny = 2\n")
    done = call(context, "edit_file", path="a.py", old="y = 2", new="y = 3")
    assert done.startswith("Edited a.py (1 replacement).\n--- a/a.py")
    assert (workspace / "a.py").read_text() == "x = 1\ny = 3\n"


def test_an_ambiguous_edit_is_refused_with_the_lines(context: ToolContext, workspace: Path) -> None:
    (workspace / "a.py").write_text("x\ny\nx\n")
    with pytest.raises(ToolError, match=r"found 2 times in 'a\.py' \(lines 1, 3\)"):
        call(context, "edit_file", path="a.py", old="x", new="z")
    call(context, "edit_file", path="a.py", old="x", new="z", replace_all=True)
    assert (workspace / "a.py").read_text() == "z\ny\nz\n"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("nope", "x", "old is not found"),
        ("  y\nz", "x", "its first line is found in line 2"),
        ("", "x", "old is empty"),
        ("y", "y", "the same"),
    ],
)
def test_an_edit_that_cannot_be_made_says_why(
    context: ToolContext, workspace: Path, old: str, new: str, words: str
) -> None:
    (workspace / "a.txt").write_text("x\ny\n")
    with pytest.raises(ToolError, match=words):
        call(context, "edit_file", path="a.txt", old=old, new=new)


def test_edits_at_the_same_time_lose_nothing(context: ToolContext, workspace: Path) -> None:
    (workspace / "a.txt").write_text("".join(f"<{n}>\n" for n in range(20)))
    threads = [
        threading.Thread(
            target=call,
            args=(context, "edit_file"),
            kwargs={"path": "a.txt", "old": f"<{n}>", "new": f"[{n}]"},
        )
        for n in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (workspace / "a.txt").read_text() == "".join(f"[{n}]\n" for n in range(20))


def test_files_work_without_folder_handles(
    context: ToolContext, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("smoke_monkey_nb.tools.workspace._BY_HANDLE", False)
    call(context, "write_file", path="new/a.txt", content="one\n")
    call(context, "edit_file", path="new/a.txt", old="one", new="two")
    assert call(context, "read_file", path="new/../new/a.txt") == "     1\ttwo"
    assert call(context, "list_directory") == "new/"
    call(context, "delete_file", path="new/a.txt")
    assert call(context, "list_directory", path="new") == "(The folder is empty.)"
    found = [f.path for f in files(Workspace(workspace), ".")]
    assert found == []  # the trash is not searched


def test_an_edit_keeps_windows_line_ends(context: ToolContext, workspace: Path) -> None:
    (workspace / "a.txt").write_bytes(b"a\r\nb\r\nc\r\n")
    call(context, "edit_file", path="a.txt", old="a\nb", new="1\n2")
    assert (workspace / "a.txt").read_bytes() == b"1\r\n2\r\nc\r\n"


def test_a_deleted_file_is_in_the_trash(context: ToolContext, workspace: Path) -> None:
    (workspace / "sub").mkdir()
    (workspace / "sub/a.txt").write_text("keep me")
    done = call(context, "delete_file", path="sub/a.txt")
    (kept,) = (workspace / TRASH).iterdir()
    assert kept.read_text() == "keep me"
    assert done == f"Deleted sub/a.txt; it is kept as {TRASH}/{kept.name}."
    assert (workspace / ".smoke-monkey/.gitignore").read_text() == "*\n"
    assert not (workspace / "sub/a.txt").exists()


def test_deleting_a_link_leaves_its_target(context: ToolContext, workspace: Path) -> None:
    (workspace / "a.txt").write_text("x")
    os.symlink("a.txt", workspace / "link")
    os.symlink("/etc/passwd", workspace / "out")
    call(context, "delete_file", path="link")
    call(context, "delete_file", path="out")
    assert sorted(os.listdir(workspace)) == [".smoke-monkey", "a.txt"]


@pytest.mark.parametrize("path", ["nope", ".", "sub", "../outside.txt"])
def test_only_a_file_of_the_workspace_is_deleted(
    context: ToolContext, workspace: Path, path: str
) -> None:
    (workspace / "sub").mkdir()
    with pytest.raises(ToolError):
        call(context, "delete_file", path=path)
    assert (workspace.parent / "outside.txt").exists()


def test_a_trash_that_leads_out_is_refused(context: ToolContext, workspace: Path) -> None:
    os.symlink("..", workspace / ".smoke-monkey")
    (workspace / "a.txt").write_text("x")
    with pytest.raises(ToolError, match="outside"):
        call(context, "delete_file", path="a.txt")
    assert (workspace / "a.txt").exists()


def test_previews_are_diffs_and_change_nothing(context: ToolContext, workspace: Path) -> None:
    (workspace / "a.txt").write_text("".join(f"{n}\n" for n in range(1, 21)))
    before = (workspace / "a.txt").read_text()
    kind, text = preview(context, "edit_file", path="a.txt", old="\n10\n", new="\nten\n")
    assert kind == "diff"
    assert text.splitlines() == [
        "--- a/a.txt", "+++ b/a.txt", "@@ -7,7 +7,7 @@",
        " 7", " 8", " 9", "-10", "+ten", " 11", " 12", " 13",
    ]  # fmt: skip
    kind, text = preview(context, "write_file", path="new/b.txt", content="x\ny")
    assert (kind, text) == ("diff", "--- /dev/null\n+++ b/new/b.txt\n@@ -0,0 +1,2 @@\n+x\n+y")
    kind, text = preview(context, "delete_file", path="a.txt")
    assert "Moves a.txt" in text
    assert os.listdir(workspace) == ["a.txt"]
    assert (workspace / "a.txt").read_text() == before


def test_a_preview_shows_the_whole_of_a_large_rewrite_at_once(
    context: ToolContext, workspace: Path
) -> None:
    (workspace / "a.txt").write_text("".join(f"old {n}\n" for n in range(20_000)))
    content = "".join(f"new {n}\n" for n in range(20_000))
    _, text = preview(context, "write_file", path="a.txt", content=content)
    assert text.count("\n-old") == text.count("\n+new") == 20_000


def test_a_preview_of_an_impossible_call_raises(context: ToolContext) -> None:
    for arguments in ({"path": "../x", "content": ""}, {"path": "/etc/x", "content": ""}):
        with pytest.raises(ToolError):
            preview(context, "write_file", **arguments)


def test_reading_a_secret_asks_under_every_name(context: ToolContext, workspace: Path) -> None:
    asks = BY_NAME["read_file"].asks
    assert asks is not None
    (workspace / ".env").write_text("KEY=1")
    os.symlink(".env", workspace / "notes.txt")
    for path in (".env", "./.env", "notes.txt", str(workspace / ".env"), "x/.aws/credentials"):
        assert "usually holds secrets" in (asks({"path": path}, context) or "")
    assert asks({"path": "README.md"}, context) is None


def test_rules_see_the_real_path(context: ToolContext, workspace: Path) -> None:
    subject = BY_NAME["write_file"].subject
    assert subject is not None
    (workspace / "secret").mkdir()
    os.symlink("secret", workspace / "plain")
    for path in ("secret/x", "./a/../secret/x", "plain/x", str(workspace / "secret/x")):
        (workspace / "a").mkdir(exist_ok=True)
        assert subject({"path": path}, context) == "secret/x"


def test_which_file_tools_change_something() -> None:
    mutating = {t.name for t in TOOLS if not t.read_only}
    assert mutating == {"write_file", "edit_file", "delete_file"}
    assert all(t.preview and t.subject and t.summary for t in TOOLS if not t.read_only)
