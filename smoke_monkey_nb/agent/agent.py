"""The agent: options, conversation, tools, hooks and accounts together, and the doors to a run.

An agent runs one turn at a time, on whatever event loop it is awaited on; ``abort``,
``resolve_permission`` and ``respond`` may be called from any thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import uuid
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any

from ..aio import outlast
from ..errors import AgentErrorInfo, agent_error
from ..events import AgentEvent
from ..hook_runner import HookRunner
from ..hooks import Hooks, collect_hooks
from ..host import Host, default_host, while_awaited
from ..instructions import system_text
from ..loop import Run, Turn
from ..messages import Conversation, Message, repair
from ..options import AgentOptions
from ..permissions import Policy
from ..run_result import RunResult
from ..scope import Limits, RunScope
from ..telemetry.store import default_store
from ..tools.base import Tool
from .accounts import Accounts
from .doors import Doors
from .setup import Setup


@dataclass(frozen=True)
class _LastTurn:
    turn: Turn
    result: RunResult
    prompt_committed: bool


class Agent(Doors, Accounts):
    """Made by ``create_agent``. ``hooks`` may be added to at any time; they count from the next run
    on.
    """

    def __init__(self, options: AgentOptions) -> None:
        self._store = default_store()
        Doors.__init__(self)
        Accounts.__init__(self, self._store)
        self.hooks: Hooks = collect_hooks(options.hooks)
        self.host: Host = default_host()
        self.cell_id: str | None = None
        self.session_id = options.session or f"session_{uuid.uuid4().hex[:16]}"
        self._setup = Setup.of(options)
        self._warned_prices: set[tuple[str, str]] = set()
        self._spent_usd = 0.0
        self._bus.listen(self._events.append)
        self._conversation = Conversation(self._load_session())
        self._lock = threading.Lock()
        self._busy = False
        self._last: _LastTurn | None = None

    # -- running -----------------------------------------------------------------------------------

    async def run(self, prompt: str) -> RunResult:
        """Run one turn and return how it ended; does not raise for what goes wrong in it.

        Raises:
            TypeError, ValueError: ``prompt`` is no text, or empty.
            AgentError: ``run_busy`` while another run of this agent is active.
            asyncio.CancelledError: the awaiting task was cancelled (the run then ends as
            interrupted).
        """
        return await self._execute(Turn(prompt, model_reason=self._setup.model_reason))

    async def retry(self) -> RunResult:
        """Run the last turn again if it did not complete; the prompt is not said twice.

        Raises:
            ValueError: there is no failed or interrupted turn.
            AgentError: ``run_busy``.
        """
        last = self._last
        if last is None or last.result.status == "completed":
            raise ValueError("there is no failed run to retry")
        turn = Turn(
            last.turn.prompt,
            prompt_is_new=not last.prompt_committed,
            retry_of=last.result.run_id,
            model_reason=self._setup.model_reason,
        )
        return await self._execute(turn)

    def run_sync(self, prompt: str) -> RunResult:
        """``run`` for code that cannot await, in a notebook cell too; blocks until the run is done.

        Raises:
            As ``run``; and KeyboardInterrupt, once the run has ended as interrupted.
        """
        Turn(prompt)  # a wrong call is told before anything starts
        return self.host.run(lambda: self.run(prompt), lambda: self.abort("interrupted"))

    async def stream(self, prompt: str) -> AsyncIterator[AgentEvent]:
        """The same run as an async iterator of its events. Leaving the loop early ends the run as
        interrupted.

        Raises:
            As ``run``.
        """
        turn = Turn(prompt, model_reason=self._setup.model_reason)
        queue: asyncio.Queue[AgentEvent | None] = asyncio.Queue()
        with self._claim():
            detach = self._bus.listen(queue.put_nowait)
            self._consumers += 1
            task = asyncio.ensure_future(self._execute_claimed(turn))
            task.add_done_callback(lambda _: queue.put_nowait(None))
            try:
                while (event := await queue.get()) is not None:
                    yield event
                task.result()
            finally:
                detach()
                self._consumers -= 1
                if not task.done():
                    self.abort("the stream was closed")
                    await asyncio.wait({task})

    def abort(self, reason: str | None = None) -> None:
        """End the active run as interrupted; does nothing when there is none. Any thread."""
        run = self._run
        if run is not None:
            run.abort(reason)

    # -- looking -----------------------------------------------------------------------------------

    @property
    def messages(self) -> list[Message]:
        """The conversation in OpenAI chat format, always valid to send; a copy, without the system
        message.
        """
        return self._conversation.snapshot()

    @property
    def options(self) -> dict[str, Any]:
        """The options as they are now, keys masked."""
        return self._setup.options.shown()

    @property
    def tools(self) -> dict[str, Tool]:
        """The tools by name; a copy."""
        return dict(self._setup.tools)

    @property
    def model(self) -> str:
        """``"<provider>:<model>"``."""
        provider = self._setup.provider
        return f"{provider.name}:{provider.model}"

    @property
    def model_reason(self) -> str | None:
        """Why this model was picked, where it was not named."""
        return self._setup.model_reason

    @property
    def active_run(self) -> bool:
        """Whether a run is active."""
        return self._busy

    @property
    def spent_usd(self) -> float:
        """Priced cost of all runs of this agent so far."""
        active = self._run.scope.totals.priced_usd if self._run is not None else 0.0
        return self._spent_usd + active

    def __repr__(self) -> str:
        count = len(self._conversation)
        return f"Agent({self.model!r}, session={self.session_id!r}, messages={count})"

    # -- changing ----------------------------------------------------------------------------------

    def configure(self, **changes: Any) -> None:
        """Change ``create_agent`` options from the next run on (``session`` excepted).

        Raises:
            TypeError, ValueError: as ``create_agent``.
            AgentError: ``run_busy`` while a run is active.
        """
        if "session" in changes:
            raise ValueError("an agent keeps its session; make another agent for another one")
        with self._claim():
            setup = self._setup.changed(**changes)
            if "hooks" in changes:
                self.hooks = collect_hooks(setup.options.hooks)
            self._setup = setup

    def reset(self) -> None:
        """Forget the conversation and what was allowed for the session; the accounts stay.

        Raises:
            AgentError: ``run_busy`` while a run is active.
        """
        with self._claim():
            self._conversation.clear()
            self._prompts.remembered.clear()
            self._last = None
            self._save_session()

    async def aclose(self) -> None:
        """Close the connections of this event loop."""
        await self._setup.provider.aclose()

    # -- inside ------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _claim(self) -> Iterator[None]:
        with self._lock:
            if self._busy:
                raise agent_error(
                    "run_busy",
                    "This agent is running already.",
                    hint="Wait for the run to end, abort it, or use another agent beside it.",
                )
            self._busy = True
        try:
            yield
        finally:
            self._busy = False

    async def _execute(self, turn: Turn) -> RunResult:
        with self._claim():
            return await self._execute_claimed(turn)

    async def _execute_claimed(self, turn: Turn) -> RunResult:
        run = Run(self._scope(), self._conversation, self._system(), turn, save=self._save_session)
        self._run, self._run_loop = run, asyncio.get_running_loop()
        pricer, provider = self._setup.pricer, self._setup.provider
        threading.Thread(
            target=pricer.warm, args=(provider.name,), name="smn-prices", daemon=True
        ).start()
        task = asyncio.ensure_future(run.execute())
        try:
            with while_awaited(self.host):
                result = await asyncio.shield(task)
        except asyncio.CancelledError:
            run.abort("cancelled")
            result = await outlast(task)
            raise
        finally:
            self._run = None
            self._spent_usd += run.scope.totals.priced_usd
            if task.done() and not task.cancelled() and task.exception() is None:
                self._last = _LastTurn(turn, task.result(), run.prompt_committed)
        return result

    def _scope(self) -> RunScope:
        setup, options = self._setup, self._setup.options
        return RunScope(
            session_id=self.session_id,
            user_id=options.user_id,
            workspace=setup.workspace,
            provider=setup.provider,
            tools=setup.tools,
            hooks=HookRunner(self.hooks, options.hook_timeout_s),
            policy=Policy(options.permissions),
            prompts=self._prompts,
            retry=options.retry,
            limits=Limits(
                max_steps=options.max_steps,
                budget_usd=options.budget_usd,
                hook_timeout_s=options.hook_timeout_s,
                tool_timeout_s=options.tool_timeout_s,
                permission_timeout_s=options.permission_timeout_s,
            ),
            recorder=self._ledger,
            pricer=setup.pricer,
            host=self.host,
            bus=self._bus,
            cell_id=self.cell_id,
            spent_before_usd=self._spent_usd,
            warned_prices=self._warned_prices,
        )

    def _system(self) -> str:
        setup = self._setup
        return system_text(setup.tools, setup.workspace, setup.options.instructions)

    def _load_session(self) -> list[Message]:
        if self._setup.options.session is None:
            return []
        return repair(self._store.load_conversation(self._setup.options.session) or [])

    def _save_session(self) -> AgentErrorInfo | None:
        if self._setup.options.session is None:
            return None
        return self._store.save_conversation(
            self._setup.options.session, self._conversation.snapshot()
        )
