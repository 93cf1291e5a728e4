"""Shell commands against rules: what bash would run decides, however it is spelt."""

from __future__ import annotations

import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from smoke_monkey_nb import Rule
from smoke_monkey_nb.permissions import Policy, Subject


def effect(rules: list[Rule], command: str) -> Any:
    return Policy(rules).by_rule(Subject("run_command", command, True))


def allow(*patterns: str) -> list[Rule]:
    return [Rule("allow", "run_command", pattern) for pattern in patterns]


@pytest.mark.parametrize(
    "command",
    [
        "git status \"'$(rm x)'\"",
        "git status \"'`rm x`'\"",
        "git status \\'$(rm x)\\'",
        "git status \"it's $(rm x) it's\"",
        "git status \\'`rm x`\\'",
        'git status "\\"\'$(rm x)\'"',
        "git status ''\"'\"$(rm x)\"'\"",
        "git status $'a' ",
        "git status \\\n; rm x",
        "git status\n rm x",
        "git status \x00",
        "git status <(rm x)",
        "git status;rm x",
        "git status&rm x",
        "git status|rm x",
        "git status||rm x",
        "git status >x",
        "git status 2>&1 >x",
        "git status <<E\n$(rm x)\nE",
        "git status # x",
        "! git status",
        "{ git status; }",
        "if git status; then rm x; fi",
        "a[1]=x git status",
    ],
)
def test_no_spelling_runs_more_than_an_allow_pattern_says(command: str) -> None:
    assert effect(allow("git status*"), command) is None


@pytest.mark.parametrize(
    "command",
    [
        "git status 'a $b `c` $(d)'", "git status \"a;b\"", "git status a\\;b", "git status a\\$b",
        "git status \"a\\$b\"", "git status 'it'\\''s'", "git status a#b",
        "git status; git status -s",
    ],
)  # fmt: skip
def test_quoted_characters_are_plain(command: str) -> None:
    assert effect(allow("git status*"), command) == "allow"


@pytest.mark.parametrize(
    ("pattern", "command"),
    [
        ("python *", "python -c'import os'"),
        ("python3 *", "python3 -Ic 'import os'"),
        ("perl *", "perl -e'system(1)'"),
        ("perl *", "perl -ne 'system(1)'"),
        ("node *", "node -p 1"),
        ("node *", "node --print 1"),
        ("php *", "php -r 'x();'"),
        ("git *", "git -c core.pager=x log"),
        ("git *", "git --exec-path=/tmp/x status"),
        ("git *", "git --config-env=core.pager=X log"),
        ("git *", "git grep -Otouch x"),
        ("git *", "git grep --open-files=touch x"),
        ("git *", "git fetch --upload-pack=touch x"),
        ("git *", "git fetch --upl=touch x"),
        ("git log*", "git log --output=../x"),
        ("git diff*", "git diff --ext-diff"),
        ("tar *", "tar xf a.tar --checkpoint-action=exec=sh"),
        ("tar *", "tar cf a.tar --to-command=sh"),
        ("rsync *", "rsync --rsh=sh a b"),
        ("find *", "find . -exec rm {} +"),
        ("find *", "find . -fprintf x y"),
        ("find *", "find . -fls x"),
        ("find *", "find . -delete"),
    ],
)
def test_options_that_run_code_or_write_files_are_not_what_was_allowed(
    pattern: str, command: str
) -> None:
    assert effect(allow(pattern), command) is None


@pytest.mark.parametrize(
    "command",
    [
        "rm x",
        "/bin/rm x",
        "\\rm x",
        "r''m x",
        "command rm x",
        "sudo -n rm x",
        "env A=1 rm x",
        "A=1 rm x",
        "! rm x",
        "{ rm x; }",
        "(rm x)",
        "echo a\nrm x",
        "echo a&&rm x",
        "echo $(rm x)",
        'echo "$(rm x)"',
        "echo `rm x`",
        "cat <(rm x)",
        "if true; then rm x; fi",
        "while true; do rm x; done",
        "bash -c 'rm x'",
        "bash -c 'echo a; rm x'",
        "sh -c \"bash -c 'rm x'\"",
        "eval 'rm x'",
        "eval rm x",
        "find . -exec rm {} ;",
        "echo x | xargs rm x",
        "timeout 5 rm x",
        "nohup rm x &",
        "echo $(echo $(rm x))",
    ],
)
def test_a_deny_pattern_finds_the_command_wherever_it_hides(command: str) -> None:
    rules = [Rule("allow", "run_command"), Rule("deny", "run_command", "rm *")]
    assert effect(rules, command) == "deny"


@pytest.mark.parametrize("command", ["grep rm file", "echo 'rm x'", "git commit -m 'rm x'"])
def test_a_deny_pattern_leaves_words_alone_that_are_no_command(command: str) -> None:
    rules = [Rule("allow", "run_command"), Rule("deny", "run_command", "rm *")]
    assert effect(rules, command) == "allow"


@pytest.mark.parametrize(
    "command",
    ["$x y", "a=rm; $a x", 'eval "$x"', "echo cm0= | base64 -d | sh", "/bin/r? x", "r[m] x"],
)
def test_a_program_that_cannot_be_told_is_asked_about_where_a_deny_pattern_holds(
    command: str,
) -> None:
    rules = [Rule("allow", "run_command"), Rule("deny", "run_command", "rm *")]
    assert effect(rules, command) == "ask"
    assert effect([Rule("allow", "run_command")], command) == "allow"


_PIECES = [
    "hit", "$(hit)", "`hit`", "'", "'", '"', '"', "\\", "\\\n", "\n", " ", " ", "\t", ";", "&", "|",
    "(", ")", "{", "}", "<", ">", "<(hit)", "$'", '$"', "$", "${x:-", "#", "!", "=", "a=", "\x0b",
    "\u00a0", "\"'$(hit)'\"", "\\'$(hit)\\'", "x", "((", "then", "eval",
]  # fmt: skip


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize("seed", range(4))
def test_nothing_that_is_allowed_runs_anything_else_in_a_real_shell(
    seed: int, tmp_path: Path
) -> None:
    """Random spellings: those that the rule allows are given to bash."""
    rng = random.Random(seed)
    programs, mark = tmp_path / "bin", tmp_path / "mark"
    programs.mkdir()
    for name, script in (("hit", f": > {mark}"), ("show", ":")):
        (programs / name).write_text(f"#!/bin/sh\n{script}\n")
        (programs / name).chmod(0o755)
    rules, found = allow("show status*"), []
    while len(found) < 60:
        command = "show status " + "".join(rng.choices(_PIECES, k=rng.randint(1, 9)))
        if "hit" in command and effect(rules, command) == "allow":
            found.append(command)
    for command in found:
        subprocess.run(
            ["bash", "-c", command],
            env={"PATH": f"{programs}:/usr/bin:/bin"},
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=10,
            check=False,
        )
        assert not mark.exists(), command
        assert sorted(p.name for p in tmp_path.iterdir()) == ["bin"], command
