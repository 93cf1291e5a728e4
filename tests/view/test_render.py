"""Whatever a model or tool says, nothing in the page acts; and what it says is still readable."""

from __future__ import annotations

import random
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smoke_monkey_nb.notebook import render
from smoke_monkey_nb.notebook.markdown_stream import MarkdownStream, Piece, to_html

from .hostile import PAYLOADS, problems

ANSWER = """# Result of *it*

Text with `code`, **bold**, $a_b*c*$ and \\(x_1\\).

| a | b |
|:--|--:|
| 1 | 2 |

1. one
2. two
   ```python
   def f(x): return "s"  # c
   ```

- loose

- list

```python
import os
class A:
    pass
```

Setext
======

> quote
> goes on

[late] and ![picture](http://e.test/a.png) and <b>raw</b>

***

[late]: http://late.test
"""


@pytest.mark.parametrize("payload", PAYLOADS)
def test_nothing_in_an_answer_acts(payload: str) -> None:
    for text in (payload, f"before\n\n{payload}\n\nafter", f"- {payload}", f"```\n{payload}"):
        assert problems(render.markdown(text)) == []
        assert problems(to_html(text)) == []


@pytest.mark.parametrize("payload", PAYLOADS)
def test_code_diffs_and_plain_text_are_text(payload: str) -> None:
    for html in (
        render.escape(payload),
        *(render.code(payload, language) for language in ("", "python", "bash", "json", "html")),
        render.diff(f"--- a\n+++ b\n-{payload}\n+{payload}"),
    ):
        assert problems(html) == []
        assert "<script" not in html.lower()


@given(st.text(alphabet="<>&\"'`*_[]()!#|-~$\\:;/= \n\tabonscriptjv:1\x00\u202e\ud800"))
def test_no_text_at_all_acts(text: str) -> None:
    assert problems(render.markdown(text)) == []
    assert problems(to_html(text)) == []


def test_a_remote_image_becomes_a_link() -> None:
    html = render.markdown("![chart](https://e.test/a.png)")
    assert "<img" not in html
    assert 'href="https://e.test/a.png"' in html
    assert ">chart</a>" in html


def test_a_data_image_stays() -> None:
    assert 'src="data:image/png;base64,iVBORw0KGgo="' in render.markdown(
        "![chart](data:image/png;base64,iVBORw0KGgo=)"
    )


def test_links_open_apart_and_tell_nothing() -> None:
    assert 'rel="noopener noreferrer nofollow"' in render.markdown("[x](https://e.test)")


def test_math_is_left_as_it_stands() -> None:
    text = r"$a_b*c*d_e$ and $$\frac{a}{b}\\_x_$$ and \(x_1\) and \[y\_2\]"
    assert re.sub("</?p>", "", render.markdown(text)) == text


def test_prices_are_no_math() -> None:
    assert "<em>really</em>" in render.markdown("from $5 to $6 *really*")


def test_unseen_characters_are_spelt_out() -> None:
    assert render.visible("a\u202eb\u200bc\x07d\ufeffe") == (
        "a⟦U+202E⟧b⟦U+200B⟧c⟦U+0007⟧d⟦U+FEFF⟧e"
    )
    assert render.visible("tab\tline\nünï 漢字 🙂") == "tab\tline\nünï 漢字 🙂"


def test_unseen_characters_in_code_of_an_answer_are_spelt_out() -> None:
    assert "⟦U+202E⟧" in render.markdown("```\nx = 1 \u202e\n```")
    assert "⟦U+202E⟧" in render.markdown("`x\u202e`")


def test_terminal_codes_are_stripped_from_output() -> None:
    text = "\x1b[31mred\x1b[0m \x1b]0;title\x07plain\x9b1m\r\nnext\x00"
    assert render.plain(text) == "red plain\nnext"


def test_code_is_highlighted_by_class_or_by_inline_colour() -> None:
    html = render.code("def f(): return '<i class=\"k\">'", "python")
    assert html.count('<i class="k">') == 2
    inline = render.inline_colors(html)
    assert inline.count('style="color:') == 3
    assert "<i" not in inline
    assert "&lt;i class=" in inline


def test_an_unknown_language_is_plain_and_quick() -> None:
    started = time.perf_counter()
    for number in range(200):
        assert render.code("a < b", f"nonsense{number}") == "a &lt; b"
    assert time.perf_counter() - started < 0.5


@pytest.mark.parametrize("text", ["[" * 40_000, "*a **b " * 8_000, "> " * 20_000, "`a" * 20_000])
def test_a_text_that_parsers_hate_costs_little(text: str) -> None:
    started = time.perf_counter()
    to_html(text)
    assert time.perf_counter() - started < 4


def in_pieces(text: str, seed: int) -> list[str]:
    chance, out = random.Random(seed), []
    while text:
        size = chance.randint(1, 40)
        out.append(text[:size])
        text = text[size:]
    return out


@pytest.mark.parametrize("seed", range(30))
def test_streaming_in_any_pieces_gives_the_html_of_the_whole(seed: int) -> None:
    stream = MarkdownStream()
    for part in in_pieces(ANSWER, seed):
        stream.feed(part)
    stream.finish()
    assert "\n".join(stream.pieces) == to_html(ANSWER)


def shown_to_a_reader(text: str, seed: int) -> list[str]:
    """The text of each block after applying the changes as the page does."""
    stream, blocks = MarkdownStream(), list[str]()
    changes = [c for part in in_pieces(text, seed) for c in stream.feed(part)]
    for change in changes + stream.finish():
        blocks += [""] * (change.at + 1 - len(blocks))
        if isinstance(change, Piece):
            blocks[change.at] = change.html
        else:  # into the innermost last element
            html, closers = blocks[change.at], re.search(r"(?:</\w+>\n?)*$", blocks[change.at])
            at = closers.start() if closers else len(html)
            blocks[change.at] = html[:at] + render.escape(change.text) + html[at:]
    return [" ".join(words(block).split()) for block in blocks if block]


def words(html: str) -> str:
    from html import unescape

    return unescape(re.sub("<[^>]*>", "", html))


@pytest.mark.parametrize("seed", range(30))
def test_a_reader_who_follows_the_changes_has_read_the_whole(seed: int) -> None:
    text = ANSWER + "\n" + "a word or two " * 400 + "\n\n```\n" + "x = 1\n" * 500 + "```\nend"
    whole = MarkdownStream()
    whole.feed(text)
    whole.finish()
    expected = [" ".join(words(html).split()) for html in whole.pieces]
    assert shown_to_a_reader(text, seed) == expected


def test_closed_blocks_are_not_rendered_again(monkeypatch: pytest.MonkeyPatch) -> None:
    from smoke_monkey_nb.notebook import markdown_stream

    rendered = list[int]()

    def counting(text: str, env: dict[str, object]) -> str:
        rendered.append(len(text))
        return render.markdown(text, env)

    monkeypatch.setattr(markdown_stream, "markdown", counting)
    text = "\n\n".join(["A paragraph of words. " * 20, "| a |\n|---|\n| 1 |"] * 120)
    assert len(text) > 50_000
    stream = MarkdownStream()
    for at in range(0, len(text), 200):
        stream.feed(text[at : at + 200])
    stream.finish()
    assert sum(rendered) < 5 * len(text)
