"""``{expr}`` in a prompt: what is replaced, what stays, what is said about it."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smoke_monkey_nb.notebook.fields import FIELD_LIMIT
from smoke_monkey_nb.notebook.template import VALUE_LIMIT, TemplateError, expand

DF = pd.DataFrame({"region": ["north", "south"], "sales": [1.5, 2.5]})
NAMES: dict[str, Any] = {
    "x": 3.14159,
    "n": 7,
    "name": "Ann",
    "width": 10,
    "prec": 2,
    "d": {"a": 1, "}": 2, "{": 3, "it's": 4},
    "items": [1, 2, 3],
    "df": DF,
    "sales_frame": DF,
}


def filled(template: str, **more: Any) -> str:
    return expand(template, {**NAMES, **more}).text


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{x}", "3.14159"),
        ("a {n} b {name} c", "a 7 b Ann c"),
        ("{x:.2f}", "3.14"),
        ("{name!r}", "'Ann'"),
        ("{name!r:>8}", "   'Ann'"),
        ("{name!s:-^9}", "---Ann---"),
        ("{'é' + name!a}", "'\\xe9Ann'"),
        ("{x:{width}.{prec}f}|", "      3.14|"),
        ("{df.shape}", "(2, 2)"),
        ("{ n }", "7"),
        ("{n + 1}", "8"),
        ("{n if n > 3 else 0}", "7"),
        ("{n != 3}", "True"),
        ("{d['a']}", "1"),
        ('{d["}"]} and {n}', "2 and 7"),
        ('{d["{"]} and {n}', "3 and 7"),
        ("""{d["it's"]}""", "4"),
        ("{items[1:]}", "[2, 3]"),
        ("{[i * n for i in items]}", "[7, 14, 21]"),
        ("{sorted(items, key=lambda i: -i)}", "[3, 2, 1]"),
        ("{(lambda v: v + n)(1)}", "8"),
        ("{ {'k': n}['k'] }", "7"),
        ("{ {'k': {'deep': n}} }", "{'k': {'deep': 7}}"),
        ("{ {n} }", "{7}"),
        ("{len(df)} rows, don't you think? {n}", "2 rows, don't you think? 7"),
        ("it's {n} o'clock", "it's 7 o'clock"),
        ("{f'{n:03d}'}", "007"),
        ("C:\\data\\{name}", "C:\\data\\Ann"),
        ("{np_float}", "2.5"),
    ],
)
def test_an_expression_becomes_its_value(template: str, text: str) -> None:
    assert filled(template, np_float=np.float64(2.5)) == text


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1}',
        '{"a": {"b": [1, 2]}, "c": "it\'s"}',
        '{"df": "x", "n": 1}',
        '[{"n": 1}, {"n": 2}]',
        "{'n': 1}",
        r"\d{3}-\w{2,5}",
        r"\d{n}",
        "[a-z]{3,}",
        r"\frac{a}{b} and \sqrt{2}",
        r"\frac{n}{x} + \textbf{name}",
        r"\begin{align} x \end{align}",
        "{}",
        "{ }",
        "{unknown}",
        "{unknown.method(1)}",
        "{len}",
        "{exit} or {quit}",
        "{not closed",
        "closed }",
        "}{",
        "function f() {\n  return n\n}",
        "if (x) { return n; }",
        "a { b: c; } .n { color: red }",
        "{% if n %} {# n #}",
        "{n",
        "{'n",
        "{x!z}",
        "{import os}",
        "{n = 3}",
        "{…} {ünknown}",
        "{1 + 2}",
        "{name: string, n: number}",
    ],
)
def test_other_braces_stay(text: str) -> None:
    assert filled(text) == text


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{{x}}", "{x}"),
        ("{{ x }}", "{ x }"),
        ("{{{n}}}", "{7}"),
        ("{{{{n}}}}", "{{n}}"),
        ('{{"rows": {n}, "who": "{name}"}}', '{"rows": 7, "who": "Ann"}'),
        ("{{x}} {n} {{y}}", "{x} 7 {y}"),
        (r"\frac{{n}}{{x}}", r"\frac{n}{x}"),
    ],
)
def test_doubled_braces_are_single_ones(template: str, text: str) -> None:
    assert filled(template) == text


def test_a_misspelt_name_gets_a_notice() -> None:
    got = expand("Look at {sales_frme.head()} please.", NAMES)
    assert got.text == "Look at {sales_frme.head()} please."
    assert got.notices == (
        "{sales_frme.head()} was left as it stands; did you mean {sales_frame}?",
    )


@pytest.mark.parametrize("text", ['{"sales_frme": 1}', "{foo}", r"\textbf{nme}", "{nam3s.zz}"])
def test_braces_that_mean_something_else_get_none(text: str) -> None:
    assert expand(text, NAMES).notices == ()


def test_a_missing_name_beside_a_known_one_is_named() -> None:
    got = expand("{n + missing}", NAMES)
    assert (got.text, got.notices) == (
        "{n + missing}",
        ("{n + missing} was left as it stands: name 'missing' is not defined.",),
    )


def test_a_format_that_does_not_fit_leaves_the_braces_and_says_so() -> None:
    got = expand("{name:.2f}", NAMES)
    assert got.text == "{name:.2f}"
    assert "Unknown format code 'f'" in got.notices[0]


def test_notices_are_few_and_not_repeated() -> None:
    text = "".join(f"{{sales_fram{i}}} " * 2 for i in range(50))
    assert len(expand(text, NAMES).notices) <= 5


@pytest.mark.parametrize("template", ["{n / 0}", "{df.nope}", "{d['zz']}", "{bad}", "{bad:>4}"])
def test_an_expression_that_raises_is_one_line(template: str) -> None:
    class Bad:
        def __str__(self) -> str:
            raise RuntimeError("several\nlines")

        def __format__(self, spec: str) -> str:
            return str(self)

    with pytest.raises(TemplateError) as raised:
        filled(template, bad=Bad())
    assert "\n" not in str(raised.value)
    assert str(raised.value).startswith(template + " in the prompt: ")


def test_a_frame_is_a_bounded_preview_with_its_shape() -> None:
    frame = pd.DataFrame({"a": range(100_000)})
    text = filled("{frame}", frame=frame)
    assert "100000" in text.replace(",", "")
    assert len(text) < VALUE_LIMIT + 200


@pytest.mark.parametrize("value", ["y" * 10**6, list(range(10**6)), np.zeros((2000, 2000))])
def test_a_large_value_is_cut_and_says_so(value: Any) -> None:
    start = time.perf_counter()
    text = filled("{value}", value=value)
    assert time.perf_counter() - start < 1
    assert len(text) < VALUE_LIMIT + 200


def test_values_are_not_expanded_again() -> None:
    assert filled("{text}", text="{n}") == "{n}"


def test_an_expression_changes_nothing() -> None:
    names = dict(NAMES)
    expand("{(n := 99)} {x}", names)
    assert names == NAMES


HOSTILE = {
    "open": "{" * 200_000,
    "close": "}" * 200_000,
    "nested": "{" * 100_000 + "}" * 100_000,
    "doubled": "{{n" * 33_000 + "}}" * 33_000,
    "pairs": "{}" * 100_000,
    "open quotes": "{'" * 100_000,
    "quotes": "{'n}" * 50_000,
    "both": "{'n\"}" * 40_000,
    "statements": "{n;}" * 50_000,
    "names": "".join(f"{{v{i} n;}}" for i in range(20_000)),
    "colons": ("{n" + ":n" * 400 + "}") * 250,
    "specs": "{n:" * 60_000 + "}" * 20_000,
    "unbalanced": "{{n}" * 50_000,
    "brackets": "{" + "(" * 100_000 + "n" + ")" * 99_000 + "}",
    "latex": r"\frac{n}{n}" * 18_000,
    "misspelt": "".join(f"{{sales_fram{i}}}" for i in range(12_000)),
    "backslashes": "{n\\" * 66_000,
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_text_takes_time_by_its_length(kind: str) -> None:
    start = time.perf_counter()
    filled(HOSTILE[kind])
    assert time.perf_counter() - start < 3  # 0.1 to 0.8 s on a quiet machine


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="{}nx'\"\\:!.,()[] \n=rλ01", max_size=60))
def test_any_text_is_expanded_or_refused_in_one_line(text: str) -> None:
    refusals = []
    try:
        expand(text, NAMES)
    except TemplateError as error:
        refusals.append(str(error))
    assert "\n" not in "".join(refusals)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=200).filter(lambda t: "{{" not in t))
def test_text_without_names_stays_as_it_is(text: str) -> None:
    assert expand(text, {}).text == text


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet=st.characters(exclude_characters="{}"), max_size=50))
def test_values_stand_among_any_text(around: str) -> None:
    text = around.rstrip("\\")
    text = text if not text or not text[-1].isalnum() else text + " "
    assert expand(f"{text}{{n}}{around}", NAMES).text == f"{text}7{around}"


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="abc {}'\"", max_size=40))
def test_a_string_literal_may_hold_any_braces(key: str) -> None:
    field = f"d[{key!r}]"
    if len(field) < FIELD_LIMIT and key.count("}") <= 4:
        assert expand(f"<{{{field}}}>", {"d": {key: "value"}}).text in ("<value>", f"<{{{field}}}>")


@given(st.integers(), st.integers(0, 12), st.sampled_from("dxob"))
def test_specs_mean_what_they_mean_in_f_strings(value: int, wide: int, kind: str) -> None:
    names = {"value": value, "wide": wide}
    assert expand(f"{{value:>{{wide}}{kind}}}", names).text == format(value, f">{wide}{kind}")
