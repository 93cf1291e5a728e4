"""``ask_user`` and ``todo_write``."""

from __future__ import annotations

import pytest

from smoke_monkey_nb.tools.base import ToolContext, ToolInputError
from smoke_monkey_nb.tools.interaction import TOOLS, ask_user, todo_write

from .conftest import NotingInteraction

ASK, TODO = TOOLS


async def test_the_answer_is_the_result(
    context: ToolContext, interaction: NotingInteraction
) -> None:
    interaction.answer = "the second"
    assert await ask_user("Which?", context, choices=["a", "b"]) == "the second"
    assert interaction.asked == [("Which?", ["a", "b"])]


async def test_nobody_there_is_said(context: ToolContext) -> None:
    assert (await ask_user("Which?", context)).startswith("Nobody is there to answer.")


async def test_an_empty_answer_is_said(
    context: ToolContext, interaction: NotingInteraction
) -> None:
    interaction.answer = ""
    assert await ask_user("Which?", context) == "(The person gave an empty answer.)"


def test_a_list_is_published_and_counted(
    context: ToolContext, interaction: NotingInteraction
) -> None:
    items = [
        {"content": "load", "status": "completed"},
        {"content": "plot", "status": "in_progress"},
    ]
    told = todo_write(TODO.validate({"items": items})["items"], context)
    assert interaction.lists == [items]
    assert told == "The list is shown to the person: 1 of 2 done. Now: plot."


@pytest.mark.parametrize(
    ("items", "message"),
    [
        (
            [{"content": "x", "status": "done"}],
            "items[0].status: should be 'pending' or 'in_progress' or 'completed', got 'done'",
        ),
        ([{"content": "x"}], "items[0].status: is required"),
        (["x"], "items[0]: should be an object, got 'x'"),
        ("x", "items: should be a list, got 'x'"),
        (
            [{"content": "x", "status": "pending", "id": 1}],
            "items[0].id: is not an argument (arguments: content, status)",
        ),
    ],
)
def test_a_wrong_list_says_where(items: object, message: str) -> None:
    with pytest.raises(ToolInputError) as caught:
        TODO.validate({"items": items})
    assert str(caught.value) == message


def test_null_choices_are_no_choices() -> None:
    assert ASK.validate({"question": "?", "choices": None}) == {"question": "?"}


def test_a_person_may_take_any_time() -> None:
    assert ASK.timeout_s == float("inf")
    assert all(tool.read_only for tool in TOOLS)
