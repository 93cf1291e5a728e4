"""Tools on files of the workspace: read, list, write, edit, delete.

Everything goes through ``Workspace``. Writes are atomic; deleting moves to the workspace's trash,
as a model's mistake should not cost a person their file.
"""

from __future__ import annotations

import stat
from collections.abc import Callable, Mapping
from typing import Any

from .base import Preview, PreviewKind, Tool, ToolContext
from .diffs import unified
from .errors import MissingFolder, ToolError, WorkspaceError
from .file_text import is_binary, read_page
from .place import Entry, Place
from .secret_files import looks_secret
from .signature import Schema, flag, integer, record, text, validator
from .text import count, one_line
from .workspace import Workspace

TRASH = ".smoke-monkey/trash"
_EDIT_LIMIT = 20_000_000  # bytes of a file that is edited or compared
_MAX_ENTRIES = 1_000
_RESULT_DIFF = 3_000  # characters of a diff in a result
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
    with Workspace(context.workspace).place(path, create_folders=True) as place:
        existed = place.file_info() is not None
        place.write(data)
        lines = count(len(content.splitlines()), "line")
        done = "Replaced" if existed else "Created"
        return f"{done} {place.path} ({lines}, {count(len(data), 'byte')})."


def edit_file(
    path: str, old: str, new: str, context: ToolContext, replace_all: bool = False
) -> str:
    """Replace one exact passage, or every one."""
    with Workspace(context.workspace).place(path) as place:
        before = _read_for_edit(place)
        after, replaced = _edited(before, old, new, replace_all, place.path)
        place.write(_encode(after))
        diff = unified(before, after, place.path)
        done = f"Edited {place.path} ({count(replaced, 'replacement')})."
        return f"{done}\n{diff}" if len(diff) <= _RESULT_DIFF else done


def delete_file(path: str, context: ToolContext) -> str:
    """Move a file to the workspace's trash."""
    workspace = Workspace(context.workspace)
    with workspace.place(path, follow_last=False) as place:
        _check_deletable(place)
        with workspace.place(f"{TRASH}/x", create_folders=True) as trash:
            name = place.move_into(trash)
        _hide_trash(workspace)
        return f"Deleted {place.path}; it is kept as {TRASH}/{name}."


def _check_deletable(place: Place) -> None:
    info = place.info()
    if info is None:
        raise WorkspaceError(f"there is no file {place.path!r}")
    if stat.S_ISDIR(info.st_mode):
        raise WorkspaceError(f"{place.path!r} is a folder; delete_file deletes single files")
    if place.path.startswith(TRASH.partition("/")[0] + "/"):
        raise WorkspaceError(f"{place.path!r} is in the trash already")


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


def _read_for_edit(place: Place) -> str:
    data = place.read(_EDIT_LIMIT)
    try:
        if is_binary(data[:8_192]):
            raise ToolError(f"{place.path!r} is a binary file")
        return data.decode("utf-8")  # a byte order mark stays part of the text
    except UnicodeDecodeError:
        raise ToolError(f"{place.path!r} is not UTF-8 text") from None


def _edited(before: str, old: str, new: str, replace_all: bool, path: str) -> tuple[str, int]:
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


def secret_reason(arguments: Mapping[str, Any], context: ToolContext) -> str | None:
    """Why reading the file at ``path`` is asked for, or ``None``."""
    path = str(arguments.get("path", ""))
    names = [path]
    try:
        names.append(Workspace(context.workspace).relative(path))
    except WorkspaceError:
        return None  # the call itself will be refused, with the reason
    if any(looks_secret(name) for name in names):
        return f"{one_line(path)} usually holds secrets; the model would read them."
    return None


def path_subject(arguments: Mapping[str, Any], context: ToolContext) -> str:
    """What permission rules look at: where ``path`` really leads."""
    path = str(arguments.get("path", "."))
    try:
        return Workspace(context.workspace).relative(path)
    except WorkspaceError:
        return path  # the call will be refused with the reason


def _subject_of_link(arguments: Mapping[str, Any], context: ToolContext) -> str:
    path = str(arguments.get("path", "."))
    try:
        return Workspace(context.workspace).relative(path, follow_last=False)
    except WorkspaceError:
        return path


def _path_of(arguments: Mapping[str, Any]) -> str:
    return one_line(str(arguments.get("path", ".")))


def _preview_write(arguments: Mapping[str, Any], context: ToolContext) -> Preview:
    content = str(arguments["content"])
    workspace = Workspace(context.workspace)
    try:
        place = workspace.place(arguments["path"])
    except MissingFolder as missing:
        return Preview(unified("", content, missing.path) or "(an empty file)", "diff")
    with place:
        if place.file_info() is None:
            return Preview(unified("", content, place.path) or "(an empty file)", "diff")
        try:
            before = _read_for_edit(place)
        except (ToolError, WorkspaceError) as error:
            return Preview(f"Replaces the file ({error}).\n\n{content}")
        return _diff_or(unified(before, content, place.path), "(nothing changes)")


def _preview_edit(arguments: Mapping[str, Any], context: ToolContext) -> Preview:
    with Workspace(context.workspace).place(arguments["path"]) as place:
        before = _read_for_edit(place)
        every = bool(arguments.get("replace_all", False))
        after, _ = _edited(before, arguments["old"], arguments["new"], every, place.path)
        return _diff_or(unified(before, after, place.path), "(nothing changes)")


def _diff_or(diff: str, otherwise: str) -> Preview:
    kind: PreviewKind = "diff" if diff else "text"
    return Preview(diff or otherwise, kind)


def _preview_delete(arguments: Mapping[str, Any], context: ToolContext) -> Preview:
    with Workspace(context.workspace).place(arguments["path"], follow_last=False) as place:
        _check_deletable(place)
        info = place.info()
        size = f" ({count(info.st_size, 'byte')})" if info else ""
        return Preview(f"Moves {place.path}{size} to {TRASH}/.")


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
        summary=_path_of,
        preview=preview,
        subject=_subject_of_link if function is delete_file else path_subject,
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
        preview=_preview_write,
        path=text(_PATH),
        content=text("The whole new content."),
    ),
    _tool(
        edit_file,
        "Replace an exact passage of a text file. 'old' must match the file to the character, "
        "white space included and without line numbers, and occur once unless replace_all is set.",
        preview=_preview_edit,
        path=text(_PATH),
        old=text("The passage as it is now."),
        new=text("What to put in its place; empty to remove it."),
        replace_all=flag("Replace every occurrence.", False),
    ),
    _tool(
        delete_file,
        "Delete a file of the workspace. It is moved to the workspace's trash, from where the "
        "person can take it back.",
        preview=_preview_delete,
        path=text(_PATH),
    ),
)
