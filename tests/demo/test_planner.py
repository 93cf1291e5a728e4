"""What the demo does with a prompt: which tools it calls, and how it words what they said."""

from __future__ import annotations

from typing import Any

from smoke_monkey_nb.providers.demo.phrasing import FOOTNOTE_ON_DATA, HELLO

from .helpers import converse, notebook, reply

_READERS = ("read_file", "list_directory", "grep", "glob", "git_status")


def names(calls: list[Any]) -> list[str]:
    return [call.name for call in calls]


def refuse(code: str) -> Any:
    return lambda _: f"Error ({code}): not on my watch."


def test_a_greeting_gets_an_honest_answer_without_tools() -> None:
    for prompt in ("hello", "What can you do?", "Hi!"):
        assert reply(prompt, ["list_variables"]).text == HELLO


def test_a_question_about_data_looks_first_and_computes_then() -> None:
    calls, answer = converse("What is the mean revenue by region?", notebook())
    assert names(calls) == ["list_variables", "inspect_variable", "run_python"]
    assert "North is highest with 65" in answer
    assert "| East | 45 |" in answer
    assert "1 row without `revenue` is not counted" in answer
    assert answer.endswith(FOOTNOTE_ON_DATA)


def test_chart_report_and_file_are_done_in_one_turn() -> None:
    seen: dict[str, Any] = {}
    tools = notebook(
        write_file=lambda a: seen.update(a) or "written",
        read_file=refuse("tool_blocked"),
        run_python=lambda _: "region,revenue\nNorth,65.0\nEast,45.0\n",
    )
    prompt = (
        "Which region has the highest mean revenue? "
        "Plot it and write a report to out.md, then read .env"
    )
    calls, answer = converse(prompt, tools)
    assert names(calls)[2:] == ["run_python", "read_file", "write_file"]
    assert "plot.bar" in calls[2].arguments["code"]
    assert seen["path"] == "out.md"
    assert "| North | 65 |" in seen["content"]
    assert "A hook blocked `read_file`: not on my watch." in answer


def test_a_report_without_a_question_finds_the_usual_things() -> None:
    seen: dict[str, Any] = {}
    calls, _ = converse("Write a report", notebook(write_file=lambda a: seen.update(a) or "ok"))
    assert names(calls)[-1] == "write_file"
    assert names(calls).count("run_python") == 3
    assert "## Total revenue by region" in seen["content"]


def test_plot_it_refers_to_the_prompt_before() -> None:
    calls, _ = converse("plot it", notebook(), ["median revenue by product"])
    assert '["revenue"]\n    .median()' in calls[-1].arguments["code"]
    assert "plot.bar" in calls[-1].arguments["code"]


def test_a_denied_call_is_admitted() -> None:
    calls, answer = converse(
        "mean revenue by region", notebook(run_python=refuse("permission_denied"))
    )
    assert names(calls)[-1] == "run_python"
    assert "was not allowed: not on my watch." in answer


def test_an_unknown_column_fails_and_the_answer_says_which_there_are() -> None:
    _, answer = converse("mean profit by region", notebook())
    assert "KeyError" in answer
    assert "no column `profit`" in answer
    assert "`unit_price`" in answer


def test_without_a_frame_it_says_what_to_load() -> None:
    tools = {
        "list_variables": lambda _: "No variables yet.",
        "inspect_variable": lambda _: "",
        "list_directory": lambda _: "notes.txt\nsales.csv",
    }
    calls, answer = converse("mean revenue by region", tools)
    assert names(calls) == ["list_variables", "list_directory"]
    assert 'pd.read_csv("sales.csv")' in answer


def test_a_file_is_loaded_and_can_be_asked_about_at_once() -> None:
    calls, _ = converse("Load sales.csv. Then mean revenue by region", notebook())
    assert calls[0].name == "run_python"
    assert 'sales = pd.read_csv("sales.csv")' in calls[0].arguments["code"]
    assert names(calls)[1:] == ["list_variables", "inspect_variable", "run_python"]


def test_without_tools_it_says_so() -> None:
    assert "I was offered: none" in reply("mean revenue by region").text


def test_without_run_python_it_tells_what_the_inspection_said() -> None:
    tools = notebook()
    del tools["run_python"]
    _, answer = converse("mean revenue by region", tools)
    assert "| revenue | float64 | 1 |" in answer


def test_what_no_rule_matches_is_admitted_with_suggestions_that_work() -> None:
    _, answer = converse("Who won the war?", notebook())
    assert "No rule of mine matches" in answer
    assert "*Total revenue by region*" in answer


def test_files_are_read_listed_and_searched() -> None:
    tools = {n: lambda _: "result" for n in _READERS}
    asked = {
        "read notes/todo.txt": ("read_file", {"path": "notes/todo.txt"}),
        "What files are here?": ("list_directory", {"path": "."}),
        'search for "TODO"': ("grep", {"pattern": "TODO"}),
        "find *.py": ("glob", {"pattern": "*.py"}),
        "git status": ("git_status", {}),
    }
    for prompt, (name, arguments) in asked.items():
        calls, answer = converse(prompt, tools)
        assert [(c.name, dict(c.arguments)) for c in calls] == [(name, arguments)], prompt
        assert "result" in answer


def test_secrets_that_were_read_are_not_repeated() -> None:
    _, answer = converse("read .env", {"read_file": lambda _: "TOKEN=abc123"})
    assert "abc123" not in answer


def test_a_file_cannot_close_the_quotation() -> None:
    _, answer = converse("read a.md", {"read_file": lambda _: "```\n# no heading\n```"})
    assert "````text" in answer


def test_any_tool_can_be_called_by_its_name() -> None:
    schemas = {
        "get_weather": {"properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}
    }
    tools = {"get_weather": lambda a: f"{a}"}
    for prompt in (
        'call get_weather with {"city": "Oslo", "days": 2}',
        "use get_weather with city=Oslo, days=2",
        'get_weather("Oslo", 2)',
    ):
        calls, _ = converse(prompt, tools, schemas=schemas)
        assert dict(calls[0].arguments) == {"city": "Oslo", "days": 2}, prompt


def test_fenced_code_is_run_as_it_stands() -> None:
    tools = {"run_python": lambda _: "2", "run_command": lambda _: "ok"}
    calls, _ = converse("Run this:\n```python\n1 + 1\n```", tools)
    assert [(c.name, dict(c.arguments)) for c in calls] == [("run_python", {"code": "1 + 1"})]
    calls, _ = converse("run\n```sh\nls -l\n```", tools)
    assert dict(calls[0].arguments) == {"command": "ls -l"}


def test_the_person_is_asked_when_they_want_to_be() -> None:
    tools = notebook(ask_user=lambda _: "The user answered: product")
    calls, _ = converse("ask me which column to use", tools)
    assert calls[2].arguments["choices"] == ["region", "product"]
    assert 'groupby("product"' in calls[3].arguments["code"]


def test_a_second_run_of_the_same_prompt_asks_the_data_again() -> None:
    result = "mean_revenue_by_region: DataFrame, shape (3, 2), 3 rows × 2 columns"
    listing = f"{result}\nsales: DataFrame, shape (6, 6), 6 rows × 6 columns"
    tools = notebook(list_variables=lambda _: listing)
    calls, _ = converse("mean revenue by region", tools)
    assert calls[1].arguments == {"name": "sales"}
    assert "mean_revenue_by_region = (" in calls[2].arguments["code"]


def test_pictures_of_results_do_not_start_a_new_turn() -> None:
    picture = {
        "role": "user",
        "content": [
            {"type": "text", "text": "Image from run_python:"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,"}},
        ],
    }
    from smoke_monkey_nb.providers.demo.turn import read_turn

    turn = read_turn([{"role": "user", "content": "plot it"}, picture])
    assert turn.prompt == "plot it"


def test_a_todo_list_is_kept() -> None:
    item = {"properties": {"content": {}, "status": {}}}
    schemas = {"todo_write": {"properties": {"items": {"items": item}}}}
    prompt = "Make a to-do list: total revenue, then write a report"
    tools = notebook(todo_write=lambda _: "noted", write_file=lambda _: "written")
    calls, _ = converse(prompt, tools, schemas=schemas)
    first, last = calls[0].arguments["items"], calls[-1].arguments["items"]
    assert [i["content"] for i in first] == ["total revenue", "write a report"]
    assert [i["status"] for i in first + last] == ["pending"] * 2 + ["completed"] * 2


def test_a_bare_hiccup_is_explained() -> None:
    assert "on purpose" in reply("Hiccup, please!").text
