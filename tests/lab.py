"""A real JupyterLab (and Notebook 7) in a real Chromium, driven as a person would.

One server and one browser serve many notebooks. ``Lab.open`` gives a ``Page`` whose cells are run
with the keyboard and whose buttons are clicked; ``Page.saved`` reads the notebook file back.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

import nbformat
from playwright.sync_api import Locator, sync_playwright
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from .kernels import ROOT, kernel_env

_FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
#: Lab's own toasts (news, updates) would cover the page and ask the network.
_SETTINGS = {
    "@jupyterlab/apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
}


def chromium() -> str | None:
    """The browser's path, if there is one."""
    found = (shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome"))
    return next((path for path in found if path), None)


class Lab:
    """The server and the browser; a context manager."""

    def __init__(self, folder: Path, *, kernels: tuple[str, ...] = (), **env: str) -> None:
        self.folder = folder
        self._home = Path(tempfile.mkdtemp(prefix="smn-lab-"))
        folders = ("CONFIG_DIR", "DATA_DIR", "RUNTIME_DIR")
        self._env = {**os.environ, **{f"JUPYTER_{d}": str(self._home / d) for d in folders}}
        self._env |= {
            f"JUPYTERLAB_{d}": str(self._home / d) for d in ("SETTINGS_DIR", "WORKSPACES_DIR")
        }
        self._env |= {"PYTHONPATH": str(ROOT), **env}
        for version in kernels:
            self._write_kernel(version)
        self.set_theme("light")

    def set_theme(self, theme: str) -> None:
        """Light or dark, for pages opened from now on."""
        name = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}[theme]
        settings = {**_SETTINGS, "@jupyterlab/apputils-extension/themes": {"theme": name}}
        for key, value in settings.items():
            path = self._home / "SETTINGS_DIR" / f"{key}.jupyterlab-settings"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(value))

    def _write_kernel(self, version: str) -> None:
        folder = self._home / "DATA_DIR" / "kernels" / f"ipykernel-{version}"
        folder.mkdir(parents=True)
        spec = {
            "argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
            "display_name": f"ipykernel {version}",
            "language": "python",
            "env": kernel_env(version),
        }
        (folder / "kernel.json").write_text(json.dumps(spec))

    def __enter__(self) -> Lab:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        command = [
            sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1",
            f"--port={port}", "--ServerApp.port_retries=0", "--IdentityProvider.token=",
            "--ServerApp.disable_check_xsrf=True", f"--ServerApp.root_dir={self.folder}",
            "--LabApp.expose_app_in_browser=True",
            "--JupyterNotebookApp.expose_app_in_browser=True",
        ]  # fmt: skip
        log = (self._home / "server.log").open("wb")
        self._server = subprocess.Popen(
            command, env=self._env, cwd=self.folder, stdout=log, stderr=log
        )
        log.close()
        self._await_server()
        self._playwright = sync_playwright().start()
        self._browser = self._playwright.chromium.launch(
            executable_path=chromium(), headless=False, args=list(_FLAGS)
        )
        self.context = self._browser.new_context(viewport={"width": 1180, "height": 1000})
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(Exception):
            self._browser.close()
        with contextlib.suppress(Exception):
            self._playwright.stop()
        self._server.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._server.wait(8)
        if self._server.poll() is None:
            self._server.kill()
            self._server.wait()
        shutil.rmtree(self._home, ignore_errors=True)

    def _await_server(self) -> None:
        end = time.monotonic() + 60
        while time.monotonic() < end:
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"{self.url}/api/status", timeout=1)
                return
            time.sleep(0.1)
        raise AssertionError((self._home / "server.log").read_text()[-2000:])

    def open(
        self, name: str, cells: list[str], *, kernel: str = "python3", app: str = "lab"
    ) -> Page:
        """Write a notebook and open it in JupyterLab (``lab``) or Notebook 7 (``notebook``)."""
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
        spec = {"name": kernel, "display_name": kernel, "language": "python"}
        notebook.metadata.kernelspec = spec
        nbformat.write(notebook, self.folder / name)
        return self.visit(name, app=app)

    def visit(self, name: str, *, app: str = "lab") -> Page:
        """Open a notebook that is there."""
        address = {"lab": f"lab/tree/{name}?reset", "notebook": f"notebooks/{name}"}[app]
        return Page(self, name, f"{self.url}/{address}")

    def end_sessions(self) -> None:
        """Shut every kernel down."""
        for session in json.load(urllib.request.urlopen(f"{self.url}/api/sessions")):
            address = f"{self.url}/api/sessions/{session['id']}"
            with contextlib.suppress(OSError):
                urllib.request.urlopen(urllib.request.Request(address, method="DELETE"))


class Page:
    """One notebook in one tab."""

    def __init__(self, lab: Lab, name: str, url: str) -> None:
        self.lab, self.name = lab, name
        self.page = lab.context.new_page()
        self.errors: list[str] = []
        self._dialogs: list[str] = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.goto(url)
        self.page.wait_for_selector(".jp-Notebook .jp-CodeCell", timeout=60_000)
        self.page.wait_for_selector(
            ".jp-Notebook-ExecutionIndicator[data-status=idle]", state="attached", timeout=60_000
        )

    def cell(self, index: int) -> Locator:
        """The code cell of this index."""
        return self.page.locator(".jp-Notebook .jp-CodeCell").nth(index)

    def output(self, index: int) -> Locator:
        """The output area of a cell."""
        return self.cell(index).locator(".jp-Cell-outputArea")

    def text(self, index: int) -> str:
        """What a cell shows."""
        area = self.output(index)
        return area.inner_text() if area.count() else ""

    def prompt(self, index: int) -> str:
        """``[*]:`` while it runs or waits, ``[3]:`` afterwards."""
        return self.cell(index).locator(".jp-InputArea-prompt").first.inner_text().strip()

    def start(self, index: int) -> None:
        """Run a cell by keyboard; presses again until it starts (the first key may be lost)."""
        before = self.prompt(index)
        for _ in range(12):
            self._accept_dialog()
            with contextlib.suppress(AssertionError, PlaywrightTimeout):
                self.cell(index).locator(".cm-content").click(timeout=3000)
                self.page.keyboard.press("Control+Enter")
                self._until(lambda: self.prompt(index) not in ("", "[ ]:", before), 1.0)
                return
        raise AssertionError(f"cell {index} did not start; {self._dialogs!r}")

    def _accept_dialog(self) -> None:
        """Say yes to what Lab asks on a slow start (such as which kernel); remembers its words."""
        button = self.page.locator(".jp-Dialog button.jp-mod-accept")
        if button.count():
            self._dialogs.append(self.page.locator(".jp-Dialog").first.inner_text())
            with contextlib.suppress(PlaywrightTimeout):
                button.first.click(timeout=2000)

    def run(self, index: int, timeout_s: float = 30) -> str:
        """Run a cell to its end; gives what it shows."""
        self.start(index)
        return self.done(index, timeout_s)

    def done(self, index: int, timeout_s: float = 30) -> str:
        """Wait for a cell's end."""
        self._until(lambda: self.prompt(index).strip("[]:").isdigit(), timeout_s, index)
        self.page.wait_for_timeout(150)  # the page draws the last output after the prompt
        return self.text(index)

    def see(self, index: int, selector: str, timeout_s: float = 20) -> Locator:
        """Wait until something in a cell's output is visible."""
        found = self.output(index).locator(selector).first
        found.wait_for(state="visible", timeout=timeout_s * 1000)
        return found

    def click(self, index: int, selector: str) -> None:
        """Click something in a cell's output once it is there."""
        self.see(index, selector).click()

    def command(self, name: str) -> None:
        """Run a command of the app."""
        self.page.evaluate("name => window.jupyterapp.commands.execute(name)", name)

    def interrupt(self) -> None:
        """Interrupt the kernel."""
        self.command("notebook:interrupt-kernel")

    def saved(self) -> Any:
        """Save, and read the file."""
        path = self.lab.folder / self.name
        before = path.stat().st_mtime_ns
        self.command("docmanager:save")
        self._until(lambda: path.stat().st_mtime_ns != before, 10)
        return nbformat.read(path, as_version=4)

    def shot(self, path: Path | str) -> None:
        """A picture of the tab."""
        self.page.screenshot(path=str(path))

    def close(self) -> None:
        """Close the tab and its kernel."""
        with contextlib.suppress(Exception):
            self.page.close(run_before_unload=False)
        self.lab.end_sessions()

    def _until(self, condition: Any, timeout_s: float, index: int | None = None) -> None:
        end = time.monotonic() + timeout_s
        while time.monotonic() < end:
            if condition():
                return
            self.page.wait_for_timeout(40)
        shows = self.text(index)[:400] if index is not None else ""
        raise AssertionError(f"waited {timeout_s} s in vain; the cell shows {shows!r}")
