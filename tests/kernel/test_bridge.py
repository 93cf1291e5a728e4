"""The bridge without a kernel, as in a script or a terminal."""

from __future__ import annotations

import asyncio
import contextvars
import os
import signal
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from smoke_monkey_nb.errors import AgentError
from smoke_monkey_nb.notebook.bridge import MainThreadBridge
from smoke_monkey_nb.notebook.outcomes import QuietInterrupt


@pytest.fixture
def bridge() -> Iterator[MainThreadBridge]:
    made = MainThreadBridge(SimpleNamespace(user_ns={"x": 1}))
    yield made
    made.close()


def nothing() -> None:
    """For runs that nobody interrupts."""


def run(bridge: MainThreadBridge, main: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    return bridge.run(main, nothing)


def press() -> None:
    """Ctrl-C, from any thread."""
    os.kill(os.getpid(), signal.SIGINT)


def test_the_coroutine_runs_on_one_loop_thread_for_all_runs(bridge: MainThreadBridge) -> None:
    async def where() -> threading.Thread:
        return threading.current_thread()

    first, second = run(bridge, where), run(bridge, where)
    assert first is second
    assert first is not threading.current_thread()


def test_calls_run_on_the_main_thread_one_after_another(bridge: MainThreadBridge) -> None:
    order: list[Any] = []

    def call(i: int) -> threading.Thread:
        order.append(i)
        return threading.current_thread()

    async def main() -> list[threading.Thread]:
        return await asyncio.gather(*(bridge.on_main(lambda i=i: call(i)) for i in range(20)))

    assert set(run(bridge, main)) == {threading.main_thread()}
    assert order == list(range(20))


@pytest.mark.parametrize("error", [KeyError("k"), SystemExit(2), StopIteration(), GeneratorExit()])
def test_what_a_call_raises_is_raised_where_it_is_awaited(
    bridge: MainThreadBridge, error: BaseException
) -> None:
    def fail() -> None:
        raise error

    async def main() -> str:
        try:
            await bridge.on_main(fail)
        except (KeyError, RuntimeError) as caught:
            return type(error).__name__ if type(error).__name__ in str(caught) else repr(caught)
        return "nothing"

    assert run(bridge, main) in (type(error).__name__, repr(error))


def test_what_the_coroutine_raises_is_raised_by_run(bridge: MainThreadBridge) -> None:
    async def main() -> None:
        raise LookupError("here")

    with pytest.raises(LookupError, match="here"):
        run(bridge, main)


def test_the_coroutine_has_the_callers_context(bridge: MainThreadBridge) -> None:
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable")
    variable.set("of this cell")

    async def main() -> str:
        return variable.get()

    assert run(bridge, main) == "of this cell"


def test_a_call_that_is_cancelled_before_its_turn_never_runs(bridge: MainThreadBridge) -> None:
    ran: list[str] = []
    release = threading.Event()

    async def main() -> None:
        first = asyncio.ensure_future(bridge.on_main(lambda: release.wait(5)))
        second = asyncio.ensure_future(bridge.on_main(lambda: ran.append("second")))
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.wait({second})
        release.set()
        await first
        await bridge.on_main(lambda: ran.append("third"))

    run(bridge, main)
    assert ran == ["third"]


def test_cancelling_interrupts_the_call_but_not_the_run(bridge: MainThreadBridge) -> None:
    begun = threading.Event()

    def sleep() -> None:
        begun.set()
        time.sleep(30)

    async def main() -> str:
        call = asyncio.ensure_future(bridge.on_main(sleep))
        await asyncio.to_thread(begun.wait, 5)
        call.cancel()
        await asyncio.wait({call})
        return await bridge.on_main(lambda: "went on")

    start = time.monotonic()
    assert run(bridge, main) == "went on"
    assert time.monotonic() - start < 2


def test_a_call_that_ends_just_when_it_is_interrupted_harms_nobody(
    bridge: MainThreadBridge,
) -> None:
    async def main() -> int:
        done = 0
        for i in range(200):
            call = asyncio.ensure_future(bridge.on_main(lambda i=i: time.sleep(0.0002 * (i % 5))))
            await asyncio.sleep(0.0002 * (i % 7))
            call.cancel()
            await asyncio.wait({call})
            done += await bridge.on_main(lambda: 1)
        return done

    assert run(bridge, main) == 200


def test_an_interrupt_ends_the_run_and_is_raised_when_it_has_cleaned_up(
    bridge: MainThreadBridge,
) -> None:
    events: list[str] = []
    stop = threading.Event()

    async def main() -> None:
        await asyncio.to_thread(press)
        await asyncio.to_thread(stop.wait, 5)
        events.append(await bridge.on_main(lambda: "cleaned up"))

    def on_interrupt() -> None:
        events.append("told")
        stop.set()

    with pytest.raises(QuietInterrupt):
        bridge.run(main, on_interrupt)
    assert events == ["told", "cleaned up"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_interrupt_in_a_call_ends_the_call_and_the_run(bridge: MainThreadBridge) -> None:
    told: list[bool] = []

    def sleep() -> None:
        threading.Timer(0.05, press).start()
        time.sleep(30)

    async def main() -> str:
        try:
            await bridge.on_main(sleep)
        except asyncio.CancelledError:
            told.append(True)
        return "ended"

    with pytest.raises(QuietInterrupt):
        bridge.run(main, lambda: told.append(False))
    assert told == [False, True]


def test_a_second_interrupt_forces_out(bridge: MainThreadBridge) -> None:
    async def main() -> None:
        threading.Timer(0.05, press).start()
        threading.Timer(0.6, press).start()
        await asyncio.sleep(30)

    start = time.monotonic()
    with pytest.raises(QuietInterrupt):
        bridge.run(main, nothing)
    assert 0.5 < time.monotonic() - start < 2


def test_a_run_that_does_not_clean_up_is_left_after_three_seconds(
    bridge: MainThreadBridge,
) -> None:
    async def main() -> None:
        press()
        await asyncio.sleep(30)

    start = time.monotonic()
    with pytest.raises(QuietInterrupt):
        bridge.run(main, nothing)
    assert 2.5 < time.monotonic() - start < 4.5


def test_interrupts_before_the_run_find_it(bridge: MainThreadBridge) -> None:
    stop = threading.Event()

    async def main() -> None:
        await asyncio.to_thread(stop.wait, 5)

    start = time.monotonic()

    def cell() -> None:
        with bridge.occupied():
            press()
            bridge.run(main, stop.set)

    with pytest.raises(QuietInterrupt):
        cell()
    assert time.monotonic() - start < 1


def test_a_run_inside_a_run_is_refused(bridge: MainThreadBridge) -> None:
    async def inner() -> None:
        """Never runs."""

    def nested() -> str:
        with pytest.raises(AgentError) as caught:
            bridge.run(inner, nothing)
        return caught.value.info.code

    async def main() -> str:
        return await bridge.on_main(nested)

    assert run(bridge, main) == "run_busy"


def test_a_run_of_another_thread_has_its_calls_run_by_that_thread(
    bridge: MainThreadBridge,
) -> None:
    found: list[tuple[threading.Thread, threading.Thread]] = []

    async def main() -> threading.Thread:
        return await bridge.on_main(threading.current_thread)

    def work() -> None:
        found.append((run(bridge, main), threading.current_thread()))

    threads = [threading.Thread(target=work) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(5)
    assert len(found) == 5
    assert all(where is thread for where, thread in found)


def test_while_the_main_thread_serves_the_calls_of_other_threads_runs_go_there(
    bridge: MainThreadBridge,
) -> None:
    async def inner() -> threading.Thread:
        return await bridge.on_main(threading.current_thread)

    async def main() -> threading.Thread:
        return await asyncio.to_thread(run, bridge, inner)

    assert run(bridge, main) is threading.main_thread()


def test_a_call_on_the_main_threads_own_loop_runs_in_place(bridge: MainThreadBridge) -> None:
    async def main() -> threading.Thread:
        return await bridge.on_main(threading.current_thread)

    assert asyncio.run(main()) is threading.main_thread()
