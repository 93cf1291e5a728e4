"""The typed failures of an agent: what went wrong, how bad it is, and the way out.

Inside a run errors are values: layers below the loop raise ``AgentError(info)`` and the loop turns
it into events. ``CODES`` is the whole public list; an ``AgentErrorInfo`` can only be built for a
code in it, so layer, severity and retryability never drift from the documentation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from .redact import scrub

Layer = Literal["provider", "tool", "run", "hook", "permission", "transport"]
Severity = Literal["info", "warning", "error", "fatal"]

#: code -> (layer, severity, retryable)
CODES: dict[str, tuple[Layer, Severity, bool]] = {
    "provider_rate_limited": ("provider", "warning", True),
    "provider_quota_exhausted": ("provider", "fatal", False),
    "provider_auth": ("provider", "fatal", False),
    "provider_model_not_found": ("provider", "fatal", False),
    "provider_context_overflow": ("provider", "error", False),
    "provider_content_filtered": ("provider", "error", False),
    "provider_bad_request": ("provider", "error", False),
    "provider_timeout": ("provider", "warning", True),
    "provider_unavailable": ("provider", "warning", True),
    "provider_stream_interrupted": ("provider", "warning", True),
    "provider_bad_response": ("provider", "error", True),
    "tool_failed": ("tool", "warning", True),
    "tool_blocked": ("tool", "warning", False),
    "tool_not_found": ("tool", "warning", False),
    "tool_invalid_input": ("tool", "warning", True),
    "tool_timeout": ("tool", "warning", True),
    "tool_cancelled": ("tool", "info", True),
    "permission_denied": ("permission", "warning", False),
    "hook_blocked": ("hook", "fatal", False),
    "hook_failed": ("hook", "warning", False),
    "run_repeated_error": ("run", "fatal", False),
    "run_hard_stop": ("run", "fatal", False),
    "run_empty_responses": ("run", "fatal", True),
    "run_budget_exceeded": ("run", "fatal", False),
    "run_price_unknown": ("run", "info", False),
    "run_busy": ("run", "error", True),
    "run_interrupted": ("run", "info", True),
    "transport_render_failed": ("transport", "warning", True),
    "transport_store_failed": ("transport", "warning", True),
}


@dataclass(frozen=True)
class AgentErrorInfo:
    """One failure, for people and for programs.

    ``message`` and ``hint`` are one sentence each: no traceback, no key, no raw provider dump.
    ``details`` holds facts (``status``, ``attempts``, token counts, …) and is JSON-serialisable.
    Reads like a mapping too: ``info["code"]``.
    """

    code: str
    layer: Layer
    severity: Severity
    message: str
    retryable: bool
    hint: str | None = None
    details: Mapping[str, Any] | None = None

    def __getitem__(self, key: str) -> Any:
        if key not in _FIELDS:
            raise KeyError(key)
        return getattr(self, key)

    def keys(self) -> tuple[str, ...]:
        """Field names, so that ``dict(info)`` works."""
        return _FIELDS

    def to_dict(self) -> dict[str, Any]:
        """The fields as a JSON-serialisable dict."""
        out = {key: getattr(self, key) for key in _FIELDS}
        if self.details is not None:
            out["details"] = dict(self.details)
        return out

    def as_fatal(self, **details: Any) -> AgentErrorInfo:
        """The same failure once nothing more will be tried, with ``details`` added."""
        merged = {**(self.details or {}), **details}
        return replace(self, severity="fatal", details=merged or None)


_FIELDS = tuple(f.name for f in fields(AgentErrorInfo))


class AgentError(Exception):
    """Carries an ``AgentErrorInfo`` where Python needs an exception; ``str()`` is its message and
    hint.
    """

    def __init__(self, info: AgentErrorInfo) -> None:
        super().__init__(info)
        self.info = info

    def __str__(self) -> str:
        text = f"[{self.info.code}] {self.info.message}"
        return f"{text} {self.info.hint}" if self.info.hint else text


def error_info(
    code: str,
    message: str,
    *,
    hint: str | None = None,
    details: Mapping[str, Any] | None = None,
) -> AgentErrorInfo:
    """Build the info for ``code``; message, hint and details are scrubbed of keys.

    Raises:
        KeyError: ``code`` is not in ``CODES``.
    """
    layer, severity, retryable = CODES[code]
    return AgentErrorInfo(
        code=code,
        layer=layer,
        severity=severity,
        message=scrub(message),
        retryable=retryable,
        hint=scrub(hint) if hint else None,
        details=_scrub_details(details) if details else None,
    )


def agent_error(code: str, message: str, **more: Any) -> AgentError:
    """``AgentError(error_info(...))`` in one word, for ``raise``."""
    return AgentError(error_info(code, message, **more))


def _scrub_details(details: Mapping[str, Any]) -> dict[str, Any]:
    return {k: scrub(v) if isinstance(v, str) else v for k, v in details.items()}
