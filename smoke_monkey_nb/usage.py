"""Token counts of a model call, and their price.

Cached and cache-write tokens are *part of* ``prompt_tokens``; reasoning tokens are *part of*
``completion_tokens``. Counts stay as the provider gave them.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True)
class Usage:
    """Token counts; 0 where the provider said nothing. Reads like a mapping too:
    ``usage["prompt_tokens"]``.
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0
    total_tokens: int = 0
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(*(getattr(self, k) + getattr(other, k) for k in _FIELDS))

    def __getitem__(self, key: str) -> int:
        if key not in _FIELDS:
            raise KeyError(key)
        value: int = getattr(self, key)
        return value

    def keys(self) -> tuple[str, ...]:
        """Field names, so that ``dict(usage)`` works."""
        return _FIELDS

    def to_dict(self) -> dict[str, Any]:
        """The counts as a dict."""
        return {k: getattr(self, k) for k in _FIELDS}


_FIELDS = tuple(f.name for f in fields(Usage))


@dataclass(frozen=True)
class Cost:
    """Price of one attempt in US dollars, split by direction; ``total_usd`` is their sum."""

    input_usd: float
    output_usd: float
    total_usd: float
