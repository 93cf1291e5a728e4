"""Keys stay with the provider: not in errors, options, reprs or events, wherever they were put."""

from __future__ import annotations

import json
import traceback
from typing import Any

import pytest

from smoke_monkey_nb import RetryPolicy, create_agent
from smoke_monkey_nb.providers.catalog import resolve_provider
from smoke_monkey_nb.redact import scrub

PASSWORD = "correct-horse"
URLS = [
    f"http://user:{PASSWORD}@127.0.0.1:1/v1",
    f"http://user:{PASSWORD}@nowhere.invalid/v1",
    f"http://127.0.0.1:1/v1?api-key={PASSWORD}",
    f"http://127.0.0.1:1/v1?a=1&access_token={PASSWORD}#x",
]


@pytest.mark.parametrize("url", URLS)
async def test_a_secret_in_the_base_url_shows_nowhere(url: str) -> None:
    agent = create_agent(
        model="openai:m", base_url=url, api_key="k" * 9, tools=[], retry=RetryPolicy(max_attempts=2)
    )
    events: list[Any] = []
    agent.on_any(lambda e: events.append(e.to_dict()))
    result = await agent.run("hello")
    with pytest.raises(Exception, match="provider_") as caught:
        result.raise_for_error()
    seen = [
        json.dumps(events), repr(agent), str(agent.options), repr(result), repr(vars(agent)),
        repr(vars(agent._setup)), repr(vars(agent._setup.provider)),
        "".join(traceback.format_exception(caught.value)),
    ]  # fmt: skip
    assert [text for text in seen if PASSWORD in text] == []


@pytest.mark.parametrize("url", [f"user:{PASSWORD}@host", f"ftp://user:{PASSWORD}@host/v1"])
def test_an_address_that_is_refused_is_told_without_its_password(url: str) -> None:
    with pytest.raises(ValueError, match="base_url must begin") as caught:
        resolve_provider("openai:m", base_url=url)
    assert PASSWORD not in str(caught.value)


def test_a_malformed_address_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="no valid address") as caught:
        resolve_provider("openai:m", base_url=f"http://user:{PASSWORD}@[::bad/v1")
    assert PASSWORD not in "".join(traceback.format_exception(caught.value))


def test_passwords_in_addresses_are_masked_even_unknown() -> None:
    assert scrub("see http://me:swordfish@db/x") == "see http://me:[redacted]@db/x"
