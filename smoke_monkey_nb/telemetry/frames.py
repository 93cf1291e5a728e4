"""Records and events as pandas DataFrames. The only file that imports pandas, at first use.

Dtypes are the same for empty and filled frames. Texts are pandas' ``string``, counts ``Int64``,
money and times in milliseconds ``Float64``, so that what is unknown is ``<NA>`` and never 0.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..events import AgentEvent, to_jsonable
from ..records import AttemptRecord, ToolRecord

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

_USAGE = (
    "prompt_tokens",
    "cached_tokens",
    "cache_write_tokens",
    "completion_tokens",
    "reasoning_tokens",
    "total_tokens",
)
_COST = {"input_cost_usd": "input_usd", "output_cost_usd": "output_usd", "cost_usd": "total_usd"}


def costs_frame(attempts: Sequence[AttemptRecord]) -> pd.DataFrame:
    """One row an attempt, columns ``LEDGER_COLUMNS``, in the order given."""
    columns: dict[str, list[Any]] = {}
    for name in LEDGER_COLUMNS:
        if name in _USAGE:
            columns[name] = [None if a.usage is None else getattr(a.usage, name) for a in attempts]
        elif name in _COST:
            part = _COST[name]
            columns[name] = [None if a.cost is None else getattr(a.cost, part) for a in attempts]
        else:
            columns[name] = [getattr(a, name) for a in attempts]
    return _frame(columns, LEDGER_COLUMNS)


def tool_frame(tool_calls: Sequence[ToolRecord]) -> pd.DataFrame:
    """One row a tool call, columns ``TOOL_COLUMNS``, in the order given."""
    columns = {name: [getattr(c, name) for c in tool_calls] for name in TOOL_COLUMNS}
    return _frame(columns, TOOL_COLUMNS)


def event_frame(events: Iterable[AgentEvent]) -> pd.DataFrame:
    """One row an event, columns ``EVENT_COLUMNS``, in the order given."""
    events = list(events)
    columns = {n: [getattr(e, n) for e in events] for n in EVENT_COLUMNS if n != "data"}
    columns["data"] = [json.dumps(to_jsonable(e.data)) for e in events]
    return _frame({name: columns[name] for name in EVENT_COLUMNS}, EVENT_COLUMNS)


def _frame(columns: Mapping[str, list[Any]], dtypes: Mapping[str, str]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(
        {n: _series(v, dtypes[n]) for n, v in columns.items()}, columns=list(dtypes)
    )


def _series(values: list[Any], dtype: str) -> pd.Series:
    import pandas as pd

    if dtype == _TIME:
        return pd.Series(pd.to_datetime(pd.Index(values, dtype=object), utc=True)).astype(_TIME)
    return pd.Series(values, dtype=dtype)
