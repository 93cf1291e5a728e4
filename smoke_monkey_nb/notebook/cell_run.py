"""One ``%%agent`` cell from its text to its end: prompt, agent, view, run, retries, variables."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError

from ..errors import error_info
from .bridge import MainThreadBridge
from .options import CellOptions
from .outcomes import CellFailed
from .presenter import RunView, open_view
from .session import NotebookSession
from .template import TemplateError, expand, preview

if TYPE_CHECKING:
    from ..agent import Agent
    from ..run_result import RunResult


class CellRunner:
    """Runs the agent cells of one shell. Main thread only."""

    def __init__(self, shell: Any, session: NotebookSession, bridge: MainThreadBridge) -> None:
        self._shell = shell
        self._session = session
        self._bridge = bridge

    def run(self, options: CellOptions, text: str) -> None:
        """Run one cell.

        Raises:
            UsageError: the text or an option is wrong.
            CellFailed: the run failed (unless the cell says ``--no-raise``).
            KeyboardInterrupt: the kernel was interrupted; the run has ended.
        """
        if self._bridge.is_running:
            raise CellFailed(_nested())
        prompt = self._prompt(options, text)
        agent = self._session.agent_for(options)
        agent.host = self._bridge
        agent.cell_id = _cell_id(self._shell)
        result = self._run(agent, prompt, self._session.view_for(options), options)
        if result is not None and result.error is not None and options.raises:
            raise CellFailed(result.error)

    def _run(self, agent: Agent, prompt: str, kind: str, options: CellOptions) -> RunResult | None:
        results: list[RunResult] = []
        try:
            view = open_view(kind, agent=agent, host=self._bridge, shell=self._shell)
        except ValueError as error:  # SMOKE_MONKEY_VIEW names no view
            raise UsageError(f"%%agent: {error}") from None
        undo = [agent.attach(view.on_event), agent.add_answerer(view)]
        offer_s = self._session.retry_offer_s
        try:
            self._bridge.run(
                lambda: _turns(agent, prompt, view, offer_s, results.append),
                lambda: agent.abort("interrupted"),
            )
        finally:
            for remove in undo:
                remove()
            view.close()
            self._keep(agent, results, options)
        return results[-1] if results else None

    def _prompt(self, options: CellOptions, text: str) -> str:
        if not text.strip():
            raise UsageError("%%agent: the prompt is empty; write it below the %%agent line")
        try:
            expanded = expand(text.strip("\n"), self._session.namespace)
        except TemplateError as error:
            raise UsageError(f"%%agent: {error}") from None
        for notice in expanded.notices:
            print(notice, file=sys.stderr)  # noqa: T201 - a word to the user of the cell
        blocks = [self._input_block(name) for name in options.inputs]
        return "\n\n".join([expanded.text, *blocks])

    def _input_block(self, name: str) -> str:
        if name not in self._session.namespace:
            raise UsageError(f"%%agent: there is no variable {name!r} for --input")
        return f"The variable `{name}`:\n\n{preview(self._session.namespace[name])}"

    def _keep(self, agent: Agent, results: list[RunResult], options: CellOptions) -> None:
        names = {"_agent": agent}
        if results:
            names["_result"] = results[-1]  # type: ignore[assignment]
            if options.output:
                names[options.output] = results[-1]  # type: ignore[assignment]
        self._session.namespace.update(names)


async def _turns(
    agent: Agent, prompt: str, view: RunView, offer_s: float, keep: Callable[[RunResult], None]
) -> None:
    """The run, and its retries as long as it fails and a person wants it tried again."""
    result = await agent.run(prompt)
    keep(result)
    while result.status == "failed" and result.error is not None and result.error.retryable:
        if not await view.offer_retry(result.error, offer_s):
            return
        result = await agent.retry()
        keep(result)


def _nested() -> Any:
    return error_info(
        "run_busy",
        "An agent is running in this kernel already.",
        hint="An agent cannot start another one from the code that it runs.",
    )


def _cell_id(shell: Any) -> str | None:
    """The front end's id of the cell that runs, where it tells."""
    try:
        found = shell.kernel.get_parent("shell")["metadata"].get("cellId")
    except (AttributeError, KeyError, TypeError, LookupError):
        return None
    return str(found) if found else None
