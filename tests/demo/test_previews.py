"""Previews of variables in a prompt are not read as questions."""

from __future__ import annotations

from smoke_monkey_nb.notebook.template import expand, preview
from smoke_monkey_nb.providers.demo.previews import without_previews

from .helpers import converse, notebook, sales


def test_a_table_in_the_middle_of_a_sentence_is_taken_out() -> None:
    prompt = expand("Which region in {df} has the best mean revenue?\nPlot it.", {"df": sales()})
    expected = "Which region in the table has the best mean revenue?\nPlot it."
    assert without_previews(prompt.text) == expected


def test_two_tables_are_taken_out() -> None:
    prompt = expand("Compare {a} with {b}", {"a": sales(), "b": sales().head(2)})
    assert without_previews(prompt.text) == "Compare the table with the table"


def test_of_an_input_its_name_stays() -> None:
    blocks = [f"The variable `{name}`:\n\n{preview(sales())}" for name in ("sales", "other")]
    prompt = "\n\n".join(["Mean revenue by region?", *blocks])
    assert without_previews(prompt) == "Mean revenue by region?\n`sales`\n`other`"


def test_a_prompt_with_previews_asks_one_question() -> None:
    prompt = f"Mean revenue by region?\n\nThe variable `sales`:\n\n{preview(sales())}"
    calls, answer = converse(prompt, notebook())
    assert [c.name for c in calls] == ["list_variables", "inspect_variable", "run_python"]
    assert "North is highest with 65" in answer


def test_other_prompts_stay_as_they_are() -> None:
    for prompt in (
        "",
        "hello",
        "a DataFrame, shape (3, 2), no more",
        "DataFrame, shape (1, 1), 1 row × 1 column",
    ):
        without_previews(prompt)
    assert without_previews("a\n\nb") == "a\n\nb"
