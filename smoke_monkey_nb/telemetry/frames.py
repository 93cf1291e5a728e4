"""Records and events as pandas DataFrames. The only file that imports pandas, at first use.

Dtypes are the same for empty and filled frames, with pandas 2 and 3. Texts are pandas' ``string``,
counts ``Int64``, money and milliseconds ``Float64``, yes-or-no ``boolean``: what is unknown is
``<NA>``, never 0.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ..events import AgentEvent, to_jsonable
from ..records import AttemptRecord, ToolRecord
from .attempt_log import COUNTS, DECIMALS, MISSING, TEXTS, WHOLE, AttemptLog, microseconds

if TYPE_CHECKING:
    import pandas as pd

_TIME = "datetime64[ns, UTC]"

#: Column -> dtype of ``Agent.costs`` and ``costs()``: one row a model attempt.
LEDGER_COLUMNS = {
    "run_id": "string",
    "session_id": "string",
    "user_id": "string",
    "step": "Int64",
    "attempt": "Int64",
    "provider": "string",
    "model": "string",
    "started_at": _TIME,
    "duration_ms": "Float64",
    "ttft_ms": "Float64",
    "prompt_tokens": "Int64",
    "cached_tokens": "Int64",
    "cache_write_tokens": "Int64",
    "completion_tokens": "Int64",
    "reasoning_tokens": "Int64",
    "total_tokens": "Int64",
    "input_cost_usd": "Float64",
    "output_cost_usd": "Float64",
    "cost_usd": "Float64",
    "finish_reason": "string",
    "tool_calls": "Int64",
    "failed": "boolean",
    "error_code": "string",
    "cell_id": "string",
}

#: Column -> dtype of ``Agent.tool_log``: one row a tool call. ``input`` is JSON.
TOOL_COLUMNS = {
    "run_id": "string",
    "session_id": "string",
    "user_id": "string",
    "step": "Int64",
    "tool_call_id": "string",
    "tool_name": "string",
    "input": "string",
    "started_at": _TIME,
    "duration_ms": "Float64",
    "status": "string",
    "blocked": "boolean",
    "error_code": "string",
    "decision": "string",
    "decided_by": "string",
    "result": "string",
    "cell_id": "string",
}

#: Column -> dtype of ``Agent.event_log``: one row an event. ``data`` is JSON.
EVENT_COLUMNS = {
    "run_id": "string",
    "session_id": "string",
    "seq": "Int64",
    "time": _TIME,
    "step": "Int64",
    "type": "string",
    "data": "string",
}


def costs_frame(attempts: Sequence[AttemptRecord]) -> pd.DataFrame:
    """One row an attempt, columns ``LEDGER_COLUMNS``, in the order given."""
    import numpy as np
    import pandas as pd

    log = attempts if isinstance(attempts, AttemptLog) else AttemptLog(attempts)
    buffers = log.copy_buffers()
    whole = np.array(buffers.whole, dtype="int64").reshape(-1, len(WHOLE)).T.copy()
    decimals = np.array(buffers.decimals, dtype="float64").reshape(-1, len(DECIMALS)).T.copy()
    words = _texts(buffers.words)
    columns: dict[str, Any] = {}
    for name, places in zip(TEXTS, whole, strict=False):
        columns[name] = words.take(places)
    for name, values in zip(COUNTS, whole[len(TEXTS) :], strict=True):
        columns[name] = pd.arrays.IntegerArray(values, values == MISSING)
    for name, amounts in zip(DECIMALS, decimals, strict=True):
        columns[name] = pd.arrays.FloatingArray(amounts, np.isnan(amounts))
    columns["failed"] = columns["failed"].astype("boolean")
    columns["started_at"] = _instants(whole[WHOLE.index("started_at")])
    return _frame(columns, LEDGER_COLUMNS)


def joined_costs_frame(logs: Iterable[Sequence[AttemptRecord]]) -> pd.DataFrame:
    """The attempts of several logs as one frame, oldest first."""
    import pandas as pd

    frames = [costs_frame(log) for log in logs if log]
    if not frames:
        return costs_frame(())
    joined = frames[0] if len(frames) == 1 else pd.concat(frames)
    return joined.sort_values("started_at", kind="stable", ignore_index=True)


def tool_frame(tool_calls: Sequence[ToolRecord]) -> pd.DataFrame:
    """One row a tool call, columns ``TOOL_COLUMNS``, in the order given."""
    columns = {name: [getattr(c, name) for c in tool_calls] for name in TOOL_COLUMNS}
    return _frame({n: _array(v, TOOL_COLUMNS[n]) for n, v in columns.items()}, TOOL_COLUMNS)


def event_frame(events: Iterable[AgentEvent]) -> pd.DataFrame:
    """One row an event, columns ``EVENT_COLUMNS``, in the order given."""
    events = list(events)
    columns = {n: [getattr(e, n) for e in events] for n in EVENT_COLUMNS if n != "data"}
    encode = json.JSONEncoder(default=to_jsonable).encode
    columns["data"] = [encode(e.data) for e in events]
    return _frame({n: _array(v, EVENT_COLUMNS[n]) for n, v in columns.items()}, EVENT_COLUMNS)


def _frame(columns: dict[str, Any], dtypes: dict[str, str]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame({name: columns[name] for name in dtypes}, columns=list(dtypes), copy=False)


def _instants(microseconds: Any) -> pd.DatetimeIndex:
    import pandas as pd

    return pd.DatetimeIndex(
        microseconds.astype("datetime64[us]").astype("datetime64[ns]"), tz="UTC"
    )


def _array(values: list[Any], dtype: str) -> Any:
    import numpy as np
    import pandas as pd

    if dtype == "string":
        return _texts(values)
    if dtype == _TIME:
        return _instants(np.array([microseconds(v) for v in values], dtype="int64"))
    return pd.array(values, dtype=dtype)


def _texts(values: list[Any]) -> Any:
    import pandas as pd

    try:
        return pd.array(values, dtype="string")
    except (TypeError, ValueError):  # no text, or a lone surrogate that Arrow cannot hold
        return pd.array([_clean(value) for value in values], dtype="string")


def _clean(value: Any) -> str | None:
    if value is None:
        return None
    return str(value).encode("utf-8", "replace").decode("utf-8")
