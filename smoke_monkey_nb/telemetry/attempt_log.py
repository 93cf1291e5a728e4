"""Model attempts in memory, append-only, as flat typed buffers.

All whole numbers of a row go to one buffer and all decimals to another, row after row; texts repeat
a lot, so each is kept once and a row holds its number. An append costs microseconds, a million rows
some 200 MB, and a DataFrame is made by slicing the buffers instead of visiting a million objects.
What is unknown is ``MISSING`` among counts, NaN among decimals, ``None`` among texts.
"""

from __future__ import annotations

import math
import threading
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any, overload

from ..records import AttemptRecord
from ..usage import Cost, Usage

MISSING = -(2**63)
NAN = math.nan
TEXTS = (
    "run_id", "session_id", "user_id", "provider", "model", "finish_reason", "error_code",
    "cell_id",
)  # fmt: skip
#: ``started_at`` counts microseconds since 1970 in UTC; ``failed`` is 0 or 1.
COUNTS = (
    "step", "attempt", "prompt_tokens", "cached_tokens", "cache_write_tokens", "completion_tokens",
    "reasoning_tokens", "total_tokens", "tool_calls", "failed", "started_at",
)  # fmt: skip
#: A row of the buffer of whole numbers: the places of its texts in the list of words, then counts.
WHOLE = (*TEXTS, *COUNTS)
DECIMALS = ("duration_ms", "ttft_ms", "input_cost_usd", "output_cost_usd", "cost_usd")

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MICROSECOND = timedelta(microseconds=1)
_NO_USAGE = (MISSING,) * 6
_NO_COST = (NAN,) * 3


@dataclass(frozen=True)
class Buffers:
    """The rows of a log: ``whole`` has ``WHOLE`` and ``decimals`` has ``DECIMALS``, row by row."""

    words: list[str | None]
    whole: array[int]
    decimals: array[float]


class AttemptLog(Sequence[AttemptRecord]):
    """Reads like a sequence of records, oldest first. Any thread."""

    def __init__(self, records: Iterable[AttemptRecord] = ()) -> None:
        self._buffers = Buffers([], array("q"), array("d"))
        self._places: dict[str | None, int] = {}
        self._lock = threading.Lock()
        for record in records:
            self.append(record)

    def append(self, record: AttemptRecord) -> None:
        """Keep one more attempt."""
        counts, decimals = _counts(record), _decimals(record)
        with self._lock:
            self._buffers.whole.extend([self._place(text) for text in _texts(record)])
            self._buffers.whole.extend(counts)
            self._buffers.decimals.extend(decimals)

    def copy_buffers(self) -> Buffers:
        """The rows so far."""
        with self._lock:
            own = self._buffers
            return Buffers(own.words[:], own.whole[:], own.decimals[:])

    def __len__(self) -> int:
        return len(self._buffers.decimals) // len(DECIMALS)

    def __iter__(self) -> Iterator[AttemptRecord]:
        for index in range(len(self)):
            yield self[index]

    @overload
    def __getitem__(self, index: int) -> AttemptRecord: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[AttemptRecord, ...]: ...

    def __getitem__(self, index: int | slice) -> AttemptRecord | tuple[AttemptRecord, ...]:
        rows = range(len(self))[index]
        if isinstance(rows, int):
            return self._record(rows)
        return tuple(self._record(row) for row in rows)

    def __repr__(self) -> str:
        return f"AttemptLog({len(self)} attempts)"

    def _record(self, row: int) -> AttemptRecord:
        own = self._buffers
        whole = _row(own.whole, row, len(WHOLE))
        facts: dict[str, Any] = {name: own.words[i] for name, i in zip(TEXTS, whole, strict=False)}
        step, attempt, *usage, tool_calls, failed, started = whole[len(TEXTS) :]
        duration, ttft, *cost = _row(own.decimals, row, len(DECIMALS))
        prompt, cached, written, completion, reasoning, total = usage
        return AttemptRecord(
            **facts,
            step=step,
            attempt=attempt,
            started_at=_EPOCH + timedelta(microseconds=started),
            duration_ms=duration,
            ttft_ms=None if math.isnan(ttft) else ttft,
            usage=None
            if prompt == MISSING
            else Usage(prompt, completion, total, cached, written, reasoning),
            cost=None if math.isnan(cost[2]) else Cost(*cost),
            tool_calls=tool_calls,
            failed=bool(failed),
        )

    def _place(self, text: str | None) -> int:
        if text is not None and not isinstance(text, str):  # a provider of the user's own
            text = str(text)
        place = self._places.get(text)
        if place is None:
            place = self._places[text] = len(self._buffers.words)
            self._buffers.words.append(text)
        return place


def microseconds(moment: datetime) -> int:
    """From 1970 to ``moment``, an aware time."""
    return (moment - _EPOCH) // _MICROSECOND


def _row(values: Any, row: int, width: int) -> Any:
    return values[row * width : (row + 1) * width]


def _texts(r: AttemptRecord) -> tuple[str | None, ...]:
    return (
        r.run_id, r.session_id, r.user_id, r.provider, r.model, r.finish_reason, r.error_code,
        r.cell_id,
    )  # fmt: skip


def _counts(r: AttemptRecord) -> array[int]:
    u = r.usage
    usage: tuple[int, ...] = _NO_USAGE
    if u is not None:
        usage = (
            u.prompt_tokens, u.cached_tokens, u.cache_write_tokens, u.completion_tokens,
            u.reasoning_tokens, u.total_tokens,
        )  # fmt: skip
    values = (
        r.step, r.attempt, *usage, r.tool_calls, r.failed, microseconds(r.started_at),
    )  # fmt: skip
    try:
        return array("q", values)
    except (OverflowError, TypeError):  # a count that is none, by a provider of the user's own
        return array("q", map(_count, values))


def _decimals(r: AttemptRecord) -> array[float]:
    c = r.cost
    cost = _NO_COST if c is None else (c.input_usd, c.output_usd, c.total_usd)
    return array("d", (r.duration_ms, NAN if r.ttft_ms is None else r.ttft_ms, *cost))


def _count(value: Any) -> int:
    try:
        whole = int(value)
    except (TypeError, ValueError, OverflowError):
        return MISSING
    return whole if MISSING < whole < 2**63 else MISSING
