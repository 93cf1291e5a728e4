"""Whatever a tool returns becomes bounded valid text or a picture."""

from __future__ import annotations

import collections
import datetime as dt
import decimal
import enum
import io
import json
import time
import uuid
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from PIL import Image as PillowImage
from pydantic import BaseModel

from smoke_monkey_nb.tools.base import RESULT_LIMIT, Image, ToolOutput
from smoke_monkey_nb.tools.results import to_output

matplotlib.use("agg")


class Hostile:
    def __repr__(self) -> str:
        raise RuntimeError("no")

    __str__ = __repr__


class Colour(enum.Enum):
    RED = "red"


@dataclass
class Point:
    x: int
    y: Any = None


class Pair(NamedTuple):
    a: int
    b: int


class Model(BaseModel):
    n: int
    when: dt.date


def generate() -> Iterator[int]:
    yield 1
    raise AssertionError("a generator must not be run")


async def generate_async() -> AsyncIterator[int]:
    yield 1


async def coroutine() -> None: ...


HOLDS_ITSELF: list[Any] = []
HOLDS_ITSELF.append(HOLDS_ITSELF)

CASES: list[tuple[Any, str]] = [
    (None, "null"),
    (True, "true"),
    (7, "7"),
    (1.5, "1.5"),
    ("", "(empty)"),
    ("plain", "plain"),
    (float("nan"), "NaN"),
    (float("-inf"), "-Infinity"),
    ([float("nan"), float("inf"), 1.0], '[null, "Infinity", 1.0]'),
    ({"a": {2, 1}, 1: (1, 2), None: []}, '{"a": [1, 2], "1": [1, 2], "null": []}'),
    ({(1, 2): 3}, '{"(1, 2)": 3}'),
    ({1: "a", "1": "b"}, """{"1": "a", "'1'": "b"}"""),
    (np.float32(2.5), "2.5"),
    (np.int64(3), "3"),
    (np.bool_(True), "true"),
    (np.datetime64("2020-01-02"), "2020-01-02"),
    ({"n": np.int64(3), "na": pd.NA, "nat": pd.NaT}, '{"n": 3, "na": null, "nat": null}'),
    (decimal.Decimal("1.10"), "1.10"),
    (dt.date(2020, 1, 2), "2020-01-02"),
    (pd.Timestamp("2020-01-02"), "2020-01-02T00:00:00"),
    (dt.timedelta(hours=1), "1:00:00"),
    (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    (Path("a/b"), "a/b"),
    (1 + 2j, "(1+2j)"),
    (b"abc", "<bytes, 3 bytes: 'abc'>"),
    (b"\xff", r"<bytes, 1 bytes: '\xff'>"),
    (frozenset({1}), "[1]"),
    (collections.deque([1, 2]), "[1, 2]"),
    (collections.Counter("aab"), '{"a": 2, "b": 1}'),
    (range(3), "range(0, 3)"),
    (Colour.RED, "red"),
    ([Colour.RED], '["red"]'),
    (Point(1, Point(2)), '{"x": 1, "y": {"x": 2, "y": null}}'),
    (Pair(1, 2), '{"a": 1, "b": 2}'),
    (Model(n=1, when=dt.date(2020, 1, 2)), '{"n": 1, "when": "2020-01-02"}'),
    (ValueError("bad"), "ValueError: bad"),
    (Hostile(), "<smoke.Hostile object; its repr raised RuntimeError>"),
    ([Hostile()], '["<smoke.Hostile object; its repr raised RuntimeError>"]'),
    (generate(), "<generator generate, not run; give a list to see its items>"),
    (iter([1]), "<iterator list_iterator, not run; give a list to see its items>"),
    (generate_async(), "<async generator generate_async, not run>"),
    (HOLDS_ITSELF, '["<list that holds itself>"]'),
    ("a\ud800b", "a\ufffdb"),
    (["\udfff"], '["\ufffd"]'),
    ("nul\x00", "nul\ufffd"),
    ("\x1b[1;31mred\x1b[0m \x1b]8;;http://x\x07link\x1b]8;;\x07", "red link"),
    ("old\rline ends\r\n", "old\nline ends\n"),
    (10**5000, "<an integer of 16,610 bits>"),
]


@pytest.mark.parametrize(("value", "text"), CASES, ids=lambda v: type(v).__name__)
def test_every_kind_of_value_has_its_text(value: Any, text: str) -> None:
    output = to_output(value)
    assert output.text.replace("tests.", "smoke.") == text
    assert output.images == ()
    output.text.encode("utf-8")


def test_a_coroutine_is_described_and_leaves_no_warning() -> None:
    assert to_output(coroutine()).text == "<coroutine coroutine, not awaited>"


def test_json_stays_json() -> None:
    value = {"a": [1, 2.5, None, True, "ä"], "b": {"c": []}}
    assert json.loads(to_output(value).text) == value


@pytest.mark.parametrize(
    "value",
    [
        pd.DataFrame({"price": [1.5, None], "name": ["x", "y"]}),
        pl.DataFrame({"price": [1.5, None], "name": ["x", "y"]}),
        pl.DataFrame({"price": [1.5, None], "name": ["x", "y"]}).to_arrow(),
    ],
    ids=["pandas", "polars", "pyarrow"],
)
def test_a_frame_is_a_preview_with_shape_types_and_rows(value: Any) -> None:
    text = to_output(value).text
    assert "shape (2, 2), 2 rows × 2 columns" in text
    assert "price: " in text
    assert "1.5" in text.split("First 2 rows:")[1]


def test_a_large_frame_is_bounded_and_quick() -> None:
    wide = pd.DataFrame(np.zeros((100_000, 500)))
    started = time.perf_counter()
    text = to_output(wide).text
    assert time.perf_counter() - started < 2
    assert len(text) <= 12_000
    assert "shape (100000, 500)" in text


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (pd.Series([1, 2], name="s"), "Series int64, shape (2,), name 's'"),
        (pl.Series("s", [1, 2]), "polars.Series Int64, shape (2,), name 's'"),
        (pd.Index(["a"]), "Index "),
        (np.arange(12).reshape(3, 4), "ndarray int64, shape (3, 4)"),
        (np.zeros((1000, 1000)), "ndarray float64, shape (1000, 1000)"),
        (np.array(["a"], dtype=object), "ndarray object, shape (1,)"),
        (np.array(5), "ndarray int64, shape ()"),
        (pd.DataFrame(), "shape (0, 0)"),
        (pd.DataFrame({"a": [Hostile()]}), "DataFrame"),
    ],
)
def test_series_and_arrays_are_previews(value: Any, words: str) -> None:
    assert words in to_output(value).text


def test_fifty_megabytes_of_text_keep_both_ends_and_cost_little() -> None:
    text = "head" + "x" * 50_000_000 + "tail"
    started = time.perf_counter()
    out = to_output(text).text
    assert time.perf_counter() - started < 1
    assert len(out) <= RESULT_LIMIT
    assert out.startswith("head")
    assert out.endswith("tail")
    left_out = len(text) - (len(out) - len("\n… [49,970,088 characters left out] …\n"))
    assert f"[{left_out:,} characters left out]" in out


@pytest.mark.parametrize(
    "value",
    [
        list(range(3_000_000)),
        {i: i for i in range(300_000)},
        set(range(1_000_000)),
        collections.deque(range(1_000_000)),
        ["x" * 10_000_000],
        {"a": {"b": ["y" * 5_000_000]}},
        b"z" * 50_000_000,
        Exception("e" * 1_000_000),
    ],
    ids=lambda v: type(v).__name__,
)
def test_a_large_value_is_bounded_whatever_it_is(value: Any) -> None:
    started = time.perf_counter()
    text = to_output(value).text
    assert time.perf_counter() - started < 3
    assert 0 < len(text) <= RESULT_LIMIT


def test_nesting_without_end_is_cut() -> None:
    value: Any = 1
    for _ in range(100_000):
        value = [value]
    assert "nested too deep" in to_output(value).text


def test_an_output_passes_through_but_bounded() -> None:
    picture = Image("image/png", b"\x89PNG")
    output = to_output(ToolOutput("x" * 100_000, (picture,)))
    assert len(output.text) <= RESULT_LIMIT
    assert output.images == (picture,)


def png_size(image: Image) -> tuple[int, int]:
    with PillowImage.open(io.BytesIO(image.data)) as opened:
        return opened.size


def test_a_figure_is_an_image() -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4, 3))
    figure.subplots().plot([1, 2])
    output = to_output(figure)
    assert output.text == "[matplotlib.Figure: PNG, 400×300]"
    assert png_size(output.images[0]) == (400, 300)


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "L", "1", "P", "CMYK", "F", "LA"])
def test_a_pillow_image_of_any_mode_is_an_image(mode: str) -> None:
    output = to_output(PillowImage.new(mode, (5, 4)))
    assert [png_size(i) for i in output.images] == [(5, 4)]


def test_a_huge_picture_is_scaled_down() -> None:
    from matplotlib.figure import Figure

    outputs = [to_output(PillowImage.new("L", (6000, 3000))), to_output(Figure(figsize=(200, 1)))]
    assert all(max(png_size(o.images[0])) <= 1_568 for o in outputs)


class DrawsItself:
    def __init__(self, data: Any) -> None:
        self.data = data

    def _repr_png_(self) -> Any:
        if self.data is None:
            raise RuntimeError("cannot draw")
        return self.data


def test_an_object_that_draws_itself_is_an_image() -> None:
    buffer = io.BytesIO()
    PillowImage.new("L", (3, 3)).save(buffer, format="PNG")
    output = to_output(DrawsItself((buffer.getvalue(), {"width": 3})))
    assert output.images == (Image("image/png", buffer.getvalue()),)


def test_an_object_that_fails_to_draw_itself_is_text() -> None:
    for data in (None, b"not a picture", "%%%"):
        output = to_output(DrawsItself(data))
        assert output.images == ()
        assert "DrawsItself" in output.text
    assert to_output(DrawsItself).images == ()  # the class, not an instance


def test_a_list_of_texts_and_pictures_gives_both() -> None:
    output = to_output(["look:", PillowImage.new("L", (3, 3)), {"n": 1}])
    assert output.text == 'look:\n[PIL.Image: PNG, 3×3]\n{"n": 1}'
    assert len(output.images) == 1


class BreaksEverything:
    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(name)


def test_an_object_that_breaks_attribute_access_is_still_text() -> None:
    assert "BreaksEverything" in to_output(BreaksEverything()).text
    assert "BreaksEverything" in to_output([BreaksEverything()]).text
