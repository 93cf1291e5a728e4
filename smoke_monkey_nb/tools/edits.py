"""The rules of changing files: what may be edited or deleted, and what an edit makes of a text."""

from __future__ import annotations

import stat

from .errors import ToolError, WorkspaceError
from .file_text import is_binary
from .place import Place

TRASH = ".smoke-monkey/trash"
_EDIT_LIMIT = 20_000_000  # bytes of a file that is edited or compared


def check_deletable(place: Place) -> None:
    """Refuse what is no single file, or is in the trash."""
    info = place.info()
    if info is None:
        raise WorkspaceError(f"there is no file {place.path!r}")
    if stat.S_ISDIR(info.st_mode):
        raise WorkspaceError(f"{place.path!r} is a folder; delete_file deletes single files")
    if place.path.startswith(TRASH.partition("/")[0] + "/"):
        raise WorkspaceError(f"{place.path!r} is in the trash already")


def read_text(place: Place) -> str:
    """The whole text, for a change."""
    data = place.read(_EDIT_LIMIT)
    try:
        if is_binary(data[:8_192]):
            raise ToolError(f"{place.path!r} is a binary file")
        return data.decode("utf-8")  # a byte order mark stays part of the text
    except UnicodeDecodeError:
        raise ToolError(f"{place.path!r} is not UTF-8 text") from None


def edited(before: str, old: str, new: str, replace_all: bool, path: str) -> tuple[str, int]:
    """The text after the edit, and how many passages were replaced."""
    if not old:
        raise ToolError("old is empty; give the exact passage to replace, or use write_file")
    if old == new:
        raise ToolError("old and new are the same; nothing would change")
    if old not in before and "\r\n" in before:  # models write "\n"
        old, new = (t.replace("\r\n", "\n").replace("\n", "\r\n") for t in (old, new))
    found = before.count(old)
    if not found:
        raise ToolError(_no_match(before, old, path))
    if found > 1 and not replace_all:
        lines = ", ".join(str(n) for n in _match_lines(before, old))
        raise ToolError(
            f"old is found {found} times in {path!r} (lines {lines}); give more of the text around "
            "the one you mean, or set replace_all"
        )
    return before.replace(old, new), found


def _match_lines(before: str, old: str) -> list[int]:
    lines, start = list[int](), before.find(old)
    while start >= 0 and len(lines) < 20:
        lines.append(before.count("\n", 0, start) + 1)
        start = before.find(old, start + len(old))
    return lines


def _no_match(before: str, old: str, path: str) -> str:
    first = next((line.strip() for line in old.splitlines() if line.strip()), "")
    near = [n for n, line in enumerate(before.splitlines(), 1) if first and first in line][:5]
    hint = f"; its first line is found in line {', '.join(map(str, near))}" if near else ""
    return f"old is not found in {path!r}{hint}. It must match exactly, white space included."
