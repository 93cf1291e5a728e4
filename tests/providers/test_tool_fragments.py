"""Tool calls come whole out of fragments, however a server labels them."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smoke_monkey_nb.providers.base import ToolCall, ToolCallDelta
from smoke_monkey_nb.providers.fragments import ToolCallAssembler

from ..fault_server import TOOL_STYLES, call, delta, finish, sse, tool_calls
from .helpers import parse_reply

TWO = (call("read_file", {"path": "a.txt"}, "a"), call("grep", {"pattern": "{x}"}, "b"))


def calls_of(*fragments: dict[str, Any]) -> list[tuple[str, str]]:
    made = ToolCallAssembler()
    for fragment in fragments:
        made.add(fragment)
    return [(one.name, one.arguments) for one in made.result()]


def head(name: str | None = None, arguments: Any = None, **more: Any) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return {**more, "function": {k: v for k, v in function.items() if v is not None}}


@pytest.mark.parametrize("style", sorted(set(TOOL_STYLES) - {"no_arguments"}))
def test_two_calls_are_the_same_in_every_style(style: str) -> None:
    response = parse_reply(tool_calls(*TWO, style=style)).response
    found = [(one.name, json.loads(one.arguments)) for one in response.tool_calls]
    assert found == [("read_file", {"path": "a.txt"}), ("grep", {"pattern": "{x}"})]


@pytest.mark.parametrize("style", ["openai", "whole", "no_index", "index_zero", "id_everywhere"])
def test_given_ids_are_kept(style: str) -> None:
    response = parse_reply(tool_calls(*TWO, style=style)).response
    assert [one.id for one in response.tool_calls] == ["a", "b"]


@pytest.mark.parametrize("arguments", ["", "{}", " ", None])
def test_no_arguments_are_an_empty_object(arguments: str | None) -> None:
    assert calls_of(head("now", arguments, index=0, id="a")) == [("now", "{}")]


def test_a_missing_id_is_made_up_and_unique() -> None:
    response = parse_reply(tool_calls(*TWO, style="no_id")).response
    first, second = (one.id for one in response.tool_calls)
    assert first and second and first != second


def test_made_up_ids_are_of_the_form_that_mistral_takes() -> None:
    (one,) = parse_reply(tool_calls(TWO[0], style="no_id")).response.tool_calls
    assert len(one.id) == 9 and one.id.isalnum()


def test_two_calls_with_one_id_get_two() -> None:
    twins = (call("f", {"a": 1}, "x"), call("f", {"a": 2}, "x"))
    response = parse_reply(tool_calls(*twins, style="whole")).response
    first, second = response.tool_calls
    assert (first.id, first.arguments, second.arguments) == ("x", '{"a": 1}', '{"a": 2}')
    assert second.id not in ("", "x")


def test_empty_ids_are_replaced() -> None:
    twins = (call("f", {"a": 1}, ""), call("g", {"a": 2}, ""))
    response = parse_reply(tool_calls(*twins, style="whole")).response
    assert len({one.id for one in response.tool_calls} - {""}) == 2


def test_a_new_id_is_a_new_call_whatever_its_index_says() -> None:
    assert calls_of(
        head("f", "", index=0, id="a"),
        head(None, '{"x": 1}', index=0),
        head("f", "", index=0, id="b"),
        head(None, '{"x": 2}', index=0),
    ) == [("f", '{"x": 1}'), ("f", '{"x": 2}')]


def test_interleaved_calls_are_told_apart_by_index() -> None:
    assert calls_of(
        head("f", "", index=0, id="a"),
        head("g", "", index=1, id="b"),
        head(None, '{"x":', index=0),
        head(None, '{"y":', index=1),
        head(None, "1}", index=0),
        head(None, "2}", index=1),
    ) == [("f", '{"x":1}'), ("g", '{"y":2}')]


def test_interleaved_calls_are_told_apart_by_id() -> None:
    assert calls_of(
        head("f", "{", id="a"),
        head("g", "{", id="b"),
        head(None, "}", id="a"),
        head(None, "}", id="b"),
    ) == [("f", "{}"), ("g", "{}")]


def test_whole_calls_that_all_say_index_zero_and_no_id_stay_apart() -> None:
    assert calls_of(head("f", '{"a": 1}', index=0), head("f", '{"a": 2}', index=0)) == [
        ("f", '{"a": 1}'),
        ("f", '{"a": 2}'),
    ]


def test_calls_without_index_and_id_are_told_apart_by_their_heads() -> None:
    assert calls_of(head("f", '{"a"'), head(None, ": 1}"), head("f", '{"a": 2}'), head("g")) == [
        ("f", '{"a": 1}'),
        ("f", '{"a": 2}'),
        ("g", "{}"),
    ]


def test_a_name_repeated_in_every_fragment_is_one_name() -> None:
    assert calls_of(
        head("f", '{"a"', index=0, id="x"),
        head("f", ": 1", index=0, id="x"),
        head("f", "}", index=0, id="x"),
    ) == [("f", '{"a": 1}')]


def test_a_new_id_in_every_nameless_fragment_is_one_call() -> None:
    assert calls_of(
        head("f", "", index=0, id="1"), head(None, '{"a"', index=0, id="2"),
        head(None, ": 1}", index=0, id="3"),
    ) == [("f", '{"a": 1}')]  # fmt: skip


def test_a_piece_with_a_wrong_index_goes_to_the_open_call() -> None:
    assert calls_of(head("f", "{", index=0, id="a"), head(None, "}", index=7)) == [("f", "{}")]


def test_a_piece_for_a_finished_call_goes_to_the_open_one() -> None:
    assert calls_of(
        head("f", '{"a": 1}', index=0, id="x"),
        head("g", "", index=1, id="y"),
        head(None, '{"b": 2}', index=0),
    ) == [("f", '{"a": 1}'), ("g", '{"b": 2}')]


def test_broken_arguments_are_handed_on_as_they_came() -> None:
    for broken in ('{"a": ', "NaN", "no json", '"{\\"a\\": 1}"', "[1]"):
        assert calls_of(head("f", broken, index=0, id="x")) == [("f", broken)]


def test_a_call_without_a_name_keeps_its_arguments() -> None:
    assert calls_of(head(None, '{"a": 1}', index=0, id="x")) == [("unnamed", '{"a": 1}')]


def test_an_empty_entry_is_no_call() -> None:
    assert calls_of({"index": 0}, head("f", "{}", index=1, id="x")) == [("f", "{}")]


def test_the_legacy_function_call_is_a_tool_call() -> None:
    items = [
        delta(function_call={"name": "f", "arguments": ""}),
        delta(function_call={"arguments": '{"a": 1}'}),
        finish("function_call"),
    ]
    (one,) = parse_reply(sse(*items)).response.tool_calls
    assert (one.name, one.arguments, bool(one.id)) == ("f", '{"a": 1}', True)


@pytest.mark.parametrize("reason", ["stop", "", None, "tool_calls", "length"])
def test_tool_calls_decide_not_the_finish_reason(reason: str | None) -> None:
    response = parse_reply(tool_calls(TWO[0], finish_reason=reason)).response
    assert response.tool_calls == (ToolCall("a", "read_file", '{"path": "a.txt"}'),)


def test_the_beginning_of_each_call_is_announced_once() -> None:
    outcome = parse_reply(tool_calls(*TWO, style="letters"))
    assert outcome.of(ToolCallDelta) == ["read_file", "grep"]


NAMES = st.sampled_from(["f", "g", "read_file"])
VALUES = st.dictionaries(st.text(max_size=4), st.text(max_size=6) | st.integers(), max_size=3)
CALLS = st.lists(st.tuples(NAMES, VALUES), min_size=1, max_size=4)
STYLES = st.sampled_from(["openai", "no_index", "no_id", "index_zero", "id_everywhere"])


@given(CALLS, STYLES, st.data())
def test_any_fragmentation_gives_the_same_calls(calls: Any, style: str, data: Any) -> None:
    made = ToolCallAssembler()
    for at, (name, arguments) in enumerate(calls):
        text = json.dumps(arguments)
        cuts = data.draw(st.lists(st.integers(0, len(text)), max_size=5))
        edges = [0, *sorted(cuts), len(text)]
        pieces = [text[a:b] for a, b in pairwise(edges)]
        index = {} if style == "no_index" else {"index": 0 if style == "index_zero" else at}
        own_id = {} if style == "no_id" else {"id": f"call_{at}"}
        again = own_id if style == "id_everywhere" else {}
        made.add({**index, **own_id, "function": {"name": name, "arguments": pieces[0]}})
        for piece in pieces[1:]:
            made.add({**index, **again, "function": {"arguments": piece}})
    assert [(one.name, json.loads(one.arguments)) for one in made.result()] == calls
