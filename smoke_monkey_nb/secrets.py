"""Finds secrets in text: keys and tokens by their shape, passwords by their place, and known
values.

A wider net than ``redact`` (which guards the product's own keys): used on prompts, tool inputs and
results, where a false alarm costs a word of context and a miss costs a secret. One pass of one
alternation, anchored on literal prefixes, so that a megabyte takes milliseconds.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

MASK = "[redacted]"

# Literal prefix, then enough of the right alphabet. Sources: the vendors' published key formats.
_SHAPES = {
    # OpenAI, Anthropic, OpenRouter, Langfuse
    "sk-": r"sk-(?:ant-|proj-|or-v1-|svcacct-|lf-)?[A-Za-z0-9_-]{16,}",
    "gsk_": r"gsk_[A-Za-z0-9]{20,}",  # Groq
    "xai-": r"xai-[A-Za-z0-9]{20,}",
    "nvapi-": r"nvapi-[A-Za-z0-9_-]{20,}",
    "pplx-": r"pplx-[A-Za-z0-9]{20,}",  # Perplexity
    "r8_": r"r8_[A-Za-z0-9]{20,}",  # Replicate
    "hf_": r"hf_[A-Za-z0-9]{20,}",  # Hugging Face
    "AIza": r"AIza[A-Za-z0-9_-]{30,}",  # Google
    "ya29.": r"ya29\.[A-Za-z0-9_-]{20,}",
    "GOCSPX-": r"GOCSPX-[A-Za-z0-9_-]{20,}",
    "AKIA": r"AKIA[A-Z0-9]{16}",  # AWS
    "ASIA": r"ASIA[A-Z0-9]{16}",
    "AROA": r"AROA[A-Z0-9]{16}",
    "gh": r"gh[pousr]_[A-Za-z0-9]{30,}",  # GitHub
    "github_pat_": r"github_pat_[A-Za-z0-9_]{30,}",
    "glpat-": r"glpat-[A-Za-z0-9_-]{20,}",  # GitLab
    "xox": r"xox[abeoprs]-[A-Za-z0-9-]{10,}",  # Slack
    "xapp-": r"xapp-[0-9]-[A-Za-z0-9-]{10,}",
    "_live_": r"(?:sk|pk|rk)_live_[A-Za-z0-9]{16,}",  # Stripe
    "_test_": r"(?:sk|pk|rk)_test_[A-Za-z0-9]{16,}",
    "whsec_": r"whsec_[A-Za-z0-9]{20,}",
    "SG.": r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",  # SendGrid
    "key-": r"key-[0-9a-f]{32}",  # Mailgun
    "npm_": r"npm_[A-Za-z0-9]{30,}",
    "pypi-": r"pypi-[A-Za-z0-9_-]{40,}",
    "dop_v1_": r"dop_v1_[0-9a-f]{40,}",  # DigitalOcean
    "dapi": r"dapi[0-9a-f]{32}",  # Databricks
    "shp": r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}",  # Shopify
    "lin_api_": r"lin_api_[A-Za-z0-9]{20,}",  # Linear
    "secret_": r"secret_[A-Za-z0-9]{40,}",  # Notion
    "ntn_": r"ntn_[A-Za-z0-9]{40,}",
    "hvs.": r"hvs\.[A-Za-z0-9_-]{20,}",  # HashiCorp Vault
    "eyJ": r"eyJ[A-Za-z0-9_-]{8,2000}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",  # JWT
}
_SHAPE = {k: re.compile(r"(?<![A-Za-z0-9_])" + v) for k, v in _SHAPES.items()}
_PRIVATE_KEY = re.compile(
    r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----.*?"
    r"(?:-----END (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----|\Z)",
    re.DOTALL,
)
# scheme://user:password@host - the password alone goes
_URL_PASSWORD = re.compile(r"(?<=://)([^\s:/@'\"<>]{0,64}:)([^\s/@'\"<>]{1,256})(?=@)")
_BEARER = re.compile(r"(?i)\b((?:bearer|basic) )([A-Za-z0-9._~+/-]{16,}=*)")
# NAME = value where the name says that the value is secret; found by name first, since a
# case-insensitive alternation at every character is forty times slower.
_SECRET_WORDS = [
    f"{first}{joint}{last}"
    for first, last in (
        ("api", "key"), ("secret", "key"), ("access", "key"), ("access", "token"),
        ("auth", "token"), ("client", "secret"), ("account", "key"), ("private", "key"),
    )
    for joint in ("_", "-", "")
] + ["password", "passwd", "passphrase", "signature"]  # fmt: skip
_VALUE = re.compile(r"(\\?[\"']?\s{0,3}[:=]\s{0,3}\\?[\"']?)([^\s\"'\\,;&<>(){}\[\]]{6,512})")
_SECRET_NAME = re.compile(r"(?i)(key|token|secret|passw|credential|auth)")
#: Shorter values of secret-named variables are too common as words.
MIN_VALUE = 8


def environment_values(environment: Mapping[str, str] | None = None) -> list[str]:
    """Values of environment variables whose names say that they are secret, longest first."""
    source = os.environ if environment is None else environment
    values = {v for k, v in source.items() if _SECRET_NAME.search(k) and len(v) >= MIN_VALUE}
    return sorted((v for v in values if not v.startswith(("/", "~"))), key=len, reverse=True)


def redact(text: str, known: list[str] | None = None) -> str:
    """``text`` with every secret found replaced by ``[redacted]``."""
    for value in known or ():
        if value in text:
            text = text.replace(value, MASK)
    if "PRIVATE KEY" in text:
        text = _PRIVATE_KEY.sub(MASK, text)
    for prefix, shape in _SHAPE.items():
        if prefix in text:
            text = shape.sub(MASK, text)
    if "://" in text and "@" in text:
        text = _URL_PASSWORD.sub(rf"\1{MASK}", text)
    lowered = _ascii_lower(text)
    if "bearer " in lowered or "basic " in lowered:
        text = _BEARER.sub(rf"\1{MASK}", text)
        lowered = _ascii_lower(text)
    return _mask_assigned(text, lowered)


_LOWER = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")


def _ascii_lower(text: str) -> str:
    # str.lower() may change the length, and with it every position
    return text.lower() if text.isascii() else text.translate(_LOWER)


def _mask_assigned(text: str, lowered: str) -> str:
    spans: dict[int, int] = {}
    for word in _SECRET_WORDS:
        at = lowered.find(word)
        while at >= 0:
            match = _VALUE.match(text, at + len(word))
            if match is not None and not _is_reference(match.group(2)):
                spans[match.start(2)] = match.end(2)
            at = lowered.find(word, at + len(word))
    if not spans:
        return text
    pieces, last = [], 0
    for start, end in sorted(spans.items()):
        if start >= last:
            pieces += [text[last:start], MASK]
            last = end
    return "".join([*pieces, text[last:]])


def _is_reference(value: str) -> bool:
    # os.environ, $VARIABLE, None, true: code that names a secret without holding it
    return value.startswith((MASK, "$", "os.", "env", "process.", "getpass")) or (
        value.lower() in _WORDS
    )


_WORDS = {"none", "null", "true", "false", "string", "required", "optional", "example"}
