"""Looking at variables: lists, close looks, and no user code run on the way."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from smoke_monkey_nb.tools.base import ToolContext
from smoke_monkey_nb.tools.errors import ToolError
from smoke_monkey_nb.tools.variables import TOOLS, inspect_variable, list_variables, recent_cells


class Trap:
    """Every way to run its code fails the test."""

    def __init__(self) -> None:
        self.inner = {"n": [1, 2, 3]}

    def boom(self, *args: Any) -> Any:
        raise AssertionError("user code ran")

    __repr__ = __getitem__ = __len__ = __iter__ = __bool__ = boom  # type: ignore[assignment]

    def __getattr__(self, name: str) -> Any:
        raise AssertionError("user code ran")

    @property
    def computed(self) -> int:
        raise AssertionError("user code ran")


@dataclass
class Settings:
    paths: list[str]
    rate: float = 0.5


@pytest.fixture
def lent(context: ToolContext) -> ToolContext:
    names = {
        "df": pd.DataFrame({"price": [1.5, None, 3.0], "name": ["x", "y", None]}),
        "n": 3,
        "text": "q" * 100,
        "settings": Settings(["a.csv"]),
        "table": {"a": [10, {"k": "deep"}]},
        "trap": Trap(),
        "api_key": "sk-abcdefghijklmnop1234",
        "np": np,
        "Settings": Settings,
        "helper": lambda: None,
        "_private": 1,
    }
    return replace(context, namespace=names)


def test_variables_are_listed_with_type_and_size(lent: ToolContext) -> None:
    assert list_variables(lent).splitlines() == [
        "df: DataFrame, shape (3, 2), 3 rows × 2 columns",
        "n: int = 3",
        "text: str, 100 characters",
        "settings: tests.Settings",
        "table: dict, 1 item",
        "trap: tests.Trap",
        "api_key: str (not shown: its name says that it is secret)",
        "(functions: helper)",
        "(classes: Settings)",
        "(modules: np)",
    ]


def test_no_variables_is_said(context: ToolContext) -> None:
    assert list_variables(context) == "(There are no variables yet.)"


def test_a_frame_is_told_closely(lent: ToolContext) -> None:
    text = inspect_variable("df", lent, rows=2)
    assert text.startswith(
        "df: DataFrame, shape (3, 2), 3 rows × 2 columns\nColumns:\n  price: float64, 1 null\n"
    )
    assert ", 1 null\nFirst 2 rows:\n   price name\n0    1.5    x\n1    NaN    y\n" in text
    assert "mean   2.25000\n" in text


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("n", "n: int = 3"),
        ("df['price']", "Series float64, shape (3,), name 'price'"),
        ("df.columns", "shape (2,)"),
        ("df['price'][0:2]", "shape (2,)"),
        ("table['a'][1]['k']", "str, 4 characters\ndeep"),
        ("table['a'][-1]", "dict, 1 item"),
        ("settings.paths[0]", "a.csv"),
        ("settings", "rate: float = 0.5"),
        ("trap.inner['n'][2]", "int = 3"),
        ("Settings", "class Settings(paths: "),
        ("np", "module numpy"),
    ],
)
def test_a_path_leads_to_a_value(lent: ToolContext, path: str, words: str) -> None:
    assert words in inspect_variable(path, lent)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("dff", "no variable 'dff'; did you mean 'df'"),
        ("df.head()", "no simple path"),
        ("1 + 1", "no simple path"),
        ("__import__('os').system('x')", "no simple path"),
        ("df[n]", "plain value"),
        ("df['nope']", "no item 'nope'"),
        ("table['a'][9]", "no item 9"),
        ("trap.computed", "computed when it is read"),
        ("trap.nothing", "no attribute 'nothing'"),
        ("trap['x']", "without running code"),
        ("settings.paths[", "no variable name"),
        ("a" * 100_000 + ".b" * 3, "no variable"),
        ("(" * 10_000, "no variable name"),
    ],
)
def test_a_path_that_needs_code_or_leads_nowhere_is_refused(
    lent: ToolContext, path: str, words: str
) -> None:
    with pytest.raises(ToolError, match=words.replace("(", r"\(")):
        inspect_variable(path, lent)


def test_an_object_whose_repr_raises_is_still_told(lent: ToolContext) -> None:
    text = inspect_variable("trap", lent)
    assert "its repr raised AssertionError" in text
    assert "inner: dict = {'n': [1, 2, 3]}" in text


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_ten_million_rows_are_quick(lent: ToolContext, library: str) -> None:
    rows = 10_000_000
    numbers = np.arange(rows, dtype="float64")
    numbers[::4] = np.nan
    words = np.array(["x", "y"], dtype=object).repeat(rows // 2)
    assert lent.namespace is not None
    if library == "pandas":
        frame: Any = pd.DataFrame({"n": numbers, "word": pd.Series(words, dtype=object)})
    else:
        frame = pl.DataFrame({"n": pl.Series(numbers, nan_to_null=True)})
    lent.namespace["big"] = frame
    started = time.perf_counter()
    text = inspect_variable("big", lent)
    assert time.perf_counter() - started < 2
    assert "n: " in text
    assert "2,500,000 nulls" in text
    assert "of a random sample of 50,000 rows" in text


def test_keys_are_masked_and_secret_names_ask(lent: ToolContext) -> None:
    tool = next(t for t in TOOLS if t.name == "inspect_variable")
    assert tool.asks is not None
    assert tool.asks({"name": "df"}, lent) is None
    for name in ("api_key", "settings.password", "config['token']", "OPENAI_API_KEY"):
        assert "seems to hold a secret" in (tool.asks({"name": name}, lent) or "")
    assert "sk-abc" not in inspect_variable("api_key", lent)


def test_there_are_no_cells_outside_a_notebook(lent: ToolContext) -> None:
    assert "no notebook" in recent_cells(lent)


def test_all_read_on_the_main_thread() -> None:
    assert {(t.where, t.read_only) for t in TOOLS} == {("main", True)}
