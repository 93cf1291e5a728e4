"""How views talk to a run: threads, answers, failures, and which view a front end gets."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from smoke_monkey_nb.errors import error_info
from smoke_monkey_nb.notebook.handshake import Handshake
from smoke_monkey_nb.notebook.prompting import Prompter
from smoke_monkey_nb.notebook.text_view import TextView
from smoke_monkey_nb.notebook.view import WidgetView

from .events import (
    asked,
    completed,
    delta,
    end,
    events,
    failed,
    resolved,
    started,
    tool_completed,
    tool_started,
    warned,
)
from .page import FakeAgent, FakeSurface, FakeWidget

STEP = ("step.started", {"step": 1})
RETRYABLE = error_info("provider_unavailable", "It cannot be reached.")


class Host:
    """Runs main-thread calls in place."""

    namespace: dict[str, Any] | None = None

    async def on_main(self, function: Callable[[], Any]) -> Any:
        return function()

    def run(self, make: Any, on_interrupt: Any) -> Any:
        raise NotImplementedError


class Case:
    """A widget view with everything around it."""

    def __init__(self, patience_s: float = 0.05, prompter: Prompter | None = None) -> None:
        self.agent, self.surface, self.widget = FakeAgent(), FakeSurface(), FakeWidget()
        self.view = WidgetView(
            self.agent,
            self.surface,
            make_widget=lambda: self.widget,
            prompter=prompter,
            handshake=Handshake(patience_s),
        )
        self.view.open()

    def tell(self, *specs: Any, first: int = 0) -> None:
        for event in events(*specs, first=first):
            self.view.on_event(event)

    def ready(self, page: str = "page") -> None:
        self.widget.deliver({"t": "ready", "view": page})

    async def until(self, what: Callable[[], Any]) -> None:
        for _ in range(200):
            if what():
                return
            await asyncio.sleep(0.01)
        raise AssertionError("it never came")


async def test_text_is_collected_not_sent_word_by_word() -> None:
    case = Case()
    case.tell(started(), STEP)
    for at in range(300):
        case.tell(delta(f"word{at} "), first=at)
        await asyncio.sleep(0.001)
    case.tell(end(), completed())
    assert 2 <= len(case.widget.messages()) <= 20
    assert [m["n"] for m in case.widget.messages()] == list(range(len(case.widget.messages())))


async def test_the_end_is_sent_at_once() -> None:
    case = Case()
    case.tell(started(), STEP, delta("all of it"), end(), completed())
    assert "all of it" in str(case.widget.messages())
    assert case.widget.head["status"] == "completed"


async def test_a_question_is_state_with_all_a_page_needs() -> None:
    case = Case()
    case.tell(started(), STEP, asked("p1", preview="print(1)"))
    (question,) = case.widget.questions
    assert question["id"] == "p1"
    assert question["kind"] == "permission"
    assert 'data-tool-call-id="p1"' in question["html"]
    case.tell(resolved("p1"))
    assert case.widget.questions == []


@pytest.mark.parametrize(
    ("intent", "call"),
    [
        ({"action": "allow"}, ("p1", "allow", None, None)),
        ({"action": "allow-session"}, ("p1", "allow", "session", None)),
        ({"action": "deny", "feedback": "no"}, ("p1", "deny", None, "no")),
        ({"action": "deny", "feedback": ""}, ("p1", "deny", None, None)),
        ({"action": "answer", "text": "blue"}, ("p1", "blue")),
    ],
)
async def test_a_click_becomes_one_call_of_the_agent(
    intent: dict[str, str], call: tuple[Any, ...]
) -> None:
    case = Case()
    case.widget.deliver({"t": "answer", "id": "p1", **intent})
    assert case.agent.calls == [call]


@pytest.mark.parametrize(
    "message", [None, "x", {}, {"t": "answer"}, {"t": "nonsense"}, {"t": "answer", "action": 3}]
)
async def test_a_message_that_makes_no_sense_is_ignored(message: Any) -> None:
    case = Case()
    case.widget.deliver(message)
    assert case.agent.calls == []


async def test_a_click_on_another_thread_is_handed_over() -> None:
    case = Case()
    case.tell(started())
    thread = threading.Thread(target=lambda: case.widget.deliver({"t": "stop"}))
    thread.start()
    thread.join()
    assert case.agent.calls == [("abort", "stopped by the user")]


async def test_a_page_that_says_ready_can_answer_and_gets_the_story() -> None:
    case = Case(patience_s=5)
    case.tell(started(), STEP, delta("so far"))
    threading.Timer(0.02, case.ready).start()
    assert await case.view.can_answer()
    await case.until(lambda: any(m["t"] == "all" for m in case.widget.messages()))
    (whole,) = (m for m in case.widget.messages() if m["t"] == "all")
    assert whole["view"] == "page"
    assert "so far" in str(whole["ops"])


async def test_a_page_ready_before_the_run_gets_its_story_when_it_starts() -> None:
    case = Case()
    case.ready()
    assert await case.view.can_answer()
    case.tell(started(), completed())
    assert any(m["t"] == "all" for m in case.widget.messages())


async def test_without_a_sign_of_life_nobody_can_answer() -> None:
    assert not await Case().view.can_answer()


async def test_without_a_sign_of_life_the_prompt_asks() -> None:
    said = iter(["maybe", "s"])
    agent, shown = FakeAgent(), list[str]()
    prompter = Prompter(agent, Host(), read=lambda _: next(said), write=shown.append)
    case = Case(prompter=prompter)
    assert await case.view.can_answer()
    case.tell(started(), STEP, asked("p1", preview="rm -rf \u202e/"))
    await case.until(lambda: agent.calls)
    assert agent.calls == [("p1", "allow", "session", None)]
    assert "rm -rf ⟦U+202E⟧/" in shown[0]


@pytest.mark.parametrize(("said", "answer"), [("2", "blue"), ("green", "green")])
async def test_a_question_with_choices_is_answered_by_number_or_words(
    said: str, answer: str
) -> None:
    agent = FakeAgent()
    prompter = Prompter(agent, Host(), read=lambda _: said, write=lambda _: None)
    view = TextView(prompter=prompter, write=lambda _: None)
    question = {"tool_call_id": "q", "question": "Which?", "choices": ["red", "blue"]}
    for event in events(started(), ("ask_user.required", question)):
        view.on_event(event)
    await asyncio.sleep(0.01)
    assert agent.calls == [("q", answer)]


async def test_a_prompt_where_nobody_is_denies() -> None:
    def nobody(_: str) -> str:
        raise EOFError

    agent = FakeAgent()
    view = TextView(
        prompter=Prompter(agent, Host(), read=nobody, write=lambda _: None), write=lambda _: None
    )
    for event in events(started(), asked("p1")):
        view.on_event(event)
    await asyncio.sleep(0.01)
    assert agent.calls == [("p1", "deny", None, None)]


async def test_a_question_answered_elsewhere_takes_its_prompt_away() -> None:
    cancelled = asyncio.Event()

    class Waiting(Host):
        async def on_main(self, function: Callable[[], Any]) -> Any:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                cancelled.set()
                raise

    view = TextView(prompter=Prompter(FakeAgent(), Waiting()), write=lambda _: None)
    for event in events(started(), asked("p1")):
        view.on_event(event)
    await asyncio.sleep(0.01)
    for event in events(resolved("p1"), first=2):
        view.on_event(event)
    await asyncio.wait_for(cancelled.wait(), 1)


async def test_a_widget_that_cannot_be_updated_warns_once_and_the_run_goes_on() -> None:
    case = Case()

    def broken(_: Any) -> None:
        raise RuntimeError("no channel")

    case.widget.send = broken  # type: ignore[method-assign]
    case.tell(started(), STEP, delta("a"), end(), completed())
    case.tell(failed())
    (warning,) = case.agent.warnings
    assert warning.code == "transport_render_failed"
    case.view.close()
    assert "smn-run" in case.surface.bundle["text/html"]


async def test_retry_is_offered_until_it_is_taken() -> None:
    case = Case(patience_s=5)
    case.ready()
    case.tell(started(), failed())
    offer = asyncio.ensure_future(case.view.offer_retry(RETRYABLE, 5))
    await case.until(lambda: case.widget.questions)
    (question,) = case.widget.questions
    assert (question["kind"], question["seconds"]) == ("retry", 5)
    case.widget.deliver({"t": "answer", "id": "retry", "action": "retry"})
    assert await offer
    assert case.widget.questions == []


@pytest.mark.parametrize(
    "message", [{"t": "stop"}, {"t": "answer", "id": "retry", "action": "stop"}]
)
async def test_retry_can_be_turned_down(message: dict[str, str]) -> None:
    case = Case(patience_s=5)
    case.ready()
    case.tell(started(), failed())
    offer = asyncio.ensure_future(case.view.offer_retry(RETRYABLE, 5))
    await case.until(lambda: case.widget.questions)
    case.widget.deliver(message)
    assert not await offer


async def test_retry_is_not_offered_for_nothing() -> None:
    case = Case(patience_s=5)
    case.ready()
    case.tell(started(), failed())
    assert not await case.view.offer_retry(RETRYABLE, 0)
    assert not await case.view.offer_retry(error_info("provider_auth", "No key."), 5)
    assert not await case.view.offer_retry(RETRYABLE, 0.01)


async def test_retry_is_turned_down_at_once_where_nobody_is() -> None:
    assert not await asyncio.wait_for(Case().view.offer_retry(RETRYABLE, 30), 1)


async def test_closing_leaves_the_transcript_in_the_place_of_the_widget() -> None:
    case = Case()
    case.tell(started(), STEP, delta("hello"), end(), completed())
    case.view.close()
    assert case.surface.shown == [case.widget]
    assert set(case.surface.bundle) == {"text/html", "text/markdown", "text/plain"}
    assert case.widget.closed


async def test_a_page_that_was_reloaded_keeps_the_widget() -> None:
    case = Case()
    case.ready("before")
    case.ready("after")
    case.tell(started(), completed())
    case.view.close()
    assert case.widget.head["status"] == "completed"
    assert not case.widget.closed


async def test_text_view_prints_as_it_comes() -> None:
    printed = list[str]()
    view = TextView(write=printed.append)
    for event in events(started(), STEP, delta("Hel")):
        view.on_event(event)
    assert printed[-1] == "Hel"
    more = [delta("lo\x1b[31m"), end(), tool_started(), tool_completed(result="42"), warned()]
    for event in events(*more, completed(), first=3):
        view.on_event(event)
    text = "".join(printed)
    assert "Hello\n" in text
    assert "\x1b" not in text
    for words in ("● demo:analyst", "✓ read_file", "    42", "! The provider is busy.", "$0.0024"):
        assert words in text
