"""Events of made-up runs, for stories and views."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

from smoke_monkey_nb.errors import error_info
from smoke_monkey_nb.events import AgentEvent
from smoke_monkey_nb.notebook.story import RunStory
from smoke_monkey_nb.usage import Usage

START = datetime(2026, 1, 1, 12, tzinfo=timezone.utc)
Spec = tuple[str, dict[str, Any]]


def events(*specs: Spec, first: int = 0, run_id: str = "run_1") -> list[AgentEvent]:
    """The specs as events, one a second."""
    return [
        AgentEvent(kind, data, at, START + timedelta(seconds=at), run_id, "session", 1)
        for at, (kind, data) in enumerate(specs, start=first)
    ]


def story_of(*specs: Spec) -> RunStory:
    """The story that these events tell."""
    story = RunStory()
    for event in events(*specs):
        story.apply(event)
    return story


def started(**more: Any) -> Spec:
    return "run.started", {
        "prompt": "p",
        "model": "analyst",
        "provider": "demo",
        "tools": [],
        **more,
    }


def delta(text: str) -> Spec:
    return "text.delta", {"text": text}


def end(text: str = "") -> Spec:
    return "text.end", {"text": text}


def tool_started(name: str = "read_file", call_id: str = "c1", **more: Any) -> Spec:
    data = {"tool_call_id": call_id, "tool_name": name, "input": {}, "summary": "", **more}
    return "tool.started", data


def tool_completed(name: str = "read_file", call_id: str = "c1", **more: Any) -> Spec:
    data = {"tool_call_id": call_id, "tool_name": name, "result": "ok", "duration_ms": 41.0}
    return "tool.completed", {**data, **more}


def asked(call_id: str = "c1", **more: Any) -> Spec:
    data = {"tool_call_id": call_id, "tool_name": "run_python", "input": {"code": "1 + 1"}}
    data |= {"preview": "1 + 1", "preview_kind": "python", "choices": []}
    return "permission.required", {**data, **more}


def resolved(call_id: str = "c1", decision: str = "allow", **more: Any) -> Spec:
    data = {"tool_call_id": call_id, "decision": decision, "by": "user", "remember": None}
    return "permission.resolved", {**data, **more}


def warned(code: str = "provider_rate_limited", message: str = "The provider is busy.") -> Spec:
    info = error_info(code, message, hint="It is tried again.")
    return "run.warning", {"error_info": info, "attempt": 1, "max_attempts": 5, "delay_s": 2.0}


def completed(cost_usd: float | None = 0.0024) -> Spec:
    usage = Usage(2000, 434, 2434)
    return "run.completed", {"text": "", "usage": usage, "cost_usd": cost_usd, "steps": 2}


def failed(code: str = "provider_unavailable", message: str = "It cannot be reached.") -> Spec:
    info = error_info(code, message, hint="Check the network, or set base_url.")
    return "run.failed", {"error_info": info}
