"""The accounts of an agent as DataFrames: attempts, tool calls, events."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from ..events import AgentEvent
from ..telemetry.ledger import Ledger
from ..telemetry.store import Store

if TYPE_CHECKING:
    import pandas as pd

#: Events kept for ``event_log``; older ones are dropped first.
EVENT_LOG_LIMIT = 200_000


class Accounts:
    """What an agent did and what it cost. pandas loads at the first frame."""

    def __init__(self, store: Store) -> None:
        self._ledger = Ledger(store)
        self._events: deque[AgentEvent] = deque(maxlen=EVENT_LOG_LIMIT)

    @property
    def costs(self) -> pd.DataFrame:
        """Every model attempt of this agent, one row each, oldest first.

        Columns and dtypes: ``smoke_monkey_nb.telemetry.frames.LEDGER_COLUMNS``. ``cost_usd`` is
            ``<NA>`` where no price is known; failed attempts are rows too.
        """
        from ..telemetry.frames import costs_frame

        return costs_frame(self._ledger.attempts)

    @property
    def tool_log(self) -> pd.DataFrame:
        """Every tool call of this agent, one row each, oldest first; blocked, denied and failed
        ones included.
        """
        from ..telemetry.frames import tool_frame

        return tool_frame(self._ledger.tool_calls)

    @property
    def event_log(self) -> pd.DataFrame:
        """Every event of this agent (the last 200,000), one row each, oldest first."""
        from ..telemetry.frames import event_frame

        return event_frame(list(self._events))


def costs(session: str | None = None, all_time: bool = False) -> pd.DataFrame:
    """The ledger over every agent of this kernel; with ``session`` or ``all_time``, from the store
    on disk.

    Columns as ``Agent.costs``.
    """
    from ..telemetry.queries import costs as query

    return query(session=session, all_time=all_time)
