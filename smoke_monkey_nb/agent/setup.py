"""What an agent's options come to: provider, tools, workspace and prices, chosen and checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..options import AgentOptions
from ..providers.base import Provider
from ..providers.catalog import resolve_provider
from ..telemetry.pricing import GenaiPrices
from ..tools.base import Tool
from ..tools.groups import resolve_tools

_PROVIDER_OPTIONS = {"model", "api_key", "base_url", "request_timeout_s", "stall_timeout_s"}


@dataclass(frozen=True)
class Setup:
    """The parts that the options name. ``model_reason``: why this model, where it was not named."""

    options: AgentOptions
    workspace: Path
    tools: Mapping[str, Tool]
    provider: Provider
    model_reason: str | None
    pricer: GenaiPrices

    @classmethod
    def of(cls, options: AgentOptions) -> Setup:
        """Choose the parts.

        Raises:
            TypeError, ValueError: an option names nothing that is there.
        """
        provider, reason = _choose_provider(options)
        return cls(
            options=options,
            workspace=options.resolved_workspace(),
            tools=resolve_tools(options.tools),
            provider=provider,
            model_reason=reason,
            pricer=GenaiPrices(options.prices),
        )

    def changed(self, **changes: Any) -> Setup:
        """A copy with some options changed; parts that they do not touch stay the same objects.

        Raises:
            TypeError, ValueError: as ``of``.
        """
        options = self.options.with_changes(**changes)
        parts: dict[str, Any] = {"options": options, "workspace": options.resolved_workspace()}
        if "tools" in changes:
            parts["tools"] = resolve_tools(options.tools)
        if "prices" in changes:
            parts["pricer"] = GenaiPrices(options.prices)
        if not _PROVIDER_OPTIONS.isdisjoint(changes):
            parts["provider"], parts["model_reason"] = _choose_provider(options)
        return replace(self, **parts)


def _choose_provider(options: AgentOptions) -> tuple[Provider, str | None]:
    if options.model is not None and not isinstance(options.model, str):
        if not hasattr(options.model, "stream"):
            kind = type(options.model).__name__
            raise TypeError(f"model must be '<provider>:<model>' or a Provider, got {kind}")
        return options.model, None
    chosen = resolve_provider(
        options.model,
        api_key=options.api_key,
        base_url=options.base_url,
        request_timeout_s=options.request_timeout_s,
        stall_timeout_s=options.stall_timeout_s,
    )
    return chosen.provider, chosen.reason
