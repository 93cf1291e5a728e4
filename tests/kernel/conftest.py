"""One kernel of each ipykernel version for all protocol tests, with an agent that does as told."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.kernels import VERSIONS, Kernel

#: The scripted model takes its orders from the prompt: ``py: <code>`` runs code on the main thread,
#: ``fail`` fails, ``say <text>`` answers, anything else calls the tool ``change``, which asks.
SETUP = """
%load_ext smoke_monkey_nb
import asyncio, threading, time
from smoke_monkey_nb import create_agent, tool
from smoke_monkey_nb.errors import error_info
from smoke_monkey_nb.testing import ScriptedProvider, calls

done = []

@tool
def change(name: str) -> str:
    "Change something."
    done.append(name)
    return f"changed {name}"

@tool(read_only=True)
async def speak(text: str) -> str:
    "Print on the agents' loop."
    print("spoken", text)
    return threading.current_thread().name

def order(request):
    asked = [m["content"] for m in request.messages if m["role"] == "user"][-1].strip()
    if request.messages[-1]["role"] == "tool":
        return "The tool said: " + str(request.messages[-1]["content"])
    kind, _, rest = asked.partition(" ")
    if kind == "py:":
        return calls(("run_python", {"code": rest}))
    if kind == "speak":
        return calls(("speak", {"text": rest}))
    if kind == "say":
        return rest
    if kind == "fail":
        return error_info("provider_bad_request", "The provider refused.")
    if kind == "hiccup":
        return error_info("provider_unavailable", "The provider is away.")
    return calls(("change", {"name": asked}))

orders = ScriptedProvider([order] * 1000)
tools_ = [change, speak, "run_python"]
%agent_config model=orders tools=tools_
"""


@pytest.fixture(scope="session")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Kernel]]:
    """Kernels by version, started when they are asked for first."""
    running: dict[str, Kernel] = {}
    yield running
    for kernel in running.values():
        kernel.__exit__()


@pytest.fixture(params=VERSIONS)
def kernel(
    request: pytest.FixtureRequest,
    kernels: dict[str, Kernel],
    tmp_path_factory: pytest.TempPathFactory,
) -> Kernel:
    """A kernel of each version, with the magics loaded."""
    version = request.param
    found = kernels.get(version)
    if found is None or not found.is_alive():
        home = tmp_path_factory.mktemp("kernel-home")
        found = kernels[version] = Kernel(version, SMOKE_MONKEY_HOME=str(home)).__enter__()
        assert found.run(SETUP).error is None
    assert found.run("done.clear()").error is None  # and whatever ran before is over
    return found
