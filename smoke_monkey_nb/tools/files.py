"""Tools on files of the workspace: read, list, write, edit, delete.

Everything goes through ``Workspace``. Writes are atomic; deleting moves to the workspace's trash,
as a model's mistake should not cost a person their file.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

from .base import Preview, Tool, ToolContext
from .diffs import unified
from .edits import TRASH, check_deletable, edited, read_text
from .errors import ToolError
from .file_cards import (
    link_subject,
    path_line,
    path_subject,
    preview_delete,
    preview_edit,
    preview_write,
    secret_reason,
)
from .file_text import read_page
from .place import Entry
from .signature import Schema, flag, integer, record, text, validator
from .text import count, one_line
from .workspace import Workspace

_MAX_ENTRIES = 1_000
_RESULT_DIFF = 3_000  # characters of a diff in a result
_changing = threading.Lock()  # calls of one step run at once; an edit reads and then writes
_PATH = "Path relative to the workspace."


def read_file(path: str, context: ToolContext, offset: int = 1, limit: int = 2_000) -> str:
    """Numbered lines of a text file."""
    with Workspace(context.workspace).place(path) as place, place.open_file() as file:
        info = place.info()
        return read_page(file, place.path, info.st_size if info else 0, offset, limit)


def list_directory(context: ToolContext, path: str = ".") -> str:
    """Folders, files with their sizes, links with their targets."""
    with Workspace(context.workspace).place(path) as place:
        entries = place.entries()
    if not entries:
        return "(The folder is empty.)"
    lines = [_entry_line(entry) for entry in entries[:_MAX_ENTRIES]]
    more = len(entries) - len(lines)
    return "\n".join(lines + ([f"… and {more:,} more"] if more else []))


def _entry_line(entry: Entry) -> str:
    name = one_line(entry.name, 255)
    if entry.kind == "folder":
        return f"{name}/"
    if entry.kind == "link":
        return f"{name} -> {one_line(entry.target or '?', 255)}"
    return (
        f"{name}  ({count(entry.size, 'byte')})" if entry.kind == "file" else f"{name}  (special)"
    )


def write_file(path: str, content: str, context: ToolContext) -> str:
    """Create or replace a file; missing folders are made."""
    data = _encode(content)
    workspace = Workspace(context.workspace)
    with _changing, workspace.place(path, create_folders=True) as place:
        existed = place.file_info() is not None
        place.write(data)
        lines = count(len(content.splitlines()), "line")
        done = "Replaced" if existed else "Created"
        return f"{done} {place.path} ({lines}, {count(len(data), 'byte')})."


def edit_file(
    path: str, old: str, new: str, context: ToolContext, replace_all: bool = False
) -> str:
    """Replace one exact passage, or every one."""
    with _changing, Workspace(context.workspace).place(path) as place:
        before = read_text(place)
        after, replaced = edited(before, old, new, replace_all, place.path)
        place.write(_encode(after))
        diff = unified(before, after, place.path)
        done = f"Edited {place.path} ({count(replaced, 'replacement')})."
        return f"{done}\n{diff}" if len(diff) <= _RESULT_DIFF else done


def delete_file(path: str, context: ToolContext) -> str:
    """Move a file to the workspace's trash."""
    workspace = Workspace(context.workspace)
    with _changing, workspace.place(path, follow_last=False) as place:
        check_deletable(place)
        with workspace.place(f"{TRASH}/x", create_folders=True) as trash:
            name = place.move_into(trash)
        _hide_trash(workspace)
        return f"Deleted {place.path}; it is kept as {TRASH}/{name}."


def _hide_trash(workspace: Workspace) -> None:
    """Keep the trash out of version control."""
    with workspace.place(".smoke-monkey/.gitignore") as ignore:
        if ignore.info() is None:
            ignore.write(b"*\n")


def _encode(content: str) -> bytes:
    try:
        return content.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ToolError(
            f"character {error.start} of the text is half a surrogate pair and cannot be saved"
        ) from None


def _tool(
    function: Callable[..., Any],
    description: str,
    *,
    preview: Callable[[Mapping[str, Any], ToolContext], Preview] | None = None,
    asks: Callable[[Mapping[str, Any], ToolContext], str | None] | None = None,
    **arguments: Schema,
) -> Tool:
    parameters = record(**arguments)
    return Tool(
        name=function.__name__,
        description=description,
        parameters=parameters,
        function=function,
        validate=validator(parameters),
        read_only=preview is None,
        context_parameter="context",
        group="files",
        summary=path_line,
        preview=preview,
        subject=link_subject if function is delete_file else path_subject,
        asks=asks,
    )


TOOLS = (
    _tool(
        read_file,
        "Read a text file of the workspace. Lines come with their number and a tab, which are not "
        "part of the file. Long files come a page at a time; the end of a page says how to go on.",
        asks=secret_reason,
        path=text(_PATH),
        offset=integer("First line to read.", 1, minimum=1, maximum=10**9),
        limit=integer("How many lines.", 2_000, minimum=1, maximum=10_000),
    ),
    _tool(
        list_directory,
        "List a folder of the workspace: folders end with '/', files have their size. Not "
        "recursive; use glob to find files in subfolders.",
        path=text("Folder relative to the workspace.", "."),
    ),
    _tool(
        write_file,
        "Create a text file in the workspace, or replace its whole content. Missing folders are "
        "made. To change a part of a file use edit_file.",
        preview=preview_write,
        path=text(_PATH),
        content=text("The whole new content."),
    ),
    _tool(
        edit_file,
        "Replace an exact passage of a text file. 'old' must match the file to the character, "
        "white space included and without line numbers, and occur once unless replace_all is set.",
        preview=preview_edit,
        path=text(_PATH),
        old=text("The passage as it is now."),
        new=text("What to put in its place; empty to remove it."),
        replace_all=flag("Replace every occurrence.", False),
    ),
    _tool(
        delete_file,
        "Delete a file of the workspace. It is moved to the workspace's trash, from where the "
        "person can take it back.",
        preview=preview_delete,
        path=text(_PATH),
    ),
)
