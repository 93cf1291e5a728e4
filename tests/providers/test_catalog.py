"""Which provider a model string means, and which one is picked when there is none."""

from __future__ import annotations

from typing import Any

import pytest

from smoke_monkey_nb.providers.base import ModelRequest
from smoke_monkey_nb.providers.catalog import PROVIDERS, resolve_provider
from smoke_monkey_nb.providers.known import takes_images
from smoke_monkey_nb.providers.ollama import installed_models, ollama_url
from smoke_monkey_nb.redact import scrub

from ..fault_server import FaultServer, Received, json_reply, text
from .helpers import HI, collect

NO_OLLAMA = {"OLLAMA_HOST": "127.0.0.1:9"}


def chosen(model: str | None = None, **more: Any) -> tuple[str, str, str | None]:
    found = resolve_provider(model, environ=more.pop("environ", NO_OLLAMA), **more)
    return found.provider.name, found.provider.model, found.reason


def test_every_provider_of_the_contract_is_there() -> None:
    contract = (
        "openai azure openrouter ollama lmstudio vllm groq mistral deepseek together gemini xai "
        "nvidia local demo"
    )
    assert sorted(PROVIDERS) == sorted(contract.split(" "))


@pytest.mark.parametrize("name", sorted(set(PROVIDERS)))
def test_every_provider_can_be_made_without_any_key(name: str) -> None:
    found = chosen(f"{name}:some-model")
    assert found == (name, "some-model", None)


def test_the_model_is_everything_after_the_first_colon() -> None:
    assert chosen("ollama:qwen3:8b")[:2] == ("ollama", "qwen3:8b")
    assert chosen("openrouter:meta/llama:free")[:2] == ("openrouter", "meta/llama:free")


def test_a_base_url_takes_any_model_name() -> None:
    url = "http://127.0.0.1:1/v1"
    assert chosen("my-model", base_url=url)[:2] == ("custom", "my-model")
    assert chosen("qwen3:8b", base_url=url)[:2] == ("custom", "qwen3:8b")


def test_a_base_url_with_a_known_provider_keeps_its_name() -> None:
    found = chosen("openai:gpt-x", base_url="http://127.0.0.1:1/v1")
    assert found[:2] == ("openai", "gpt-x")


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("opanai:gpt-x", "Did you mean 'openai:gpt-x'"),
        ("gpt-x", "Did you mean 'openai:gpt-x'"),
        ("nonsense:x", "openrouter"),
        ("openai:", "names no model"),
        ("local:", "model.gguf"),
    ],
)
def test_a_name_that_means_nothing_is_a_value_error(model: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        resolve_provider(model, environ={})


def test_a_base_url_without_a_scheme_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="http://"):
        resolve_provider("m", base_url="localhost:8000", environ={})


def test_a_base_url_without_a_model_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="model"):
        resolve_provider(None, base_url="http://127.0.0.1:1/v1", environ={})


def test_an_argument_of_the_wrong_type_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="model"):
        resolve_provider(5)  # type: ignore[arg-type]


# -- keys ----------------------------------------------------------------------


@pytest.mark.parametrize("name", [spec.name for spec in PROVIDERS.values() if not spec.keyless])
async def test_no_key_is_an_auth_error_that_names_the_variable(name: str) -> None:
    environ = {"AZURE_OPENAI_ENDPOINT": "https://x.openai.azure.com"}
    provider = resolve_provider(f"{name}:m", environ=environ).provider
    outcome = await collect(provider, ModelRequest("m", HI))
    assert outcome.code == "provider_auth"
    assert outcome.error and PROVIDERS[name].key_variables[0] in str(outcome.error.hint)
    await provider.aclose()


async def test_azure_without_a_resource_says_which_variable_to_set() -> None:
    provider = resolve_provider("azure:m", environ={"AZURE_OPENAI_API_KEY": "k"}).provider
    outcome = await collect(provider, ModelRequest("m", HI))
    assert outcome.error and "AZURE_OPENAI_ENDPOINT" in str(outcome.error.hint)


def test_every_key_that_is_taken_is_masked_from_then_on() -> None:
    resolve_provider("groq:m", environ={"GROQ_API_KEY": "plain-words-key"})
    resolve_provider("m", api_key="another-plain-key", base_url="http://127.0.0.1:1/v1")
    assert "plain" not in scrub("plain-words-key and another-plain-key")


async def sent_to(server: FaultServer, model: str, **more: Any) -> Received:
    provider = resolve_provider(model, **more).provider
    outcome = await collect(provider, ModelRequest(provider.model, HI))
    await provider.aclose()
    assert outcome.error is None, outcome.error
    return server.requests[-1]


async def test_the_key_comes_from_the_argument_before_the_environment() -> None:
    with FaultServer(text()) as server:
        environ = {"OPENAI_API_KEY": "from-env", "OPENAI_BASE_URL": server.base_url}
        request = await sent_to(server, "openai:m", environ=environ)
        assert request.headers["authorization"] == "Bearer from-env"
        request = await sent_to(server, "openai:m", environ=environ, api_key=" mine\n")
        assert request.headers["authorization"] == "Bearer mine"


@pytest.mark.parametrize("model", ["m", "openai:m", "vllm:m"])
async def test_a_server_on_this_machine_needs_no_key(model: str) -> None:
    with FaultServer(text()) as server:
        request = await sent_to(server, model, base_url=server.base_url, environ={})
        assert request.path == "/v1/chat/completions"
        assert request.json["model"] == "m"


async def test_a_proxy_of_the_environment_is_not_asked_for_this_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    with FaultServer(text()) as server:
        assert await sent_to(server, "m", base_url=server.base_url)


async def test_a_base_url_in_the_environment_that_is_none_is_a_bad_request() -> None:
    environ = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "localhost:8000"}
    provider = resolve_provider("openai:m", environ=environ).provider
    outcome = await collect(provider, ModelRequest("m", HI))
    assert outcome.code == "provider_bad_request"
    assert outcome.error and "base URL" in str(outcome.error.hint)
    await provider.aclose()


async def test_azure_asks_the_deployment_with_its_own_header() -> None:
    with FaultServer(text()) as server:
        environ = {
            "AZURE_OPENAI_ENDPOINT": server.root_url,
            "AZURE_OPENAI_API_KEY": "azure-key",
            "OPENAI_API_VERSION": "2024-06-01",
        }
        request = await sent_to(server, "azure:my-deployment", environ=environ)
    path = "/openai/deployments/my-deployment/chat/completions?api-version=2024-06-01"
    assert (request.path, request.headers["api-key"]) == (path, "azure-key")


async def test_azure_with_a_token_of_its_directory() -> None:
    with FaultServer(text()) as server:
        environ = {"AZURE_OPENAI_ENDPOINT": server.root_url, "AZURE_OPENAI_AD_TOKEN": "a-token"}
        request = await sent_to(server, "azure:d", environ=environ)
    assert request.headers["authorization"] == "Bearer a-token"


async def test_the_demo_answers_without_key_and_network() -> None:
    provider = resolve_provider("demo:", environ={}).provider
    assert (await collect(provider, ModelRequest("demo", HI))).response.text
    await provider.aclose()


# -- picking -------------------------------------------------------------------


def test_the_named_model_comes_first() -> None:
    environ = {"SMOKE_MONKEY_MODEL": "groq:m", "OPENAI_API_KEY": "k"}
    assert chosen(environ=environ) == ("groq", "m", "SMOKE_MONKEY_MODEL is set")


def test_then_a_known_key() -> None:
    name, model, reason = chosen(environ={"MISTRAL_API_KEY": "k", **NO_OLLAMA})
    assert (name, model) == ("mistral", PROVIDERS["mistral"].model)
    assert reason == "MISTRAL_API_KEY is set"


def test_an_empty_key_is_no_key() -> None:
    assert chosen(environ={"OPENAI_API_KEY": "  ", **NO_OLLAMA})[0] == "demo"


def test_azure_is_picked_when_its_deployment_is_named() -> None:
    environ = {"AZURE_OPENAI_API_KEY": "k", **NO_OLLAMA}
    assert chosen(environ=environ)[0] == "demo"
    assert chosen(environ={**environ, "AZURE_OPENAI_DEPLOYMENT": "d"})[:2] == ("azure", "d")


def test_then_an_ollama_on_this_machine() -> None:
    with FaultServer() as server:
        name, model, reason = chosen(environ={"OLLAMA_HOST": server.root_url})
    assert (name, model) == ("ollama", "test-model")
    assert reason and "Ollama answers" in reason


def test_an_ollama_elsewhere_is_not_picked() -> None:
    assert chosen(environ={"OLLAMA_HOST": "http://203.0.113.1:11434"})[0] == "demo"


def test_else_the_demo_and_the_reason_says_so() -> None:
    name, model, reason = chosen()
    assert (name, model) == ("demo", "demo")
    assert reason == "no key found, no Ollama on this machine: using the offline demo"


# -- ollama --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("host", "url"),
    [
        (None, "http://127.0.0.1:11434"),
        ("", "http://127.0.0.1:11434"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("[::]:8080", "http://127.0.0.1:8080"),
        (":8080", "http://127.0.0.1:8080"),
        ("box", "http://box:11434"),
        ("box:8080", "http://box:8080"),
        ("http://box:8080/", "http://box:8080"),
        ("https://box/ollama", "https://box:443/ollama"),
        ("box:nonsense", "http://box:11434"),
    ],
)
def test_the_ways_to_write_ollama_host(host: str | None, url: str) -> None:
    assert ollama_url({} if host is None else {"OLLAMA_HOST": host}) == url


@pytest.mark.parametrize("tags", [[], {}, {"models": None}, {"models": [5, {"name": 3}]}, "x"])
def test_an_odd_list_of_models_is_none(tags: Any) -> None:
    with FaultServer() as server:
        server._reply = lambda _: json_reply(tags)  # type: ignore[method-assign]
        assert installed_models(server.root_url) == []


@pytest.mark.parametrize(
    ("name", "model", "expected"),
    [
        ("openai", "gpt-5-mini", True),
        ("openai", "gpt-3.5-turbo", False),
        ("ollama", "qwen3:8b", False),
        ("ollama", "llava:7b", True),
        ("deepseek", "deepseek-chat", False),
        ("openrouter", "anthropic/claude-x", True),
    ],
)
def test_which_models_take_pictures(name: str, model: str, expected: bool) -> None:
    assert takes_images(PROVIDERS[name], model) is expected
