"""Keeps IPython from reading a question to ``%agent`` as a call for help.

IPython takes any line that ends in ``?`` for one, whatever magic it begins with: ``%agent how many
rows are there?`` would show the help of ``there``. So such lines become the magic's call before
IPython looks at them. ``%agent ?`` and ``%agent?`` stay calls for help.
"""

from __future__ import annotations

import re

_QUESTION = re.compile(r"([ \t]*)%agent[ \t]+([^\n]*[^\s?][^\n]*\?)[ \t]*\n?\Z")


def keep_questions(lines: list[str]) -> list[str]:
    """An input transformer of IPython's: the lines of a cell, with their line ends."""
    if not lines or lines[0].lstrip().startswith("%%"):
        return lines
    return [_as_call(line) for line in lines]


def _as_call(line: str) -> str:
    match = _QUESTION.match(line)
    if match is None:
        return line
    indent, prompt = match.groups()
    return f"{indent}get_ipython().run_line_magic('agent', {prompt!r})\n"
