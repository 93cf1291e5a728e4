"""Keeps API keys out of every text that leaves the provider object.

Two nets: the exact keys that this process was given (``remember_key``), and the shapes that keys
usually have. Used for errors, logs and tool environments; the ``guards`` module has the wider net
for prompts and results.
"""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

MASK = "[redacted]"
_known: set[str] = set()
# Key shapes: OpenAI/Anthropic/OpenRouter "sk-…", Groq "gsk_…", xAI "xai-…", NVIDIA "nvapi-…",
# Google "AIza…", GitHub "ghp_…", Hugging Face "hf_…", AWS "AKIA…", and any bearer token. OpenAI's
# 401 text shows keys with a masked middle ("sk-ab***yz"), hence the star.
_SHAPES = re.compile(
    r"\b(?:sk|rk|pk)-[A-Za-z0-9_*.-]{6,}"
    r"|\bgsk_[A-Za-z0-9*]{8,}|\bxai-[A-Za-z0-9*-]{8,}|\bnvapi-[A-Za-z0-9_*-]{8,}"
    r"|\bAIza[A-Za-z0-9_*-]{10,}|\bgh[pousr]_[A-Za-z0-9*]{10,}|\bhf_[A-Za-z0-9*]{10,}"
    r"|\bAKIA[A-Z0-9]{12,}|(?<=Bearer )[A-Za-z0-9._~+/*=-]{8,}"
)

#: Without one of these in it a text has no such shape; looking for them is 100 times quicker.
_MARKS = (
    "sk-", "rk-", "pk-", "gsk_", "xai-", "nvapi-", "AIza", "ghp_", "gho_", "ghu_", "ghs_", "ghr_",
    "hf_", "AKIA", "Bearer ",
)  # fmt: skip


# The password of "scheme://user:password@host".
_URL_PASSWORD = re.compile(r"(?<=://)([^\s/@:'\"<>]{0,64}:)[^\s/@'\"<>]{1,256}(?=@)")
_SECRET_QUERY = re.compile(r"(?i)[?&][^=&#]*(?:key|token|secret|passw|sig|auth)[^=&#]*=([^&#]+)")


def remember_key(key: str | None) -> None:
    """Have this exact value masked from now on (values under 6 characters are too common to
    mask).
    """
    if key and len(key) >= 6:
        _known.add(key)


def remember_url(url: str) -> None:
    """Have the secrets in this address masked from now on: its password, keys in its query."""
    parts = urlsplit(url)
    for found in (parts.password, *_SECRET_QUERY.findall(url)):
        if found is not None:
            remember_key(found)
            remember_key(unquote(found))


def scrub(text: str) -> str:
    """``text`` with every known key and key-shaped word replaced by ``[redacted]``."""
    text = scrub_known(text)
    if "://" in text and "@" in text:
        text = _URL_PASSWORD.sub(rf"\1{MASK}", text)
    return _SHAPES.sub(MASK, text) if any(mark in text for mark in _MARKS) else text


def scrub_known(text: str) -> str:
    """``text`` with every known key replaced; for what must stay as it is otherwise."""
    for key in _known:
        if key in text:
            text = text.replace(key, MASK)
    return text
