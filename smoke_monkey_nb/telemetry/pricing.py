"""What tokens cost: genai-prices' offline data, looked up by provider name and model.

Each token is priced once, at its own rate: cached and cache-write tokens are part of the prompt's,
reasoning tokens part of the completion's. Free is 0, unknown is ``None``. Importing genai-prices
takes a fifth of a second, so ``warm`` does it on a worker thread while the first request is on its
way.
"""

from __future__ import annotations

import importlib
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..usage import Cost, Usage

logger = logging.getLogger("smoke_monkey_nb")

#: Providers that run on the user's own machine, or have no model at all.
FREE = frozenset({"ollama", "lmstudio", "local", "demo"})
#: Catalogue name -> genai-prices provider id, where they differ.
PROVIDER_IDS = {"gemini": "google", "xai": "x-ai"}
#: Catalogue names that genai-prices knows as they are.
_SAME = frozenset({"openai", "azure", "openrouter", "groq", "mistral", "deepseek", "together"})


@dataclass(frozen=True)
class Price:
    """US dollars per million tokens, for a private deployment. What is ``None`` counts as input."""

    input_per_mtok: float
    output_per_mtok: float
    cached_per_mtok: float | None = None
    cache_write_per_mtok: float | None = None

    def cost(self, usage: Usage) -> Cost:
        """The price of ``usage``."""
        cached, written = usage.cached_tokens, usage.cache_write_tokens
        plain = max(0, usage.prompt_tokens - cached - written)
        read_rate = self.cached_per_mtok if self.cached_per_mtok is not None else None
        input_usd = plain * self.input_per_mtok
        input_usd += cached * (self.input_per_mtok if read_rate is None else read_rate)
        write_rate = self.cache_write_per_mtok
        input_usd += written * (self.input_per_mtok if write_rate is None else write_rate)
        output_usd = usage.completion_tokens * self.output_per_mtok
        return Cost(input_usd / 1e6, output_usd / 1e6, (input_usd + output_usd) / 1e6)


class GenaiPrices:
    """Implements ``records.Pricer``. ``prices`` (model name -> ``Price``) comes first. Any
    thread.
    """

    def __init__(self, prices: Mapping[str, Price] | None = None) -> None:
        self._prices = dict(prices or {})

    def warm(self) -> None:
        """Import the price list; a repeated call costs nothing."""
        importlib.import_module("genai_prices")

    def price(self, provider: str, model: str, usage: Usage) -> Cost | None:
        """The price of ``usage``, or ``None`` where none is known; never raises."""
        own = self._prices.get(model)
        if own is not None:
            return own.cost(usage)
        if provider in FREE:
            return Cost(0.0, 0.0, 0.0)
        provider_id = PROVIDER_IDS.get(provider, provider if provider in _SAME else None)
        if provider_id is None:
            return None
        try:
            return _listed(provider_id, model, usage)
        except LookupError:
            return None
        except Exception:
            logger.exception("pricing of %s:%s failed", provider, model)
            return None


def _listed(provider_id: str, model: str, usage: Usage) -> Cost:
    from genai_prices import Usage as Counts
    from genai_prices import calc_price

    cached = min(usage.cached_tokens, usage.prompt_tokens)
    written = min(usage.cache_write_tokens, usage.prompt_tokens - cached)
    counts: dict[str, Any] = {
        "input_tokens": usage.prompt_tokens,
        "output_tokens": usage.completion_tokens,
    }
    if cached:
        counts["cache_read_tokens"] = cached
    if written:
        counts["cache_write_tokens"] = written
    price = calc_price(Counts(**counts), model, provider_id=provider_id)
    return Cost(float(price.input_price), float(price.output_price), float(price.total_price))
