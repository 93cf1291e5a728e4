"""The architecture is a dictionary: who may import whom, and which third-party packages each layer
may use.
"""

from __future__ import annotations

import ast
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import smoke_monkey_nb

ROOT = Path(smoke_monkey_nb.__file__).parent
PACKAGE = "smoke_monkey_nb"

#: Each layer: the modules (by prefix) it holds, the layers it may import, the third-party packages
#: it may use.
CORE = {
    "aio", "errors", "events", "foreign", "gate", "hook_runner", "hooks", "host",
    "instructions", "limits", "loop", "messages", "model_call", "one_call", "options",
    "permissions", "prompts", "records", "redact", "retry", "run_result", "scope",
    "shell_rules", "shell_words", "testing", "tool_run", "toolcalls", "usage",
    "guards", "secrets",
    "providers.base", "tools.base", "tools.describing", "tools.pictures", "tools.results",
    "tools.tables", "tools.text", "tools.values",
}  # fmt: skip
MAY_USE = {
    "core": {"tenacity", "nest_asyncio", "nest_asyncio2"},
    "providers": {"openai", "jiter", "llama_cpp"},
    "tools": {"pydantic", "pydantic_core", "pathspec", "IPython"},
    "telemetry": {"pandas", "numpy", "genai_prices", "platformdirs"},
    "agent": set(),
    "notebook": {
        "IPython", "anywidget", "ipywidgets", "traitlets", "zmq", "markdown_it", "nh3", "pygments",
        "ipykernel", "comm", "tornado", "nest_asyncio2",
    },
    "cli": {"nbclient", "nbconvert", "nbformat", "jupyterlab", "jupyter_client", "jupyter_core"},
}  # fmt: skip
MAY_IMPORT = {
    "core": {"core"},
    "providers": {"core", "providers"},
    "tools": {"core", "tools"},
    "telemetry": {"core", "telemetry"},
    "agent": {"core", "providers", "tools", "telemetry", "agent"},
    "notebook": {"core", "agent", "notebook", "telemetry", "providers", "tools"},
    "cli": {"core", "agent", "providers", "telemetry", "notebook", "tools", "cli"},
}
TYPE_ONLY = {"agent": {"pandas"}, "notebook": {"pandas"}}


def layer(module: str) -> str:
    if module in CORE:
        return "core"
    head = module.split(".")[0]
    return head if head in MAY_IMPORT else "unknown"


def modules() -> dict[str, Path]:
    found = {}
    for path in sorted(ROOT.rglob("*.py")):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        found[name.removesuffix(".__init__")] = path
    found.pop("__init__")
    return found


def imports(module: str, path: Path) -> set[str]:
    """Full names of everything imported anywhere in the file, late imports included."""
    package = [PACKAGE, *module.split(".")]
    if path.name != "__init__.py":
        package = package[:-1]
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            target = ".".join([*base, *([node.module] if node.module else [])])
            names |= {f"{target}.{alias.name}" for alias in node.names} if node.level else {target}
    return names


def own_target(name: str, known: dict[str, Path]) -> str | None:
    """The module of ours that an imported name belongs to."""
    inner = name.removeprefix(PACKAGE + ".")
    while inner and inner not in known:
        inner = inner.rpartition(".")[0]
    return inner or None


@pytest.mark.parametrize("module", sorted(modules()))
def test_imports_point_one_way(module: str) -> None:
    known = modules()
    own = layer(module)
    assert own != "unknown", f"{module} belongs to no layer; add it to the dictionary"
    for name in imports(module, known[module]):
        top = name.split(".")[0]
        if top == PACKAGE:
            target = own_target(name, known)
            if target is not None and "." not in target and target in ("providers", "tools"):
                continue
            assert target is None or layer(target) in MAY_IMPORT[own], f"{module} imports {name}"
        elif top not in sys.stdlib_module_names:
            assert top in MAY_USE[own] | TYPE_ONLY.get(own, set()), f"{module} imports {name}"


def test_there_is_no_cycle() -> None:
    known = modules()
    graph = {
        module: {
            target
            for name in imports(module, path)
            if name.startswith(PACKAGE + ".")
            and (target := own_target(name, known)) not in (None, module)
        }
        for module, path in known.items()
    }
    assert list(TopologicalSorter(graph).static_order())


def test_the_package_root_imports_nothing_heavy() -> None:
    import subprocess

    code = (
        "import sys; before = set(sys.modules); import smoke_monkey_nb; heavy = {'openai', "
        "'pandas', 'anywidget', 'IPython', 'pydantic', 'asyncio', 'ipywidgets'}; "
        "print(sorted(heavy & (set(sys.modules) - before)))"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert printed.strip() == "[]"


def test_public_names_are_one_sorted_list_and_load() -> None:
    assert smoke_monkey_nb.__all__ == sorted(smoke_monkey_nb.__all__)
    assert set(smoke_monkey_nb.__all__) == set(smoke_monkey_nb._HOME)
    for name in smoke_monkey_nb.__all__:
        assert getattr(smoke_monkey_nb, name) is not None
