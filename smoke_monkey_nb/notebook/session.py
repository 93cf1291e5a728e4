"""The notebook's side of the agents: which conversation a cell goes on with, and the defaults.

One ``NotebookSession`` a shell. Options of a cell that say *who* (model, tools) stay with the
conversation; those that say *how far* (rules, budget, steps) are for that cell alone.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError

from ..errors import AgentError
from ..options import OPTION_NAMES
from ..permissions import RulesFirst
from ..redact import scrub
from .options import CellOptions
from .outcomes import CellFailed
from .view_kinds import KINDS

if TYPE_CHECKING:
    from ..agent import Agent

#: Seconds that a failed cell offers *Retry*; 0 = never.
RETRY_OFFER_S = 30.0
_CELL_KEYS = ("view", "retry_offer_s")
CONFIG_KEYS = (*OPTION_NAMES, *_CELL_KEYS)
_TEXTS = ("api_key", "base_url", "instructions", "session", "user_id", "workspace")
#: Keys whose value may be the name of a variable.
_OBJECTS = (
    "api_key", "base_url", "hooks", "instructions", "model", "permissions", "prices", "retry",
    "tools", "workspace",
)  # fmt: skip


class NotebookSession:
    """The agents and defaults of one IPython shell. Main thread only."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._config: dict[str, Any] = {}
        self._agents: dict[str, Agent] = {}  # by session
        self.current: Agent | None = None

    @property
    def namespace(self) -> dict[str, Any]:
        """The user's variables."""
        found: dict[str, Any] = self._shell.user_ns
        return found

    def agent_for(self, options: CellOptions) -> Agent:
        """The agent that this cell runs, configured for it.

        Raises:
            UsageError: a wrong option.
            CellFailed: that agent is running.
        """
        agent = self._chosen(options)
        self._apply(agent, options)
        self._agents[agent.session_id] = self.current = agent
        return agent

    def _chosen(self, options: CellOptions) -> Agent:
        if options.session is not None:
            agent = self._agents.get(options.session) or self._make(options.session, options)
            if options.is_new:
                _reset(agent)
            return agent
        if options.is_new:
            return self._make(None, options)
        return self.current or self._make(self._config.get("session"), options)

    def view_for(self, options: CellOptions) -> str:
        """How the cell's run is shown."""
        return options.view or self._config.get("view") or "auto"

    @property
    def retry_offer_s(self) -> float:
        """Seconds that a failed run offers to be retried."""
        return float(self._config.get("retry_offer_s", RETRY_OFFER_S))

    def configure(self, pairs: Mapping[str, str]) -> None:
        """Set defaults from ``key=value`` texts, for the conversations there are too.

        Raises:
            UsageError: an unknown key, or a value that does not fit.
            CellFailed: an agent is running.
        """
        values = {key: self._value(key, text) for key, text in pairs.items()}
        for key, value in values.items():
            _check_cell_key(key, value)
        changes = {k: v for k, v in values.items() if k in OPTION_NAMES and k != "session"}
        try:
            _checked({**self._config, **values})
            for agent in self._agents.values() if changes else ():
                agent.configure(**changes)
        except (TypeError, ValueError, LookupError) as error:
            raise UsageError(f"%agent_config: {_one_line(error)}") from None
        except AgentError as error:
            raise CellFailed(error.info) from None
        self._config.update(values)
        if "session" in values:  # the next cell goes on with that one
            self.current = self._agents.get(values["session"])

    def shown_config(self) -> dict[str, Any]:
        """What is set, keys masked."""
        shown = {k: scrub(v) if isinstance(v, str) else v for k, v in self._config.items()}
        return {**shown, "api_key": "(set)"} if shown.get("api_key") else shown

    def reset(self) -> bool:
        """Forget the current conversation; false when there is none.

        Raises:
            CellFailed: it is running.
        """
        if self.current is None:
            return False
        _reset(self.current)
        return True

    def _make(self, name: str | None, options: CellOptions) -> Agent:
        from ..agent import create_agent

        values = self._shared_options()
        values |= {"session": name} if name else {}
        if options.model:
            values["model"] = options.model
        if options.tools:
            values["tools"] = _tools(options.tools)
        try:
            return create_agent(**values)
        except (TypeError, ValueError, LookupError) as error:
            raise UsageError(f"%%agent: {_one_line(error)}") from None

    def _apply(self, agent: Agent, options: CellOptions) -> None:
        changes: dict[str, Any] = {
            "permissions": self._permissions(options),
            "budget_usd": self._budget(agent, options),
            "max_steps": options.max_steps or self._config.get("max_steps", 100),
        }
        if options.model and options.model != agent.options["model"]:
            changes["model"] = options.model
        if options.tools:
            changes["tools"] = _tools(options.tools)
        try:
            agent.configure(**changes)
        except (TypeError, ValueError, LookupError) as error:
            raise UsageError(f"%%agent: {_one_line(error)}") from None
        except AgentError as error:
            raise CellFailed(error.info) from None

    def _permissions(self, options: CellOptions) -> Any:
        base = self._config.get("permissions", "ask")
        return RulesFirst(options.allow, base) if options.allow else base

    def _budget(self, agent: Agent, options: CellOptions) -> float | None:
        if options.budget_usd is not None:  # an allowance for this cell
            return agent.spent_usd + options.budget_usd
        configured: float | None = self._config.get("budget_usd")
        return configured

    def _shared_options(self) -> dict[str, Any]:
        return {k: v for k, v in self._config.items() if k in OPTION_NAMES and k != "session"}

    def _value(self, key: str, text: str) -> Any:
        if key not in CONFIG_KEYS:
            close = difflib.get_close_matches(key, CONFIG_KEYS, n=1)
            hint = f" Did you mean {close[0]}?" if close else f" Known: {', '.join(CONFIG_KEYS)}."
            raise UsageError(f"%agent_config: there is no option {key!r}.{hint}")
        if key in _OBJECTS and text.isidentifier() and text in self.namespace:
            return self.namespace[text]
        try:
            value = ast.literal_eval(text)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            return _tools(text) if key == "tools" else text
        is_text = isinstance(value, str) or value is None
        return text if key in _TEXTS and not is_text else value  # session=7 is a name


def _check_cell_key(key: str, value: Any) -> None:
    if key == "view" and value not in KINDS:
        raise UsageError(f"%agent_config: view must be one of {', '.join(KINDS)}")
    if key == "retry_offer_s" and (not isinstance(value, (int, float)) or value < 0):
        raise UsageError("%agent_config: retry_offer_s must be a number of seconds, 0 or more")


def _reset(agent: Agent) -> None:
    try:
        agent.reset()
    except AgentError as error:
        raise CellFailed(error.info) from None


def _checked(config: Mapping[str, Any]) -> None:
    """Try the options on an agent that nobody will use, model and tools included."""
    from ..agent import Agent
    from ..options import AgentOptions

    Agent(AgentOptions(**{k: v for k, v in config.items() if k in OPTION_NAMES}))


def _tools(text: str) -> Any:
    names = [part.strip() for part in text.split(",") if part.strip()]
    if names in (["none"], []):
        return []
    return names if len(names) > 1 else names[0]


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())
