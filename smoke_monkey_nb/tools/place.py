"""A name in an opened folder of the workspace, and what can be done there.

Everything goes through the folder's handle (``dir_fd``), so it happens in the folder that was
checked even if its path leads elsewhere by now. Only regular files are opened: a FIFO would block,
a device may do anything.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from types import TracebackType
from typing import BinaryIO

from .errors import WorkspaceError

_NEVER_FOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_BINARY = getattr(os, "O_BINARY", 0)
_READ = os.O_RDONLY | _NEVER_FOLLOW | _BINARY | getattr(os, "O_NONBLOCK", 0)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NEVER_FOLLOW | _BINARY


@dataclass
class Entry:
    """One name of a folder. ``kind``: "file", "folder", "link", "other"."""

    name: str
    kind: str
    size: int
    target: str | None = None  # where a link leads


@dataclass
class Place:
    """Closes its handle at the end of a ``with`` block."""

    path: str  # workspace-relative, "/" between names
    name: str  # "." for the folder itself
    dir_fd: int | None  # None where the system has no folder handles
    folder: str  # the folder's absolute path where there is no handle

    def __enter__(self) -> Place:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.dir_fd is not None:
            os.close(self.dir_fd)
            self.dir_fd = None
            self.name = ""  # a closed place names nothing

    def _at(self, name: str) -> str:
        return name if self.dir_fd is not None else os.path.join(self.folder, name)

    def info(self) -> os.stat_result | None:
        """What is there (a symlink is not followed), or ``None``."""
        try:
            return os.stat(self._at(self.name), dir_fd=self.dir_fd, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def file_info(self) -> os.stat_result | None:
        """As ``info``, but refuses whatever is not a regular file."""
        info = self.info()
        if info is not None:
            self._check_regular(info)
        return info

    def _check_regular(self, info: os.stat_result) -> None:
        if stat.S_ISDIR(info.st_mode):
            raise WorkspaceError(f"{self.path!r} is a folder")
        if not stat.S_ISREG(info.st_mode):
            raise WorkspaceError(f"{self.path!r} is no regular file")

    def open_file(self) -> BinaryIO:
        """Open for reading. Checked before and after: opening a device may already act."""
        if self.file_info() is None:
            raise WorkspaceError(self._missing())
        handle = os.open(self._at(self.name), _READ, dir_fd=self.dir_fd)
        try:
            self._check_regular(os.fstat(handle))
            return os.fdopen(handle, "rb")
        except BaseException:
            os.close(handle)
            raise

    def _missing(self) -> str:
        from difflib import get_close_matches

        names = [entry.name for entry in self._beside()]
        close = get_close_matches(self.name, names[:5_000], 1)
        return f"there is no file {self.path!r}" + (
            f"; did you mean {close[0]!r}?" if close else ""
        )

    def read(self, limit: int) -> bytes:
        """The whole file.

        Raises:
            WorkspaceError: there is none, or it has more than ``limit`` bytes.
        """
        with self.open_file() as file:
            data = file.read(limit + 1)
        if len(data) > limit:
            raise WorkspaceError(f"{self.path!r} is larger than {limit:,} bytes")
        return data

    def write(self, data: bytes) -> None:
        """Replace the file's content in one step, keeping its mode: readers see the old or the new
        whole.
        """
        info = self.file_info()
        if info is not None and not info.st_mode & 0o222:
            raise WorkspaceError(f"{self.path!r} is read-only")
        if self.name in (".", ""):
            raise WorkspaceError(f"{self.path!r} is a folder")
        temporary = f".{self.name[:80]}.{os.urandom(6).hex()}.tmp"
        handle = os.open(self._at(temporary), _NEW, 0o666, dir_fd=self.dir_fd)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                if info is not None and hasattr(os, "fchmod"):
                    os.fchmod(file.fileno(), stat.S_IMODE(info.st_mode))
                os.fsync(file.fileno())
            self._rename(temporary, self.name)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(self._at(temporary), dir_fd=self.dir_fd)
            raise

    def _rename(self, old: str, new: str) -> None:
        os.replace(self._at(old), self._at(new), src_dir_fd=self.dir_fd, dst_dir_fd=self.dir_fd)

    def move_into(self, trash: Place) -> str:
        """Move what is here into the folder of ``trash`` under a free name, which is returned."""
        now = datetime.now(timezone.utc)
        name = f"{now:%Y%m%dT%H%M%S}-{os.urandom(3).hex()}-{self.name[-150:]}"
        os.rename(
            self._at(self.name), trash._at(name), src_dir_fd=self.dir_fd, dst_dir_fd=trash.dir_fd
        )
        return name

    def entries(self) -> list[Entry]:
        """What the folder at this place holds, by name."""
        info = self.info()
        if info is None:
            raise WorkspaceError(f"there is no folder {self.path!r}")
        if not stat.S_ISDIR(info.st_mode):
            raise WorkspaceError(f"{self.path!r} is not a folder")
        if self.dir_fd is None:
            return sorted(_scan(self._at(self.name)), key=lambda e: e.name)
        flags = os.O_RDONLY | os.O_DIRECTORY | _NEVER_FOLLOW
        handle = os.open(self.name, flags, dir_fd=self.dir_fd)
        try:
            return sorted(_scan(handle), key=lambda e: e.name)
        finally:
            os.close(handle)

    def _beside(self) -> Iterator[Entry]:
        return _scan(self.dir_fd if self.dir_fd is not None else self.folder)


def _scan(folder: int | str) -> Iterator[Entry]:
    with os.scandir(folder) as scan:
        for entry in scan:
            try:
                info = entry.stat(follow_symlinks=False)
            except OSError:  # gone meanwhile
                continue
            yield Entry(entry.name, _kind(info), info.st_size, _target(folder, entry, info))


def _kind(info: os.stat_result) -> str:
    if stat.S_ISREG(info.st_mode):
        return "file"
    if stat.S_ISDIR(info.st_mode):
        return "folder"
    return "link" if stat.S_ISLNK(info.st_mode) else "other"


def _target(folder: int | str, entry: os.DirEntry[str], info: os.stat_result) -> str | None:
    if not stat.S_ISLNK(info.st_mode):
        return None
    try:
        if isinstance(folder, int):
            return os.readlink(entry.name, dir_fd=folder)
        return os.readlink(entry.path)
    except OSError:
        return None
