"""The ledger over more than one agent: this kernel's, or what is on disk."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING

from .frames import costs_frame, joined_costs_frame
from .ledger import all_attempts
from .store import default_store

if TYPE_CHECKING:
    import pandas as pd


def costs(
    session: str | None = None, all_time: bool = False, since: datetime | None = None
) -> pd.DataFrame:
    """Every model attempt, one row each, oldest first; columns ``frames.LEDGER_COLUMNS``.

    Args:
        session: Only this session's, from the store on disk (earlier kernels' included).
        all_time: Everything in the store on disk.
        since: Only what started then or later; a time without a zone is UTC.

    Returns:
        Without ``session`` and ``all_time``, the attempts of every agent of this kernel.

    Raises:
        TypeError: ``session`` is no text, or ``since`` no datetime.
    """
    if session is not None and not isinstance(session, str):
        raise TypeError(f"session must be a string, got {type(session).__name__}")
    if since is not None:
        if not isinstance(since, datetime):
            raise TypeError(f"since must be a datetime, got {type(since).__name__}")
        since = since if since.tzinfo is not None else since.replace(tzinfo=timezone.utc)
    if session is not None or all_time:
        return costs_frame(default_store().attempts(session, since))
    frame = joined_costs_frame(all_attempts())
    if since is not None:
        frame = frame[frame["started_at"] >= since]
    return frame.reset_index(drop=True)
