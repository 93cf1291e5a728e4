"""Does a shell command match a rule's pattern? Decided on the parsed command, never on its text.

A command line is split into its simple commands (``a; b``, ``a && b``, ``a | b``). An *allow*
pattern must match whole simple commands, so ``git status*`` never lets ``git status; rm -rf ~``
through; whatever the parser cannot see through (substitution, redirection, assignments, subshells,
options that carry code) matches no allow pattern.
A *deny* pattern is generous: one simple command, or the text itself, is enough.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from fnmatch import fnmatchcase

_SEPARATORS = {";", "&&", "||", "|", "&", "|&"}
_ASSIGNMENT = re.compile(r"^[A-Za-z_][A-Za-z0-9_]*\+?=")
# Words that make another program or code run: what follows them is not judged by the first word.
_CODE_OPTIONS = re.compile(r"^(-[A-Za-z]*c|-e|--eval|--command|-exec(dir)?|-ok(dir)?|-delete)(=|$)")


@dataclass(frozen=True)
class ParsedCommand:
    """The simple commands of a line, each as its words; ``opaque`` when a part of it cannot be seen
    through.
    """

    commands: tuple[tuple[str, ...], ...]
    opaque: bool


def parse(command: str) -> ParsedCommand:
    """Split a POSIX shell command line."""
    opaque = re.search(r"[`\n\r\x00]|\$", _without_single_quotes(command)) is not None
    try:
        lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        lexer.commenters = ""
        tokens = list(lexer)
    except ValueError:  # an open quote
        return ParsedCommand((), True)
    commands: list[tuple[str, ...]] = []
    words: list[str] = []
    for token in [*tokens, ";"]:
        if token in _SEPARATORS:
            if words:
                commands.append(tuple(words))
            words = []
        elif set(token) <= set("();<>|&") and token:
            opaque = True  # a redirection, a subshell, or an operator we do not know
        else:
            words.append(token)
    opaque = opaque or any(_ASSIGNMENT.match(c[0]) or c[0] in ("{", "!", "#") for c in commands)
    return ParsedCommand(tuple(commands), opaque or any(w[:1] == "#" for c in commands for w in c))


def _without_single_quotes(command: str) -> str:
    return re.sub(r"'[^'\n]*'", "''", command)


def allow_matches(pattern: str, words: tuple[str, ...]) -> bool:
    """Whether an allow pattern covers one simple command. A bare word allows the command without
    arguments only.
    """
    if not fnmatchcase(" ".join(words), pattern):
        return False
    literal = set(pattern.split())
    return not any(_CODE_OPTIONS.match(w) and w not in literal for w in words[1:])


def deny_matches(pattern: str, command: str, parsed: ParsedCommand) -> bool:
    """Whether a deny pattern hits a command line, or any simple command in it."""
    if fnmatchcase(command.strip(), pattern) or fnmatchcase(" ".join(command.split()), pattern):
        return True
    return any(fnmatchcase(" ".join(words), pattern) for words in parsed.commands)
