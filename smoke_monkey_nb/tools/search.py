"""Tools that search the workspace: files by name, lines by regular expression.

Both see what git sees. Files that usually hold secrets are listed but not searched, unless one is
named itself, which is asked for.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .base import Tool, ToolContext
from .errors import ToolError, WorkspaceError
from .file_cards import path_subject, secret_reason
from .file_text import is_binary
from .globs import Glob
from .matching import Matcher, OutOfTime, matcher
from .secret_files import looks_secret
from .signature import Schema, flag, record, text, validator
from .text import clean, count, one_line
from .walking import Found, files
from .workspace import Workspace

_MAX_FILES = 1_000  # listed by glob
_MAX_LINES = 500  # listed by grep
_MAX_SEEN = 200_000  # files looked at
_FILE_LIMIT = 20_000_000  # bytes of a file that is searched
_TIME_S = 10.0


def glob(pattern: str, context: ToolContext, path: str = ".") -> str:
    """Paths that match, one a line."""
    compiled = _glob(pattern, at_any_depth=False)
    start = Workspace(context.workspace).relative(path)
    prefix = "" if start == "." else f"{start}/"
    found: list[str] = []
    more, seen = 0, 0
    for seen, file in enumerate(files(Workspace(context.workspace), path), 1):
        if seen > _MAX_SEEN:
            break
        if not compiled.matches(file.path.removeprefix(prefix)):
            continue
        if len(found) < _MAX_FILES:
            found.append(one_line(file.path, 500))
        else:
            more += 1
    if not found:
        return f"No file matches {pattern!r}."
    notes = [f"… and {count(more, 'more file')}"] if more else []
    notes += [f"(Stopped after {_MAX_SEEN:,} files.)"] if seen > _MAX_SEEN else []
    return "\n".join(found + notes)


def _glob(pattern: str, *, at_any_depth: bool) -> Glob:
    try:
        return Glob(pattern, at_any_depth=at_any_depth)
    except ValueError as error:
        raise ToolError(f"{one_line(pattern)!r}: {error}") from None


@dataclass
class _Search:
    """What a search has found and passed over so far."""

    lines: list[str] = field(default_factory=list)
    hits: int = 0
    files: int = 0
    secret: int = 0
    large: int = 0
    stopped: str = ""


def grep(
    pattern: str,
    context: ToolContext,
    path: str = ".",
    glob: str | None = None,
    ignore_case: bool = False,
) -> str:
    """Matching lines as ``path:line: text``."""
    workspace = Workspace(context.workspace)
    named = workspace.relative(path)
    only = _glob(glob, at_any_depth=True) if glob else None
    search = _Search()
    with matcher(pattern, ignore_case=ignore_case, timeout_s=_TIME_S) as lines:
        deadline = time.monotonic() + _TIME_S
        for seen, file in enumerate(files(workspace, path), 1):
            if only is not None and not only.matches(file.path):
                continue
            if file.path != named and looks_secret(file.path):
                search.secret += 1
                continue
            if seen > _MAX_SEEN or time.monotonic() > deadline:
                search.stopped = f"at {file.path}: too many files"
                break
            if not _search_file(search, lines, file) or search.hits >= _MAX_LINES:
                break
    return _told(search)


def _search_file(search: _Search, lines: Matcher, file: Found) -> bool:
    """Search one file; False when the search has to end."""
    try:
        data = file.place().read(_FILE_LIMIT)
    except WorkspaceError as error:
        search.large += "larger" in str(error)
        return True
    except OSError:  # no permission, or gone meanwhile
        return True
    if is_binary(data[:8_192]):
        return True
    try:
        found = lines.lines(data)
    except OutOfTime:
        search.stopped = f"at {one_line(file.path)}: the pattern takes too long; simplify it"
        return False
    if found:
        search.files += 1
        room = _MAX_LINES - search.hits
        search.hits += len(found[:room])
        name = one_line(file.path, 500)
        search.lines += [f"{name}:{number}: {clean(line)}" for number, line in found[:room]]
    return True


def _told(search: _Search) -> str:
    notes = []
    if search.hits >= _MAX_LINES:
        notes.append(f"Stopped after {_MAX_LINES} lines; narrow the search.")
    if search.stopped:
        notes.append(f"Stopped {search.stopped}.")
    if search.secret:
        secret = count(search.secret, "file")
        notes.append(f"Not searched, as they usually hold secrets: {secret}.")
    if search.large:
        notes.append(f"Not searched, as too large: {count(search.large, 'file')}.")
    head = [f"({count(search.hits, 'line')} in {count(search.files, 'file')})"]
    lines = head + search.lines if search.lines else ["No line matches."]
    return "\n".join(lines + [f"({note})" for note in notes])


def _tool(
    function: Callable[..., Any],
    description: str,
    asks: Callable[[Mapping[str, Any], ToolContext], str | None] | None,
    **arguments: Schema,
) -> Tool:
    parameters = record(**arguments)
    return Tool(
        name=function.__name__,
        description=description,
        parameters=parameters,
        function=function,
        validate=validator(parameters),
        read_only=True,
        context_parameter="context",
        group="search",
        summary=lambda a: one_line(f"{a['pattern']} in {a.get('path', '.')}"),
        subject=path_subject,
        asks=asks,
    )


_FOLDER = "Folder (or file) to search, relative to the workspace."

TOOLS = (
    _tool(
        glob,
        "Find files of the workspace by name: '*.csv' in the folder itself, '**/*.py' in every "
        "folder below, '{a,b}' for alternatives. Files that git ignores are left out.",
        None,
        pattern=text("The glob, relative to path."),
        path=text(_FOLDER, "."),
    ),
    _tool(
        grep,
        "Search the text files of the workspace for a regular expression (Python's syntax), line "
        "by line. Files that git ignores and binary files are left out.",
        secret_reason,
        pattern=text("The regular expression."),
        path=text(_FOLDER, "."),
        glob=text("Only files whose name fits, such as '*.py'.", None),
        ignore_case=flag("Upper and lower case are the same.", False),
    ),
)
