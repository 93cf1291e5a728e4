"""An LLM agent that runs inside Jupyter cells: watch it, stop it, approve it, account for it.

Public names load on first use: importing this package imports neither openai nor pandas nor any
widget code.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .agent import Agent, costs, create_agent
    from .errors import AgentError, AgentErrorInfo
    from .events import AgentEvent
    from .hooks import Block, Hooks
    from .permissions import PermissionRequest, Rule
    from .retry import RetryPolicy
    from .run_result import RunResult
    from .tools.base import Tool, ToolContext
    from .tools.define import tool
    from .usage import Usage

__version__ = "0.1.0"

_HOME = {
    "Agent": ".agent",
    "AgentError": ".errors",
    "AgentErrorInfo": ".errors",
    "AgentEvent": ".events",
    "Block": ".hooks",
    "Hooks": ".hooks",
    "PermissionRequest": ".permissions",
    "RetryPolicy": ".retry",
    "Rule": ".permissions",
    "RunResult": ".run_result",
    "Tool": ".tools.base",
    "ToolContext": ".tools.base",
    "Usage": ".usage",
    "costs": ".agent",
    "create_agent": ".agent",
    "tool": ".tools.define",
}

__all__ = [
    "Agent",
    "AgentError",
    "AgentErrorInfo",
    "AgentEvent",
    "Block",
    "Hooks",
    "PermissionRequest",
    "RetryPolicy",
    "Rule",
    "RunResult",
    "Tool",
    "ToolContext",
    "Usage",
    "costs",
    "create_agent",
    "tool",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOME[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def load_ipython_extension(shell: Any) -> None:
    """``%load_ext smoke_monkey_nb``: register the magics in this IPython shell."""
    from .notebook.extension import load

    load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """``%unload_ext smoke_monkey_nb``."""
    from .notebook.extension import unload

    unload(shell)
