"""The environment of the programs that tools start: without keys, without pagers and prompts."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from ..redact import scrub

# "MONKEY" and "KEYBOARD" hold the word too.
_SECRET_NAME = re.compile(
    r"(?<!MON)KEY(?!BOARD)|TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|COOKIE|(^|_)(PAT|DSN|PWD)$"
)
_KEPT = ("PWD", "OLDPWD")
_URL_WITH_PASSWORD = re.compile(r"://[^/\s:@]*:[^/\s@]+@")
_QUIET = {
    "TERM": "dumb",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "PYTHONUNBUFFERED": "1",
}


def safe_environment(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """A copy without variables that hold keys, by their name or by the shape of their value."""
    source = os.environ if environment is None else environment
    kept = {name: value for name, value in source.items() if not _is_secret(name, value)}
    return {**kept, **_QUIET}


def _is_secret(name: str, value: str) -> bool:
    if name in _KEPT:
        return False
    if _SECRET_NAME.search(name.upper()) or _URL_WITH_PASSWORD.search(value):
        return True
    return scrub(value) != value
