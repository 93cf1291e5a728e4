"""Questions through ``input()``: for terminals, and for front ends whose widgets do not answer.

The prompt runs on the main thread, one at a time; a question that is answered elsewhere or ends
takes its prompt away.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from ..host import Host
from .blocks import AskBlock, PermissionBlock
from .intents import RunControls, answer
from .render import plain, visible

_ALLOW = {
    "y": "allow",
    "yes": "allow",
    "1": "allow",
    "s": "allow-session",
    "session": "allow-session",
}
_ALLOW |= {"2": "allow-session", "n": "deny", "no": "deny", "3": "deny"}
_TRIES = 3


class Prompter:
    """Asks by ``input()``. Methods are for the run's loop; ``read`` and ``write`` run on the main
    thread.
    """

    def __init__(
        self,
        agent: RunControls,
        host: Host,
        read: Callable[[str], str] = input,
        write: Callable[[str], None] = print,
    ) -> None:
        self._agent, self._host, self._read, self._write = agent, host, read, write
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def ask(self, block: PermissionBlock | AskBlock) -> None:
        """Put a question; its answer goes to the agent."""
        task = asyncio.ensure_future(self._ask(block))
        self._tasks[block.tool_call_id] = task

    def withdraw(self, call_id: str) -> None:
        """The question is closed."""
        task = self._tasks.pop(call_id, None)
        if task is not None and not task.done():
            task.cancel()

    def close(self) -> None:
        """The run is over: take every prompt away."""
        for call_id in list(self._tasks):
            self.withdraw(call_id)

    async def yes_or_no(self, question: str) -> bool:
        """Ask a plain question; nobody there means no."""
        try:
            said = await self._host.on_main(lambda: self._read(f"{question} [y/n] "))
        except (EOFError, RuntimeError):
            return False
        return said.strip().lower() in ("y", "yes")

    async def _ask(self, block: PermissionBlock | AskBlock) -> None:
        try:
            action, text = await self._host.on_main(lambda: self._put(block))
        except (EOFError, RuntimeError):  # nobody is at this input: StdinNotImplementedError too
            action, text = ("deny", "") if isinstance(block, PermissionBlock) else ("answer", "")
        answer(self._agent, block.tool_call_id, action, text)

    def _put(self, block: PermissionBlock | AskBlock) -> tuple[str, str]:
        return self._question(block) if isinstance(block, AskBlock) else self._permission(block)

    def _permission(self, block: PermissionBlock) -> tuple[str, str]:
        self._write(permission_text(block))
        for _ in range(_TRIES):
            said = self._read("Allow? [y]es, [s]ession, [n]o: ").strip()
            action = _ALLOW.get(said.lower())
            if action:
                return action, ""
        return "deny", ""

    def _question(self, block: AskBlock) -> tuple[str, str]:
        self._write(f"\n? {plain(block.question)}")
        for number, choice in enumerate(block.choices, start=1):
            self._write(f"  {number}. {plain(choice)}")
        said = self._read("Your answer: ").strip()
        if said.isdigit() and 1 <= int(said) <= len(block.choices):
            return "answer", block.choices[int(said) - 1]
        return "answer", said


def permission_text(block: PermissionBlock) -> str:
    """The question with the whole of what will run."""
    lines = [f"\n? {visible(block.tool_name)} asks for permission"]
    if block.reason:
        lines.append(f"  {visible(block.reason)}")
    lines += [f"  | {line}" for line in visible(block.preview).split("\n")]
    return "\n".join(lines)
