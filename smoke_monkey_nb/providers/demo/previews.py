"""Take the previews of variables out of a prompt, so that the rules read only what a person wrote.

The magic puts them there for ``{df}`` in the prompt (in the middle of a sentence) and for
``--input`` (below it). Column names and cells in them are no questions.
"""

from __future__ import annotations

import re

_INPUT = re.compile(r"\n\nThe variable `(?P<name>\w+)`:\n\n.*?(?=\n\nThe variable `|\Z)", re.S)
_TITLE = re.compile(r"(?:\w+\.)?DataFrame, shape \(\d+, \d+\), [\d,]+ rows? × [\d,]+ columns?")
_ROWS = re.compile(r"First (?P<n>\d+) rows?:")


def without_previews(prompt: str) -> str:
    """``prompt`` as it was written; of an ``--input`` its name stays."""
    text = _INPUT.sub(lambda block: f"\n`{block['name']}`", prompt)
    title = _TITLE.search(text)
    while title is not None:
        rest = _behind_table(text[title.end() :].split("\n"))
        text = f"{text[: title.start()]}the table{rest}"
        title = _TITLE.search(text)
    return text


def _behind_table(lines: list[str]) -> str:
    """What follows a table's columns and first rows. The sentence goes on behind the last row,
    which is as long as the row of names.
    """
    at = 1
    while at < len(lines) and lines[at].startswith("  "):
        at += 1
    rows = _ROWS.fullmatch(lines[at]) if at < len(lines) else None
    last = at + 1 + int(rows["n"]) if rows else len(lines)
    if last >= len(lines):
        return "\n".join(lines)
    return "\n".join([lines[last][len(lines[at + 1]) :], *lines[last + 1 :]])
