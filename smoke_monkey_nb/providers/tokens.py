"""Reads the ``usage`` object of a chat completion, in the dialects of its providers.

Counts stay as given, with one repair: xAI counts reasoning tokens beside the completion instead of
in it, which its own total gives away; then they are put in, so that each token is priced once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..usage import Usage


def read_usage(raw: Any) -> Usage | None:
    """The counts in ``raw``; ``None`` where it reports none."""
    if not isinstance(raw, Mapping):
        return None
    prompt = _first(raw, "prompt_tokens", "input_tokens")
    completion = _first(raw, "completion_tokens", "output_tokens")
    total = _first(raw, "total_tokens")
    if prompt is None and completion is None and total is None:
        return None
    into = _inner(raw, "prompt_tokens_details", "input_tokens_details")
    out = _inner(raw, "completion_tokens_details", "output_tokens_details")
    cached = _first(into, "cached_tokens")
    if cached is None:  # DeepSeek; Anthropic-compatible; Moonshot
        cached = _first(raw, "prompt_cache_hit_tokens", "cache_read_input_tokens", "cached_tokens")
    written = _first(into, "cache_write_tokens", "cache_creation_tokens")
    if written is None:
        written = _first(raw, "cache_creation_input_tokens", "cache_write_tokens")
    reasoning = _first(out, "reasoning_tokens") or _first(raw, "reasoning_tokens") or 0
    prompt, completion = prompt or 0, completion or 0
    if reasoning and total == prompt + completion + reasoning:
        completion += reasoning
    return Usage(
        prompt_tokens=prompt,
        completion_tokens=completion,
        total_tokens=prompt + completion if total is None else total,
        cached_tokens=cached or 0,
        cache_write_tokens=written or 0,
        reasoning_tokens=reasoning,
    )


def _inner(raw: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    for name in names:
        if isinstance(inner := raw.get(name), Mapping):
            return inner
    return {}


def _first(raw: Mapping[str, Any], *names: str) -> int | None:
    for name in names:
        value = raw.get(name)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 1e15:
            return int(value)
    return None
