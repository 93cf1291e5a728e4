"""One ``%%agent`` cell from its text to its end: prompt, agent, view, run, retries, variables."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError

from ..errors import AgentError, error_info
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
        try:
            result = self._run(agent, prompt, self._session.view_for(options), options)
        except AgentError as error:  # run_busy: the same agent is running elsewhere
            raise CellFailed(error.info) from None
        if result is not None and result.error is not None and options.raises:
            raise CellFailed(result.error)

    def _run(self, agent: Agent, prompt: str, kind: str, options: CellOptions) -> RunResult | None:
        try:
            view = open_view(kind, agent=agent, host=self._bridge, shell=self._shell)
        except ValueError as error:  # SMOKE_MONKEY_VIEW names no view
            raise UsageError(f"%%agent: {error}") from None
        undo = [agent.attach(view.on_event), agent.add_answerer(view)]
        turns = _Turns(agent, prompt, view, self._session.retry_offer_s)
        with self._bridge.occupied():  # a second press must not tear the closing view
            try:
                self._bridge.run(turns.run, turns.interrupt)
            finally:
                for remove in undo:
                    remove()
                view.close()
                self._keep(agent, turns.result, options)
        return turns.result

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

    def _keep(self, agent: Agent, result: RunResult | None, options: CellOptions) -> None:
        names: dict[str, Any] = {"_agent": agent}
        if result is not None:
            names["_result"] = result
            if options.output:
                names[options.output] = result
        self._session.namespace.update(names)


class _Turns:
    """The run, and its retries as long as it fails and a person wants it tried again."""

    def __init__(self, agent: Agent, prompt: str, view: RunView, offer_s: float) -> None:
        self._agent, self._prompt, self._view, self._offer_s = agent, prompt, view, offer_s
        self._offer: asyncio.Task[bool] | None = None
        self._is_interrupted = False
        self.result: RunResult | None = None

    async def run(self) -> None:
        """Run the turn to its end. Loop thread."""
        self.result = await self._agent.run(self._prompt)
        while await self._is_retry_wanted(self.result):
            self.result = await self._agent.retry()

    def interrupt(self) -> None:
        """End the run, or the offer to retry it. Any thread."""
        self._is_interrupted = True
        self._agent.abort("kernel interrupt")
        if self._offer is not None:
            self._offer.get_loop().call_soon_threadsafe(self._offer.cancel)

    async def _is_retry_wanted(self, result: RunResult) -> bool:
        if result.status != "failed" or result.error is None or not result.error.retryable:
            return False
        offer = self._offer = asyncio.ensure_future(
            self._view.offer_retry(result.error, self._offer_s)
        )
        if self._is_interrupted:
            offer.cancel()
        await asyncio.wait({offer})
        return not offer.cancelled() and offer.result()


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
