"""From ``"provider:model"`` (or nothing at all) to a provider.

Making an agent never fails for a missing key: the provider is made all the same, and its first call
raises ``provider_auth`` with the name of the variable to set. Only a name that means nothing is a
``ValueError``.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from ..errors import AgentError, AgentErrorInfo, error_info
from ..redact import remember_key, remember_url, scrub
from .asked import Asked
from .base import Delta, ModelRequest, Provider
from .clients import Endpoint, is_loopback
from .known import PROVIDERS, ProviderSpec, takes_images
from .ollama import installed_models, ollama_url
from .openai_chat import OpenAIChat

__all__ = ["PROVIDERS", "ChosenProvider", "ProviderSpec", "resolve_provider"]

_NO_KEY = "not-needed"  # servers without keys want the header all the same
_AZURE_VERSION = "2024-10-21"


@dataclass(frozen=True)
class ChosenProvider:
    """A provider, and why it was picked (``None`` where the user named it)."""

    provider: Provider
    reason: str | None = None


def resolve_provider(
    model: str | None = None,
    *,
    api_key: str | None = None,
    base_url: str | None = None,
    request_timeout_s: float | None = 120,
    stall_timeout_s: float | None = 60,
    environ: Mapping[str, str] | None = None,
) -> ChosenProvider:
    """The provider for ``model``; looks at the environment, and at this machine's Ollama if it must
    pick.

    Raises:
        ValueError: an unknown provider without a base URL, no model name, or a base URL that is
        none. TypeError: an argument that is no string.
    """
    environ = os.environ if environ is None else environ
    _check_strings(model=model, api_key=api_key, base_url=base_url)
    api_key = (api_key or "").strip() or None
    base_url = _checked_url(base_url)
    reason = None
    if model is None or not model.strip():
        if base_url is not None:
            model = environ.get("SMOKE_MONKEY_MODEL", "").strip()
            if not model:
                raise ValueError("base_url needs a model too: model='the model's name there'")
            reason = "SMOKE_MONKEY_MODEL is set"
        else:
            model, reason = _pick(environ, api_key)
    spec, name = _split(model.strip(), has_url=base_url is not None)
    limits = {"request_timeout_s": request_timeout_s, "stall_timeout_s": stall_timeout_s}
    return ChosenProvider(_make(spec, name, api_key, base_url, environ, limits), reason)


def _pick(environ: Mapping[str, str], api_key: str | None) -> tuple[str, str]:
    """The model when none is named, and the reason."""
    if named := environ.get("SMOKE_MONKEY_MODEL", "").strip():
        return named, "SMOKE_MONKEY_MODEL is set"
    for spec in PROVIDERS.values():
        # The names of Azure's deployments are their owner's choice.
        model = environ.get("AZURE_OPENAI_DEPLOYMENT") if spec.name == "azure" else spec.model
        for variable in spec.key_variables:
            if model and environ.get(variable, "").strip():
                return f"{spec.name}:{model}", f"{variable} is set"
    if api_key is not None:
        return f"openai:{PROVIDERS['openai'].model}", "an api_key was passed without a model"
    root = ollama_url(environ)
    if is_loopback(root) and (models := installed_models(root)):
        return f"ollama:{models[0]}", f"no key found, but Ollama answers at {root}"
    return "demo:", "no key found, no Ollama on this machine: using the offline demo"


def _split(model: str, *, has_url: bool) -> tuple[ProviderSpec | None, str]:
    """The spec and the bare model; no spec is a server known by its URL alone."""
    prefix, colon, rest = model.partition(":")
    spec = PROVIDERS.get(prefix.strip().lower()) if colon or model.lower() == "demo" else None
    if spec is not None:
        name = rest.strip()
        if spec.name == "demo":
            return spec, name or "demo"
        if not name:
            example = spec.model or ("/path/to/model.gguf" if spec.name == "local" else "MODEL")
            raise ValueError(f"{model!r} names no model: write {spec.name}:{example}")
        return spec, name
    if has_url:
        return None, model
    raise ValueError(
        f"Unknown provider in model {model!r}: write 'provider:model' with one of "
        f"{', '.join(PROVIDERS)}, or pass base_url.{_guess(prefix.strip(), rest, colon)}"
    )


def _guess(prefix: str, rest: str, colon: str) -> str:
    """What may have been meant."""
    close = difflib.get_close_matches(prefix.lower(), PROVIDERS, n=2, cutoff=0.5)
    if close:
        return f" Did you mean {' or '.join(repr(f'{name}:{rest}') for name in close)}?"
    return "" if colon else f" Did you mean {f'openai:{prefix}'!r}?"


def _make(
    spec: ProviderSpec | None,
    model: str,
    api_key: str | None,
    base_url: str | None,
    environ: Mapping[str, str],
    limits: Mapping[str, Any],
) -> Provider:
    if spec is not None and spec.name == "local" and base_url is None:
        from .local import LocalModel

        return LocalModel(model)
    variable, key = _key(spec, api_key, environ)
    remember_key(key)
    url = base_url or _known_url(spec, environ)
    if url is not None:
        remember_url(url)
    asked = Asked(
        provider=spec.name if spec else "custom",
        model=model,
        key_variable=variable,
        base_url=url,
        title=spec.title if spec else "the server",
    )
    problem = _problem(spec, asked, key, own_url=base_url is not None)
    if problem is not None:
        return UnusableProvider(asked, problem)
    endpoint = _endpoint(spec, url, variable, key, environ)
    return OpenAIChat(asked, endpoint, takes_images=takes_images(spec, model), **limits)


def _key(
    spec: ProviderSpec | None, api_key: str | None, environ: Mapping[str, str]
) -> tuple[str | None, str | None]:
    """The variable to name in a hint, and the key."""
    variables = spec.key_variables if spec else ()
    if api_key is not None:
        return (variables[0] if variables else None), api_key
    for variable in variables:
        if key := environ.get(variable, "").strip():
            return variable, key
    return (variables[0] if variables else None), None


def _known_url(spec: ProviderSpec | None, environ: Mapping[str, str]) -> str | None:
    if spec is None:
        return None
    if spec.name == "ollama":
        return f"{ollama_url(environ)}/v1"
    if spec.base_url_variable and (url := environ.get(spec.base_url_variable, "").strip()):
        return url
    return spec.base_url


def _problem(
    spec: ProviderSpec | None, asked: Asked, key: str | None, *, own_url: bool
) -> AgentErrorInfo | None:
    """What will keep every call from working, known before the first."""
    if spec is None or spec.name == "demo":
        return None
    if spec.name == "azure" and asked.base_url is None:
        hint = "Set AZURE_OPENAI_ENDPOINT to https://YOUR-RESOURCE.openai.azure.com."
        return error_info("provider_auth", "Azure OpenAI needs to know your resource.", hint=hint)
    if key or spec.keyless or (asked.base_url and is_loopback(asked.base_url)):
        return None
    if own_url and spec.name != "azure":
        return None  # a server of the user's own may take no key; if it wants one, it says 401
    message = f"There is no key for {spec.title}."
    hint = f"Set {asked.key_variable} or pass api_key, or try model='demo:' without any key."
    return error_info("provider_auth", message, hint=hint)


def _endpoint(
    spec: ProviderSpec | None,
    url: str | None,
    variable: str | None,
    key: str | None,
    environ: Mapping[str, str],
) -> Callable[[], Endpoint]:
    if spec is not None and spec.name == "demo" and url is None:
        return _demo_endpoint
    assert url is not None
    if spec is not None and spec.name == "azure" and not url.rstrip("/").endswith("/v1"):
        token = key if variable == "AZURE_OPENAI_AD_TOKEN" else None
        version = environ.get("OPENAI_API_VERSION", "").strip() or _AZURE_VERSION
        endpoint = Endpoint(url, "" if token else key or _NO_KEY, version, token)
    else:
        endpoint = Endpoint(url, key or _NO_KEY)
    return lambda: endpoint


def _demo_endpoint() -> Endpoint:
    from .demo import api_key, serve

    return Endpoint(serve(), api_key())


class UnusableProvider:
    """A provider whose every call raises the same error: it lacks a key, a resource or a
    package."""

    takes_images = False

    def __init__(self, asked: Asked, problem: AgentErrorInfo) -> None:
        self.name, self.model, self._problem = asked.provider, asked.model, problem

    async def stream(self, request: ModelRequest) -> AsyncIterator[Delta]:
        """Raise the error."""
        raise AgentError(self._problem)
        yield  # makes this an async generator

    async def aclose(self) -> None:
        """Nothing is held."""


def _checked_url(base_url: str | None) -> str | None:
    if base_url is None or not base_url.strip():
        return None
    url = base_url.strip()
    if not url.lower().startswith(("http://", "https://")):
        # What stands before an "@" may be a password.
        shown = scrub(url) if "://" in url else url.rpartition("@")[2]
        raise ValueError(f"base_url must begin with http:// or https://, not {shown!r}")
    try:
        urlsplit(url)
    except ValueError:
        raise ValueError("base_url is no valid address") from None
    return url


def _check_strings(**values: Any) -> None:
    for name, value in values.items():
        if value is not None and not isinstance(value, str):
            raise TypeError(f"{name} must be a string or None, not {type(value).__name__}")
