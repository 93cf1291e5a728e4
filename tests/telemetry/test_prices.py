"""Prices: every token once, at its own rate; free is 0, unknown is ``None``.

The rates are read from genai-prices' data and multiplied out here, so that a newer price list does
not break the tests; the arithmetic is ours, not the library's.
"""

from __future__ import annotations

import subprocess
import sys
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any

import pytest
from genai_prices.data_snapshot import get_snapshot

from smoke_monkey_nb import create_agent
from smoke_monkey_nb.providers.catalog import PROVIDERS
from smoke_monkey_nb.telemetry.pricing import FREE, PROVIDER_IDS, GenaiPrices, Price
from smoke_monkey_nb.usage import Cost, Usage

PRICES = GenaiPrices()
#: Catalogue name, model, name in genai-prices, the rates it must have besides input and output.
MODELS = [
    ("openai", "gpt-4o-2024-08-06", "openai", {"cache_read"}),
    ("openai", "gpt-4.1", "openai", {"cache_read"}),
    ("openai", "gpt-5-mini", "openai", {"cache_read"}),
    ("openai", "o3-mini", "openai", {"cache_read"}),
    ("azure", "gpt-4o", "azure", {"cache_read"}),
    ("openrouter", "anthropic/claude-sonnet-4.5", "openrouter", {"cache_read", "cache_write"}),
    ("openrouter", "openai/gpt-5-mini", "openrouter", {"cache_read"}),
    ("gemini", "gemini-2.5-flash", "google", {"cache_read"}),
    ("gemini", "gemini-2.5-pro", "google", {"cache_read"}),
    ("groq", "llama-3.3-70b-versatile", "groq", set()),
    ("mistral", "mistral-large-latest", "mistral", set()),
    ("deepseek", "deepseek-chat", "deepseek", {"cache_read"}),
    ("together", "meta-llama/Llama-3.3-70B-Instruct-Turbo", "together", set()),
    ("xai", "grok-4", "x-ai", {"cache_read"}),
]


def rates(provider_id: str, model: str, tokens: int = 0) -> dict[str, Decimal]:
    """The listed rates in US dollars per million tokens, by kind of token."""
    _, found = get_snapshot().find_provider_model(model, None, provider_id, None)
    listed = found.get_prices(datetime.now(timezone.utc))
    out = {}
    for kind in ("input", "cache_read", "cache_write", "output", "output_reasoning"):
        rate: Any = getattr(listed, f"{kind}_mtok", None)
        if hasattr(rate, "tiers"):
            reached = [tier.price for tier in rate.tiers if tokens > tier.start]
            rate = reached[-1] if reached else rate.base
        if rate is not None:
            out[kind] = rate
    return out


def cost(provider: str, model: str, usage: Usage) -> Cost:
    found = PRICES.price(provider, model, usage)
    assert found is not None, f"no price for {provider}:{model}"
    assert found.total_usd == pytest.approx(found.input_usd + found.output_usd)
    return found


def million(*parts: tuple[int, Decimal]) -> Any:
    return pytest.approx(float(sum(count * rate for count, rate in parts) / 1_000_000), rel=1e-12)


@pytest.mark.parametrize(("provider", "model", "listed", "special"), MODELS)
class TestListedModels:
    """The same facts for each of several models of each provider."""

    def test_plain_tokens(self, provider: str, model: str, listed: str, special: set[str]) -> None:
        rate = rates(listed, model)
        found = cost(provider, model, Usage(1_000, 200, 1_200))
        assert found.input_usd == million((1_000, rate["input"]))
        assert found.output_usd == million((200, rate["output"]))
        assert special <= set(rate)

    def test_cached_tokens_are_part_of_the_prompt(
        self, provider: str, model: str, listed: str, special: set[str]
    ) -> None:
        rate = rates(listed, model)
        found = cost(provider, model, Usage(1_000, 0, 1_000, cached_tokens=400))
        cached = rate.get("cache_read", rate["input"])
        assert found.input_usd == million((600, rate["input"]), (400, cached))

    def test_cache_writes_are_part_of_the_prompt(
        self, provider: str, model: str, listed: str, special: set[str]
    ) -> None:
        rate = rates(listed, model)
        usage = Usage(1_000, 0, 1_000, cached_tokens=100, cache_write_tokens=300)
        found = cost(provider, model, usage)
        cached = rate.get("cache_read", rate["input"])
        written = rate.get("cache_write", rate["input"])
        assert found.input_usd == million((600, rate["input"]), (100, cached), (300, written))

    def test_reasoning_tokens_are_part_of_the_completion(
        self, provider: str, model: str, listed: str, special: set[str]
    ) -> None:
        rate = rates(listed, model)
        found = cost(provider, model, Usage(0, 500, 500, reasoning_tokens=450))
        reasoning = rate.get("output_reasoning", rate["output"])
        assert found.output_usd == million((50, rate["output"]), (450, reasoning))


def test_a_published_price_multiplied_out_by_hand() -> None:
    # gpt-4o-2024-08-06: 2.50 $ a million prompt tokens, 1.25 $ cached ones, 10 $ completion ones.
    usage = Usage(10_000, 1_000, 11_000, cached_tokens=4_000, reasoning_tokens=600)
    found = cost("openai", "gpt-4o-2024-08-06", usage)
    assert found.input_usd == pytest.approx(0.015 + 0.005)
    assert found.output_usd == pytest.approx(0.01)


def test_a_long_prompt_reaches_the_dearer_tier() -> None:
    found = cost("gemini", "gemini-2.5-pro", Usage(300_000, 100, 300_100))
    long, short = rates("google", "gemini-2.5-pro", 300_000), rates("google", "gemini-2.5-pro")
    assert long["input"] > short["input"]
    assert found.input_usd == million((300_000, long["input"]))


def test_a_listed_reasoning_rate_counts() -> None:
    rate = rates("openrouter", "perplexity/sonar-deep-research")
    if "output_reasoning" not in rate:
        pytest.skip("this price list knows no reasoning rates")
    usage = Usage(0, 500, 500, reasoning_tokens=450)
    found = cost("openrouter", "perplexity/sonar-deep-research", usage)
    assert found.output_usd == million((50, rate["output"]), (450, rate["output_reasoning"]))


@pytest.mark.parametrize("usage", [Usage(10, 5, 15, cached_tokens=40), Usage(10, 5, 15, 8, 8, 99)])
def test_parts_that_exceed_the_whole_are_not_charged_on_top(usage: Usage) -> None:
    found = cost("groq", "llama-3.3-70b-versatile", usage)
    rate = rates("groq", "llama-3.3-70b-versatile")
    assert found.input_usd == million((10, rate["input"]))
    assert found.output_usd == million((5, rate["output"]))
    assert Price(1, 1).cost(usage).total_usd == pytest.approx(15e-6)


@pytest.mark.parametrize("provider", sorted(FREE))
def test_what_runs_at_home_is_free(provider: str) -> None:
    assert PRICES.price(provider, "any", Usage(10, 5, 15)) == Cost(0.0, 0.0, 0.0)


def test_a_free_offer_is_free_rather_than_unknown() -> None:
    free = PRICES.price("openrouter", "deepseek/deepseek-chat:free", Usage(10, 5, 15))
    assert free == Cost(0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("openai", "no-such-model"),
        ("azure", "my-deployment"),
        ("openai", "whisper-1"),  # priced by the hour of sound
        ("openai", "text-embedding-3-small"),  # has no output rate
        ("ollama", "gpt-oss:120b-cloud"),  # runs at Ollama, by subscription
        ("nvidia", "meta/llama-3.3-70b-instruct"),
        ("vllm", "gpt-5-mini"),
        ("custom", "gpt-5-mini"),
        ("", ""),
    ],
)
def test_an_unknown_price_is_none(provider: str, model: str) -> None:
    assert PRICES.price(provider, model, Usage(10, 5, 15)) is None


def test_every_provider_of_the_catalogue_is_priced_free_or_knowingly_unknown() -> None:
    assert set(PROVIDERS) - FREE - set(PROVIDER_IDS) == {"nvidia", "vllm"}


def test_gemini_models_are_known_by_their_long_names_too() -> None:
    usage = Usage(10, 5, 15)
    long, short = (PRICES.price("gemini", f"{p}gemini-2.5-flash", usage) for p in ("models/", ""))
    assert long == short


def test_own_prices_come_first_and_by_provider_before_all() -> None:
    own = {"gpt-5-mini": Price(1, 2), "azure:gpt-5-mini": Price(3, 4)}
    prices, usage = GenaiPrices(own), Usage(1_000_000, 1_000_000, 2_000_000)
    assert prices.price("openai", "gpt-5-mini", usage) == Cost(1, 2, 3)
    assert prices.price("azure", "gpt-5-mini", usage) == Cost(3, 4, 7)


def test_own_prices_have_rates_for_each_kind_of_token() -> None:
    price = Price(10, 20, cached_per_mtok=1, cache_write_per_mtok=12.5, reasoning_per_mtok=30)
    found = price.cost(Usage(1_000, 100, 1_100, 400, 200, 60))
    assert found.input_usd == pytest.approx((400 * 10 + 400 * 1 + 200 * 12.5) / 1e6)
    assert found.output_usd == pytest.approx((40 * 20 + 60 * 30) / 1e6)


@pytest.mark.parametrize("rate", [-1, float("nan"), float("inf")])
def test_an_own_price_must_be_a_sensible_number(rate: float) -> None:
    with pytest.raises(ValueError, match="output_per_mtok"):
        Price(1, rate)


@pytest.mark.parametrize("prices", [{"m": 3}, {"m": None}, [], "cheap", {3: Price(1, 1)}])
def test_prices_of_the_wrong_kind_are_a_type_error_at_once(prices: Any) -> None:
    with pytest.raises(TypeError, match="prices"):
        create_agent("demo:", tools=[], prices=prices)


@pytest.mark.parametrize("usage", [Usage(-5, -1, -6), Usage("x", 1, 2)])  # type: ignore[arg-type]
def test_nonsense_from_a_provider_has_no_price_and_raises_nothing(usage: Usage) -> None:
    assert PRICES.price("openai", "gpt-4o", usage) is None


def test_the_price_list_is_imported_late_and_needs_no_network() -> None:
    script = """
import socket, sys
def refuse(*_): raise AssertionError("network")
socket.socket.connect = socket.getaddrinfo = refuse
from smoke_monkey_nb.telemetry.pricing import GenaiPrices
from smoke_monkey_nb.usage import Usage
prices = GenaiPrices()
prices.warm("demo")
assert prices.price("demo", "demo", Usage(1, 1, 2)).total_usd == 0
assert "genai_prices" not in sys.modules
prices.warm("openai")
assert "genai_prices.data" in sys.modules
assert prices.price("openai", "gpt-4o", Usage(1, 1, 2)).total_usd > 0
"""
    subprocess.run([sys.executable, "-c", script], check=True)
