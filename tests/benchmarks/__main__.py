"""``python -m tests.benchmarks``: every figure of the README's speed table, each ratio within one
run.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from .clients import agent_for, bare_loop, openai_client, server

ROUNDS = 5


def cpu_ms(work: Callable[[], Awaitable[Any]]) -> tuple[float, float]:
    """CPU and wall milliseconds of one run on a fresh loop. Collects garbage first."""
    import gc

    gc.collect()
    wall, cpu = time.perf_counter(), time.process_time()
    asyncio.run(work())
    return (time.process_time() - cpu) * 1000, (time.perf_counter() - wall) * 1000


def compare(title: str, url: str, per: int, unit: str, budget: float, rounds: int) -> None:
    """Bare client and agent in turn, A B A B …; prints medians and the median of the pairwise
    ratios.
    """

    async def bare() -> None:
        client = openai_client(url)
        await bare_loop(client)
        await client.close()

    async def ours() -> None:
        agent = agent_for(url)
        result = await agent.run("go")
        assert result.status == "completed", result
        await agent.aclose()

    pairs = [(cpu_ms(bare)[0], cpu_ms(ours)[0]) for _ in range(rounds)]
    bare_ms, ours_ms = (statistics.median(column) / per for column in zip(*pairs, strict=True))
    ratio = statistics.median(b / a for a, b in pairs)
    print(
        f"{title:28} bare {bare_ms:8.2f} {unit}   ours {ours_ms:7.2f} {unit}   "
        f"ratio {ratio:5.3f}   budget {budget:4.2f}   {verdict(ratio <= budget)}",
        flush=True,
    )


def warm_up(url: str) -> None:
    """Imports and first connections of both sides, which belong to neither figure."""

    async def both() -> None:
        client = openai_client(url)
        await bare_loop(client)
        await client.close()
        agent = agent_for(url)
        await agent.run("go")
        await agent.aclose()

    asyncio.run(both())


def verdict(met: bool) -> str:
    """How a figure stands to its budget."""
    return "met" if met else "MISSED"


def parallel_tools(count: int) -> None:
    """How long one step with ``count`` calls of 50 ms takes, from the first start to the last
    end.
    """
    with server("--parallel", str(count)) as url:

        async def once() -> float:
            agent = agent_for(url)
            times: list[float] = []
            agent.on_any(
                lambda e: times.append(time.perf_counter()) if e.type.startswith("tool.") else None
            )
            await agent.run("go")
            await agent.aclose()
            return (times[-1] - times[0]) * 1000

        asyncio.run(once())
        wall = statistics.median(asyncio.run(once()) for _ in range(ROUNDS))
    print(
        f"{f'{count} parallel 50 ms tools':28} {wall:8.1f} ms   budget 70 ms  {verdict(wall <= 70)}"
    )


def fresh(code: str) -> float:
    """The number that ``code`` prints in a fresh interpreter; the median of several."""
    env = {**os.environ, "SMOKE_MONKEY_HOME": tempfile.gettempdir()}
    runs = []
    for _ in range(ROUNDS + 2):
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env
        )
        runs.append(float(done.stdout.split()[-1]))
    return statistics.median(runs)


IMPORT = """
import time
t = time.perf_counter()
import smoke_monkey_nb
print((time.perf_counter() - t) * 1000)
"""
LOAD = """
import time
from ipykernel.zmqshell import ZMQInteractiveShell
from ipykernel.ipkernel import IPythonKernel
import ipykernel.kernelapp
shell = ZMQInteractiveShell.instance()
shell.run_cell("1 + 1")
t = time.perf_counter()
shell.run_line_magic("load_ext", "smoke_monkey_nb")
print((time.perf_counter() - t) * 1000)
"""


def memory() -> None:
    """Peak memory of a process that ran 400 steps, with the bare client and with an agent."""
    with server("--steps", "400") as url:
        for name in ("bare", "ours"):
            code = f"from tests.benchmarks.__main__ import peak; peak({name!r}, {url!r})"
            done = subprocess.run(
                [sys.executable, "-c", code], capture_output=True, text=True, check=True
            )
            print(
                f"{'peak memory, 400 steps':28} {name:5} {json.loads(done.stdout)['mib']:6.1f} MiB"
            )


def peak(name: str, url: str) -> None:
    """Run one side once and print the process's peak resident memory as JSON."""

    async def work() -> None:
        if name == "bare":
            await bare_loop(openai_client(url))
        else:
            assert (await agent_for(url).run("go")).status == "completed"

    asyncio.run(work())
    # Not getrusage: its maximum includes the parent's, from before the exec.
    status = Path("/proc/self/status").read_text()
    peak_kib = int(status.split("VmHWM:")[1].split()[0])
    print(json.dumps({"mib": peak_kib / 1024}))


def main() -> None:
    """Print the table."""
    os.environ["SMOKE_MONKEY_HOME"] = tempfile.mkdtemp()
    with server("--deltas", "2000") as url:
        warm_up(url)
        compare("2,000 text deltas", url, 1, "ms", 0.15, ROUNDS)
    # design budgets 50 and 400 steps; 200 lies between them
    for steps, budget, rounds in ((50, 0.25, ROUNDS), (200, 0.12, 3), (400, 0.06, 3)):
        with server("--steps", str(steps)) as url:
            compare(f"tool loop, {steps} steps", url, steps, "ms/step", budget, rounds)
    parallel_tools(20)
    for title, code, limit in (("import smoke_monkey_nb", IMPORT, 30), ("%load_ext", LOAD, 60)):
        ms = fresh(code)
        print(f"{title:28} {ms:8.1f} ms   budget {limit} ms   {verdict(ms <= limit)}", flush=True)
    memory()


if __name__ == "__main__":
    main()
