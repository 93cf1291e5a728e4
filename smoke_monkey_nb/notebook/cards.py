"""The cards of a run as HTML: one function a kind of block, the same for the live view and the
transcript.

Every text goes through ``render``; the marks (classes and ``data-`` attributes) are public and
stable. Nothing here is clickable: the live view's script adds the buttons.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
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
from .look import Look
from .markdown_stream import to_html
from .render import code, diff, escape, image, plain, visible
from .story import RunStory

#: Characters of a tool's input and of its result that a card shows.
CARD_LIMIT = 6_000
#: Base64 characters of one picture that a card shows.
IMAGE_LIMIT = 700_000
_TODO_SIGNS = {"completed": "☑", "in_progress": "◧", "pending": "☐", "cancelled": "☒"}


def card(block: Block, look: Look) -> str:
    """The HTML of one block; ``""`` for what a reader is not shown (void text)."""
    return _CARDS[type(block)](block, look)


def head_parts(story: RunStory) -> list[tuple[str, str]]:
    """The header line as (mark, text) pairs, in order."""
    parts = [("smn-model", f"{story.provider}:{story.model}" if story.model else "Agent")]
    parts.append(("smn-status", wording.STATUS_WORDS[story.status]))
    if story.steps:
        is_over = story.ended_at is not None
        parts.append(
            ("smn-step", wording.count(story.steps, "step") if is_over else f"step {story.steps}")
        )
    if story.started_at is not None:
        parts.append(("smn-elapsed", wording.duration(story.elapsed_s)))
    if story.totals.is_counted:
        parts.append(("smn-tokens", wording.count(story.totals.tokens, "token")))
        parts.append(("smn-cost", wording.money(story.totals.cost_usd)))
    return [(mark, visible(text)) for mark, text in parts]


def head(story: RunStory, look: Look) -> str:
    """The header line."""
    sign = wording.STATUS_SIGNS[story.status]
    spans = [
        look.tag(
            "span",
            mark,
            escape(f"{sign} {text}" if mark == "smn-status" else text),
            data_status=story.status if mark == "smn-status" else None,
        )
        for mark, text in head_parts(story)
    ]
    why = look.tag("div", "smn-why", escape(visible(story.model_reason or "")))
    line = look.tag("div", "smn-head", " · ".join(spans))
    return line + why if story.model_reason else line


def _text(block: TextBlock, look: Look) -> str:
    if block.is_void:
        return ""
    html = to_html(block.text) if block.pieces is None else "\n".join(block.pieces)
    return look.tag("div", "smn-text", look.colors(html), dir="auto")


def _thought(block: ThoughtBlock, look: Look) -> str:
    if block.is_void:
        return ""
    word = "Thinking…" if block.is_open else "Thoughts"
    text = plain(block.live.tail())
    if look.is_static:
        text = wording.bounded(text, CARD_LIMIT)
    inner = look.tag("div", "smn-thought-text", escape(text), data_live="", dir="auto")
    return look.tag("details", "smn-thought", f"<summary>{word}</summary>", inner)


def _tool(block: ToolBlock, look: Look) -> str:
    line = [
        look.tag("span", "smn-sign", wording.TOOL_SIGNS[block.status], data_status=block.status),
        look.tag("code", "smn-name", escape(visible(block.tool_name))),
        look.tag("span", "smn-summary", escape(visible(wording.one_line(block.summary)))),
        look.tag("span", "smn-time", escape(_tool_time(block))),
    ]
    parts = [look.tag("summary", "smn-line", " ".join(line)), _tool_input(block, look)]
    if block.status == "running" or (block.live.total and not block.result):
        live = wording.bounded(plain(block.live.tail()), CARD_LIMIT)
        parts.append(look.tag("pre", "smn-pre", escape(live), data_live=""))
    if block.result:
        text = escape(wording.bounded(plain(block.result), CARD_LIMIT))
        parts.append(look.tag("div", "smn-label", "Result") + look.tag("pre", "smn-pre", text))
    parts += _images(block, look)
    if block.error is not None:
        parts.append(look.tag("div", "smn-problem", escape(plain(block.error.message))))
    return look.tag(
        "details", "smn-tool", *parts, data_tool=visible(block.tool_name), data_status=block.status
    )


def _tool_time(block: ToolBlock) -> str:
    word = ""
    if block.error is not None:
        words = {
            "permission_denied": "denied",
            "tool_cancelled": "cancelled",
            "tool_timeout": "timed out",
        }
        word = "blocked" if block.blocked else "failed"
        word = words.get(block.error.code, word)
    time = wording.duration(block.duration_s) if block.duration_s is not None else ""
    return " · ".join(p for p in (word, time, block.decision) if p)


def _tool_input(block: ToolBlock, look: Look) -> str:
    if not block.input:
        return ""
    pre = look.tag("pre", "smn-pre", look.colors(_input_html(block.input)))
    return look.tag("div", "smn-label", "Input") + pre


def _input_html(value: Any) -> str:
    if isinstance(value, Mapping) and len(value) == 1:
        name, only = next(iter(value.items()))
        if name in ("code", "command") and isinstance(only, str):
            text = wording.bounded(visible(only), CARD_LIMIT)
            return code(text, "python" if name == "code" else "bash")
    try:
        text = json.dumps(value, indent=2, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        text = str(value)
    return code(wording.bounded(visible(text), CARD_LIMIT), "json")


def _images(block: ToolBlock, look: Look) -> list[str]:
    parts = []
    for number, item in enumerate(block.images, start=1):
        data, media_type = str(item.get("data", "")), str(item.get("media_type", ""))
        html = None
        if len(data) <= IMAGE_LIMIT:
            html = image(media_type, data, f"Figure {number} of {block.tool_name}")
        size = f"Figure {number}: {media_type}, {len(data) * 3 // 4 // 1024} KB, not shown here"
        parts.append(html or look.tag("div", "smn-note", escape(size)))
    return parts


def _permission(block: PermissionBlock, look: Look) -> str:
    if block.decision is None:
        title = f"Allow <code>{escape(visible(block.tool_name))}</code>?"
        line = look.tag("div", "smn-line", look.tag("strong", "smn-question", title))
        return look.tag(
            "div",
            "smn-permission",
            line,
            _why(block, look),
            preview(block, look),
            data_tool_call_id=block.tool_call_id,
            data_tool=visible(block.tool_name),
        )
    verdict = "completed" if block.decision == "allow" else "failed"
    summary = [
        look.tag("span", "smn-sign", wording.TOOL_SIGNS[verdict], data_status=verdict),
        escape(wording.decision(block.decision, block.by, block.remember)),
        look.tag("code", "smn-name", escape(visible(block.tool_name))),
    ]
    inner = [
        look.tag("summary", "smn-decision", " ".join(summary)),
        _why(block, look),
        preview(block, look),
    ]
    if block.feedback:
        inner.append(look.tag("div", "smn-hint", escape(f"Your words: {plain(block.feedback)}")))
    return look.tag(
        "details",
        "smn-permission",
        *inner,
        data_tool_call_id=block.tool_call_id,
        data_tool=visible(block.tool_name),
        data_decision=block.decision,
    )


def _why(block: PermissionBlock, look: Look) -> str:
    return look.tag("div", "smn-hint", escape(visible(block.reason))) if block.reason else ""


def preview(block: PermissionBlock, look: Look) -> str:
    """The whole of what will run, unseen characters spelt out; the transcript's is bounded."""
    text = visible(block.preview).rstrip("\n")
    if look.is_static:
        text = wording.bounded(text, 2 * CARD_LIMIT)
    if block.preview_kind == "diff":
        inner = diff(text)
    else:
        languages = {"python": "python", "shell": "bash", "json": "json"}
        inner = code(text, languages.get(block.preview_kind, ""))
    return look.tag("pre", "smn-pre", look.colors(inner), tabindex=None if look.is_static else "0")


def _ask(block: AskBlock, look: Look) -> str:
    parts = [look.tag("div", "smn-question", escape(plain(block.question)), dir="auto")]
    if block.answer is not None:
        words = plain(block.answer) or "No answer"
        parts.append(look.tag("div", "smn-answer", "→ ", escape(words), dir="auto"))
    return look.tag("div", "smn-ask", *parts, data_tool_call_id=block.tool_call_id)


def _todo(block: TodoBlock, look: Look) -> str:
    items = [
        look.tag(
            "li",
            "smn-todo-item",
            f"{_TODO_SIGNS.get(status, '☐')} {escape(plain(words))}",
            data_status=status if status in _TODO_SIGNS else "pending",
        )
        for status, words in block.items
    ]
    return look.tag("ul", "smn-todo", *items)


def _notice(block: NoticeBlock, look: Look) -> str:
    info = block.error
    parts = [escape(plain(info.message))]
    if block.delay_s > 0:
        attempt = f"attempt {block.attempt} of {block.max_attempts}"
        parts.append(escape(f"Trying again in {wording.duration(block.delay_s)} ({attempt})."))
    if info.hint:
        parts.append(look.tag("span", "smn-hint", escape(plain(info.hint))))
    return look.tag(
        "div", "smn-toast", " ".join(parts), data_severity=info.severity, data_code=info.code
    )


def _note(block: NoteBlock, look: Look) -> str:
    return look.tag("div", "smn-note", escape(plain(block.text)))


def _error(block: ErrorBlock, look: Look) -> str:
    info = block.error
    if block.is_retried:  # the run went on: no failure any more, but part of its story
        text = escape(f"{plain(info.message)} Tried again.")
        return look.tag("div", "smn-toast", text, data_severity=info.severity, data_code=info.code)
    parts = [look.tag("div", "smn-error-title", escape(plain(info.message)))]
    if info.hint:
        parts.append(look.tag("div", "smn-hint", escape(plain(info.hint))))
    parts.append(look.tag("div", "smn-code", escape(info.code)))
    return look.tag("div", "smn-error", *parts, data_code=info.code, data_severity=info.severity)


_CARDS: dict[type[Any], Callable[[Any, Look], str]] = {
    TextBlock: _text,
    ThoughtBlock: _thought,
    ToolBlock: _tool,
    PermissionBlock: _permission,
    AskBlock: _ask,
    TodoBlock: _todo,
    NoticeBlock: _notice,
    NoteBlock: _note,
    ErrorBlock: _error,
}
