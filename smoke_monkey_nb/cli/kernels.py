"""Kernels of this very Python, whatever kernelspecs the machine has installed.

A kernelspec named ``python3`` in the user's home may start another interpreter, and a fresh
environment may have none; so the command is given, not looked up.
"""

from __future__ import annotations

import subprocess
import sys
from typing import Any


def _spec_manager() -> Any:
    """A kernelspec manager that answers every name with this Python."""
    from jupyter_client.kernelspec import KernelSpec, KernelSpecManager

    class ThisPython(KernelSpecManager):
        def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
            argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
            return KernelSpec(argv=argv, display_name="Python 3 (ipykernel)", language="python")

    return ThisPython()


def async_manager_class() -> Any:
    """A kernel manager class whose kernels are this Python; nbclient makes, owns and ends one."""
    from jupyter_client.manager import AsyncKernelManager

    class ThisPythonManager(AsyncKernelManager):
        def __init__(self, **options: Any) -> None:
            super().__init__(kernel_spec_manager=_spec_manager(), **options)

    return ThisPythonManager


def ask_kernel(code: str, timeout_s: float = 30) -> str:
    """Start a kernel, run ``code`` in it, end it; returns what the code printed.

    Raises:
        RuntimeError: the kernel did not start, or the code failed; the message says why in a line.
    """
    from jupyter_client.manager import KernelManager

    manager = KernelManager(kernel_spec_manager=_spec_manager())
    try:
        manager.start_kernel(stderr=subprocess.DEVNULL)  # its log is not for the terminal
        client = manager.blocking_client()
        client.start_channels()
        try:
            client.wait_for_ready(timeout=timeout_s)
            return _run(client, code, timeout_s)
        finally:
            client.stop_channels()
    except OSError as error:
        raise RuntimeError(f"it did not start ({error})") from error
    finally:
        if manager.has_kernel:
            manager.shutdown_kernel(now=True)


def _run(client: Any, code: str, timeout_s: float) -> str:
    printed: list[str] = []

    def on_output(message: Any) -> None:
        if message["msg_type"] == "stream" and message["content"]["name"] == "stdout":
            printed.append(message["content"]["text"])

    reply = client.execute_interactive(
        code, allow_stdin=False, output_hook=on_output, timeout=timeout_s
    )
    content = reply["content"]
    if content["status"] != "ok":
        raise RuntimeError(f"{content.get('ename', 'error')}: {content.get('evalue', '')}")
    return "".join(printed)
