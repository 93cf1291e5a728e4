"""The doors to an agent from outside a run: subscriptions, answers to its questions, stop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from ..errors import AgentErrorInfo
from ..events import Callback, EventBus, Listener
from ..loop import Run
from ..prompts import Answerer, OpenQuestions, PermissionAnswer
from ..scope import Prompts

_DECISIONS = ("allow", "deny")
_REMEMBER = (None, "run", "session")


class Doors:
    """What others may do to an agent while it runs. Every method may be called from any thread."""

    def __init__(self) -> None:
        self._bus = EventBus()
        self._answerers: list[Answerer] = []
        self._consumers = 0
        self._prompts = Prompts(
            permissions=OpenQuestions(),
            asks=OpenQuestions(),
            answerers=self._answerers,
            is_consumed=lambda: self._consumers > 0,
            remembered=set(),
        )
        self._run: Run | None = None
        self._run_loop: asyncio.AbstractEventLoop | None = None

    def on(self, event_type: str, callback: Callback) -> Callable[[], None]:
        """Call ``callback(event)`` (sync or async) for each event of one type; returns the
        unsubscribing function.

        Subscribing to ``permission.required`` or ``ask_user.required`` says that you will answer.

        Raises:
            ValueError: there is no such event type.
            TypeError: ``callback`` is not callable.
        """
        return self._bus.subscribe(callback, event_type)

    def on_any(self, callback: Callback) -> Callable[[], None]:
        """Call ``callback(event)`` for every event; only watches. Returns the unsubscribing
        function.
        """
        return self._bus.subscribe(callback, None)

    def resolve_permission(
        self,
        tool_call_id: str,
        decision: str,
        remember: str | None = None,
        feedback: str | None = None,
        input: Mapping[str, Any] | None = None,  # noqa: A002 - the public name of a tool call's arguments
    ) -> None:
        """Answer a ``permission.required``; the first answer counts, later ones are ignored. Any
        thread.

        ``remember`` ("run" or "session") allows the same tool again without asking; ``feedback``
        reaches the model with a denial; ``input`` replaces the arguments.

        Raises:
            LookupError: there is no such question.
            ValueError, TypeError: an unknown word, or an ``input`` that is no mapping.
        """
        if decision not in _DECISIONS:
            raise ValueError(f"decision must be 'allow' or 'deny', got {decision!r}")
        if remember not in _REMEMBER:
            raise ValueError(f"remember must be None, 'run' or 'session', got {remember!r}")
        if input is not None and not isinstance(input, Mapping):
            raise TypeError(f"input must be a mapping, got {type(input).__name__}")
        answer = PermissionAnswer(decision, remember, feedback, input)
        self._prompts.permissions.answer(tool_call_id, answer)

    def respond(self, tool_call_id: str, text: str) -> None:
        """Answer an ``ask_user.required``; the first answer counts. Any thread.

        Raises:
            LookupError: there is no such question.
            TypeError: ``text`` is no string.
        """
        if not isinstance(text, str):
            raise TypeError(f"text must be a string, got {type(text).__name__}")
        self._prompts.asks.answer(tool_call_id, text)

    def attach(self, listener: Listener) -> Callable[[], None]:
        """Add a trusted, fast receiver that is called inline on the run's loop; returns its
        removal.
        """
        return self._bus.listen(listener)

    def add_answerer(self, answerer: Answerer) -> Callable[[], None]:
        """Say that somebody may be there to answer questions; returns the removal."""
        self._answerers.append(answerer)
        return lambda: self._answerers.remove(answerer) if answerer in self._answerers else None

    def warn(self, info: AgentErrorInfo) -> None:
        """Announce a snag of the surroundings as ``run.warning`` of the active run. Any thread."""
        run, loop = self._run, self._run_loop
        if run is not None and loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(run.scope.warn, info)
