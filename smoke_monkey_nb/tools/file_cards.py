"""What a person and the permission rules see of a file call, before it runs.

Previews show the whole change and make none; subjects and reasons look at where a path really
leads.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .base import Preview, PreviewKind, ToolContext
from .diffs import unified
from .edits import TRASH, check_deletable, edited, read_text
from .errors import MissingFolder, ToolError, WorkspaceError
from .secret_files import looks_secret
from .text import count, one_line
from .workspace import Workspace


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


def link_subject(arguments: Mapping[str, Any], context: ToolContext) -> str:
    """As ``path_subject``, of the link itself."""
    path = str(arguments.get("path", "."))
    try:
        return Workspace(context.workspace).relative(path, follow_last=False)
    except WorkspaceError:
        return path


def path_line(arguments: Mapping[str, Any]) -> str:
    """The path on one line."""
    return one_line(str(arguments.get("path", ".")))


def preview_write(arguments: Mapping[str, Any], context: ToolContext) -> Preview:
    """The diff that writing makes."""
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
            before = read_text(place)
        except (ToolError, WorkspaceError) as error:
            return Preview(f"Replaces the file ({error}).\n\n{content}")
        return _diff_or(unified(before, content, place.path), "(nothing changes)")


def preview_edit(arguments: Mapping[str, Any], context: ToolContext) -> Preview:
    """The diff that editing makes."""
    with Workspace(context.workspace).place(arguments["path"]) as place:
        before = read_text(place)
        every = bool(arguments.get("replace_all", False))
        after, _ = edited(before, arguments["old"], arguments["new"], every, place.path)
        return _diff_or(unified(before, after, place.path), "(nothing changes)")


def _diff_or(diff: str, otherwise: str) -> Preview:
    kind: PreviewKind = "diff" if diff else "text"
    return Preview(diff or otherwise, kind)


def preview_delete(arguments: Mapping[str, Any], context: ToolContext) -> Preview:
    """What goes where."""
    with Workspace(context.workspace).place(arguments["path"], follow_last=False) as place:
        check_deletable(place)
        info = place.info()
        size = f" ({count(info.st_size, 'byte')})" if info else ""
        return Preview(f"Moves {place.path}{size} to {TRASH}/.")
