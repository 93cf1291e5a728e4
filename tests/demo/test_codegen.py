"""The generated code is run on real data, and its numbers are pandas' own."""

from __future__ import annotations

import ast

import pandas as pd
import pytest

from smoke_monkey_nb.providers.demo.asks import Ask, read_ask
from smoke_monkey_nb.providers.demo.codegen import identifier, snippet
from smoke_monkey_nb.providers.demo.frames import Column, Frame
from smoke_monkey_nb.providers.demo.tables import read_figures, read_table

from .helpers import SALES, python, sales


def run(ask: Ask, frame: pd.DataFrame | None = None, about: Frame = SALES) -> list[tuple]:
    made = snippet(ask, about)
    printed = python({about.name: sales() if frame is None else frame})({"code": made.code})
    table = read_figures(printed) if made.columns is None else read_table(printed, made.columns)
    assert table is not None, printed
    return list(table.rows)


def test_mean_by_group_is_sorted_and_skips_missing_values() -> None:
    rows = run(Ask("aggregate", "revenue", ("region",)))
    assert rows == [("North", 65.0), ("East", 45.0), ("South", 29.0)]


def test_top_n_by_group() -> None:
    assert run(Ask("aggregate", "revenue", ("product",), "sum", n=1)) == [("Kettle", 148.0)]


def test_trend_leaves_undated_rows_out() -> None:
    rows = run(Ask("trend", "units", how="sum", date="date"))
    assert rows == [("2025-01", 4), ("2025-02", 7), ("2025-03", 1)]


def test_rows_by_group_are_counted() -> None:
    rows = run(Ask("aggregate", None, ("region",), "size"))
    assert rows[0] == ("North", 3)


def test_missing_values_are_counted_for_every_column() -> None:
    assert ("revenue", 1, 16.7) in run(Ask("missing"))


def test_total_of_one_column() -> None:
    assert run(Ask("total", "revenue", how="sum")) == [("total revenue", 233.0)]


def test_largest_rows() -> None:
    assert run(Ask("rows", "revenue", n=1))[0][-1] == 100.0


def test_the_frame_itself_is_never_changed() -> None:
    frame = sales()
    for kind in ("clean", "missing", "summary", "correlation"):
        run(Ask(kind), frame)
    pd.testing.assert_frame_equal(frame, sales())


@pytest.mark.parametrize(
    "sentence",
    [
        "plot mean revenue by region",
        "plot mean revenue by region and product",
        "plot revenue by month",
        "histogram of revenue",
        "box plot of revenue",
        "scatter plot of units and revenue",
        "bar chart of unique products",
    ],
)
def test_charts_run(sentence: str, monkeypatch: pytest.MonkeyPatch) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    monkeypatch.setattr(plt, "show", lambda: None)  # Agg warns that it shows nothing
    ask = read_ask(sentence, SALES)
    assert ask is not None
    assert run(ask)
    assert plt.get_fignums()
    plt.close("all")


def test_hostile_column_names_stay_text() -> None:
    name = 'x"]; import os; os.abort() #\n'
    frame = Frame("t", 2, (Column(name, "float64"), Column("g", "str")))
    rows = run(
        Ask("aggregate", name, ("g",)), pd.DataFrame({name: [1.0, 3.0], "g": ["a", "a"]}), frame
    )
    assert rows == [("a", 2.0)]


def test_code_is_short_and_names_its_result() -> None:
    made = snippet(Ask("aggregate", "revenue", ("region",)), SALES)
    assert made.result == "mean_revenue_by_region"
    assert len(made.code.splitlines()) <= 8
    ast.parse(made.code)


def test_a_result_never_takes_a_name_that_is_taken() -> None:
    made = snippet(Ask("total", "revenue", how="sum"), SALES, {"total_revenue"})
    assert made.result == "total_revenue_result"


def test_identifiers_are_valid_names() -> None:
    assert identifier("mean", "price (€)", "by", "2nd group").isidentifier()
    assert identifier("2024").isidentifier()


def test_csv_is_found_behind_other_output() -> None:
    table = read_table(
        '[Figure: 690×390]\nregion,revenue\n"East, far",1.5\nWest,\n\nmore', ["region"]
    )
    assert table is not None
    assert table.rows == (("East, far", 1.5), ("West", None))


def test_no_csv_is_no_table() -> None:
    assert read_table("nothing here", ["region"]) is None
    assert read_figures("nothing here") is None
