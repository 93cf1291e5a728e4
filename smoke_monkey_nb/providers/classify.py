"""Which of our error codes a provider's failure is.

Reads the status first, then the error's own code and type, then headers, and only then its wording.
A code that is exact (an empty wallet, an unknown model, a prompt that is too long) overrides the
status it came with, because providers disagree about statuses more than about codes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..errors import CODES, AgentError, AgentErrorInfo, error_info
from .asked import UNKNOWN, Asked
from .error_body import ErrorBody, one_sentence, read_error_body
from .wording import retry_after_s, says_too_long, token_numbers

_QUOTA = {
    "insufficient_quota", "billing_hard_limit_reached", "billing_not_active",
    "insufficient_balance", "insufficient_credits", "credit_balance_too_low", "payment_required",
    "quota_exceeded_permanently",
}  # fmt: skip
_NO_MODEL = {
    "model_not_found", "deploymentnotfound", "model_not_exist", "invalid_model",
    "model_not_available", "unknown_model", "model_not_supported", "model_decommissioned",
    "invalid_model_error",
}  # fmt: skip
_OVERFLOW = {
    "context_length_exceeded", "exceed_context_size_error", "context_window_exceeded",
    "prompt_too_long", "model_context_window_exceeded", "string_above_max_length",
    "max_context_length_exceeded", "request_too_large", "context_length_error", "input_too_long",
    "tokens_limit_reached",
}  # fmt: skip
_FILTER = {
    "content_filter", "content_policy_violation", "responsibleaipolicyviolation",
    "moderation_blocked", "content_filter_error", "datainspectionfailed", "data_inspection_failed",
    "prohibited_content", "sensitive_content", "safety", "content_moderation",
}  # fmt: skip
_AUTH = {
    "invalid_api_key", "authentication_error", "api_key_invalid", "incorrect_api_key",
    "unauthenticated",
}  # fmt: skip

_QUOTA_TEXT = re.compile(
    r"insufficient[ _](?:balance|quota|credit|funds)|credit balance is too low|out of credits"
    r"|used all available credits|requires more credits|billing (?:is )?(?:not active|hard limit)",
    re.IGNORECASE,
)
_NO_MODEL_TEXT = re.compile(
    r"model[^.]{0,80}(?:not found|does(?: not|n't) exist|not exist|is not a valid model"
    r"|not available|decommissioned|no longer available|not supported for)"
    r"|(?:unknown|invalid|no such) model|not a valid model id"
    r"|no endpoints found for|try pulling it",
    re.IGNORECASE,
)
_FILTER_TEXT = re.compile(
    r"content management policy|content[ _]filter|content policy|safety (?:system|filter|policy)"
    r"|(?:was|been|input) flagged|flagged (?:for|by|as)|inappropriate content|responsible ai",
    re.IGNORECASE,
)
_AUTH_TEXT = re.compile(
    r"(?:incorrect|invalid|missing|no) api[ -]?key|api[ -]?key (?:not valid|is (?:invalid|missing))"
    r"|unauthorized|authentication failed",
    re.IGNORECASE,
)
_NO_TOOLS_TEXT = re.compile(
    r"does not support (?:tools|function)"
    r"|tool[ -]?(?:use|choice|calling)[^.]{0,40}(?:not supported|support)"
    r"|no endpoints found that support tool",
    re.IGNORECASE,
)


def classify(
    status: int | None,
    headers: Mapping[str, str] | None = None,
    body: Any = None,
    asked: Asked = UNKNOWN,
) -> AgentErrorInfo:
    """The error for an HTTP answer that is no success.

    ``details`` has ``status`` and, when the server says so, ``retry_after_s``; for a prompt that is
    too long also ``limit_tokens`` and ``request_tokens``."""
    read = read_error_body(body)
    status = status if status is not None else read.status
    code = _code(status, read)
    details: dict[str, Any] = {} if status is None else {"status": status}
    if code == "provider_context_overflow":
        details.update(token_numbers(read.message, read.fields))
    if CODES[code][2]:
        wait = retry_after_s(headers or {}, read.fields, read.message)
        details.update({} if wait is None else {"retry_after_s": wait})
    if provider_code := _own_code(read):
        details["provider_code"] = provider_code
    message = _message(code, status, read, asked, details)
    return error_info(code, message, hint=_hint(code, read, asked), details=details or None)


def stream_error(payload: Any, asked: Asked = UNKNOWN) -> AgentError:
    """The error for an error object inside a stream that began well.

    Failures that no retry can cure keep their code; every other one is
    ``provider_stream_interrupted``."""
    found = classify(None, None, payload, asked)
    if not found.retryable and found.code != "provider_bad_request":
        return AgentError(found)
    said = one_sentence(read_error_body(payload).message)
    message = f"{asked.subject} broke its answer off" + (f": {said}." if said else ".")
    details = {**(found.details or {}), "cause_code": found.code}
    return AgentError(error_info("provider_stream_interrupted", message, details=details))


def _code(status: int | None, read: ErrorBody) -> str:
    return _exact(status, read) or _by_status(status, read)


def _exact(status: int | None, read: ErrorBody) -> str | None:
    """What the error's own code says, whatever the status."""
    if read.has(*_QUOTA):
        return "provider_quota_exhausted"
    if read.has(*_OVERFLOW):
        return "provider_context_overflow"
    if read.has(*_FILTER):
        return "provider_content_filtered"
    if read.has(*_NO_MODEL):
        return "provider_model_not_found"
    if read.has(*_AUTH) and status != 429:
        return "provider_auth"
    return "provider_rate_limited" if read.has("overloaded_error", "engine_overloaded") else None


def _by_status(status: int | None, read: ErrorBody) -> str:
    if status == 401:
        return "provider_auth"
    if status == 402:
        return "provider_quota_exhausted"
    if status == 403:
        return _forbidden(read)
    if status == 404:
        return _not_found(read)
    if status in (408, 504):
        return "provider_timeout"
    if status in (429, 498, 529):
        return _limited(status, read)
    if status is None or status >= 500 or status in (409, 425):
        too_long = says_too_long(read.message)  # older llama.cpp says so with a 500
        return "provider_context_overflow" if too_long else "provider_unavailable"
    if status < 400:
        return "provider_bad_response"
    return _by_wording(read.message)


def _by_wording(text: str) -> str:
    """400, 413, 422 and their like: everything that providers put there."""
    if says_too_long(text):
        return "provider_context_overflow"
    if _QUOTA_TEXT.search(text):
        return "provider_quota_exhausted"
    if _FILTER_TEXT.search(text):
        return "provider_content_filtered"
    if _AUTH_TEXT.search(text):
        return "provider_auth"
    if _NO_MODEL_TEXT.search(text):
        return "provider_model_not_found"
    return "provider_bad_request"


def _forbidden(read: ErrorBody) -> str:
    if read.kind == "json" and _QUOTA_TEXT.search(read.message):
        return "provider_quota_exhausted"
    if read.kind == "json" and _FILTER_TEXT.search(read.message):
        return "provider_content_filtered"
    return "provider_auth"


def _not_found(read: ErrorBody) -> str:
    # A wrong path answers with a page, a bare line, or FastAPI's {"detail": "Not Found"}.
    bare = read.message.strip().lower().rstrip(".") in ("", "not found", "404 page not found")
    if _NO_MODEL_TEXT.search(read.message):
        return "provider_model_not_found"
    return "provider_bad_request" if bare or read.kind != "json" else "provider_model_not_found"


def _limited(status: int, read: ErrorBody) -> str:
    # Google words its per-minute limits like an empty wallet, but says RESOURCE_EXHAUSTED.
    if status == 429 and _QUOTA_TEXT.search(read.message) and not read.has("resource_exhausted"):
        return "provider_quota_exhausted"
    # Larger than the limit itself: waiting cures nothing.
    if "request too large" in read.message.lower():
        return "provider_context_overflow"
    return "provider_rate_limited"


def _own_code(read: ErrorBody) -> str | None:
    for name in ("code", "type"):
        value = read.fields.get(name)
        if isinstance(value, (str, int)) and re.fullmatch(r"[\w.\- ]{1,60}", str(value)):
            return str(value)
    return None


def _message(
    code: str, status: int | None, read: ErrorBody, asked: Asked, details: Mapping[str, Any]
) -> str:
    who, inner = asked.subject, asked.title
    answered = f"{who} answered {status}" if status else f"{who} reported an error"
    if code == "provider_context_overflow" and "request_tokens" in details:
        used, limit = details["request_tokens"], details["limit_tokens"]
        return f"The request has {used} tokens, and the model takes {limit}."
    said = one_sentence(read.message)
    plain = {
        "provider_rate_limited": f"{who} is overloaded or limits the rate",
        "provider_quota_exhausted": f"The account at {inner} has no credit or quota left",
        "provider_auth": f"{who} refused the key",
        "provider_model_not_found": f"{who} does not know the model {asked.model!r}",
        "provider_context_overflow": "The request is longer than the model takes",
        "provider_content_filtered": f"The content filter of {inner} refused the request",
        "provider_timeout": f"{who} took too long",
        "provider_bad_request": f"{who} refused the request",
    }.get(code, answered)
    number = f" ({status})" if status and plain is not answered else ""
    return f"{plain}{number}: {said}." if said else f"{plain}{number}."


def _hint(code: str, read: ErrorBody, asked: Asked) -> str | None:
    variable = asked.key_variable
    if code == "provider_auth":
        way = f"Set {variable} to a valid key" if variable else "Pass a valid api_key"
        return f"{way}, or check that it may use the model {asked.model!r}."
    if code == "provider_bad_request" and _NO_TOOLS_TEXT.search(read.message):
        return "Choose a model that can call tools, or run without tools (tools=[])."
    if code == "provider_bad_request" and read.kind != "json" and asked.base_url:
        return f"Check the base URL {asked.base_url} (it usually ends with /v1)."
    return _HINTS.get(code, "").format(model=asked.model, provider=asked.provider) or None


_HINTS = {
    "provider_quota_exhausted": "Add credit to the account, or choose another provider or key.",
    "provider_model_not_found": "Check the model's name and that your key may use it.",
    "provider_context_overflow": (
        "Start a fresh conversation with --new, shorten the prompt, "
        "or choose a model with a larger window."
    ),
    "provider_content_filtered": "Rephrase the prompt, or leave out the part that was filtered.",
    "provider_rate_limited": "Wait a little, or choose another model.",
}
