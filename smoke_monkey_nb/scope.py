"""What every part of one run shares: its identity, its parts, its running totals, and the way to
emit events.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from .errors import AgentErrorInfo, error_info
from .events import TERMINAL, AgentEvent, EventBus, now
from .hook_runner import HookRunner
from .host import Host
from .permissions import Policy
from .prompts import Answerer, OpenQuestions, PermissionAnswer
from .providers.base import Provider
from .records import Pricer, Recorder
from .retry import RetryPolicy
from .tools.base import Tool
from .usage import Cost, Usage


@dataclass(frozen=True)
class Limits:
    """The limits of a run; times in seconds, ``None``: none."""

    max_steps: int
    budget_usd: float | None
    hook_timeout_s: float | None
    tool_timeout_s: float | None
    permission_timeout_s: float | None


@dataclass(frozen=True)
class Prompts:
    """Where questions wait for answers, and who may give them."""

    permissions: OpenQuestions[PermissionAnswer]
    asks: OpenQuestions[str]
    answerers: list[Answerer]
    is_consumed: Callable[[], bool]  # somebody iterates agent.stream()
    remembered: set[tuple[str, str | None]]  # "allow for this session"


@dataclass
class Totals:
    """Running sums of a run. ``cost_usd`` turns ``None`` for good with the first unknown price."""

    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = 0.0
    priced_usd: float = 0.0

    def add(self, usage: Usage | None, cost: Cost | None, *, answered: bool) -> None:
        """Count one attempt in. Without usage, an answered one is of unknown cost, a failed one of
        none.
        """
        if usage is not None:
            self.usage = self.usage + usage
        elif not answered:
            return
        if cost is None:
            self.cost_usd = None
            return
        self.priced_usd += cost.total_usd
        if self.cost_usd is not None:
            self.cost_usd += cost.total_usd


@dataclass
class RunScope:
    """One run. Lives on the run's loop; only its owner changes ``step``."""

    session_id: str
    user_id: str | None
    workspace: Path
    provider: Provider
    tools: Mapping[str, Tool]
    hooks: HookRunner
    policy: Policy
    prompts: Prompts
    retry: RetryPolicy
    limits: Limits
    recorder: Recorder
    pricer: Pricer
    host: Host
    bus: EventBus
    cell_id: str | None
    spent_before_usd: float  # by earlier runs of this agent, for the budget
    warned_prices: set[tuple[str, str]]
    run_id: str = field(default_factory=lambda: f"run_{uuid.uuid4().hex[:16]}")
    step: int | None = None
    totals: Totals = field(default_factory=Totals)
    started_at: datetime = field(default_factory=now)
    ended: bool = False
    aborting: bool = False
    remembered: set[tuple[str, str | None]] = field(default_factory=set)  # "allow for this run"
    _seq: int = 0

    def emit(self, event_type: str, **data: Any) -> None:
        """Number and deliver an event; after the terminal one nothing follows."""
        if self.ended:
            return
        event = AgentEvent(
            event_type, data, self._seq, now(), self.run_id, self.session_id, self.step
        )
        self._seq += 1
        self.ended = event_type in TERMINAL
        self.bus.emit(event)

    def warn(
        self,
        info: AgentErrorInfo | None,
        *,
        attempt: int = 1,
        max_attempts: int = 1,
        delay_s: float = 0.0,
    ) -> None:
        """Announce a snag that does not end the run."""
        if info is not None:
            self.emit(
                "run.warning",
                error_info=info,
                attempt=attempt,
                max_attempts=max_attempts,
                delay_s=delay_s,
            )

    def price(self, usage: Usage | None) -> Cost | None:
        """The price of ``usage``; an unknown one is announced once per model."""
        if usage is None:
            return None
        name, model = self.provider.name, self.provider.model
        cost = self.pricer.price(name, model, usage)
        if cost is None and (name, model) not in self.warned_prices:
            self.warned_prices.add((name, model))
            self.warn(_price_unknown(name, model, self.limits.budget_usd))
        return cost

    @property
    def spent_usd(self) -> float:
        """Priced cost of this agent so far."""
        return self.spent_before_usd + self.totals.priced_usd

    def hook_facts(self) -> dict[str, Any]:
        """The fields that every hook context has."""
        return {
            "run_id": self.run_id,
            "session_id": self.session_id,
            "user_id": self.user_id,
            "workspace": str(self.workspace),
            "step": self.step or 0,
        }


def _price_unknown(provider: str, model: str, budget_usd: float | None) -> AgentErrorInfo:
    hint = "Its cost shows as <NA>."
    if budget_usd is not None:
        hint += " The budget cannot count it."
    return error_info(
        "run_price_unknown",
        f"No price is known for the model {model!r} of {provider}.",
        hint=hint,
        details={"provider": provider, "model": model},
    )
