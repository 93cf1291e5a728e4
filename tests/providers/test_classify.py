"""Which code a provider's failure gets: status, then its own code, then headers, then wording."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pytest

from smoke_monkey_nb.providers.asked import Asked
from smoke_monkey_nb.providers.classify import classify
from smoke_monkey_nb.providers.wording import retry_after_s

from ..fault_server import HTML

OPENAI = Asked("openai", "gpt-x", "OPENAI_API_KEY", "https://api.openai.com/v1", "OpenAI")


def error(message: str = "it failed", **more: Any) -> dict[str, Any]:
    return {"error": {"message": message, **more}}


@pytest.mark.parametrize(
    ("status", "body", "code"),
    [
        (400, error(), "provider_bad_request"),
        (413, error(), "provider_bad_request"),
        (422, {"detail": [{"loc": ["body", "x"], "msg": "extra"}]}, "provider_bad_request"),
        (415, error(), "provider_bad_request"),
        (401, error(), "provider_auth"),
        (403, error(), "provider_auth"),
        (403, HTML, "provider_auth"),
        (402, error(), "provider_quota_exhausted"),
        (404, error("The model `x` does not exist"), "provider_model_not_found"),
        (404, {"error": "model 'x' not found"}, "provider_model_not_found"),
        (404, error("No such thing"), "provider_model_not_found"),
        (404, {"detail": "Not Found"}, "provider_bad_request"),
        (404, HTML, "provider_bad_request"),
        (404, b"404 page not found", "provider_bad_request"),
        (408, error(), "provider_timeout"),
        (504, HTML, "provider_timeout"),
        (429, error(), "provider_rate_limited"),
        (429, b"", "provider_rate_limited"),
        (529, error("Overloaded", type="overloaded_error"), "provider_rate_limited"),
        (429, error(code="insufficient_quota"), "provider_quota_exhausted"),
        (429, error(type="insufficient_quota"), "provider_quota_exhausted"),
        (429, error("Your credit balance is too low"), "provider_quota_exhausted"),
        (403, error("Your team has used all available credits"), "provider_quota_exhausted"),
        (500, error(), "provider_unavailable"),
        (502, HTML, "provider_unavailable"),
        (503, b"", "provider_unavailable"),
        (524, b"", "provider_unavailable"),
        (409, error(), "provider_unavailable"),
        (301, b"", "provider_bad_response"),
        (400, error(code="model_not_found"), "provider_model_not_found"),
        (403, error(code="model_not_found"), "provider_model_not_found"),
        (404, error(code="DeploymentNotFound"), "provider_model_not_found"),
        (400, error("x is not a valid model ID"), "provider_model_not_found"),
        (400, error("Invalid model: x"), "provider_model_not_found"),
        (400, error("Model Not Exist"), "provider_model_not_found"),
        (400, error("Incorrect API key provided"), "provider_auth"),
        (400, [error("API key not valid. Please pass a valid API key.")], "provider_auth"),
        (400, error("refused", code="content_filter"), "provider_content_filtered"),
        (
            400,
            error("x", innererror={"code": "ResponsibleAIPolicyViolation"}),
            "provider_content_filtered",
        ),
        (400, error(code="content_policy_violation"), "provider_content_filtered"),
        (403, error("Your chosen model requires moderation and your input was flagged"),
         "provider_content_filtered"),
    ],
)  # fmt: skip
def test_the_code_of_a_failure(status: int, body: Any, code: str) -> None:
    found = classify(status, {}, body, OPENAI)
    assert (found.code, (found.details or {}).get("status")) == (code, status)


def test_googles_limit_by_the_minute_is_no_empty_wallet() -> None:
    limited = error(
        "You exceeded your current quota, please check your plan and billing details.",
        code=429,
        status="RESOURCE_EXHAUSTED",
        details=[{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34s"}],
    )
    found = classify(429, {}, [limited], OPENAI)
    assert found.code == "provider_rate_limited"
    assert found.details and found.details["retry_after_s"] == 34


BOTH = {"limit_tokens": 4096, "request_tokens": 6010}


@pytest.mark.parametrize(
    ("status", "body", "numbers"),
    [
        (400, error("This model's maximum context length is 4096 tokens. However, your messages "
                    "resulted in 6010 tokens.", code="context_length_exceeded"), BOTH),
        (400, error("This model's maximum context length is 4096 tokens. However, you requested "
                    "6010 tokens (5010 in the messages, 1000 in the completion)."), BOTH),
        (400, error("This endpoint's maximum context length is 4096 tokens. However, you requested "
                    "about 6010 tokens (6000 of text input, 10 in the output)."), BOTH),
        (400, error("prompt is too long: 6010 tokens > 4096 maximum"), BOTH),
        (400, {"error": {"code": 400, "message": "the request exceeds the available context size",
                         "type": "exceed_context_size_error", "n_prompt_tokens": 6010,
                         "n_ctx": 4096}}, BOTH),
        (400, error("request (6010 tokens) exceeds the available context size (4096 tokens), "
                    "try increasing it", type="exceed_context_size_error"), BOTH),
        (400, [error("The input token count (6010) exceeds the maximum number of tokens allowed "
                     "(4096).")], BOTH),
        (400, error("This model's maximum prompt length is 4096 but the request contains 6010 "
                    "tokens."), BOTH),
        (400, error("Prompt contains 6010 tokens and 0 draft tokens, too large for model with 4096 "
                    "maximum context length"), BOTH),
        (400, error("Input tokens exceed the configured limit of 4096 tokens. Your messages "
                    "resulted in 6010 tokens."), BOTH),
        (422, error("Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. "
                    "Given: 6010 `inputs` tokens and 10 `max_new_tokens`"), BOTH),
        (400, error("too many tokens: total number of tokens (prompt and prediction) cannot exceed "
                    "4096 - received 6010."), BOTH),
        (400, error("Trying to keep the first 6010 tokens when context the overflows. However, the "
                    "model is loaded with context length of only 4096 tokens"), BOTH),
        (400, error("Requested tokens (6,010) exceed context window of 4,096"), BOTH),
        (400, error("input length 6010 exceeds model context length 4096"), BOTH),
        (413, error("Request too large for model `x`: Limit 4096, Requested 6010, please reduce "
                    "your message size", code="rate_limit_exceeded"), BOTH),
        (400, error("Input is too long for requested model."), {}),
        (400, error("Please reduce the length of the messages or completion."), {}),
        (400, error("The prompt is too large for the model's context window"), {}),
        (413, error("request_too_large", type="request_too_large"), {}),
        (500, error("the request exceeds the available context size. try increasing it"), {}),
        (400, {"error": "context length exceeded"}, {}),
    ],
)  # fmt: skip
def test_too_long_in_a_dozen_wordings(status: int, body: Any, numbers: dict[str, int]) -> None:
    found = classify(status, {}, body, OPENAI)
    details = dict(found.details or {})
    assert found.code == "provider_context_overflow"
    assert {k: v for k, v in details.items() if k.endswith("_tokens")} == numbers
    assert found.hint and "--new" in found.hint


@pytest.mark.parametrize(
    "message",
    [
        "max_tokens is too large: 99999. This model supports at most 4096 completion tokens.",
        "messages: at least one message is required",
        "Invalid 'tools[0].function.name': string does not match pattern",
        "An assistant message with 'tool_calls' must be followed by tool messages",
    ],
)
def test_other_bad_requests_are_not_taken_for_overflow(message: str) -> None:
    assert classify(400, {}, error(message), OPENAI).code == "provider_bad_request"


NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("headers", "message", "expected"),
    [
        ({"Retry-After": "2"}, "", 2),
        ({"retry-after": "0.5"}, "", 0.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, "", 1.5),
        ({"Retry-After": "Fri, 02 Jan 2026 03:04:35 GMT"}, "", 30),
        ({"Retry-After": "Fri, 02 Jan 2026 03:00:00 GMT"}, "", 0),
        ({"Retry-After": "soon"}, "", None),
        ({"Retry-After": "-5"}, "", None),
        ({"Retry-After": "nan"}, "", None),
        ({}, "Rate limit reached. Please try again in 1m2.5s.", 62.5),
        ({}, "Please try again in 350ms.", 0.35),
        ({}, "Please try again later.", None),
    ],
)
def test_how_long_the_server_asks_to_wait(
    headers: dict[str, str], message: str, expected: float | None
) -> None:
    assert retry_after_s(headers, {}, message, NOW) == expected


def test_the_wait_is_in_the_details() -> None:
    found = classify(429, {"Retry-After": "7"}, error(), OPENAI)
    assert found.details == {"status": 429, "retry_after_s": 7}


def test_a_message_is_one_clean_sentence() -> None:
    long = error("It\nfailed\x1b[31m because. And then a second sentence.")
    found = classify(400, {}, long, OPENAI)
    assert found.message == "OpenAI refused the request (400): It failed [31m because."


@pytest.mark.parametrize("body", [HTML, error("<div>no</div>"), error("x" * 5000), b"{broken", b""])
def test_no_markup_and_no_dump_gets_into_a_message(body: Any) -> None:
    message = classify(502, {}, body, OPENAI).message
    assert "<" not in message and len(message) < 250


def test_a_key_in_the_providers_text_is_masked() -> None:
    found = classify(401, {}, error("Incorrect API key provided: sk-abc***xyz."), OPENAI)
    assert "sk-abc" not in str(found.to_dict())


def test_hints_name_the_way_out() -> None:
    assert "OPENAI_API_KEY" in str(classify(401, {}, error(), OPENAI).hint)
    assert "/v1" in str(classify(404, {}, HTML, OPENAI).hint)
    no_tools = error("registry.ollama.ai/library/x does not support tools")
    assert "tools=[]" in str(classify(400, {}, no_tools, OPENAI).hint)


def test_openrouters_upstream_error_is_read() -> None:
    upstream = '{"error": {"message": "prompt is too long: 6010 tokens > 4096 maximum"}}'
    body = error("Provider returned error", code=400, metadata={"raw": upstream})
    assert classify(400, {}, body, OPENAI).code == "provider_context_overflow"


def test_the_quoted_request_does_not_decide() -> None:
    body = {"detail": [{"msg": "bad", "input": {"messages": ["unauthorized: context too long"]}}]}
    assert classify(422, {}, body, OPENAI).code == "provider_bad_request"


@pytest.mark.parametrize(
    "body", [None, 5, [], [5], {}, {"error": None}, {"error": []}, "text", b"\xff"]
)
def test_no_body_is_too_odd(body: Any) -> None:
    assert classify(500, {}, body, OPENAI).code == "provider_unavailable"
