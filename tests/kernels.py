"""Kernels of other ipykernel versions, and a front end that talks to them over the protocol.

``ipykernel_dir("6.31.0")`` is a folder to put first on a kernel's path (installed once into
``.cache/``). ``Kernel`` starts one and behaves like a front end: it runs cells, collects what they
publish as it comes, sends widget messages into the running cell, and interrupts.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jupyter_client.manager import KernelManager

ROOT = Path(__file__).parent.parent
CACHE = ROOT / ".cache"
#: The last 6.x, the last that serves widgets on a subshell, and the first that does not any more.
VERSIONS = ("6.31.0", "7.3.0", "7.4.0")
#: What 6.x needs and 7.x does not.
_EXTRA = {"6": ["nest-asyncio>=1.4"]}


def ipykernel_dir(version: str) -> Path:
    """The folder that holds this ipykernel version, installed at the first call."""
    target = CACHE / f"ipykernel-{version}"
    if not (target / "ipykernel").exists():
        partial = CACHE / f"ipykernel-{version}.{os.getpid()}"
        packages = [f"ipykernel=={version}", *_EXTRA.get(version.split(".")[0], [])]
        command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target"]
        subprocess.run([*command, str(partial), *packages], check=True)
        with contextlib.suppress(OSError):  # another process was faster
            partial.rename(target)
    return target


def kernel_env(version: str) -> dict[str, str]:
    """The environment that makes this interpreter a kernel of that version."""
    path = os.pathsep.join([str(ipykernel_dir(version)), str(ROOT)])
    return {"PYTHONPATH": path, "PYDEVD_DISABLE_FILE_VALIDATION": "1"}


@dataclass
class Cell:
    """One execution: its messages as they came, and the reply once it is there."""

    message_id: str
    messages: list[dict[str, Any]] = field(default_factory=list)
    reply: dict[str, Any] | None = None

    @property
    def text(self) -> str:
        """Everything that the cell showed, as text."""
        return "".join(_text(m) for m in self.messages)

    @property
    def error(self) -> str | None:
        """The name of the error that ended it."""
        return self.reply["content"].get("ename") if self.reply else None


def _text(message: dict[str, Any]) -> str:
    kind, content = message["header"]["msg_type"], message["content"]
    if kind == "stream":
        return str(content["text"])
    if kind in ("display_data", "execute_result", "update_display_data"):
        return str(content["data"].get("text/plain", ""))
    return "\n".join(content["traceback"]) if kind == "error" else ""


class Kernel:
    """A running kernel and a front end on it. Not thread-safe."""

    def __init__(self, version: str, *, allow_stdin: bool = True, **env: str) -> None:
        self.version = version
        self._allow_stdin = allow_stdin
        self._env = {**os.environ, **kernel_env(version), **env}
        self._cells: dict[str, Cell] = {}
        self._replies: dict[str, dict[str, Any]] = {}
        self.all: list[dict[str, Any]] = []

    def __enter__(self) -> Kernel:
        self._manager = KernelManager(kernel_name="python3")
        self._manager.kernel_cmd = [
            sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}",
        ]  # fmt: skip
        self._manager.start_kernel(
            env=self._env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self.client = self._manager.blocking_client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=30)
        return self

    def __exit__(self, *_: object) -> None:
        self.client.stop_channels()
        self._manager.shutdown_kernel(now=True)
        self._manager.cleanup_resources()

    def send(self, code: str, subshell: str | None = None) -> Cell:
        """Queue a cell (of a subshell)."""
        content = {
            "code": code, "silent": False, "store_history": True, "user_expressions": {},
            "allow_stdin": self._allow_stdin, "stop_on_error": True,
        }  # fmt: skip
        message_id = self.request("execute_request", content, subshell)
        self._cells[message_id] = cell = Cell(message_id)
        return cell

    def run(self, code: str, timeout_s: float = 30) -> Cell:
        """Run a cell to its end."""
        return self.finish(self.send(code), timeout_s)

    def finish(self, cell: Cell, timeout_s: float = 30) -> Cell:
        """Wait for the end of a cell, its idle included."""
        self.wait(lambda: cell.reply is not None and _is_idle(cell), timeout_s, cell)
        return cell

    def wait(self, condition: Callable[[], Any], timeout_s: float = 30, cell: Any = None) -> Any:
        """Take messages in until ``condition`` gives something true; returns that."""
        end = time.monotonic() + timeout_s
        while time.monotonic() < end:
            found = condition()
            if found:
                return found
            self._take_in()
        raise AssertionError(f"waited {timeout_s} s; {cell.text if cell else self.all[-3:]!r}")

    def interrupt(self) -> None:
        """Press the interrupt button."""
        self._manager.interrupt_kernel()

    def is_alive(self) -> bool:
        """Whether the process lives."""
        return bool(self._manager.is_alive())

    def wait_for_stdin(self, timeout_s: float = 15) -> str:
        """Wait for an ``input()``; returns its prompt."""

        def asked() -> Any:
            with contextlib.suppress(queue.Empty):
                return self.client.get_stdin_msg(timeout=0.05)
            return None

        return str(self.wait(asked, timeout_s)["content"]["prompt"])

    def answer_stdin(self, text: str, timeout_s: float = 15) -> str:
        """Answer the next ``input()``; returns its prompt."""
        prompt = self.wait_for_stdin(timeout_s)
        self.client.input(text)
        return prompt

    # -- widgets -----------------------------------------------------------------------------------

    def widget(self, marker: str, cell: Cell | None = None, timeout_s: float = 20) -> str:
        """The comm id of the first widget (of that cell) whose state has the trait ``marker``."""

        def found() -> str | None:
            for message in self.all if cell is None else cell.messages:
                opened = message["header"]["msg_type"] == "comm_open"
                if opened and marker in message["content"]["data"].get("state", {}):
                    return str(message["content"]["comm_id"])
            return None

        return str(self.wait(found, timeout_s, cell))

    def state(self, comm_id: str) -> dict[str, Any]:
        """A widget's state as a front end knows it."""
        state: dict[str, Any] = {}
        for message in self.all:
            content = message["content"]
            if content.get("comm_id") != comm_id:
                continue
            data = content.get("data", {})
            if message["header"]["msg_type"] == "comm_open" or data.get("method") == "update":
                state.update(data.get("state", {}))
        return state

    def custom(self, comm_id: str) -> list[dict[str, Any]]:
        """The custom messages that a widget sent."""
        return [
            m["content"]["data"]["content"]
            for m in self.all
            if m["header"]["msg_type"] == "comm_msg"
            and m["content"]["comm_id"] == comm_id
            and m["content"]["data"].get("method") == "custom"
        ]

    def send_custom(
        self, comm_id: str, content: dict[str, Any], subshell: str | None = None
    ) -> str:
        """Send a custom message to a widget, as its page does; its id."""
        data = {"method": "custom", "content": content}
        return self.request("comm_msg", {"comm_id": comm_id, "data": data}, subshell)

    def request(self, kind: str, content: dict[str, Any], subshell: str | None = None) -> str:
        """Send a message on the shell channel; its id."""
        message = self.client.session.msg(kind, content)
        if subshell is not None:
            message["header"]["subshell_id"] = subshell
        self.client.shell_channel.send(message)
        return str(message["header"]["msg_id"])

    def subshell(self) -> str:
        """Open a subshell, as JupyterLab does for widgets; its id. ipykernel 7 only."""
        message = self.client.session.msg("create_subshell_request", {})
        self.client.control_channel.send(message)
        reply = self.client.get_control_msg(timeout=10)
        return str(reply["content"]["subshell_id"])

    def reply_to(self, message_id: str, timeout_s: float = 10) -> dict[str, Any]:
        """The reply to a request."""
        found = self.wait(lambda: self._replies.get(message_id), timeout_s)
        return dict(found["content"])

    def states_of(self, message_id: str) -> list[str]:
        """What the kernel said of its state because of a message: ``busy``, ``idle``."""
        return [
            m["content"]["execution_state"]
            for m in self.all
            if m["header"]["msg_type"] == "status"
            and m["parent_header"].get("msg_id") == message_id
        ]

    def send_update(self, comm_id: str, state: dict[str, Any]) -> str:
        """Change a widget's traits, as its page does; the message's id."""
        data = {"method": "update", "state": state, "buffer_paths": []}
        return self.request("comm_msg", {"comm_id": comm_id, "data": data})

    def ask(self, kind: str, content: dict[str, Any]) -> dict[str, Any]:
        """Send a request to the shell and return what the reply holds."""
        return self.reply_to(self.request(kind, content))

    # -- inside ------------------------------------------------------------------------------------

    def _take_in(self) -> None:
        for message in _arrived(self.client.get_iopub_msg, 0.02):
            self.all.append(message)
            cell = self._cells.get(message["parent_header"].get("msg_id"))
            if cell is not None:
                cell.messages.append(message)
        for reply in _arrived(self.client.get_shell_msg, 0.0):
            self._replies[reply["parent_header"].get("msg_id", "")] = reply
            cell = self._cells.get(reply["parent_header"].get("msg_id"))
            if cell is not None:
                cell.reply = reply


def _arrived(get: Callable[..., Any], timeout_s: float) -> Iterator[dict[str, Any]]:
    while True:
        try:
            yield get(timeout=timeout_s)
        except queue.Empty:
            return


def _is_idle(cell: Cell) -> bool:
    return any(
        m["header"]["msg_type"] == "status" and m["content"]["execution_state"] == "idle"
        for m in cell.messages
    )


def kernelspec(version: str, folder: Path) -> str:
    """Write a kernelspec for this ipykernel below ``folder`` (a JUPYTER_PATH); its name."""
    name = f"ipykernel-{version}"
    spec = {
        "argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": name,
        "language": "python",
        "env": kernel_env(version),
    }
    home = folder / "kernels" / name
    home.mkdir(parents=True, exist_ok=True)
    (home / "kernel.json").write_text(json.dumps(spec))
    return name
