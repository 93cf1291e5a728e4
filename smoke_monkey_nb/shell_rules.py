"""Does a shell command match a rule's pattern? Decided on the parsed command, never on its text.

A command line is split into its simple commands (``a; b``, ``a && b``, ``a | b``) as bash splits
it. An *allow* pattern must match whole simple commands, so ``git status*`` never lets ``git status;
rm -rf ~`` through; whatever the parser cannot see through (substitution, redirection, assignments,
subshells, options that carry code) matches no allow pattern.
A *deny* pattern is generous: the text itself, one simple command, or one that another command
starts (``sudo rm x``, ``bash -c 'rm x'``, ``$(rm x)``) is enough.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase

from .shell_words import split

_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\[.*\])?\+?=")
# fmt: off
_KEYWORDS = frozenset({
    "!", "{", "}", "[[", "if", "then", "elif", "else", "fi", "for", "do", "done", "while", "until",
    "case", "esac", "select", "function", "coproc",
})
_SHELLS = frozenset({"bash", "sh", "dash", "zsh", "ksh", "fish"})
# Programs whose arguments are, or hold, a command.
_STARTERS = _SHELLS | {
    "sudo", "doas", "su", "env", "command", "builtin", "exec", "eval", "nohup", "nice", "ionice",
    "setsid", "stdbuf", "timeout", "time", "xargs", "find", "parallel", "watch", "flock", "chroot",
    "unshare", "strace", "busybox", "script", "ssh", "trap",
}
# fmt: on
# Options that make another program or code run, or write a file: what an allow pattern was meant
# for no longer says what happens. A false alarm is only a question.
_CODE_OPTIONS = re.compile(
    r"(-[A-Za-z]*c|-e|--eval|--command|-exec(dir)?|-ok(dir)?|-delete|-fprint[0f]?|-fls)(=|$)"
)
_LONG_CODE_OPTIONS = (
    "--checkpoint-action", "--command", "--compress-program", "--config-env", "--eval", "--exec",
    "--exec-path", "--ext-diff", "--open-files-in-pager", "--output", "--receive-pack", "--rsh",
    "--to-command", "--upload-pack", "--use-compress-program",
)  # fmt: skip
_INTERPRETER = re.compile(
    r"(python|pypy|perl|ruby|node|nodejs|deno|bun|php|lua|luajit|Rscript|R|julia)[0-9.]*$"
)
_INLINE_CODE = re.compile(r"-[A-Za-z0-9]*[ceEpr]|--(print|run)\b")
_DEPTH = 4


@dataclass(frozen=True)
class ParsedCommand:
    """The simple commands of a line, each as its words; ``opaque`` when a part of it cannot be seen
    through.
    """

    commands: tuple[tuple[str, ...], ...]
    opaque: bool


def parse(command: str) -> ParsedCommand:
    """Split a shell command line."""
    line = split(command)
    commands = tuple(c for c in line.commands if c)
    opaque = line.opaque or any(_ASSIGNMENT.match(c[0]) or c[0] in _KEYWORDS for c in commands)
    return ParsedCommand(commands, opaque)


def allow_matches(pattern: str, words: tuple[str, ...]) -> bool:
    """Whether an allow pattern covers one simple command. A bare word allows the command without
    arguments only.
    """
    if not fnmatchcase(" ".join(words), pattern):
        return False
    literal = set(pattern.split())
    return not any(_carries_code(words[0], w) and w not in literal for w in words[1:])


def _carries_code(program: str, word: str) -> bool:
    if _CODE_OPTIONS.match(word):
        return True
    name = word.partition("=")[0]
    # Programs take a long option by its first letters too.
    if len(name) > 4 and any(option.startswith(name) for option in _LONG_CODE_OPTIONS):
        return True
    name = program.rpartition("/")[2]
    if name == "git" and word.startswith("-O"):  # git grep's --open-files-in-pager
        return True
    return bool(_INTERPRETER.match(name) and _INLINE_CODE.match(word))


def deny_matches(pattern: str, command: str, parsed: ParsedCommand) -> bool:
    """Whether a deny pattern hits a command line, any simple command in it, or one that is started
    by it.
    """
    if fnmatchcase(command.strip(), pattern) or fnmatchcase(" ".join(command.split()), pattern):
        return True
    if any(fnmatchcase(" ".join(words), pattern) for words in parsed.commands):
        return True
    return any(fnmatchcase(" ".join(words), pattern) for words in _started(command, _DEPTH))


def _started(command: str, depth: int) -> Iterator[tuple[str, ...]]:
    """Everything in a command line that may be a command of its own."""
    line = split(command)
    for words in line.commands:
        while words and (_ASSIGNMENT.match(words[0]) or words[0] in _KEYWORDS):
            words = words[1:]
        if not words:
            continue
        name = words[0].rpartition("/")[2]
        yield (name, *words[1:])
        if name not in _STARTERS:
            continue
        for at in range(1, len(words)):
            yield (words[at].rpartition("/")[2], *words[at + 1 :])
            if depth and any(c in words[at] for c in " \t\n;|&"):
                yield from _started(words[at], depth - 1)
    if depth:
        for inner in line.substituted:
            yield from _started(inner, depth - 1)


def hides_a_program(parsed: ParsedCommand) -> bool:
    """Whether a program is only known once the shell has expanded it, or reads its commands from
    elsewhere: ``$x -rf``, ``eval "$x"``, ``… | sh``.
    """
    return any(_hides(words) for words in parsed.commands)


def _hides(words: tuple[str, ...]) -> bool:
    name = words[0].rpartition("/")[2]
    if set(name) & set("$`*?{") or ("[" in name and name not in ("[", "[[")):
        return True
    if name in _SHELLS and all(w.startswith("-") for w in words[1:]):
        return True
    return name in _STARTERS and any(set(w) & set("$`") for w in words[1:])
