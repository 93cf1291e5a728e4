"""What a story has cost so far, over a run and its retries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..usage import Usage
from .event_data import number_of


@dataclass
class Totals:
    """Sums so far. ``cost_usd`` is ``None`` for an unknown price, and no figure until counted."""

    tokens: int = 0
    cost_usd: float | None = 0.0
    is_counted: bool = False
    _earlier_tokens: int = 0
    _earlier_usd: float | None = 0.0

    def count(self, usage: Any, cost_usd: Any) -> None:
        """Take the sums of the run that is active; earlier runs of the story are added."""
        if isinstance(usage, Usage):
            self.tokens = self._earlier_tokens + usage.total_tokens
        if cost_usd is None or self._earlier_usd is None:
            self.cost_usd = None
        else:
            self.cost_usd = self._earlier_usd + number_of(cost_usd)
        self.is_counted = True

    def begin_again(self) -> None:
        """The run is retried: its sums start anew on top of these."""
        self._earlier_tokens, self._earlier_usd = self.tokens, self.cost_usd
