"""Ready-made hooks: redact secrets, deny paths, allow tools, keep an audit log, limit calls.

Each function returns a ``Hooks`` object; put several in a list: ``hooks=[redact_secrets(),
deny_paths("*.env")]``. They run in that order.
"""

from __future__ import annotations

import ast
import json
import os
import posixpath
import shlex
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from . import secrets
from .events import now
from .hooks import AfterModelCall, AfterToolCall, BeforeModelCall, BeforeToolCall, Block, Hooks
from .redact import scrub

__all__ = ["allow_tools", "audit_log", "deny_paths", "max_calls", "redact_secrets"]


def redact_secrets(*, redact_results: bool = False) -> Hooks:
    """Mask keys, tokens, connection strings, private keys and the values of secret-named variables.

    Works on what is sent to the model and on tool inputs; on tool results (as the model sees them)
    with ``redact_results=True``. The conversation itself is not changed.
    """

    def before_model_call(context: BeforeModelCall) -> dict[str, Any]:
        known = secrets.environment_values()
        messages = [
            m if m.get("role") == "tool" and not redact_results else _redacted(m, known)
            for m in context.messages
        ]
        return {"messages": messages}

    def before_tool_call(context: BeforeToolCall) -> dict[str, Any]:
        return {"input": _redacted(context.input, secrets.environment_values())}

    return Hooks(before_model_call=before_model_call, before_tool_call=before_tool_call)


def _redacted(value: Any, known: list[str]) -> Any:
    if isinstance(value, str):
        return secrets.redact(value, known)
    if isinstance(value, Mapping):
        return {k: _redacted(v, known) for k, v in value.items()}
    if isinstance(value, list):
        return [_redacted(v, known) for v in value]
    return value


def deny_paths(*patterns: str) -> Hooks:
    """Block tool calls that name a path matching one of the globs, such as ``"*.env"``,
    ``".git/**"``.

    A pattern is matched against the whole workspace-relative path, each of its trailing parts, and
    where symlinks lead. Paths are looked for in path arguments, in the words of shell commands and
    in the string literals of Python code; code that builds a path at run time is not seen through.
    """

    def before_tool_call(context: BeforeToolCall) -> Block | None:
        for path in _paths(context.input):
            for spelling in _spellings(path, context.workspace):
                hit = next((p for p in patterns if _path_matches(spelling, p)), None)
                if hit is not None:
                    return Block(f"the path {path!r} is off limits ({hit})")
        return None

    return Hooks(before_tool_call=before_tool_call)


_PATH_KEYS = ("path", "file", "dir", "folder", "glob", "pattern", "source", "target", "destination")


def _paths(call_input: Mapping[str, Any]) -> Iterator[str]:
    for key, value in call_input.items():
        for text in value if isinstance(value, list) else [value]:
            if not isinstance(text, str):
                continue
            if any(word in key.lower() for word in _PATH_KEYS):
                yield text
            elif key == "command":
                yield from _words(text)
            elif key == "code":
                yield from _literals(text)


def _words(command: str) -> list[str]:
    try:
        words = shlex.split(command, comments=False)
    except ValueError:
        words = command.split()
    parts = [p for w in words for p in w.replace(";", "\n").replace("|", "\n").split("\n")]
    return [p.lstrip("<>&").rpartition("=")[2] for p in parts if p]


def _literals(code: str) -> list[str]:
    cleaned = "\n".join(_shell_line(line) for line in code.splitlines())
    try:
        tree = ast.parse(cleaned)
    except (SyntaxError, ValueError):
        return code.replace('"', " ").replace("'", " ").split()
    texts = [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant)]
    return [w for t in texts if isinstance(t, str) for w in (t, *t.split())]


def _shell_line(line: str) -> str:
    """A line of IPython shell or magic syntax as a string literal, so that its words are seen."""
    return f"{line.lstrip()[1:]!r}" if line.lstrip().startswith(("!", "%")) else line


def _spellings(path: str, workspace: str) -> set[str]:
    """The workspace-relative spellings of a path: as written, and where symlinks lead."""
    if "\x00" in path or len(path) > 4096:
        return set()
    text = os.path.expanduser(path.removeprefix("file://"))
    found = set()
    for root in {workspace, os.path.realpath(workspace)}:
        absolute = os.path.normpath(os.path.join(root, text))
        for candidate in (absolute, os.path.realpath(absolute)):
            relative = os.path.relpath(candidate, root)
            found.add(candidate if relative.startswith("..") else relative)
    return {f.replace(os.sep, "/") for f in found}


def _path_matches(path: str, pattern: str) -> bool:
    pattern = pattern.removeprefix("./")
    # Case folded: on a case-insensitive disk ".ENV" is ".env".
    path, pattern = path.lower(), pattern.lower()
    if pattern.endswith("/**") and (path + "/").startswith(pattern[:-2]):
        return True
    parts = path.split("/")
    tails = ["/".join(parts[i:]) for i in range(len(parts))]
    heads = ["/".join(parts[: i + 1]) for i in range(len(parts))] if "/" not in pattern else []
    names = [posixpath.basename(h) for h in heads]
    return any(fnmatchcase(candidate, pattern) for candidate in (*tails, *names))


def allow_tools(*names: str) -> Hooks:
    """Block every tool whose name matches none of the globs."""

    def before_tool_call(context: BeforeToolCall) -> Block | None:
        if any(fnmatchcase(context.tool_name, name) for name in names):
            return None
        return Block(f"only these tools are allowed: {', '.join(names) or 'none'}")

    return Hooks(before_tool_call=before_tool_call)


def max_calls(tool: str, n: int) -> Hooks:
    """Block calls of ``tool`` (a glob) after the first ``n`` of a run."""
    counts: Counter[str] = Counter()
    lock = threading.Lock()

    def before_tool_call(context: BeforeToolCall) -> Block | None:
        if not fnmatchcase(context.tool_name, tool):
            return None
        with lock:
            counts[context.run_id] += 1
            if counts[context.run_id] <= n:
                return None
        return Block(f"{tool} may be called {n} times in a run")

    return Hooks(before_tool_call=before_tool_call)


def audit_log(path: str | os.PathLike[str]) -> Hooks:
    """Append one JSON line for every model attempt and tool call to ``path``, flushed at once.

    The file is made with mode 0600. Keys are masked. A line that cannot be written is a
    ``hook_failed`` warning of the run.
    """
    target = Path(path)
    lock = threading.Lock()

    def write(kind: str, context: Any, facts: Mapping[str, Any]) -> None:
        entry = {
            "time": now().isoformat(),
            "kind": kind,
            "run_id": context.run_id,
            "session_id": context.session_id,
            "user_id": context.user_id,
            "step": context.step,
            **facts,
            "duration_ms": context.duration_ms,
            "error": context.error.to_dict() if context.error else None,
        }
        line = scrub(json.dumps(entry, default=str)) + "\n"
        with lock, os.fdopen(_open(target), "ab") as file:
            file.write(line.encode())

    def after_model_call(context: AfterModelCall) -> None:
        usage = context.usage.to_dict() if context.usage else None
        facts = {"provider": context.provider, "model": context.model, "attempt": context.attempt}
        write("model_call", context, {**facts, "usage": usage, "cost_usd": context.cost_usd})

    def after_tool_call(context: AfterToolCall) -> None:
        facts: dict[str, Any] = {
            "tool_call_id": context.tool_call_id,
            "tool_name": context.tool_name,
            "input": context.input,
            "result": context.result,
            "blocked": context.blocked,
        }
        write("tool_call", context, facts)

    return Hooks(after_model_call=after_model_call, after_tool_call=after_tool_call)


def _open(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
