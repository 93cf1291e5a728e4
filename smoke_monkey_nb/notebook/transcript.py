"""The finished cell: a static transcript that needs no kernel, no script and no style sheet.

It replaces the live view, is what the notebook file keeps, and is bounded in size. ``text/html`` is
built by the same cards as the live view; ``text/markdown`` and ``text/plain`` say the same for
front ends without HTML. The Markdown form is defanged: a trusted notebook renders it unsanitised,
so model text keeps no raw HTML, no scheme but http, https and mailto, no remote image and no way to
open or close a code fence of its own.
"""

from __future__ import annotations

import re
from itertools import groupby
from typing import Any

from . import wording
from .blocks import (
    AskBlock,
    Block,
    ErrorBlock,
    NoteBlock,
    NoticeBlock,
    PermissionBlock,
    TextBlock,
    ThoughtBlock,
    TodoBlock,
    ToolBlock,
)
from .cards import card, head, head_parts
from .look import STATIC_LOOK
from .render import parser, plain
from .story import RunStory

#: Characters of all answers of a run together, and of a result in the plain forms.
TEXT_LIMIT = 120_000
RESULT_LIMIT = 1_500
#: Characters of the whole plain form, the one for terminals.
PLAIN_LIMIT = 20_000
#: Characters of all pictures of a run together.
IMAGES_LIMIT = 1_500_000


def bundle(story: RunStory) -> dict[str, str]:
    """The transcript as a mime bundle for ``display(..., raw=True)``."""
    return {
        "text/html": html(story),
        "text/markdown": markdown(story),
        "text/plain": text(story),
    }


def html(story: RunStory) -> str:
    """The transcript as HTML with inline styles."""
    cards = [head(story, STATIC_LOOK)]
    for is_notice, group in groupby(_bounded_blocks(story), lambda b: isinstance(b, NoticeBlock)):
        found = [c for c in (card(block, STATIC_LOOK) for block in group) if c]
        cards += _folded(found) if is_notice and len(found) > 2 else found
    inner = "\n".join(cards)
    return STATIC_LOOK.tag("div", "smn-run", "\n", inner, "\n", data_status=story.status)


def _folded(notices: list[str]) -> list[str]:
    summary = f"<summary>{len(notices)} notices</summary>"
    return [STATIC_LOOK.tag("details", "smn-notices", summary, *notices)]


def text(story: RunStory) -> str:
    """The transcript as plain text."""
    lines = [head_line(story), plain(story.model_reason or "")]
    lines += [block_text(block) for block in _bounded_blocks(story)]
    return wording.bounded("\n\n".join(line for line in lines if line), PLAIN_LIMIT)


def markdown(story: RunStory) -> str:
    """The transcript as Markdown without anything that could act."""
    lines = [f"**{defang(head_line(story))}**"]
    for block in _bounded_blocks(story):
        if isinstance(block, TextBlock):
            lines.append("" if block.is_void else defang_markdown(block.text))
        else:
            said = defang(block_text(block))
            lines.append("\n".join(f"> {line}  " for line in said.splitlines()))
    return "\n\n".join(line for line in lines if line)


def head_line(story: RunStory) -> str:
    """The header as one line of text."""
    return " · ".join(t for _, t in head_parts(story))


def block_text(block: Block) -> str:
    """One block as plain text; ``""`` for what a reader is not shown."""
    return plain(_block_text(block)).strip("\n")


def _block_text(block: Block) -> str:
    if isinstance(block, TextBlock):
        return "" if block.is_void else block.text
    if isinstance(block, ThoughtBlock):
        return ""
    if isinstance(block, ToolBlock):
        return _tool_text(block)
    if isinstance(block, PermissionBlock):
        if block.decision is None:
            return f"? {block.tool_name} asks for permission"
        verdict = wording.decision(block.decision, block.by, block.remember)
        said = f": {block.feedback}" if block.feedback else ""
        return f"{verdict}: {block.tool_name}{said}"
    if isinstance(block, AskBlock):
        return f"? {block.question}\n→ {block.answer or 'No answer'}"
    if isinstance(block, TodoBlock):
        marks = {"completed": "[x]", "in_progress": "[~]"}
        return "\n".join(f"{marks.get(s, '[ ]')} {words}" for s, words in block.items)
    return _remark_text(block)


def _tool_text(block: ToolBlock) -> str:
    sign = wording.TOOL_SIGNS[block.status]
    line = f"{sign} {block.tool_name} {wording.one_line(block.summary)}".rstrip()
    if block.error is not None:
        return f"{line}: {block.error.message}"
    result = wording.bounded(block.result, RESULT_LIMIT)
    indented = "\n".join(f"    {r}" for r in result.splitlines())
    return line + (f"\n{indented}" if indented else "")


def _remark_text(block: NoticeBlock | NoteBlock | ErrorBlock) -> str:
    if isinstance(block, NoteBlock):
        return block.text
    hint = f" {block.error.hint}" if block.error.hint else ""
    sign = "!" if isinstance(block, NoticeBlock) else "✕"
    return f"{sign} {block.error.message}{hint} [{block.error.code}]"


def _bounded_blocks(story: RunStory) -> list[Block]:
    """The blocks, with what would make the file too big cut short."""
    out: list[Block] = []
    text_left, images_left = TEXT_LIMIT, IMAGES_LIMIT
    for block in story.blocks:
        if isinstance(block, TextBlock) and not block.is_void:
            limit = max(500, text_left)
            if len(block.text) > limit:
                block = TextBlock(block.key, [wording.bounded(block.text, limit)], is_open=False)
            text_left -= len(block.text)
        elif isinstance(block, ToolBlock) and block.images:
            images_left -= sum(len(str(i.get("data", ""))) for i in block.images)
            if images_left < 0:
                block = _without_images(block)
        out.append(block)
    return out


def _without_images(block: ToolBlock) -> ToolBlock:
    from dataclasses import replace

    return replace(block, images=[{**i, "data": ""} for i in block.images])


# -- Markdown that cannot act ----------------------------------------------------------------------

_ACTIVE = re.compile(
    r"&|<|`{3,}|~{3,}|!\[|\](?=:)|\]\((?!\s*(?:https?://|mailto:))|\][ \t]*\n?[ \t]*\[",
    re.IGNORECASE,
)


def defang(source: str) -> str:
    """Text as Markdown source in which nothing is HTML, an image, a fence or a link with a strange
    scheme.
    """
    return _ACTIVE.sub(_defanged, plain(source))


def _defanged(match: re.Match[str]) -> str:
    found = match[0]
    if found in ("&", "<"):
        return "&amp;" if found == "&" else "&lt;"
    return "".join(f"\\{c}" if c in "`~![](" else c for c in found)


def defang_markdown(source: str) -> str:
    """An answer: its top-level code blocks fenced anew, everything else defanged."""
    lines = plain(source).split("\n")
    try:
        tokens: list[Any] = parser().parse("\n".join(lines))
    except RecursionError:
        tokens = []
    out: list[str] = []
    done = 0
    for token in tokens:
        if token.level == 0 and token.type in ("fence", "code_block") and token.map:
            out += [defang("\n".join(lines[done : token.map[0]])), _fence(token)]
            done = token.map[1]
    out.append(defang("\n".join(lines[done:])))
    return "\n\n".join(part.strip("\n") for part in out if part.strip())


def _fence(token: Any) -> str:
    longest = max((len(m) for m in re.findall(r"`+", token.content)), default=0)
    ticks = "`" * max(3, longest + 1)
    word = re.match(r"[A-Za-z0-9+#-]*", str(token.info or "").strip())
    language = word[0] if word else ""
    return f"{ticks}{language}\n{token.content.rstrip()}\n{ticks}"
