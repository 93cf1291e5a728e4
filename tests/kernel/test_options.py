"""The line of ``%%agent`` and ``%agent``, and the pairs of ``%agent_config``."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from IPython.core.error import UsageError
from IPython.core.inputtransformer2 import TransformerManager

from smoke_monkey_nb import Rule
from smoke_monkey_nb.notebook.line_prompts import keep_questions
from smoke_monkey_nb.notebook.options import (
    CellOptions,
    cell_parser,
    parse_cell,
    parse_pairs,
    split_prompt,
)

FULL = (
    "-m openai:gpt-5-mini -t notebook,files -s work --new --allow run_python "
    '--allow "run_command:git status*" --budget $0.50 --max-steps 7 --input df --input x '
    "--output answer --view basic --no-raise"
)


def test_every_option_is_read() -> None:
    assert parse_cell(FULL) == CellOptions(
        model="openai:gpt-5-mini",
        tools="notebook,files",
        session="work",
        is_new=True,
        allow=(Rule("allow", "run_python"), Rule("allow", "run_command", "git status*")),
        budget_usd=0.5,
        max_steps=7,
        inputs=("df", "x"),
        output="answer",
        view="basic",
        raises=False,
    )


def test_no_option_changes_nothing() -> None:
    assert parse_cell("") == CellOptions()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("--modle x", "there is no option --modle; did you mean --model?"),
        ("--zzz", "there is no option --zzz."),
        ("Which region sold most", "'Which region sold most' is no option; the prompt goes below"),
        ("-m", "expected one argument"),
        ("--budget many", "'many' is no number"),
        ("--budget -1", "must not be negative"),
        ("--budget=-1", "must not be negative"),
        ("--budget nan", "must be a number"),
        ("--max-steps 0", "'0' is no number of steps"),
        ("--max-steps ²", "'²' is no number of steps"),
        ("--max-steps 1.5", "'1.5' is no number of steps"),
        ("--input 1x", "'1x' is no variable name"),
        ("--output class", "'class' is no variable name"),
        ("--allow :x", "is no rule"),
        ("--view fancy", "invalid choice: 'fancy'"),
        ("-s 'open", "No closing quotation"),
    ],
)
def test_a_mistake_is_one_line_that_names_it(line: str, said: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse_cell(line)
    assert said in str(raised.value)
    assert str(raised.value).startswith("%%agent: ")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("line", "options", "prompt"),
    [
        ("how many rows?", "", "how many rows?"),
        ("-m demo: --new it's late", "-m demo: --new", "it's late"),
        ("--allow 'run_command:git log*' go", "--allow 'run_command:git log*'", "go"),
        ("--budget=1 - one\n", "--budget=1", "- one"),
        ("- a list of three", "", "- a list of three"),
        ("-5 degrees in F", "", "-5 degrees in F"),
        ("-- --new is what?", "", "--new is what?"),
        ("--new", "--new", ""),
        ("say --new", "", "say --new"),
    ],
)
def test_a_line_is_options_then_prompt(line: str, options: str, prompt: str) -> None:
    assert split_prompt(line) == (options, prompt)


def test_options_of_a_line_are_read_after_the_split() -> None:
    assert parse_cell(split_prompt("-- --new is what?")[0], "%agent") == CellOptions()
    assert parse_cell(split_prompt("-s 'a b' hello")[0], "%agent").session == "a b"


@settings(deadline=None)
@given(st.text(max_size=80))
def test_any_line_is_read_or_refused_in_one_line(line: str) -> None:
    refusals = []
    for read in (parse_cell, lambda text: parse_cell(*split_prompt(text)[:1]), parse_pairs):
        try:
            read(line)
        except UsageError as error:
            refusals.append(str(error))
    assert all(len(r.splitlines()) == 1 for r in refusals)


def test_help_names_every_option() -> None:
    text = cell_parser().format_help()
    assert all(word in text for word in FULL.split() if word.startswith("-"))


@pytest.mark.parametrize(
    ("line", "pairs"),
    [
        ("model=demo: max_steps=3", {"model": "demo:", "max_steps": "3"}),
        ("tools=[change, 'files']", {"tools": "[change, 'files']"}),
        ("instructions='be brief' view=text", {"instructions": "'be brief'", "view": "text"}),
        ("base_url=http://h/v1?a=b", {"base_url": "http://h/v1?a=b"}),
        ("model=", {"model": ""}),
    ],
)
def test_pairs_keep_their_values_as_written(line: str, pairs: dict[str, str]) -> None:
    assert parse_pairs(line) == pairs


@pytest.mark.parametrize("line", ["model", "=x", "model = demo:", "tools=[a", "instructions='a"])
def test_pairs_that_are_none_are_refused(line: str) -> None:
    with pytest.raises(UsageError, match="%agent_config"):
        parse_pairs(line)


QUESTIONS = [
    "how many rows are there?",
    "what is {df.shape}?",
    "-m demo: what?",
    "it's odd, isn't it?",
    'is "this" \\d+ fine??',
]


@pytest.mark.parametrize("prompt", QUESTIONS)
@pytest.mark.parametrize(
    "cell", ["%agent {}", "%agent {}\n", "x = 1\n%agent {}\ny = 2", "%agent {}  "]
)
def test_a_question_reaches_the_magic(prompt: str, cell: str) -> None:
    manager = TransformerManager()
    manager.cleanup_transforms.append(keep_questions)
    tree = ast.parse(manager.transform_cell(cell.format("{}").replace("{}", prompt)))
    found = [n for n in ast.walk(tree) if isinstance(n, ast.Constant) and n.value == prompt]
    assert len(found) == 1


@pytest.mark.parametrize(
    "cell", ["%agent ?", "%agent?", "%agent ??", "%agent", "%agent say hi", "x?"]
)
def test_calls_for_help_are_left_to_ipython(cell: str) -> None:
    assert keep_questions([cell]) == [cell]


def test_the_body_of_a_cell_magic_is_left_alone() -> None:
    lines = ["%%agent\n", "%agent is a magic, isn't it?\n"]
    assert keep_questions(lines) == lines


def test_a_question_in_a_block_keeps_its_indent() -> None:
    manager = TransformerManager()
    manager.cleanup_transforms.append(keep_questions)
    ast.parse(manager.transform_cell("for p in range(2):\n    %agent is {p} odd?\n"))
