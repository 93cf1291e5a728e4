"""No exception of openai or of its HTTP library is unknown to us."""

from __future__ import annotations

import asyncio
import inspect
import sys
from collections.abc import Iterator

import openai
import pytest

from smoke_monkey_nb.errors import CODES, AgentError, agent_error
from smoke_monkey_nb.providers.asked import Asked
from smoke_monkey_nb.providers.translate import CODE_OF, code_of, is_cancel, translate

ASKED = Asked("openai", "gpt-x", "OPENAI_API_KEY", "https://api.openai.com/v1", "OpenAI")


def classes_of(package: str, base: type) -> Iterator[type]:
    for name, module in list(sys.modules.items()):
        if module is not None and (name == package or name.startswith(f"{package}.")):
            for _, value in inspect.getmembers(module, inspect.isclass):
                if issubclass(value, base) and value.__module__.split(".")[0] == package:
                    yield value


def test_every_exception_of_openai_has_a_code() -> None:
    known = set(CODE_OF)
    unmapped = [
        kind.__name__
        for kind in classes_of("openai", openai.OpenAIError)
        if not issubclass(kind, openai.APIStatusError) and kind.__name__ not in known
    ]
    assert unmapped == []


def test_every_exception_of_its_http_library_has_a_code() -> None:
    error = openai.APIConnectionError.__init__.__globals__
    library = next(name for name in ("httpx2", "httpx") if name in error)
    base = error[library].HTTPError
    kinds = set(classes_of(library, base))
    assert len(kinds) > 10
    for kind in kinds:
        assert any(one.__name__ in CODE_OF for one in kind.__mro__), kind


@pytest.mark.parametrize("code", sorted(set(CODE_OF.values())))
def test_only_public_codes_are_used(code: str) -> None:
    assert code in CODES


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (openai.OpenAIError("missing credentials"), "provider_auth"),
        (asyncio.TimeoutError(), "provider_timeout"),
        (ConnectionRefusedError(), "provider_unavailable"),
        (UnicodeEncodeError("utf-8", "x", 0, 1, "surrogates"), "provider_bad_request"),
        (KeyError("x"), "provider_bad_response"),
    ],
)
def test_the_code_of_an_exception(error: Exception, code: str) -> None:
    assert translate(error, ASKED, "before the answer").info.code == code
    assert code_of(error) == code


def test_a_broken_connection_in_the_answer_interrupts_it() -> None:
    info = translate(ConnectionResetError(), ASKED, "in the answer").info
    assert info.code == "provider_stream_interrupted"


def test_our_own_errors_stay_as_they_are() -> None:
    error = agent_error("provider_auth", "no")
    assert translate(error, ASKED, "in the answer") is error


def test_a_server_that_is_not_started_gets_a_hint_how_to() -> None:
    asked = Asked("ollama", "x", None, "http://127.0.0.1:11434/v1", "Ollama")
    info = translate(ConnectionRefusedError(), asked, "before the answer").info
    assert info.hint and "ollama serve" in info.hint
    assert isinstance(translate(OSError(), asked, "before the answer"), AgentError)


def test_a_cancel_is_never_an_error() -> None:
    assert is_cancel(asyncio.CancelledError()) and not is_cancel(OSError())
