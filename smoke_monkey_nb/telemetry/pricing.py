"""What tokens cost: genai-prices' offline data, looked up by provider name and model.

Each token is priced once, at its own rate: cached and cache-write tokens are part of the prompt's,
reasoning tokens part of the completion's; those that the price list has no rate of their own for
cost as much as the rest. Free is 0, unknown is ``None``. Importing the list takes a fifth of a
second, so ``warm`` does it on a worker thread while the first request is on its way. Nothing here
touches the network: genai-prices updates itself only where its user starts that.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from ..usage import Cost, Usage

logger = logging.getLogger("smoke_monkey_nb")

#: Providers that run on the user's own machine, or have no model at all. vLLM is not among them: it
#: mostly runs on rented machines, whose price only the user knows.
FREE = frozenset({"ollama", "lmstudio", "local", "demo"})
#: Catalogue name -> genai-prices provider id. The rest (nvidia, vllm, custom) is not in its data.
PROVIDER_IDS = {
    "openai": "openai",
    "azure": "azure",
    "openrouter": "openrouter",
    "groq": "groq",
    "mistral": "mistral",
    "deepseek": "deepseek",
    "together": "together",
    "gemini": "google",
    "xai": "x-ai",
}
#: Kind of token -> the rate it has in a price of genai-prices.
_RATES = {
    "input_tokens": "input_mtok",
    "output_tokens": "output_mtok",
    "cache_read_tokens": "cache_read_mtok",
    "cache_write_tokens": "cache_write_mtok",
    "output_reasoning_tokens": "output_reasoning_mtok",
}
_FREE_COST = Cost(0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Price:
    """US dollars per million tokens, for a private model. Cached, cache-write and reasoning tokens
    cost as much as the rest where they have no rate of their own.

    Raises:
        TypeError, ValueError: a rate that is no number, or negative, or not finite.
    """

    input_per_mtok: float
    output_per_mtok: float
    cached_per_mtok: float | None = None
    cache_write_per_mtok: float | None = None
    reasoning_per_mtok: float | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            rate = getattr(self, field.name)
            if rate is None and field.default is None:
                continue
            if isinstance(rate, bool) or not isinstance(rate, (int, float)):
                raise TypeError(f"{field.name} must be a number, got {type(rate).__name__}")
            if not math.isfinite(rate) or rate < 0:
                raise ValueError(f"{field.name} must be 0 or more, got {rate}")

    def cost(self, usage: Usage) -> Cost:
        """The price of ``usage``."""
        cached, written, reasoning = _parts(usage)
        input_usd = (
            (usage.prompt_tokens - cached - written) * self.input_per_mtok
            + cached * _own(self.cached_per_mtok, self.input_per_mtok)
            + written * _own(self.cache_write_per_mtok, self.input_per_mtok)
        ) / 1e6
        output_usd = (
            (usage.completion_tokens - reasoning) * self.output_per_mtok
            + reasoning * _own(self.reasoning_per_mtok, self.output_per_mtok)
        ) / 1e6
        return Cost(input_usd, output_usd, input_usd + output_usd)


class GenaiPrices:
    """Implements ``records.Pricer``. ``prices`` (``"model"`` or ``"provider:model"`` -> ``Price``)
    come first. Any thread.

    Raises:
        TypeError: ``prices`` is no mapping of names to ``Price``.
    """

    def __init__(self, prices: Mapping[str, Price] | None = None) -> None:
        self._prices = _checked(prices)
        self._rates: dict[tuple[str, str], frozenset[str]] = {}

    def warm(self, provider: str | None = None) -> None:
        """Import the price list, unless ``provider`` needs none; a repeated call costs nothing."""
        if provider is None or provider in PROVIDER_IDS:
            self.price("openai", "gpt-5-mini", Usage())

    def price(self, provider: str, model: str, usage: Usage) -> Cost | None:
        """The price of ``usage``, or ``None`` where none is known; never raises."""
        own = self._prices.get(f"{provider}:{model}") or self._prices.get(model)
        try:
            if own is not None:
                return own.cost(usage)
            if provider in FREE:
                # Ollama's cloud models run elsewhere, by subscription.
                is_cloud = provider == "ollama" and model.endswith(("-cloud", ":cloud"))
                return None if is_cloud else _FREE_COST
            if provider not in PROVIDER_IDS:
                return None
            return self._listed(PROVIDER_IDS[provider], model.removeprefix("models/"), usage)
        except LookupError:
            return None
        except Exception:
            logger.exception("pricing of %s:%s failed", provider, model)
            return None

    def _listed(self, provider_id: str, model: str, usage: Usage) -> Cost | None:
        rates = self._rates.get((provider_id, model))
        if rates is None:
            listed = _calculate({"input_tokens": 0, "output_tokens": 0}, provider_id, model)
            rates = frozenset(kind for kind, rate in _RATES.items() if _has(listed, rate))
            if not rates and _is_priced_by_other_means(listed):
                raise LookupError(model)
            self._rates[provider_id, model] = rates
        cached, written, reasoning = _parts(usage)
        counts = {
            "input_tokens": usage.prompt_tokens,
            "output_tokens": usage.completion_tokens,
            "cache_read_tokens": cached,
            "cache_write_tokens": written,
            "output_reasoning_tokens": reasoning,
        }
        # A list that knows a model's input alone (embeddings) does not know what its answer costs.
        if rates and any(counts[k] and k not in rates for k in ("input_tokens", "output_tokens")):
            return None
        # Earlier versions of genai-prices take cached tokens without a rate of their own for free.
        price = _calculate({k: n for k, n in counts.items() if k in rates}, provider_id, model)
        return Cost(float(price.input_price), float(price.output_price), float(price.total_price))


def _calculate(counts: Mapping[str, int], provider_id: str, model: str) -> Any:
    import genai_prices

    return genai_prices.calc_price(genai_prices.Usage(**counts), model, provider_id=provider_id)


def _has(listed: Any, rate: str) -> bool:
    return getattr(listed.model_price, rate, None) is not None


def _is_priced_by_other_means(listed: Any) -> bool:
    """By the hour of sound, by the page: token counts say nothing about the price then."""
    return any(rate is not None for rate in vars(listed.model_price).values())


def _parts(usage: Usage) -> tuple[int, int, int]:
    """Cached, cache-write and reasoning tokens, as far as they fit into what they are part of."""
    cached = min(usage.cached_tokens, usage.prompt_tokens)
    written = min(usage.cache_write_tokens, usage.prompt_tokens - cached)
    return cached, written, min(usage.reasoning_tokens, usage.completion_tokens)


def _own(rate: float | None, otherwise: float) -> float:
    return otherwise if rate is None else rate


def _checked(prices: Any) -> dict[str, Price]:
    if prices is None:
        return {}
    if not isinstance(prices, Mapping):
        raise TypeError(f"prices must be a dict of Price, got {type(prices).__name__}")
    for name, price in prices.items():
        if not isinstance(name, str) or not isinstance(price, Price):
            raise TypeError(f"prices[{name!r}] must be a Price, got {type(price).__name__}")
    return dict(prices)
