"""What ``create_agent(tools=…)`` means."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from smoke_monkey_nb import tool
from smoke_monkey_nb.tools.groups import GROUPS, group_tools, resolve_tools

CONTRACT = {
    "notebook": ["list_variables", "inspect_variable", "recent_cells", "run_python", "insert_cell"],
    "files": ["read_file", "list_directory", "write_file", "edit_file", "delete_file"],
    "search": ["glob", "grep"],
    "terminal": ["run_command"],
    "git": ["git_status", "git_diff", "git_log"],
    "agent": ["ask_user", "todo_write"],
}
MUTATING = {"run_python", "insert_cell", "write_file", "edit_file", "delete_file", "run_command"}


def own(x: int) -> int:
    """Mine."""
    return x


def test_every_group_has_its_tools() -> None:
    assert {group: [t.name for t in group_tools(group)] for group in GROUPS} == CONTRACT
    assert all(t.group == group for group in GROUPS for t in group_tools(group))


def test_default_is_every_group() -> None:
    tools = resolve_tools("default")
    assert list(tools) == [name for names in CONTRACT.values() for name in names]
    assert {t.name for t in tools.values() if not t.read_only} == MUTATING


@pytest.mark.parametrize(
    ("spec", "names"),
    [
        ("git", CONTRACT["git"]),
        ("git,agent", CONTRACT["git"] + CONTRACT["agent"]),
        (" glob , read_file", ["glob", "read_file"]),
        (["git", own], [*CONTRACT["git"], "own"]),
        (["default", "git", "glob"], [n for names in CONTRACT.values() for n in names]),
        (own, ["own"]),
        (tool(own), ["own"]),
        ([], []),
        (None, []),
        ("", []),
        ((own, "run_command"), ["own", "run_command"]),
    ],
)
def test_a_spec_names_tools(spec: Any, names: list[str]) -> None:
    assert list(resolve_tools(spec)) == names


def test_a_plain_function_changes_things_until_it_says_otherwise() -> None:
    assert not resolve_tools(own)["own"].read_only
    assert resolve_tools(tool(read_only=True)(own))["own"].read_only


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("filez", "no tool or group named 'filez'; did you mean 'files'"),
        (["git", "nope_at_all"], "no tool or group named 'nope_at_all'"),
        ([own, tool(own)], "two tools are named 'own'"),
        (["glob", tool(name="glob")(own)], "two tools are named 'glob'"),
    ],
)
def test_a_wrong_name_is_a_value_error(spec: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        resolve_tools(spec)


@pytest.mark.parametrize("spec", [3, [3], {"a": own}, [None], int, [lambda x: x]])
def test_a_wrong_type_is_a_type_or_value_error(spec: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        resolve_tools(spec)


def test_every_tool_is_described_for_model_and_person() -> None:
    for made in resolve_tools("default").values():
        assert len(made.description) > 40
        assert made.parameters["additionalProperties"] is False
        for schema in made.parameters["properties"].values():
            assert schema["description"]
        if not made.read_only:
            assert made.preview
            assert made.summary
            assert made.subject


def test_the_default_tools_load_nothing_heavy() -> None:
    code = (
        "import sys; from smoke_monkey_nb.tools.groups import resolve_tools; "
        "resolve_tools('default'); "
        "print(sorted({'pydantic', 'pathspec', 'IPython', 'pandas', 'numpy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
