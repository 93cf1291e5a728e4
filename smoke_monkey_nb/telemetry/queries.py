"""The ledger over more than one agent: this kernel's, or what is on disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .frames import costs_frame
from .ledger import all_attempts
from .store import default_store

if TYPE_CHECKING:
    import pandas as pd


def costs(session: str | None = None, all_time: bool = False) -> pd.DataFrame:
    """Every model attempt, one row each, oldest first; columns ``frames.LEDGER_COLUMNS``.

    Args:
        session: Only this session's, from the store on disk (earlier kernels' included).
        all_time: Everything in the store on disk.

    Returns:
        Without arguments, the attempts of every agent of this kernel.
    """
    if session is not None or all_time:
        return costs_frame(default_store().attempts(session))
    return costs_frame(all_attempts())
