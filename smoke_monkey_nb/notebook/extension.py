"""``%load_ext smoke_monkey_nb``: registers the magics, and the host for agents made in the
shell.
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
    if isinstance(getattr(shell, "_smoke_monkey_magics", None), AgentMagics):
        return
    bridge = MainThreadBridge(shell)
    magics = AgentMagics(shell, NotebookSession(shell), bridge)
    shell.register_magics(magics)
    shell.input_transformers_cleanup.append(keep_questions)
    shell._smoke_monkey_magics = magics
    set_default_host(bridge)


def unload(shell: Any) -> None:
    """Take the magics away."""
    for kind in ("line", "cell"):
        for name in _MAGICS:
            shell.magics_manager.magics[kind].pop(name, None)
    if keep_questions in shell.input_transformers_cleanup:
        shell.input_transformers_cleanup.remove(keep_questions)
    magics = getattr(shell, "_smoke_monkey_magics", None)
    if isinstance(magics, AgentMagics):
        magics.bridge.close()
    shell._smoke_monkey_magics = None
    set_default_host(None)
