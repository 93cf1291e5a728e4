"""``smoke-monkey-nb doctor``: what works here, what does not, and what to do about it.

Looks rather than guesses: it starts a kernel and loads the extension in it. Keys are looked for by
the names of their variables; no value is read further than whether there is one.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version

REQUIRED = ("ipykernel", "ipython", "ipywidgets", "anywidget", "openai", "pandas", "genai-prices")
FOR_THE_DEMO = ("jupyterlab", "matplotlib", "nbclient", "nbconvert")
OPTIONAL = ("notebook", "papermill")
_MARKS = {"ok": "ok  ", "note": "note", "fail": "FAIL"}


@dataclass(frozen=True)
class Check:
    """One finding. ``status`` is "ok", "note" (works, but look) or "fail" (something will not
    work).
    """

    name: str
    status: str
    detail: str
    hint: str | None = None


def run_doctor(*, as_json: bool) -> int:
    """Print every check; 0 when nothing failed, else 1."""
    checks: list[Check] = []
    for check in collect():
        checks.append(check)
        if not as_json:
            print(_line(check), flush=True)
    failed = [c.name for c in checks if c.status == "fail"]
    if as_json:
        print(json.dumps({"ok": not failed, "checks": [asdict(c) for c in checks]}, indent=2))
    else:
        print(f"\nNot working: {', '.join(failed)}." if failed else "\nEverything needed works.")
    return 1 if failed else 0


def collect() -> Iterator[Check]:
    """Every check in turn; one that breaks is a failure, never a traceback."""
    for name, look in _CHECKS:
        try:
            yield look()
        except Exception as error:
            yield Check(name, "fail", f"the check itself failed: {type(error).__name__}: {error}")


def _line(check: Check) -> str:
    text = f"{_MARKS[check.status]}  {check.name:<10} {check.detail}"
    return f"{text}\n{'':<17} {check.hint}" if check.hint else text


def _python() -> Check:
    detail = f"{platform.python_version()} at {sys.executable}, {platform.system()}"
    return Check("python", "ok", detail)


def _versions(names: tuple[str, ...]) -> tuple[list[str], list[str]]:
    found, missing = [], []
    for name in names:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            missing.append(name)
    return found, missing


def _packages() -> Check:
    from .. import __version__

    found, missing = _versions(REQUIRED)
    detail = f"smoke_monkey_nb {__version__}, {', '.join(found)}"
    if missing:
        hint = f"Missing: {', '.join(missing)}. Install smoke_monkey_nb again."
        return Check("packages", "fail", detail, hint)
    return Check("packages", "ok", detail)


def _extras() -> Check:
    found, missing = _versions((*FOR_THE_DEMO, *OPTIONAL))
    detail = ", ".join(found) or "none"
    wanted = [name for name in missing if name in FOR_THE_DEMO]
    if not wanted:
        return Check("extras", "ok", detail)
    hint = f'Without {", ".join(wanted)} no demo: pip install "smoke_monkey_nb[demo]"'
    return Check("extras", "note", detail, hint)


_IN_KERNEL = """
import ipykernel, json
get_ipython().run_line_magic("load_ext", "smoke_monkey_nb")
from smoke_monkey_nb.notebook.comm_pump import supports_pump
pump = supports_pump(get_ipython().kernel)
print("SMN " + json.dumps({"ipykernel": ipykernel.__version__, "pump": pump}))
"""


def _kernel() -> Check:
    from .kernels import ask_kernel

    try:
        printed = ask_kernel(_IN_KERNEL)
    except RuntimeError as error:
        hint = "Try: python -m ipykernel_launcher --version"
        return Check("kernel", "fail", f"a kernel could not load the extension: {error}", hint)
    line = next(part for part in printed.splitlines() if part.startswith("SMN "))
    facts = json.loads(line[4:])
    detail = f"started, %load_ext works, ipykernel {facts['ipykernel']}"
    if facts["pump"]:
        return Check("kernel", "ok", f"{detail}; buttons work while a cell runs")
    hint = "Questions will be asked with input() instead of buttons."
    return Check("kernel", "note", f"{detail}; buttons cannot be served while a cell runs", hint)


def _widgets() -> Check:
    found, missing = _versions(("anywidget", "ipywidgets", "jupyterlab_widgets"))
    if missing:
        hint = f"Missing: {', '.join(missing)}. Install them where JupyterLab runs."
        return Check("widgets", "note", ", ".join(found), hint)
    detail = f"{', '.join(found)}; a JupyterLab or Notebook of this environment shows them"
    return Check("widgets", "ok", detail)


def _keys() -> Check:
    from ..providers.catalog import PROVIDERS

    names = [
        f"{variable} ({spec.name})"
        for spec in PROVIDERS.values()
        for variable in spec.key_variables
        if os.environ.get(variable, "").strip()
    ]
    if names:
        return Check("keys", "ok", f"set: {', '.join(names)}")
    hint = "Set one (for example OPENAI_API_KEY), run Ollama, or use -m demo: without any."
    return Check("keys", "note", "no provider's key is set", hint)


def _ollama() -> Check:
    from ..providers.clients import is_loopback
    from ..providers.ollama import installed_models, ollama_url

    root = ollama_url(os.environ)
    if not is_loopback(root):
        return Check("ollama", "ok", f"OLLAMA_HOST is another machine ({root}); not asked")
    models = installed_models(root)
    if not models:
        return Check("ollama", "ok", f"does not answer at {root}, or has no model (optional)")
    more = f" and {len(models) - 5} more" if len(models) > 5 else ""
    return Check("ollama", "ok", f"answers at {root} with {', '.join(models[:5])}{more}")


def _model() -> Check:
    from ..providers.catalog import resolve_provider

    try:
        chosen = resolve_provider(None)
    except ValueError as error:
        return Check("model", "fail", f"none can be picked: {error}", "Check SMOKE_MONKEY_MODEL.")
    provider = chosen.provider
    return Check("model", "ok", f"{provider.name}:{provider.model}, because {chosen.reason}")


def _store() -> Check:
    from ..telemetry.store import data_directory

    folder = data_directory()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        detail = f"{folder} cannot be written to ({error.strerror})"
        hint = "Runs work, but accounts and sessions end with the kernel. Set SMOKE_MONKEY_HOME."
        return Check("store", "fail", detail, hint)
    return Check("store", "ok", f"{folder} can be written to")


_CHECKS: tuple[tuple[str, Callable[[], Check]], ...] = (
    ("python", _python),
    ("packages", _packages),
    ("extras", _extras),
    ("kernel", _kernel),
    ("widgets", _widgets),
    ("keys", _keys),
    ("ollama", _ollama),
    ("model", _model),
    ("store", _store),
)
