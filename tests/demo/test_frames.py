"""What the demo reads in the words of the notebook tools."""

from __future__ import annotations

from smoke_monkey_nb.providers.demo.frames import Column, Variable, read_frame, read_variables

from .helpers import inspect_variable, list_variables


def test_variables_are_read_with_their_size() -> None:
    assert read_variables(list_variables({})) == [
        Variable("sales", "DataFrame", 36),
        Variable("rate", "float"),
    ]


def test_functions_and_modules_are_known_by_name() -> None:
    found = read_variables("(functions: load, save)\n(modules: pd)")
    assert found == [
        Variable("load", "function"),
        Variable("save", "function"),
        Variable("pd", "module"),
    ]


def test_a_table_is_read_with_types_and_missing_values() -> None:
    frame = read_frame("sales", inspect_variable({"name": "sales"}))
    assert frame.rows == 6
    assert [c.name for c in frame.columns] == [
        "date",
        "region",
        "product",
        "units",
        "unit_price",
        "revenue",
    ]
    assert frame.columns[-1] == Column("revenue", "float64", 1)
    assert [frame.kind(c.name) for c in frame.columns] == [
        "date",
        "text",
        "text",
        "number",
        "number",
        "number",
    ]
    assert not frame.is_polars


def test_odd_names_and_types_are_read() -> None:
    text = (
        "polars.DataFrame, shape (2, 3), 2 rows × 3 columns\nColumns:\n"
        "  when: it: datetime64[ns, UTC], 1 null\n  a b: Int64\n  3: float64, 1,200 nulls\n"
        "First 2 rows:\n  x: int64"
    )
    frame = read_frame("t", text, "polars.DataFrame")
    assert frame.columns == (
        Column("when: it", "datetime64[ns, UTC]", 1),
        Column("a b", "Int64"),
        Column("3", "float64", 1200),
    )
    assert frame.is_polars


def test_text_that_is_no_table_is_an_empty_frame() -> None:
    assert read_frame("x", "").columns == ()
