"""The one place where foreign exceptions become ours.

``openai`` raises its own exceptions until the headers are here, and lets those of its HTTP library
through while the body is read. Both are told apart by the names of their classes (that library is
``httpx`` in one version and ``httpx2`` in the next, and importing either or ``openai`` here would
cost every start).
"""

from __future__ import annotations

import asyncio
from typing import Any, Literal

from ..errors import AgentError, AgentErrorInfo, error_info
from .asked import Asked

Phase = Literal["before the answer", "in the answer"]

#: class name -> code, for every exception of ``openai`` that is no HTTP answer, and of its HTTP
#: library
CODE_OF = {
    "APITimeoutError": "provider_timeout",
    "APIConnectionError": "provider_unavailable",
    "APIResponseValidationError": "provider_bad_response",
    "APIError": "provider_bad_response",
    "ContentFilterFinishReasonError": "provider_content_filtered",
    "LengthFinishReasonError": "provider_bad_response",
    "SubjectTokenProviderError": "provider_auth",
    "WebSocketConnectionClosedError": "provider_stream_interrupted",
    "WebSocketQueueFullError": "provider_unavailable",
    "MutuallyExclusiveAuthError": "provider_auth",
    "APIRemovedInV1": "provider_bad_request",
    "_AmbiguousModuleClientUsageError": "provider_bad_request",
    "StreamAlreadyConsumed": "provider_stream_interrupted",
    "OpenAIError": "provider_auth",  # raised bare for missing credentials alone
    "TimeoutException": "provider_timeout",
    "DecodingError": "provider_bad_response",
    "TooManyRedirects": "provider_bad_request",
    "InvalidURL": "provider_bad_request",
    "UnsupportedProtocol": "provider_bad_request",
    "StreamError": "provider_stream_interrupted",
    "HTTPError": "provider_unavailable",
    "TimeoutError": "provider_timeout",
    "OSError": "provider_unavailable",
    # What encoding the request may raise: lone surrogates, NaN, an object that is no JSON.
    "UnicodeError": "provider_bad_request",
    "ValueError": "provider_bad_request",
    "TypeError": "provider_bad_request",
}


def translate(error: BaseException, asked: Asked, phase: Phase) -> AgentError:
    """Our error for a foreign one; never raises. ``AgentError`` stays as it is."""
    if isinstance(error, AgentError):
        return error
    response = getattr(error, "response", None)
    if isinstance(getattr(error, "status_code", None), int) and response is not None:
        return AgentError(_from_answer(error, response, asked))
    code = code_of(error)
    if phase == "in the answer" and code not in ("provider_timeout", "provider_bad_response"):
        return AgentError(interrupted(asked, type(error).__name__))
    if code == "provider_timeout":
        return AgentError(error_info(code, f"{asked.subject} did not answer in time."))
    cause = error.__cause__
    if code == "provider_unavailable" and cause is not None:
        code = {
            "LocalProtocolError": "provider_auth",
            "UnsupportedProtocol": "provider_bad_request",
        }.get(type(cause).__name__, code)
    message, hint = _words(code, error, asked)
    return AgentError(error_info(code, message, hint=hint, details={"cause": _cause_name(error)}))


def code_of(error: BaseException) -> str:
    """The code for an exception that is no HTTP answer, by the nearest of its classes that we
    know."""
    for kind in type(error).__mro__:
        if kind.__name__ in CODE_OF:
            return CODE_OF[kind.__name__]
    return "provider_bad_response"


def interrupted(asked: Asked, cause: str) -> AgentErrorInfo:
    """The connection broke while the answer came."""
    message = f"The connection to {asked.title} broke before the answer was finished."
    return error_info("provider_stream_interrupted", message, details={"cause": cause})


def timed_out(asked: Asked, seconds: float, what: str) -> AgentErrorInfo:
    """One of our own time limits passed; ``what`` completes "the provider sent …"."""
    message = f"{asked.subject} sent {what} within {seconds:g} s."
    return error_info("provider_timeout", message, details={"timeout_s": seconds})


def _from_answer(error: Any, response: Any, asked: Asked) -> AgentErrorInfo:
    from .classify import classify  # late: its patterns cost a start 20 ms

    try:
        body: Any = response.content
    except Exception:  # the body was never read
        body = getattr(error, "body", None)
    return classify(error.status_code, dict(response.headers), body, asked)


def _words(code: str, error: BaseException, asked: Asked) -> tuple[str, str | None]:
    if code == "provider_unavailable":
        return _unreachable(error, asked)
    if code == "provider_auth":
        variable = asked.key_variable
        way = f"Check {variable}" if variable else "Check the api_key"
        return f"The key for {asked.title} cannot be used.", f"{way} for stray characters."
    if code == "provider_bad_request":
        return (
            f"The request to {asked.title} could not be sent ({type(error).__name__}).",
            "Check the base URL, and that messages and tools hold plain text and JSON.",
        )
    if code == "provider_content_filtered":
        return f"The content filter of {asked.title} stopped the answer.", "Rephrase the prompt."
    return f"{asked.subject} gave an answer that cannot be read ({type(error).__name__}).", None


def _unreachable(error: BaseException, asked: Asked) -> tuple[str, str]:
    where = f" at {asked.base_url}" if asked.base_url else ""
    reasons = _chain(error)
    text = " ".join(str(reason) for reason in reasons).lower()
    if "certificate" in text or "ssl" in text:
        return f"The secure connection to {asked.title}{where} failed.", (
            "Check the proxy and the certificates of this machine (SSL_CERT_FILE)."
        )
    if any(isinstance(reason, ConnectionRefusedError) for reason in reasons) or "refused" in text:
        start = _START.get(asked.provider, "Check that the server runs and the base URL is right.")
        return f"Nothing answers for {asked.title}{where}.", start
    return f"{asked.subject}{where} cannot be reached.", "Check the network and the base URL."


_START = {
    "ollama": "Start it with `ollama serve`, or set OLLAMA_HOST.",
    "lmstudio": "Start the server in LM Studio (Developer tab).",
    "vllm": "Start it with `vllm serve MODEL`, or pass base_url.",
}


def _chain(error: BaseException) -> list[BaseException]:
    found: list[BaseException] = []
    one: BaseException | None = error
    while one is not None and len(found) < 10:
        found.append(one)
        one = one.__cause__ or one.__context__
    return found


def _cause_name(error: BaseException) -> str:
    return type(error.__cause__ or error).__name__


def is_cancel(error: BaseException) -> bool:
    """Whether this ends the caller too, and so is never translated."""
    return isinstance(error, (asyncio.CancelledError, GeneratorExit, KeyboardInterrupt, SystemExit))
