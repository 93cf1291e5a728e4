"""Faults on demand, for teaching: what a rate limit, a cut stream or a wrong key looks like in the
notebook.

The faults are real HTTP, so the warning toast, the wait and the retry are the ones that a busy
provider causes. A fault that "passes" hits a turn's first request and lets its repetition through;
that the same turn comes again is all that the server remembers, and only for a minute.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .turn import read_turn
from .wire import DemoRequest, error_body

_REMEMBER_S = 60.0
_NEVER = 1 << 30
_HICCUP = re.compile(r"\bhiccup", re.IGNORECASE)


@dataclass(frozen=True)
class Fault:
    """A failed answer. Status 200 means that the stream is cut after ``cut_after`` chunks."""

    status: int
    body: dict[str, Any] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    passes: bool = False  # the retry of the same turn is served
    cut_after: int = _NEVER


#: Model name -> what goes wrong.
FAULTS: dict[str, Fault] = {
    "hiccup": Fault(
        429,
        error_body("The demo server hiccups on purpose: too many requests.", "rate_limit_exceeded"),
        {"Retry-After": "1"},
        passes=True,
    ),
    "cut": Fault(200, passes=True, cut_after=6),
    "fail": Fault(
        401, error_body("The demo server refuses this key on purpose.", "invalid_api_key")
    ),
    "down": Fault(503, error_body("The demo server is down on purpose."), {"Retry-After": "1"}),
    "overflow": Fault(
        400,
        error_body(
            "This model's maximum context length is 4096 tokens. "
            "However, your messages resulted in 6010 tokens.",
            "context_length_exceeded",
        ),
    ),
}


class Faults:
    """Decides which requests fail. Methods may be called from any thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._failed: dict[str, float] = {}

    def next(self, request: DemoRequest) -> Fault | None:
        """The fault for this request, or ``None`` when it is to be answered."""
        turn = read_turn(request.messages)
        fault = FAULTS.get(request.model.lower())
        if fault is None and _HICCUP.search(turn.prompt):
            fault = FAULTS["hiccup"]
        if fault is None or not fault.passes:
            return fault
        return fault if not turn.rounds and self._is_first(request) else None

    def _is_first(self, request: DemoRequest) -> bool:
        text = json.dumps([request.model, list(request.messages)])
        key = hashlib.sha256(text.encode()).hexdigest()
        now = self._clock()
        with self._lock:
            self._failed = {k: t for k, t in self._failed.items() if now - t < _REMEMBER_S}
            if self._failed.pop(key, None) is not None:
                return False
            self._failed[key] = now
            return True
