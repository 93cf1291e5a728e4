"""The options of the magics, parsed from their line. A mistake is one line, never a traceback."""

from __future__ import annotations

import argparse
import difflib
import keyword
import re
import shlex
from dataclasses import dataclass
from typing import NoReturn

from IPython.core.error import UsageError

from ..permissions import Rule
from .view_kinds import KINDS

EXAMPLES = """examples:
  %%agent -m openai:gpt-5-mini
  Which region of {df} sold most last year? Plot it.

  %%agent --allow run_python --allow "run_command:git status*" --budget 0.50
  %%agent --new -t notebook,files --input df --output answer
"""


@dataclass(frozen=True)
class CellOptions:
    """What one cell asks for; ``None``: as it was."""

    model: str | None = None
    tools: str | None = None
    session: str | None = None
    is_new: bool = False
    allow: tuple[Rule, ...] = ()
    budget_usd: float | None = None
    max_steps: int | None = None
    inputs: tuple[str, ...] = ()
    output: str | None = None
    view: str | None = None
    raises: bool = True


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        words = message.removeprefix("unrecognized arguments: ")
        if words != message and words.startswith("-"):
            message = f"there is no option {words.split()[0]}{self._meant(words.split()[0])}"
        elif words != message:
            message = f"{words!r} is no option; the prompt goes below this line"
        raise UsageError(f"{self.prog}: {message}. {self.prog} ? shows the options.")

    def _meant(self, word: str) -> str:
        close = difflib.get_close_matches(word, self._option_string_actions, n=1)
        return f"; did you mean {close[0]}?" if close else ""


def cell_parser(prog: str = "%%agent") -> argparse.ArgumentParser:
    """The parser of ``%%agent`` and ``%agent``; its help is what ``?`` shows."""
    parser = _Parser(
        prog=prog,
        add_help=False,
        allow_abbrev=False,
        description="Run an agent in this cell; the prompt is the cell's text. {expr} is replaced "
        "by the value of expr where it holds a name of this notebook.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("-m", "--model", help="<provider>:<model>, e.g. openai:gpt-5-mini or demo:")
    add("-t", "--tools", help="tool groups or names, separated by commas; none for no tools")
    add("-s", "--session", help="go on with (or begin) the conversation of this name")
    add("--new", action="store_true", help="begin a new conversation")
    add("--allow", action="append", default=[], type=_rule, metavar="RULE",
        help="tool or tool:pattern that may run without asking in this cell")  # fmt: skip
    add("--budget", type=_usd, metavar="USD", help="US dollars that this cell may spend")
    add("--max-steps", type=_steps, metavar="N", help="model calls that this cell may make")
    add("--input", action="append", default=[], type=_name, metavar="NAME",
        help="add a preview of this variable to the prompt")  # fmt: skip
    add("--output", type=_name, metavar="NAME", help="variable for the result, beside _result")
    add("--view", choices=KINDS, help="how the run is shown")
    add("--no-raise", action="store_true", help="go on with Run All even if the run fails")
    return parser


def parse_cell(line: str, prog: str = "%%agent") -> CellOptions:
    """The options of a ``%%agent`` line.

    Raises:
        UsageError: one line saying what is wrong.
    """
    options = cell_parser(prog).parse_args(_split(line, prog))
    return CellOptions(
        model=options.model,
        tools=options.tools,
        session=options.session,
        is_new=options.new,
        allow=tuple(options.allow),
        budget_usd=options.budget,
        max_steps=options.max_steps,
        inputs=tuple(options.input),
        output=options.output,
        view=options.view,
        raises=not options.no_raise,
    )


def split_prompt(line: str) -> tuple[str, str]:
    """A ``%agent`` line as its leading options and the prompt after them."""
    rest = line.strip()
    taken: list[str] = []
    parser = cell_parser("%agent")
    while _OPTION.match(rest):
        word, rest = _first_word(rest)
        if word == "--":  # what follows is the prompt, even if it begins with a dash
            break
        taken.append(word)
        action = parser._option_string_actions.get(word.split("=")[0])
        if action is not None and action.nargs != 0 and "=" not in word:
            word, rest = _first_word(rest)
            taken.append(word)
    return " ".join(taken), rest


#: ``- a list`` and ``-5 degrees`` are prompts.
_OPTION = re.compile(r"--?[A-Za-z]|--(\s|\Z)")
_WORD = re.compile(r"""((?:"[^"]*"|'[^']*'|\S)+)\s*(.*)\Z""", re.DOTALL)


def _first_word(text: str) -> tuple[str, str]:
    match = _WORD.match(text)
    return (match.group(1), match.group(2)) if match else ("", "")


_KEY = re.compile(r"\s*([A-Za-z_]\w*)\s*=")
_CLOSING = {"[": "]", "(": ")", "{": "}"}


def parse_pairs(line: str) -> dict[str, str]:
    """``key=value key=value`` with the values as they were written; those with blanks are in
    quotes or brackets.

    Raises:
        UsageError: one line saying what is wrong.
    """
    pairs: dict[str, str] = {}
    rest = line.strip()
    while rest:
        match = _KEY.match(rest)
        if match is None:
            raise UsageError(f"%agent_config: {rest.split()[0]!r} is not key=value")
        end = _value_end(rest, match.end())
        pairs[match.group(1)] = rest[match.end() : end].strip()
        rest = rest[end:].strip()
    return pairs


def _value_end(text: str, start: int) -> int:
    opened: list[str] = []
    quote = ""
    for at in range(start, len(text)):
        character = text[at]
        if quote:
            quote = "" if character == quote and text[at - 1] != "\\" else quote
        elif character in "'\"" and (opened or at == start):
            quote = character
        elif character in _CLOSING:
            opened.append(_CLOSING[character])
        elif opened and character == opened[-1]:
            opened.pop()
        elif character.isspace() and not opened:
            return at
    if quote or opened:
        missing = quote or opened[-1]
        raise UsageError(f"%agent_config: there is no closing {missing} in {text[start:]!r}")
    return len(text)


def _split(line: str, prog: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError as error:
        raise UsageError(f"{prog}: {error} in {line.strip()!r}") from None


def _rule(text: str) -> Rule:
    tool, _, pattern = text.partition(":")
    if not tool.strip():
        raise argparse.ArgumentTypeError(f"{text!r} is no rule; write tool or tool:pattern")
    return Rule("allow", tool.strip(), pattern.strip() or None)


def _usd(text: str) -> float:
    value = _number(text.removeprefix("$"))
    if value < 0:
        raise argparse.ArgumentTypeError("a budget must not be negative")
    return value


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number") from None
    if value != value:
        raise argparse.ArgumentTypeError("a budget must be a number")
    return value


def _steps(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of steps (1 or more)")
    return int(text)


def _name(text: str) -> str:
    if not text.isidentifier() or keyword.iskeyword(text):
        raise argparse.ArgumentTypeError(f"{text!r} is no variable name")
    return text
