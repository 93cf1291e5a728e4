"""Reads event data that may lack anything or hold anything: a view must not end a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import CODES, AgentErrorInfo, error_info
from .blocks import AskBlock, NoticeBlock, PermissionBlock


def text_of(value: Any) -> str:
    """``None`` is no text, anything else is its ``str``."""
    return "" if value is None else str(value)


def number_of(value: Any) -> float:
    """Anything but a number is 0."""
    return float(value) if isinstance(value, (int, float)) else 0.0


def int_of(value: Any, default: int) -> int:
    """Anything but an int is ``default``."""
    return value if isinstance(value, int) else default


def seconds_of(milliseconds: Any) -> float | None:
    """Milliseconds as seconds; ``None`` where there are none."""
    return milliseconds / 1000 if isinstance(milliseconds, (int, float)) else None


def mappings_of(value: Any) -> Sequence[Mapping[str, Any]]:
    """The mappings in a list; nothing else."""
    return [v for v in value if isinstance(v, Mapping)] if isinstance(value, (list, tuple)) else []


def todo_of(item: Mapping[str, Any]) -> tuple[str, str]:
    """One thing to do as (status, words), whatever its words are called."""
    words = next((item[k] for k in ("content", "text", "title", "task") if item.get(k)), "")
    return text_of(item.get("status")) or "pending", text_of(words)


def info_of(value: Any, default: str) -> AgentErrorInfo:
    """An error info, or the best that can be made of the value."""
    if isinstance(value, AgentErrorInfo):
        return value
    if isinstance(value, Mapping) and value.get("code") in CODES:
        return error_info(
            value["code"], text_of(value.get("message")), hint=text_of(value.get("hint")) or None
        )
    return error_info(default, text_of(value) or "Something went wrong.")


def permission_of(key: int, data: Mapping[str, Any]) -> PermissionBlock:
    """The question of a ``permission.required``."""
    return PermissionBlock(
        key,
        text_of(data.get("tool_call_id")),
        text_of(data.get("tool_name")),
        text_of(data.get("preview")),
        preview_kind=text_of(data.get("preview_kind")) or "text",
        summary=text_of(data.get("summary")),
        reason=text_of(data.get("reason")) or None,
    )


def ask_of(key: int, data: Mapping[str, Any]) -> AskBlock:
    """The question of an ``ask_user.required``."""
    choices = data.get("choices")
    words = [text_of(c) for c in choices] if isinstance(choices, (list, tuple)) else []
    return AskBlock(key, text_of(data.get("tool_call_id")), text_of(data.get("question")), words)


def notice_of(key: int, data: Mapping[str, Any]) -> NoticeBlock:
    """The snag of a ``run.warning``."""
    return NoticeBlock(
        key,
        info_of(data.get("error_info"), "hook_failed"),
        attempt=int_of(data.get("attempt"), 1),
        max_attempts=int_of(data.get("max_attempts"), 1),
        delay_s=number_of(data.get("delay_s")),
    )
