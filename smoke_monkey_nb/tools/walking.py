"""Walks the files of the workspace as git sees them: ``.gitignore`` honoured, symlinks not
followed.

Folders are opened by handle, below the folder that the path jail opened.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .errors import WorkspaceError
from .place import Place
from .workspace import Workspace

_NEVER = {
    ".git",
    ".hg",
    ".svn",
    ".smoke-monkey",
    "__pycache__",
    "node_modules",
    ".ipynb_checkpoints",
}
_IGNORE_FILE_LIMIT = 1_000_000


@dataclass(frozen=True)
class Found:
    """A file: its path below the workspace, and how to open it while the walk stands there."""

    path: str
    name: str
    dir_fd: int | None
    folder: str

    def place(self) -> Place:
        """As a place; it does not own the handle, so it must not be closed."""
        return Place(self.path, self.name, self.dir_fd, self.folder)


class Ignores:
    """The ``.gitignore`` rules met so far on the way down; the last match decides."""

    def __init__(self) -> None:
        self._specs: list[tuple[str, Any]] = []

    def add(self, folder: str, text: str) -> None:
        """Rules of ``folder`` (workspace-relative, "" for the root)."""
        from pathspec import GitIgnoreSpec

        # Of nested walks only the rules of folders above matter.
        self._specs = [s for s in self._specs if _is_below(folder, s[0])]
        self._specs.append((folder, GitIgnoreSpec.from_lines(text.splitlines())))

    def ignored(self, path: str, *, is_folder: bool) -> bool:
        """Whether git would ignore the path (without looking at its folders)."""
        for folder, spec in reversed(self._specs):
            if not _is_below(path, folder):
                continue
            inner = path[len(folder) + 1 :] if folder else path
            verdict = spec.check_file(inner + "/" if is_folder else inner).include
            if verdict is not None:
                return bool(verdict)
        return False


def _is_below(path: str, folder: str) -> bool:
    return not folder or path == folder or path.startswith(folder + "/")


def files(workspace: Workspace, path: str) -> Iterator[Found]:
    """Every file at or below ``path`` that git does not ignore, by name, folders after files."""
    with workspace.place(path) as place:
        info = place.info()
        if info is None:
            raise WorkspaceError(f"there is no file or folder {place.path!r}")
        if not _is_folder(place):
            place.file_info()
            yield Found(place.path, place.name, place.dir_fd, place.folder)
            return
        ignores = Ignores()
        start = "" if place.path == "." else place.path
        _read_above(workspace, start, ignores)
        yield from _below(place, start, ignores)


def _is_folder(place: Place) -> bool:
    import stat

    info = place.info()
    return info is not None and stat.S_ISDIR(info.st_mode)


def _read_above(workspace: Workspace, start: str, ignores: Ignores) -> None:
    """The rules of the folders between the root and ``start``, and of ``.git/info/exclude``."""
    names = start.split("/") if start else []
    sources = [("", ".git/info/exclude")]
    for depth in range(len(names)):
        folder = "/".join(names[:depth])
        sources.append((folder, f"{folder}/.gitignore".lstrip("/")))
    for folder, file in sources:
        try:
            with workspace.place(file) as place:
                _add_rules(place, folder, ignores)
        except WorkspaceError:
            continue


def _add_rules(place: Place, folder: str, ignores: Ignores) -> None:
    try:
        data = place.read(_IGNORE_FILE_LIMIT)
    except (WorkspaceError, OSError):
        return
    ignores.add(folder, data.decode("utf-8", "replace"))


def _below(place: Place, start: str, ignores: Ignores) -> Iterator[Found]:
    for root, folders, names, handle in _walk(place):
        inner = os.path.normpath(root).replace(os.sep, "/")
        folder = "/".join(part for part in (start, inner if inner != "." else "") if part)
        if ".gitignore" in names:
            found = _found(folder, ".gitignore", handle, root, place)
            _add_rules(found.place(), folder, ignores)
        folders[:] = sorted(
            name
            for name in folders
            if name not in _NEVER and not ignores.ignored(_join(folder, name), is_folder=True)
        )
        for name in sorted(names):
            if not ignores.ignored(_join(folder, name), is_folder=False):
                yield _found(folder, name, handle, root, place)


def _walk(place: Place) -> Iterator[tuple[str, list[str], list[str], int | None]]:
    """``os.fwalk`` below the place, roots relative to it; ``os.walk`` where there are no
    handles.
    """
    if place.dir_fd is None:
        top = os.path.join(place.folder, place.name)
        for root, folders, names in os.walk(top):
            yield os.path.relpath(root, top), folders, names, None
        return
    handle = os.open(place.name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=place.dir_fd)
    try:
        yield from os.fwalk(".", dir_fd=handle)
    finally:
        os.close(handle)


def _found(folder: str, name: str, handle: int | None, root: str, place: Place) -> Found:
    absolute = os.path.join(place.folder, place.name, root) if handle is None else ""
    return Found(_join(folder, name), name, handle, absolute)


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name
