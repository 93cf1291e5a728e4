"""What the rules read in a sentence."""

from __future__ import annotations

import pytest

from smoke_monkey_nb.providers.demo.asks import Ask, read_ask

from .helpers import SALES


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        (
            "What is the mean revenue by region?",
            Ask("aggregate", "revenue", ("region",), "mean"),
        ),
        ("Total UNITS per Product", Ask("aggregate", "units", ("product",), "sum")),
        (
            "median unit price for each region",
            Ask("aggregate", "unit_price", ("region",), "median"),
        ),
        ("Which region has the highest mean revenue?", Ask("aggregate", "revenue", ("region",))),
        (
            "Which product sold the fewest units?",
            Ask("aggregate", "units", ("product",), "sum", lowest=True),
        ),
        ("how many orders per region", Ask("aggregate", None, ("region",), "size")),
        (
            "mean revenue by region and product",
            Ask("aggregate", "revenue", ("region", "product")),
        ),
        ("averge revenu by regoin", Ask("aggregate", "revenue", ("region",), "sum")),
        ("mean revnue by region", Ask("aggregate", "revenue", ("region",))),
        ("mean profit by region", Ask("aggregate", "profit", ("region",))),
        ("mean revenue by colour", Ask("aggregate", "revenue", ("colour",))),
        (
            "plot total revenue by month",
            Ask("trend", "revenue", how="sum", date="date", chart="line"),
        ),
        ("revenue over time", Ask("trend", "revenue", how="sum", date="date")),
        ("weekly units", Ask("trend", "units", how="sum", unit="week", date="date")),
        ("top 3 products by revenue", Ask("aggregate", "revenue", ("product",), "sum", n=3)),
        ("the five largest orders by revenue", Ask("rows", "revenue", n=5)),
        ("top 2 rows by unit_price", Ask("rows", "unit_price", n=2)),
        ("which columns have missing values?", Ask("missing")),
        ("Is unit price correlated with units?", Ask("correlation", "unit_price", other="units")),
        ("correlation matrix", Ask("correlation")),
        ("histogram of revenue", Ask("distribution", "revenue", chart="hist")),
        (
            "scatter plot of units and revenue",
            Ask("scatter", "units", other="revenue", chart="scatter"),
        ),
        ("average revenue", Ask("total", "revenue")),
        ("unique products", Ask("counts", groups=("product",), how="size")),
        ("How many rows are there?", Ask("size")),
        ("Summarise the data", Ask("summary")),
        ("describe it", Ask("summary")),
        ("drop rows with missing revenue", Ask("clean", "revenue")),
        ("who won the war", None),
        ("foo bar", None),
    ],
)
def test_a_sentence_is_read_by_rules(sentence: str, expected: Ask | None) -> None:
    if expected is None:
        assert read_ask(sentence, SALES) is None
    else:
        assert read_ask(sentence, SALES) == expected
