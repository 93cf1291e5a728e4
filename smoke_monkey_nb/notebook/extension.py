"""``%load_ext smoke_monkey_nb``: registers the magics, and the host for agents made in the shell.

What was made stays with the shell: ``%reload_ext`` must neither forget the conversation nor take
the loop thread from agents that live on it.
"""

from __future__ import annotations

from typing import Any

from ..host import set_default_host
from .bridge import MainThreadBridge
from .line_prompts import keep_questions
from .magic import AgentMagics
from .session import NotebookSession

_MAGICS = ("agent", "agent_costs", "agent_reset", "agent_config")


def load(shell: Any) -> None:
    """Register the magics in ``shell``; loading twice changes nothing."""
    magics = getattr(shell, "_smoke_monkey_magics", None)
    if not isinstance(magics, AgentMagics):
        magics = AgentMagics(shell, NotebookSession(shell), MainThreadBridge(shell))
        shell._smoke_monkey_magics = magics
    shell.register_magics(magics)
    if keep_questions not in shell.input_transformers_cleanup:
        shell.input_transformers_cleanup.append(keep_questions)
    set_default_host(magics.bridge)


def unload(shell: Any) -> None:
    """Take the magics away."""
    for kind in ("line", "cell"):
        for name in _MAGICS:
            shell.magics_manager.magics[kind].pop(name, None)
    if keep_questions in shell.input_transformers_cleanup:
        shell.input_transformers_cleanup.remove(keep_questions)
    set_default_host(None)
