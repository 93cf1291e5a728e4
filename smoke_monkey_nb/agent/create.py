"""``create_agent``: every option in one place."""

from __future__ import annotations

from typing import Any

from ..options import AgentOptions
from ..retry import RetryPolicy
from .agent import Agent


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
