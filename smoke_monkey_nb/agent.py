"""The agent: options, conversation, tools, hooks and accounts together, and the doors to a run.

An agent runs one turn at a time, on whatever event loop it is awaited on; ``abort``,
``resolve_permission`` and ``respond`` may be called from any thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import uuid
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .errors import AgentErrorInfo, agent_error
from .events import AgentEvent, Callback, EventBus, Listener
from .hook_runner import HookRunner
from .hooks import Hooks, collect_hooks
from .host import Host, default_host, while_awaited
from .instructions import system_text
from .loop import Run, Turn
from .messages import Conversation, Message, repair
from .options import AgentOptions
from .permissions import Policy
from .prompts import Answerer, OpenQuestions, PermissionAnswer
from .providers.base import Provider
from .providers.catalog import resolve_provider
from .retry import RetryPolicy
from .run_result import RunResult
from .scope import Limits, Prompts, RunScope
from .telemetry.ledger import Ledger
from .telemetry.pricing import GenaiPrices
from .telemetry.store import default_store
from .tools.base import Tool
from .tools.groups import resolve_tools

if TYPE_CHECKING:
    import pandas as pd

#: Events kept for ``event_log``; older ones are dropped first.
EVENT_LOG_LIMIT = 200_000
_DECISIONS = ("allow", "deny")
_REMEMBER = (None, "run", "session")


@dataclass(frozen=True)
class _LastTurn:
    turn: Turn
    result: RunResult
    prompt_committed: bool


class Agent:
    """Made by ``create_agent``. ``hooks`` may be added to at any time; they count from the next run
    on.
    """

    def __init__(self, options: AgentOptions) -> None:
        self.hooks: Hooks = collect_hooks(options.hooks)
        self.host: Host = default_host()
        self.cell_id: str | None = None
        self.session_id = options.session or f"session_{uuid.uuid4().hex[:16]}"
        self._options = options
        self._workspace = options.resolved_workspace()
        self._tools: dict[str, Tool] = resolve_tools(options.tools)
        self._provider, self._model_reason = _choose_provider(options)
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
        self._store = default_store()
        self._ledger = Ledger(self._store)
        self._pricer = GenaiPrices(options.prices)
        self._warned_prices: set[tuple[str, str]] = set()
        self._spent_usd = 0.0
        self._events: deque[AgentEvent] = deque(maxlen=EVENT_LOG_LIMIT)
        self._bus.listen(self._events.append)
        self._conversation = Conversation(self._load_session())
        self._lock = threading.Lock()
        self._busy = False
        self._run: Run | None = None
        self._run_loop: asyncio.AbstractEventLoop | None = None
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
        return await self._execute(Turn(_checked(prompt), model_reason=self._model_reason))

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
            model_reason=self._model_reason,
        )
        return await self._execute(turn)

    def run_sync(self, prompt: str) -> RunResult:
        """``run`` for code that cannot await, in a notebook cell too; blocks until the run is done.

        Raises:
            As ``run``; and KeyboardInterrupt, once the run has ended as interrupted.
        """
        _checked(prompt)
        return self.host.run(lambda: self.run(prompt), lambda: self.abort("interrupted"))

    async def stream(self, prompt: str) -> AsyncIterator[AgentEvent]:
        """The same run as an async iterator of its events. Leaving the loop early ends the run as
        interrupted.

        Raises:
            As ``run``.
        """
        turn = Turn(_checked(prompt), model_reason=self._model_reason)
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

    # -- watching and answering --------------------------------------------------------------------

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
        return self._options.shown()

    @property
    def tools(self) -> dict[str, Tool]:
        """The tools by name; a copy."""
        return dict(self._tools)

    @property
    def model(self) -> str:
        """``"<provider>:<model>"``."""
        return f"{self._provider.name}:{self._provider.model}"

    @property
    def model_reason(self) -> str | None:
        """Why this model was picked, where it was not named."""
        return self._model_reason

    @property
    def active_run(self) -> bool:
        """Whether a run is active."""
        return self._busy

    @property
    def spent_usd(self) -> float:
        """Priced cost of all runs of this agent so far."""
        active = self._run.scope.totals.priced_usd if self._run is not None else 0.0
        return self._spent_usd + active

    @property
    def costs(self) -> pd.DataFrame:
        """Every model attempt of this agent, one row each, oldest first.

        Columns and dtypes: ``smoke_monkey_nb.telemetry.frames.LEDGER_COLUMNS``. ``cost_usd`` is
            ``<NA>`` where no price is known; failed attempts are rows too.
        """
        from .telemetry.frames import costs_frame

        return costs_frame(self._ledger.attempts)

    @property
    def tool_log(self) -> pd.DataFrame:
        """Every tool call of this agent, one row each, oldest first; blocked, denied and failed
        ones included.
        """
        from .telemetry.frames import tool_frame

        return tool_frame(self._ledger.tool_calls)

    @property
    def event_log(self) -> pd.DataFrame:
        """Every event of this agent (the last 200,000), one row each, oldest first."""
        from .telemetry.frames import event_frame

        return event_frame(list(self._events))

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
            options = self._options.with_changes(**changes)
            workspace = options.resolved_workspace()
            tools = resolve_tools(options.tools) if "tools" in changes else self._tools
            if not _PROVIDER_OPTIONS.isdisjoint(changes):
                self._provider, self._model_reason = _choose_provider(options)
            if "hooks" in changes:
                self.hooks = collect_hooks(options.hooks)
            if "prices" in changes:
                self._pricer = GenaiPrices(options.prices)
            self._options, self._workspace, self._tools = options, workspace, tools

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
        await self._provider.aclose()

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
        run = Run(
            self._scope(), self._conversation, self._system(), turn, before_end=self._save_session
        )
        self._run, self._run_loop = run, asyncio.get_running_loop()
        threading.Thread(target=self._pricer.warm, name="smn-prices", daemon=True).start()
        task = asyncio.ensure_future(run.execute())
        try:
            with while_awaited(self.host):
                result = await asyncio.shield(task)
        except asyncio.CancelledError:
            run.abort("cancelled")
            result = await _outlast(task)
            raise
        finally:
            self._run = None
            self._spent_usd += run.scope.totals.priced_usd
            if task.done() and not task.cancelled() and task.exception() is None:
                self._last = _LastTurn(turn, task.result(), run.prompt_committed)
        return result

    def _scope(self) -> RunScope:
        options = self._options
        return RunScope(
            session_id=self.session_id,
            user_id=options.user_id,
            workspace=self._workspace,
            provider=self._provider,
            tools=self._tools,
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
            pricer=self._pricer,
            host=self.host,
            bus=self._bus,
            cell_id=self.cell_id,
            spent_before_usd=self._spent_usd,
            warned_prices=self._warned_prices,
        )

    def _system(self) -> str:
        return system_text(self._tools, self._workspace, self._options.instructions)

    def _load_session(self) -> list[Message]:
        if self._options.session is None:
            return []
        return repair(self._store.load_conversation(self._options.session) or [])

    def _save_session(self) -> AgentErrorInfo | None:
        if self._options.session is None:
            return None
        return self._store.save_conversation(self._options.session, self._conversation.snapshot())


_PROVIDER_OPTIONS = {"model", "api_key", "base_url", "request_timeout_s", "stall_timeout_s"}


async def _outlast(task: asyncio.Task[RunResult]) -> RunResult:
    """Wait for a run that is ending, through further cancellations."""
    while not task.done():
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait({task})
    return task.result()


def _checked(prompt: Any) -> str:
    if not isinstance(prompt, str):
        raise TypeError(f"prompt must be a string, got {type(prompt).__name__}")
    if not prompt.strip():
        raise ValueError("prompt must not be empty")
    return prompt


def _choose_provider(options: AgentOptions) -> tuple[Provider, str | None]:
    if options.model is not None and not isinstance(options.model, str):
        if not hasattr(options.model, "stream"):
            kind = type(options.model).__name__
            raise TypeError(f"model must be '<provider>:<model>' or a Provider, got {kind}")
        return options.model, None
    chosen = resolve_provider(
        options.model,
        api_key=options.api_key,
        base_url=options.base_url,
        request_timeout_s=options.request_timeout_s,
        stall_timeout_s=options.stall_timeout_s,
    )
    return chosen.provider, chosen.reason


def create_agent(
    model: Any = None,
    *,
    api_key: str | None = None,
    base_url: str | None = None,
    workspace: Any = ".",
    tools: Any = "default",
    hooks: Any = None,
    permissions: Any = "ask",
    instructions: str | None = None,
    session: str | None = None,
    user_id: str | None = None,
    max_steps: int = 100,
    budget_usd: float | None = None,
    retry: RetryPolicy | None = None,
    request_timeout_s: float | None = 120,
    stall_timeout_s: float | None = 60,
    hook_timeout_s: float | None = 30,
    tool_timeout_s: float | None = 300,
    permission_timeout_s: float | None = None,
    prices: Any = None,
) -> Agent:
    """Make an agent.

    Args:
        model: ``"<provider>:<model>"``, a ``Provider``, or ``None`` to pick one from the
            environment.
        api_key: Overrides the provider's environment variable; never logged, shown or stored.
        base_url: Overrides the provider's address.
        workspace: Directory that file and terminal tools are confined to.
        tools: Group names, plain functions, ``Tool`` objects, or a list mixing them; ``[]`` is
            none.
        hooks: ``Hooks``, a dict of callables, or a list of either, run in that order.
        permissions: ``"ask"``, ``"allow"``, ``"deny"``, a callable, or a list of ``Rule``.
        instructions: Extra system text.
        session: A stable id: conversation and ledger survive kernel restarts.
        user_id: Who uses it, for hooks and ledger.
        max_steps: Model calls of one run at most.
        budget_usd: Stop before the next model call once this agent's priced cost reached it.
        retry: How failed model calls are retried; default ``RetryPolicy()``.
        request_timeout_s: Seconds until a provider must begin to answer.
        stall_timeout_s: Seconds without a byte after which a stream counts as dead.
        hook_timeout_s: Seconds a hook may take.
        tool_timeout_s: Seconds a tool may take, unless it says otherwise itself.
        permission_timeout_s: Seconds a question waits for a person before it counts as denied;
            ``None``: for ever.
        prices: Overrides for private models, model name -> ``telemetry.pricing.Price``.

    Raises:
        TypeError, ValueError: a wrong argument.
    """
    values = dict(locals())
    values["retry"] = retry if retry is not None else RetryPolicy()
    return Agent(AgentOptions(**values))


def costs(session: str | None = None, all_time: bool = False) -> pd.DataFrame:
    """The ledger over every agent of this kernel; with ``session`` or ``all_time``, from the store
    on disk.

    Columns as ``Agent.costs``.
    """
    from .telemetry.queries import costs as query

    return query(session=session, all_time=all_time)
