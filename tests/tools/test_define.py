"""``@tool``: schemas, validation, and definitions that fail at once."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Optional

import pytest
from pydantic import BaseModel, Field

from smoke_monkey_nb import ToolContext, tool
from smoke_monkey_nb.tools.base import Tool, ToolInputError


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Point:
    x: int
    y: float = 0.5


class Node(BaseModel):
    name: str
    children: list[Node] = []


def properties(made: Tool) -> dict[str, Any]:
    return dict(made.parameters["properties"])


def test_a_typed_function_becomes_a_tool_with_its_docstring() -> None:
    @tool
    def add(a: int, b: int = 2) -> int:
        """Add two numbers.

        Args:
            a: the first,
                on two lines
            b (int): the second
        """
        return a + b

    assert add.wire() == {
        "type": "function",
        "function": {
            "name": "add",
            "description": "Add two numbers.",
            "parameters": {
                "type": "object",
                "properties": {
                    "a": {"type": "integer", "description": "the first, on two lines"},
                    "b": {"type": "integer", "description": "the second", "default": 2},
                },
                "required": ["a"],
                "additionalProperties": False,
            },
        },
    }
    assert (add.read_only, add.where, add.timeout_s) == (False, "thread", None)
    assert add(1, b=5) == 6


NUMPY = """Do it.

    Parameters
    ----------
    x : int, optional
        how many
    y, z
        where

    Returns
    -------
    int
        a number
    """
REST = """Do it.

    :param int x: how many
    :param y: where,
        on two lines
    :type z: int
    :returns: a number
    """


@pytest.mark.parametrize(
    ("docstring", "expected"),
    [
        (NUMPY, {"x": "how many", "y": "where", "z": "where"}),
        (REST, {"x": "how many", "y": "where, on two lines"}),
        (None, {}),
        ("Args:", {}),
    ],
)
def test_argument_descriptions_come_from_every_docstring_style(
    docstring: str | None, expected: dict[str, str]
) -> None:
    def act(x: int, y: int, z: int) -> None: ...

    act.__doc__ = docstring
    found = {n: p["description"] for n, p in properties(tool(act)).items() if "description" in p}
    assert found == expected


def test_options_are_taken_over() -> None:
    @tool(read_only=True, name="look-up", timeout_s=5)
    async def look(q: str) -> str:
        return q

    assert (look.name, look.read_only, look.timeout_s, look.where) == ("look-up", True, 5, "loop")


def test_every_common_annotation_has_a_schema() -> None:
    @tool
    def act(
        choice: Literal["a", "b"],
        colour: Colour,
        point: Point,
        rows: Optional[int] = None,  # noqa: UP045 - the old spelling is tested too
        either: int | str = 1,
        items: list[str] = [],  # noqa: B006
        table: dict[str, float] = {},  # noqa: B006
        anything: Any = None,
        small: Annotated[int, Field(ge=1, le=9), "one digit"] = 1,
    ) -> None: ...

    assert properties(act) == {
        "choice": {"type": "string", "enum": ["a", "b"]},
        "colour": {"type": "string", "enum": ["red", "blue"]},
        "point": {
            "type": "object",
            "properties": {
                "x": {"type": "integer"},
                "y": {"type": "number", "default": 0.5},
            },
            "required": ["x"],
            "additionalProperties": False,
        },
        "rows": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
        "either": {"anyOf": [{"type": "integer"}, {"type": "string"}], "default": 1},
        "items": {"type": "array", "items": {"type": "string"}, "default": []},
        "table": {"type": "object", "additionalProperties": {"type": "number"}, "default": {}},
        "anything": {"default": None},
        "small": {
            "type": "integer", "minimum": 1, "maximum": 9, "default": 1, "description": "one digit",
        },
    }  # fmt: skip
    checked = act.validate({"choice": "a", "colour": "blue", "point": {"x": "3"}, "rows": "4"})
    assert checked == {"choice": "a", "colour": Colour.BLUE, "point": Point(3), "rows": 4}


def test_a_type_that_holds_itself_keeps_valid_references() -> None:
    @tool
    def act(node: Node) -> None: ...

    assert properties(act)["node"] == {"$ref": "#/$defs/Node"}
    children = act.parameters["$defs"]["Node"]["properties"]["children"]
    assert children["items"] == {"$ref": "#/$defs/Node"}
    assert act.validate({"node": {"name": "a", "children": [{"name": "b"}]}})["node"].children


def test_a_class_defined_beside_the_tool_is_found() -> None:
    @dataclass
    class Local:
        n: int

    @tool
    def act(local: Local) -> None: ...

    assert act.validate({"local": {"n": 1}}) == {"local": Local(1)}


def test_names_that_pydantic_reserves_are_good_argument_names() -> None:
    @tool
    def act(model_config: int, json: str, _x: int, copy: int = 1) -> None: ...

    given = {"model_config": 1, "json": "a", "_x": 2}
    assert act.validate(given) == given


def test_the_context_parameter_is_hidden_from_the_model() -> None:
    @tool
    def act(x: int, ctx: ToolContext) -> None: ...

    assert act.context_parameter == "ctx"
    assert list(properties(act)) == ["x"]
    with pytest.raises(ToolInputError, match="ctx: is not an argument"):
        act.validate({"x": 1, "ctx": {}})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"rows": "ten"}, "rows: should be an integer, got 'ten'"),
        ({"rows": None}, "rows: should be an integer, got null"),
        ({"rows": 1.5}, "rows: should be an integer, got 1.5"),
        ({}, "rows: is required"),
        ({"rows": 1, "colour": 2}, "colour: is not an argument (arguments: rows, how, points, of)"),
        ({"rows": 1, "how": "c"}, "how: should be 'a' or 'b', got 'c'"),
        (
            {"rows": 1, "points": [{"x": 1}, {"x": "q"}]},
            "points[1].x: should be an integer, got 'q'",
        ),
        ({"rows": 1, "points": [{}]}, "points[0].x: is required"),
        ({"rows": 1, "points": "[]"}, "points: should be a list, got '[]'"),
        ({"rows": 1, "of": []}, "of: should be an integer or a string, got an empty list"),
        ([], "the arguments should be an object, got an empty list"),
    ],
)
def test_a_wrong_argument_is_told_by_place_expectation_and_value(given: Any, message: str) -> None:
    @tool
    def act(
        rows: int,
        how: Literal["a", "b"] = "a",
        points: list[Point] = [],  # noqa: B006
        of: int | str = 1,
    ) -> None: ...

    with pytest.raises(ToolInputError) as caught:
        act.validate(given)
    assert str(caught.value) == message


def no_annotation(x) -> None: ...  # type: ignore[no-untyped-def]
def stars(*args: int) -> None: ...
def double_stars(**kwargs: int) -> None: ...
def positional(x: int, /) -> None: ...
def unknown(x: Nowhere) -> None: ...  # type: ignore[name-defined]  # noqa: F821
def no_json(x: type[int] | complex | object) -> None: ...
def two_contexts(a: ToolContext, b: ToolContext) -> None: ...


class Opaque:
    """A class without a schema."""


def opaque(x: Opaque) -> None: ...


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (no_annotation, "parameter 'x' needs a type annotation"),
        (stars, r"\*args"),
        (double_stars, r"\*\*kwargs"),
        (positional, "positional-only"),
        (unknown, "annotation of 'x' cannot be resolved"),
        (two_contexts, "only one parameter"),
        (opaque, "no schema for an argument"),
        (3, "needs a function"),
        (Opaque, "needs a function"),
    ],
)
def test_a_wrong_definition_fails_when_it_is_written(function: Any, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        tool(function)


@pytest.mark.parametrize("name", ["", "a b", "é", "x" * 65, "<lambda>"])
def test_a_bad_name_fails_when_it_is_written(name: str) -> None:
    with pytest.raises(ValueError, match="is no tool name"):
        tool(name=name)(stars)


NO_VALUE = object()


def test_a_default_that_json_cannot_say_is_not_shown() -> None:
    @tool
    def act(x: Any = NO_VALUE, y: float = float("nan"), z: Colour = Colour.RED) -> None: ...

    assert properties(act) == {
        "x": {},
        "y": {"type": "number"},
        "z": {"type": "string", "enum": ["red", "blue"], "default": "red"},
    }


def test_methods_and_callable_objects_can_be_tools() -> None:
    class Counter:
        def step(self, by: int) -> int:
            """Count on."""
            return by

        async def __call__(self, x: int) -> int:
            return x

    assert list(properties(tool(Counter().step))) == ["by"]
    called = tool(name="count")(Counter())
    assert (called.where, list(properties(called))) == ("loop", ["x"])
