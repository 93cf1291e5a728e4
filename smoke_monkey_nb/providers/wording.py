"""What only the wording of an error tells: that the prompt was too long, by how much, and how long
to wait.

Providers word "too long" in a dozen ways and name the limit and the request's size in any order.
Each pattern here is one provider's sentence."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any

_N = r"(?P<{}>\d[\d,_]*)"
_LIMIT, _USED = _N.format("limit"), _N.format("used")

#: sentences that name both numbers
_PAIRS = [
    re.compile(pattern, re.IGNORECASE | re.DOTALL)
    for pattern in (
        # OpenAI, vLLM, OpenRouter, DeepSeek, Together
        rf"maximum (?:context|prompt|model) length (?:is|of) {_LIMIT}(?: tokens?)?.{{0,80}}?"
        rf"(?:requested|resulted in|contains|request has|about)(?: at least| about)? {_USED}",
        # Anthropic
        rf"too long:? {_USED} tokens? > {_LIMIT}",
        # llama.cpp
        rf"request \({_USED} tokens?\) exceeds the available context size \({_LIMIT}",
        # Gemini
        rf"token count \(?{_USED}\)? exceeds the maximum number of tokens allowed \(?{_LIMIT}",
        # Mistral
        rf"contains {_USED} tokens?.{{0,80}}?(?:maximum|limit|with|of) {_LIMIT}",
        # Groq and OpenAI, size of a single request
        rf"limit:? {_LIMIT}, (?:requested|used):? {_USED}",
        # OpenAI's responses-era wording
        rf"limit of {_LIMIT} tokens.{{0,80}}?resulted in {_USED}",
        # TGI
        rf"must be <= {_LIMIT}\. given: {_USED}",
        # Cohere
        rf"cannot exceed {_LIMIT}\D{{0,20}}?received {_USED}",
        # LM Studio
        rf"first {_USED} tokens.{{0,120}}?context length of only {_LIMIT}",
        # NVIDIA, Bedrock, SGLang
        rf"(?:length|tokens|input)[^\d.]{{0,40}}\(?{_USED}(?: tokens)?\)?[^\d.]{{0,60}}"
        rf"(?:exceed|longer|greater|larger|over|>)[^\d.]{{0,80}}\(?{_LIMIT}",
    )
]
_LIMIT_ALONE = re.compile(
    rf"(?:maximum|max|limit|context (?:length|size|window))[^\d.]{{0,50}}{_LIMIT} ?tokens?|"
    rf"{_N.format('limit2')}[ -]tokens? (?:limit|maximum|context)",
    re.IGNORECASE,
)
_TOO_LONG = re.compile(
    r"context[ _]?(?:length|window|size)[ _]?(?:was |is |has been )?exceed"
    r"|exceed\w*[^.]{0,60}context|context[^.]{0,40}(?:overflow|too (?:long|large|small))"
    r"|(?:prompt|input|request|conversation|messages?)[^.]{0,40}(?:is|are|was) too (?:long|large)"
    r"|too many (?:input |prompt )?tokens|input(?: is)? too long|request too large"
    r"|maximum (?:context|prompt|input|model) (?:length|window|size)"
    r"|token count[^.]{0,40}exceed|tokens? exceeds?\b|token limit (?:was |is )?(?:exceed|reached)"
    r"|exceeds? (?:the )?(?:maximum|max|configured|allowed)[^.]{0,30}tokens?"
    r"|reduce the length of (?:the |your )?(?:messages|prompt|input)|range of input length"
    r"|longer than the model'?s? (?:maximum )?context|`?inputs`? tokens"
    r"|shorten your (?:prompt|input)|context length of only|tokens to keep from the initial prompt",
    re.IGNORECASE,
)
_ABOUT_OUTPUT = re.compile(
    r"max_(?:completion_|output_)?tokens[^.]{0,40}(?:too large|must be)", re.IGNORECASE
)
_WAIT = re.compile(
    r"(?:try again|retry) (?:in|after) (?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)(ms|s)\b)?", re.I
)


def says_too_long(text: str) -> bool:
    """Whether this is a complaint that the prompt is longer than the model takes."""
    return bool(_TOO_LONG.search(text)) and not _ABOUT_OUTPUT.search(text)


def token_numbers(text: str, fields: Mapping[str, Any]) -> dict[str, int]:
    """``limit_tokens`` and ``request_tokens`` as far as the error names them."""
    limit, used = fields.get("n_ctx"), fields.get("n_prompt_tokens")  # llama.cpp
    if isinstance(limit, int) and isinstance(used, int):
        return {"limit_tokens": limit, "request_tokens": used}
    for pattern in _PAIRS:
        if found := pattern.search(text):
            return {
                "limit_tokens": _number(found["limit"]),
                "request_tokens": _number(found["used"]),
            }
    if found := _LIMIT_ALONE.search(text):
        return {"limit_tokens": _number(found["limit"] or found["limit2"])}
    return {}


def retry_after_s(
    headers: Mapping[str, str], fields: Mapping[str, Any], text: str, now: datetime | None = None
) -> float | None:
    """How many seconds the server asks to wait: headers first, then Google's field, then the
    wording."""
    lower = {name.lower(): value.strip() for name, value in headers.items()}
    if (ms := _float(lower.get("retry-after-ms"))) is not None:
        return ms / 1000
    if header := lower.get("retry-after"):
        seconds = _float(header)
        return seconds if seconds is not None else _until(header, now)
    details = fields.get("details")
    for detail in details if isinstance(details, list) else ():
        delay = detail.get("retryDelay") if isinstance(detail, Mapping) else None
        if isinstance(delay, str) and (seconds := _float(delay.rstrip("s"))) is not None:
            return seconds
    found = _WAIT.search(text)
    if not found or not (found[1] or found[2]):
        return None
    seconds = float(found[2] or 0) / (1000 if found[3] == "ms" else 1)
    return 60 * float(found[1] or 0) + seconds


def _until(date: str, now: datetime | None) -> float | None:
    from email.utils import parsedate_to_datetime

    try:
        moment = parsedate_to_datetime(date)
    except (TypeError, ValueError, IndexError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=timezone.utc)
    return max(0.0, (moment - (now or datetime.now(timezone.utc))).total_seconds())


def _float(text: str | None) -> float | None:
    try:
        value = float(text) if text else None
    except ValueError:
        return None
    return value if value is not None and 0 <= value < 1e7 else None


def _number(text: str) -> int:
    return int(text.replace(",", "").replace("_", ""))
