"""The tool calls of one step: checked, hooked, permitted, run, recorded, reported.

Every call gets exactly one ``tool.started`` and one ``tool.completed`` or ``tool.failed``, and
exactly one result for the model, whatever happens to it; an interrupt too ends as the result of
each call that it cut short.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from .gate import Gate
from .one_call import CallResult, OneCall
from .providers.base import ToolCall
from .scope import RunScope


class ToolCaller:
    """Runs the tool calls of one run, step by step."""

    def __init__(self, scope: RunScope) -> None:
        self._scope = scope
        self._gate = Gate(scope)

    async def run_step(self, calls: Sequence[ToolCall]) -> list[CallResult]:
        """Run a step's calls concurrently (main-thread ones one after another); results in the
        model's order.

        When cancelled, the calls are ended first; their results are then in ``results`` of the
        raised ``StepCancelled``.
        """
        turn: asyncio.Future[None] | None = None
        tasks: list[asyncio.Task[CallResult]] = []
        for call in calls:
            tool = self._scope.tools.get(call.name)
            on_main = tool is not None and tool.where == "main"
            task = asyncio.ensure_future(OneCall(self._scope, self._gate, call, turn).run())
            tasks.append(task)
            if on_main:
                turn = _done_future(task)
        try:
            await asyncio.wait(tasks)
        except asyncio.CancelledError:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
            raise StepCancelled([t.result() for t in tasks]) from None
        return [t.result() for t in tasks]


class StepCancelled(Exception):
    """The run was interrupted while calls ran; ``results`` has one for each call."""

    def __init__(self, results: list[CallResult]) -> None:
        super().__init__("interrupted")
        self.results = results


def _done_future(task: asyncio.Task[Any]) -> asyncio.Future[None]:
    future: asyncio.Future[None] = task.get_loop().create_future()

    def settle(_: object) -> None:
        if not future.done():
            future.set_result(None)

    task.add_done_callback(settle)
    return future
