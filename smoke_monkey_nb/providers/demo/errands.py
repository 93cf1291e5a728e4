"""Errands: clauses that name the tool to use rather than a question about data ("read .env", "git
status").

A table of rules, tried in order; each makes the call that it stands for. What a tool answers is
quoted, not understood, so instructions hidden in a file are text like any other.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .lexicon import any_of
from .wire import Call

#: A file's path as people write it: a name with an ending, a dot file, or an absolute path.
PATH = (
    r"(?P<path>(?:~|\.{1,2})?/?(?:[\w-][\w.-]*/)*(?:[\w-]*\.[A-Za-z_]\w*(?:\.\w+)*|(?<=/)[\w-]+))"
)
_SAID = r"(?:\"(?P<text>[^\"]+)\"|'(?P<text1>[^']+)'|`(?P<text2>[^`]+)`)"
_FENCE = re.compile(r"```[ \t]*(?P<language>\w*)[ \t]*\n(?P<code>.*?)```", re.S)
_SECRET = re.compile(r"(^|/)(\.env[\w.]*|\.netrc|id_\w+|credentials)$|\.(pem|key)$")


@dataclass(frozen=True)
class Errand:
    """A call, and what it is for in words ("read notes.txt")."""

    call: Call
    what: str

    @property
    def keeps_quiet(self) -> bool:
        """Whether the result is not to be repeated in the answer: it usually holds secrets."""
        path = str(self.call.arguments.get("path", ""))
        return self.call.name == "read_file" and _SECRET.search(path) is not None


_Maker = Callable[[re.Match[str]], Errand | None]


def take_code(prompt: str) -> tuple[str, list[Errand]]:
    """The prompt without its fenced blocks, and an errand for each block that it asks to run."""
    errands: list[Errand] = []

    def take(block: re.Match[str]) -> str:
        code = block["code"].strip("\n")
        if re.search(r"\b(run|execute|try)\b", prompt[: block.start()], re.I):
            shell = block["language"].lower() in ("sh", "bash", "shell", "console")
            call = (
                Call("run_command", {"command": code})
                if shell
                else Call("run_python", {"code": code})
            )
            errands.append(Errand(call, "run that code"))
        return " "

    return _FENCE.sub(take, prompt), errands


def read_errand(clause: str, tools: Mapping[str, Mapping[str, Any]]) -> Errand | None:
    """The errand that ``clause`` asks for, if it is one."""
    named = _named_tool(clause, tools)
    if named is not None:
        return named
    for pattern, make in _RULES:
        found = pattern.search(clause)
        errand = make(found) if found else None
        if errand is not None:
            return errand
    return None


def paths(clause: str) -> list[str]:
    """The file names in ``clause``."""
    return [m["path"] for m in re.finditer(rf"(?<![\w/.~-]){PATH}", clause)]


def _said(found: re.Match[str]) -> str:
    return next((v for k, v in found.groupdict().items() if k.startswith("text") and v), "")


def _simple(name: str, what: str) -> _Maker:
    return lambda _: Errand(Call(name, {}), what)


def _on_path(name: str, verb: str) -> _Maker:
    return lambda m: Errand(Call(name, {"path": m["path"]}), f"{verb} {m['path']}")


def _folder(found: re.Match[str]) -> Errand:
    path = found["path"] if "path" in found.groupdict() and found["path"] else "."
    return Errand(Call("list_directory", {"path": path}), "list the files")


def _glob(found: re.Match[str]) -> Errand:
    return Errand(Call("glob", {"pattern": found["text"]}), f"find {found['text']}")


def _grep(found: re.Match[str]) -> Errand:
    return Errand(Call("grep", {"pattern": _said(found)}), f"search for {_said(found)}")


def _write(found: re.Match[str]) -> Errand:
    content = _said(found) or (found["rest"] or "").strip()
    return Errand(
        Call("write_file", {"path": found["path"], "content": content.rstrip(".") + "\n"}),
        f"write {found['path']}",
    )


def _edit(found: re.Match[str]) -> Errand:
    arguments = {"path": found["path"], "old": found["old"], "new": found["new"]}
    return Errand(Call("edit_file", arguments), f"edit {found['path']}")


def _command(found: re.Match[str]) -> Errand:
    command = found["text"].strip()
    return Errand(Call("run_command", {"command": command}), f"run {command}")


def _code(found: re.Match[str]) -> Errand:
    return Errand(Call("run_python", {"code": found["text"].strip()}), "run that code")


def _sum(found: re.Match[str]) -> Errand | None:
    text = found["text"].strip().rstrip("?.= ").replace("^", "**").replace("×", "*")
    if not re.search(r"\d\s*(?:[-+*/%]|\*\*)\s*[\d(]", text):
        return None
    return Errand(Call("run_python", {"code": text}), f"compute {text}")


def _cell(found: re.Match[str]) -> Errand:
    return Errand(Call("insert_cell", {"code": found["text"].strip()}), "insert a cell")


def _rule(pattern: str, make: _Maker) -> tuple[re.Pattern[str], _Maker]:
    return re.compile(pattern, re.I | re.S), make


_WRITE = r"\b(?:write|save|create|make|put)\b"
_READ = any_of(
    "read", "open", r"show(?:\s+me)?", "cat", "print", "display", "(?:look|peek) (?:at|into)",
    "what(?:'s| is) in", "contents? of",
)  # fmt: skip
_HERE = r"(?:here|there|this (?:folder|directory)|the (?:workspace|folder|directory))"

_RULES: tuple[tuple[re.Pattern[str], _Maker], ...] = (
    _rule(r"\b(?:insert|add|put)\b[^`]*\bcell\b[^`]*`(?P<text>[^`]+)`", _cell),
    _rule(
        rf"\breplace\s+[\"'`](?P<old>[^\"'`]+)[\"'`]\s+(?:with|by)\s+[\"'`](?P<new>[^\"'`]*)[\"'`]\s+in\s+{PATH}",
        _edit,
    ),
    _rule(
        rf"\b(?:delete|remove|rm)\s+(?:the\s+)?(?:file\s+)?[`'\"]?{PATH}",
        _on_path("delete_file", "delete"),
    ),
    _rule(
        rf"{_WRITE}\s+{_SAID}\s+(?:in|to|into)\s+(?:the\s+)?(?:a\s+)?(?:file\s+)?[`'\"]?{PATH}(?P<rest>)",
        _write,
    ),
    _rule(
        rf"{_WRITE}\s+(?:a\s+|the\s+)?(?:new\s+)?(?:text\s+)?(?:file\s+)?(?:called\s+|named\s+)?[`'\"]?{PATH}[`'\"]?,?\s+"
        rf"(?:with|containing|saying)\s+(?:the\s+)?(?:text\s+|content\s+|words?\s+)?(?:{_SAID}|(?P<rest>.+))",
        _write,
    ),
    _rule(
        r"\b(?:run|execute)\b[^`]*\b(?:command|shell|terminal)\b[^`]*`(?P<text>[^`]+)`", _command
    ),
    _rule(
        r"\b(?:run|execute|evaluate)\b[^`]*`(?P<text>(?:ls|git|cat|echo|pwd|pip|rm|curl|python3?|sleep|env)\b[^`]*)`",
        _command,
    ),
    _rule(r"\b(?:run|execute|evaluate)\b[^`]*`(?P<text>[^`]+)`", _code),
    _rule(
        rf"\b{_READ}\s+(?:the\s+|my\s+)?(?:file\s+|contents? of\s+)?[`'\"]?{PATH}",
        _on_path("read_file", "read"),
    ),
    _rule(
        r"\b(?:find|glob|list|search for|which|show)\b[^`]*?[`'\"\s](?P<text>[\w./-]*\*[\w.*/-]*)",
        _glob,
    ),
    _rule(
        rf"\b(?:grep(?: for)?|search(?: the files| the code| the folder)?(?: for)?|find)\s+{_SAID}",
        _grep,
    ),
    _rule(r"\bgrep\s+(?:for\s+)?(?P<text>\S+)", _grep),
    _rule(
        r"\b(?:what|which|list|show)\b[^.?!]*\bfiles\b(?!\s+(?:contain|with))"
        rf"|\b(?:list|what is in) {_HERE}|^ls$",
        _folder,
    ),
    _rule(
        r"\bgit\s+status\b|\bwhat (?:has|have) (?:i )?changed\b|\buncommitted\b",
        _simple("git_status", "ask git for its status"),
    ),
    _rule(
        r"\bgit\s+diff\b|\bshow (?:me )?the (?:diff|changes)\b",
        _simple("git_diff", "ask git for the changes"),
    ),
    _rule(r"\bgit\s+log\b|\b(?:recent|last) commits\b", _simple("git_log", "ask git for its log")),
    _rule(
        r"\b(?:recent|last|previous) cells\b|\bwhat did i (?:just )?(?:run|do)\b",
        _simple("recent_cells", "look at the recent cells"),
    ),
    _rule(
        r"\b(?:list|show|which|what)\b[^.?!]{0,24}\bvariables\b|\bwhat is defined\b",
        _simple("list_variables", "list the variables"),
    ),
    _rule(
        r"\b(?:what is|what's|compute|calculate|how much is)\s+(?P<text>[\d\s().+*/%^×-]{3,80})",
        _sum,
    ),
    _rule(r"^(?P<text>[\d(][\d\s().+*/%^×-]{2,80})[=?\s]*$", _sum),
)


def _named_tool(clause: str, tools: Mapping[str, Mapping[str, Any]]) -> Errand | None:
    """A tool called by its name: ``call get_weather with {"city": "Oslo"}``,
    ``get_weather(city="Oslo")``.
    """
    for name, schema in tools.items():
        found = re.search(rf"(?<![\w.])`?{re.escape(name)}`?(?![\w.])", clause)
        if found is None:
            continue
        rest = clause[found.end() :]
        asked = re.search(
            r"\b(call|use|run|invoke|try|tool)\b", clause[: found.start()] + rest[:8], re.I
        )
        if asked is None and not rest.startswith("("):
            continue
        return Errand(Call(name, _arguments(rest, schema)), f"call {name}")
    return None


def _arguments(text: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments from a JSON object, from ``key=value`` pairs, or from values in the order of the
    schema.
    """
    start = text.find("{")
    if start >= 0:
        try:
            value, _ = json.JSONDecoder().raw_decode(text[start:])
        except ValueError:
            value = None
        if isinstance(value, dict):
            return value
    properties = schema.get("properties") or {}
    pairs = re.findall(r"(\w+)\s*[=:]\s*(\"[^\"]*\"|'[^']*'|`[^`]*`|[^\s,)]+)", text)
    named = {key: _value(raw, properties.get(key)) for key, raw in pairs if key in properties}
    if named:
        return named
    values = re.findall(r"\"[^\"]*\"|'[^']*'|`[^`]*`|-?\d+(?:\.\d+)?", text)
    if not values and properties:
        plain = re.sub(r"^\W*(?:tool\b)?\W*(?:with|for|on|of|in)?\s*", "", text).strip(" .?!()")
        values = [plain] if plain else []
    return {key: _value(raw, properties[key]) for key, raw in zip(properties, values, strict=False)}


def _value(raw: str, schema: Any) -> Any:
    text = raw[1:-1] if len(raw) > 1 and raw[0] in "\"'`" and raw[-1] == raw[0] else raw
    kind = schema.get("type") if isinstance(schema, dict) else None
    if kind == "string":
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text
