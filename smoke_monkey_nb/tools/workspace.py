"""The path jail: every path a tool touches is inside the workspace, and stays so while it is used.

Comparing a resolved path and opening it afterwards leaves a gap in which a folder can be replaced
by a symlink. So the walk goes component by component from a handle on the root: each folder is
opened relative to the one before with ``O_NOFOLLOW``, symlinks are read and followed by the walk
itself, and ``..`` goes back along the opened handles, never above the root. What comes out is a
``Place``: a name in an opened folder. Windows has no such handles; there the resolved path is
compared and used at once, and the gap remains.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
from collections import deque
from collections.abc import Collection, Sequence
from contextlib import ExitStack
from pathlib import Path

from .errors import MissingFolder, WorkspaceError
from .place import Place
from .secret_files import looks_secret
from .text import one_line

__all__ = ["Workspace", "looks_secret"]

_BY_HANDLE = {os.open, os.stat, os.mkdir, os.unlink, os.rename, os.readlink} <= os.supports_dir_fd
_MAX_LINKS = 40
_FOLDER = (
    os.O_RDONLY
    | getattr(os, "O_DIRECTORY", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
)
_URL = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]+:/")
_HOME = re.compile(r"^~[\w.-]*(/|\\|$)")
_WINDOWS_DEVICE = re.compile(r"^(con|prn|aux|nul|com\d|lpt\d)(\..*)?$", re.IGNORECASE)
_IGNORES_CASE = sys.platform in ("darwin", "win32")


class Workspace:
    """A folder that paths may not leave.

    Paths are relative to the root, or absolute and inside it. Any thread may use one.

    Raises:
        WorkspaceError: (from every method) the path leads out, cannot be walked, or is malformed.
    """

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self.root = Path(root).resolve()

    def place(self, path: str, *, create_folders: bool = False, follow_last: bool = True) -> Place:
        """The place that ``path`` names; to be used as a context manager. The last name need not
        exist.
        """
        parts = self._parts(path)
        try:
            if not _BY_HANDLE:
                place = self._place_by_name(path, parts, create_folders, follow_last)
                place.info()  # fails here for a name that the system does not take
                return place
            return _Walk(self, path, create_folders, follow_last).run(parts)
        except OSError as error:
            raise _walk_error(path, error) from None

    def relative(self, path: str, *, follow_last: bool = True) -> str:
        """The path as it really is: workspace-relative, symlinks followed, ``/`` between names. It
        need not exist.
        """
        try:
            with self.place(path, follow_last=follow_last) as place:
                found = place.path
        except MissingFolder as missing:
            found = missing.path
        return _as_stored(self.root, found) if _IGNORES_CASE else found

    def resolve(self, path: str) -> Path:
        """The absolute path, checked. For programs that take no handle."""
        return self.root / self.relative(path)

    def _parts(self, path: str) -> list[str]:
        if not isinstance(path, str):
            raise WorkspaceError(f"a path must be a string, got {type(path).__name__}")
        shown = one_line(path)
        if "\x00" in path:
            raise WorkspaceError(f"{shown!r} is no path: it holds a NUL character")
        if _URL.match(path):
            raise WorkspaceError(f"{shown!r} is a URL; give a path relative to the workspace")
        if _HOME.match(path):
            raise WorkspaceError(
                f"{shown!r}: '~' is not expanded; give a path relative to the workspace"
            )
        if os.path.isabs(path) or os.path.splitdrive(path)[0]:
            return self.parts_inside(path)
        parts = re.split(r"[/\\]" if os.sep == "\\" else "/", path)
        if os.sep == "\\" and any(":" in p or _WINDOWS_DEVICE.match(p) for p in parts):
            raise WorkspaceError(f"{shown!r} names a device or a stream, not a file")
        return parts

    def parts_inside(self, path: str) -> list[str]:
        """The names below the root of an absolute path; refuses one that is not below it."""
        root = str(self.root)
        for candidate in (path, os.path.realpath(path)):
            inside = os.path.normcase(candidate + os.sep).startswith(
                os.path.normcase(root.rstrip(os.sep) + os.sep)
            )
            if inside:
                return candidate[len(root) :].split(os.sep)
        raise _outside(path)

    def _place_by_name(
        self, path: str, parts: Sequence[str], create_folders: bool, follow_last: bool
    ) -> Place:
        joined = os.path.normpath(os.path.join(self.root, *parts))
        folder, name = os.path.split(joined)
        real = os.path.realpath(joined if follow_last else folder)
        real = real if follow_last else os.path.join(real, name)
        inside = Path(real)
        if inside != self.root and self.root not in inside.parents:
            raise _outside(path)
        relative = inside.relative_to(self.root).as_posix()
        if create_folders:
            inside.parent.mkdir(parents=True, exist_ok=True)
        elif inside != self.root and not inside.parent.is_dir():
            raise MissingFolder(f"there is no folder {os.path.dirname(path)!r}", relative)
        if inside == self.root:
            return Place(".", ".", None, str(self.root))
        return Place(relative, inside.name, None, str(inside.parent))


class _Walk:
    """One walk from the root's handle to a place."""

    def __init__(
        self, workspace: Workspace, path: str, create_folders: bool, follow_last: bool
    ) -> None:
        self._workspace = workspace
        self._path = path
        self._create = create_folders
        self._follow_last = follow_last
        self._folders: list[int] = []  # opened handles, the root first
        self._names: list[str] = []  # their names, without the root's
        self._links = 0

    def run(self, parts: Sequence[str]) -> Place:
        """Walk ``parts``; the place owns the last folder's handle, the others are closed."""
        with ExitStack() as stack:
            stack.callback(self._close)
            self._folders.append(os.open(self._workspace.root, _FOLDER))
            pending = deque(p for p in parts if p not in ("", "."))
            while pending:
                name = pending.popleft()
                if name == "..":
                    self._up()
                    continue
                mode = self._mode(name)
                last = not pending
                if mode is not None and stat.S_ISLNK(mode) and (self._follow_last or not last):
                    pending.extendleft(reversed(self._link(name)))
                elif last:
                    return self._end(name)
                else:
                    self._down(name, mode, pending)
            return self._end(".")

    def _close(self) -> None:
        for handle in self._folders:
            os.close(handle)

    def _mode(self, name: str) -> int | None:
        try:
            return os.stat(name, dir_fd=self._folders[-1], follow_symlinks=False).st_mode
        except FileNotFoundError:
            return None

    def _up(self) -> None:
        if not self._names:
            raise _outside(self._path)
        self._names.pop()
        os.close(self._folders.pop())

    def _link(self, name: str) -> list[str]:
        """The names that a symlink stands for; an absolute one starts again at the root."""
        self._links += 1
        if self._links > _MAX_LINKS:
            raise WorkspaceError(f"{one_line(self._path)!r} goes through too many symlinks")
        target = os.readlink(name, dir_fd=self._folders[-1])
        if not os.path.isabs(target):
            return [p for p in target.split("/") if p not in ("", ".")]
        try:
            parts = self._workspace.parts_inside(target)
        except WorkspaceError:
            raise _outside(self._path, " (a symlink leads out)") from None
        while self._names:
            self._up()
        return [p for p in parts if p not in ("", ".")]

    def _down(self, name: str, mode: int | None, rest: Collection[str]) -> None:
        here = self._folders[-1]
        if mode is None and ".." in rest:  # so that what rules see is where a new file will be
            raise WorkspaceError(f"there is no folder {name!r} to go up from")
        if mode is None and self._create:
            os.mkdir(name, dir_fd=here)
        elif mode is None:
            path = "/".join([*self._names, name, *rest])
            raise MissingFolder(_missing("folder", name, here, self._names), path)
        elif not stat.S_ISDIR(mode):
            raise WorkspaceError(f"{'/'.join([*self._names, name])!r} is not a folder")
        self._folders.append(os.open(name, _FOLDER, dir_fd=here))
        self._names.append(name)

    def _end(self, name: str) -> Place:
        names = self._names if name == "." else [*self._names, name]
        return Place("/".join(names) or ".", name, self._folders.pop(), "")


def _missing(kind: str, name: str, folder: int, names: Sequence[str]) -> str:
    where = f" in {'/'.join(names)!r}" if names else ""
    from difflib import get_close_matches

    close = get_close_matches(name, os.listdir(folder)[:5_000], 1)
    meant = f"; did you mean {close[0]!r}?" if close else ""
    return f"there is no {kind} {name!r}{where}{meant}"


def _outside(path: str, why: str = "") -> WorkspaceError:
    return WorkspaceError(f"{one_line(path)!r} is outside the workspace{why}")


def _walk_error(path: str, error: OSError) -> WorkspaceError:
    shown = one_line(path)
    if error.errno in (errno.ELOOP, errno.ENOTDIR):
        return WorkspaceError(f"{shown!r} changed while it was opened, or goes through a symlink")
    return WorkspaceError(f"{shown!r} cannot be opened: {error.strerror}")


def _as_stored(root: Path, relative: str) -> str:
    """The spelling on disk, where the file system ignores case: rules compare names exactly."""
    here, names = root, list[str]()
    for name in relative.split("/"):
        try:
            stored = os.listdir(here)
        except OSError:
            stored = []
        same = [n for n in stored if n.casefold() == name.casefold()]
        names.append(name if name in stored or not same else same[0])
        here = here / names[-1]
    return "/".join(names)
