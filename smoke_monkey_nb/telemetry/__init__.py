"""What a run cost and did: prices, the ledger, the store on disk, and the DataFrames over them.

``costs`` loads on first use, so that importing the package stays free.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .queries import costs

__all__ = ["costs"]


def __getattr__(name: str) -> Any:
    if name != "costs":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .queries import costs

    return costs
