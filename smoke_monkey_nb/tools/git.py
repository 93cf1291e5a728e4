"""Read-only views of the workspace's git repository.

A repository's own configuration can name programs (file monitor, hooks, external diffs, filters,
signature checks), and a model may have written it. None of them runs here: each is switched off on
the command line, which wins over the files.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .base import Tool, ToolContext
from .environment import safe_environment
from .errors import ToolError, WorkspaceError
from .file_cards import link_subject
from .secret_files import looks_secret
from .signature import Schema, flag, integer, record, text, validator
from .text import one_line
from .workspace import Workspace

_TIMEOUT_S = 30
_OFF = (
    "core.fsmonitor=",
    f"core.hooksPath={os.devnull}",
    "core.pager=cat",
    "core.quotePath=false",
    "diff.external=",
    "log.showSignature=false",
    "gpg.program=",
    "color.ui=false",
    "submodule.recurse=false",
)
_NO_PROGRAMS = ("--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=dirty")


def git_status(context: ToolContext) -> str:
    """Branch, staged, changed and untracked files."""
    out = _git(context, "status", "--short", "--branch", "--ignore-submodules=dirty", "--", ".")
    lines = out.splitlines()
    return "\n".join(lines if len(lines) > 1 else [*lines, "(Nothing is changed.)"])


def git_diff(context: ToolContext, path: str | None = None, staged: bool = False) -> str:
    """Unified diff of the changes against the index, or of the index against HEAD."""
    where = _relative(context, path) if path else "."
    base = ["diff", "--relative", *_NO_PROGRAMS, *(["--cached"] if staged else [])]
    names = _git(context, *base, "--name-only", "-z", "--", f":(literal){where}").split("\x00")
    secret = [name for name in names if name and looks_secret(name) and name != where]
    left_out = [f":(exclude,literal){name}" for name in secret]
    diff = _git(context, *base, "--", f":(literal){where}", *left_out)
    if secret:
        files = ", ".join(one_line(name) for name in secret[:20])
        diff += f"\n(Left out, as they usually hold secrets: {files}. Ask for one by its path.)"
    return diff.strip("\n") or ("Nothing is staged." if staged else "Nothing is changed.")


def git_log(context: ToolContext, n: int = 20) -> str:
    """Commits that touch the workspace, newest first: hash, date, author, subject."""
    inside = _git(context, "rev-parse", "--show-prefix").strip()
    form = "--pretty=format:%h %ad %an%d%n    %s"
    only = ["--", "."] if inside else []  # a path, even ".", hides merge commits
    log = _git(context, "log", f"-n{n}", "--no-show-signature", "--date=short", form, *only)
    return log or "There are no commits."


def _relative(context: ToolContext, path: str) -> str:
    return Workspace(context.workspace).relative(path, follow_last=False)


def _git(context: ToolContext, *arguments: str) -> str:
    settings = [f for setting in (*_OFF, *_filters_off(context)) for f in ("-c", setting)]
    done = _run(context, [*settings, *arguments])
    if done.returncode == 0:
        return done.stdout.decode("utf-8", "replace")
    said = one_line(done.stderr.decode("utf-8", "replace"), 300)
    if "not a git repository" in said.lower():
        raise ToolError("the workspace is not in a git repository")
    if "does not have any commits yet" in said:
        return ""
    raise ToolError(f"git {arguments[0]} failed: {said}")


def _filters_off(context: ToolContext) -> list[str]:
    """Settings that switch off the content filters of the repository's own configuration."""
    query = ["config", "--local", "--includes", "--name-only", "--get-regexp", r"^filter\."]
    names = _run(context, query).stdout.decode("utf-8", "replace").splitlines()
    drivers = {m[1] for name in names if (m := re.match(r"filter\.(.+)\.[a-z]+$", name))}
    return [
        f"filter.{driver}.{setting}"
        for driver in sorted(drivers)
        for setting in ("clean=", "smudge=", "process=", "required=false")
    ]


def _run(context: ToolContext, arguments: Sequence[str]) -> subprocess.CompletedProcess[bytes]:
    inherited = {k: v for k, v in safe_environment().items() if not k.startswith("GIT_")}
    environment = {**inherited, "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}
    try:
        return subprocess.run(  # noqa: S603 - our own arguments; paths come after "--"
            ["git", "--no-pager", *arguments],  # noqa: S607 - the user's git, wherever it is
            cwd=context.workspace,
            env={**environment, "LC_ALL": "C.UTF-8"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except FileNotFoundError:
        raise ToolError("git is not installed here") from None
    except subprocess.TimeoutExpired:
        raise ToolError(f"git took longer than {_TIMEOUT_S} s and was ended") from None


def _secret_reason(arguments: Mapping[str, Any], context: ToolContext) -> str | None:
    path = arguments.get("path")
    if not path:
        return None
    names = [str(path)]
    try:
        names.append(_relative(context, str(path)))
    except WorkspaceError:
        return None
    if any(looks_secret(name) for name in names):
        return f"{one_line(str(path))} usually holds secrets; the model would read its changes."
    return None


def _tool(
    function: Callable[..., Any],
    description: str,
    summary: Callable[[Mapping[str, Any]], str] | None = None,
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
        group="git",
        summary=summary,
        subject=lambda a, context: link_subject(a, context) if a.get("path") else "",
        asks=_secret_reason if function is git_diff else None,
    )


TOOLS = (
    _tool(git_status, "Branch and state of the workspace's git repository, in git's short format."),
    _tool(
        git_diff,
        "Unified diff of the changes in the workspace that are not committed: against the index, "
        "or with staged=true of the index against the last commit.",
        lambda a: one_line(str(a.get("path") or "")) + (" (staged)" if a.get("staged") else ""),
        path=text("One file or folder, relative to the workspace; everything if left out.", None),
        staged=flag("What is staged for the next commit.", False),
    ),
    _tool(
        git_log,
        "The last commits that touch the workspace: hash, date, author, subject.",
        lambda a: f"last {a.get('n', 20)}",
        n=integer("How many.", 20, minimum=1, maximum=500),
    ),
)
