"""``view.js`` in a real browser, without Jupyter: clicks, keys, reloads, toasts, hostile text."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from smoke_monkey_nb.errors import error_info
from smoke_monkey_nb.notebook.handshake import Handshake
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
    tool_started,
    warned,
)
from .hostile import PAYLOADS
from .page import ARGS, CHROMIUM, FakeAgent, FakeSurface, FakeWidget, Page

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not Path(CHROMIUM).exists(), reason="needs Chromium"),
]
STEP = ("step.started", {"step": 1})


class Case:
    """A view and the page that shows it."""

    def __init__(self, page: Any) -> None:
        self.agent, self.surface, self.widget = FakeAgent(), FakeSurface(), FakeWidget()
        self.view = WidgetView(
            self.agent,
            self.surface,
            make_widget=lambda: self.widget,
            handshake=Handshake(patience_s=1),
        )
        self.view.open()
        self.page, self.browser = page, Page(page, self.widget)
        self._count = 0

    async def tell(self, *specs: Any) -> None:
        for event in events(*specs, first=self._count):
            self.view.on_event(event)
        self._count += len(specs)
        self.view._flush()
        await self.browser.sync()

    async def text(self, selector: str) -> str:
        return str(await self.page.inner_text(selector))

    async def count(self, selector: str) -> int:
        return int(await self.page.locator(selector).count())


@pytest.fixture
async def case() -> AsyncIterator[Case]:
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=ARGS)
        one = Case(await browser.new_page())
        await one.browser.expose()
        await one.browser.open()
        yield one
        await browser.close()


async def test_a_run_is_drawn_with_its_marks(case: Case) -> None:
    await case.tell(started(), STEP, delta("Hello **you**,\n\n| a |\n|---|\n| 1 |\n\nbye"))
    assert await case.count('.smn-run[data-status="running"]') == 1
    assert await case.text(".smn-text strong") == "you"
    await case.tell(delta(" and thanks"), end(), tool_started())
    assert (await case.text(".smn-text")).endswith("bye and thanks")
    assert await case.count('.smn-tool[data-tool="read_file"][data-status="running"]') == 1
    assert await case.count('button[data-action="stop"]') == 1
    await case.tell(completed())
    assert await case.count('.smn-run[data-status="completed"]') == 1
    assert await case.text(".smn-cost") == "$0.0024"
    assert await case.count("button") == 0


async def test_a_double_click_answers_once_and_spares_the_next_question(case: Case) -> None:
    await case.tell(started(), STEP, asked("p1"), asked("p2"))
    button = case.page.locator('[data-tool-call-id="p1"] button[data-action="allow"]')
    await button.dblclick(no_wait_after=True)
    assert case.agent.calls == [("p1", "allow", None, None)]
    assert await button.is_disabled()
    await case.tell(resolved("p1"))
    assert await case.count('[data-tool-call-id="p1"] button') == 0
    assert "Allowed by you" in await case.text('[data-tool-call-id="p1"]')


async def test_keys_answer_only_where_the_focus_is(case: Case) -> None:
    await case.tell(started(), STEP, asked("p1"), asked("p2"), asked("p3"))
    await case.page.keyboard.press("a")
    assert case.agent.calls == []
    for call_id, key in (("p1", "a"), ("p2", "d"), ("p3", "Escape")):
        await case.page.locator(f'[data-tool-call-id="{call_id}"]').focus()
        await case.page.wait_for_timeout(450)  # a question that took the focus is not yet armed
        await case.page.keyboard.press(key)
    assert [call[:2] for call in case.agent.calls] == [
        ("p1", "allow"),
        ("p2", "deny"),
        ("p3", "deny"),
    ]


async def test_a_denial_takes_its_reason_along(case: Case) -> None:
    await case.tell(started(), STEP, asked("p1"))
    await case.page.fill(".smn-permission input", "use the copy: a, d")
    await case.page.keyboard.press("Enter")
    assert case.agent.calls == [("p1", "deny", None, "use the copy: a, d")]


async def test_a_question_of_the_agent_takes_a_choice_or_words(case: Case) -> None:
    await case.tell(started(), STEP)
    for call_id in ("q1", "q2"):
        question = {"tool_call_id": call_id, "question": "Which?", "choices": ["red", "blue"]}
        await case.tell(("ask_user.required", question))
    await case.page.locator(".smn-ask").nth(0).get_by_text("blue").click()
    await case.page.locator(".smn-ask input").nth(1).fill("green")
    await case.page.locator(".smn-ask").nth(1).locator('[data-action="answer"]').click()
    assert case.agent.calls == [("q1", "blue"), ("q2", "green")]


async def test_stop_is_sent_once(case: Case) -> None:
    await case.tell(started(), STEP)
    await case.page.click('button[data-action="stop"]')
    assert await case.page.locator('button[data-action="stop"]').is_disabled()
    assert case.agent.calls == [("abort", "stopped by the user")]


async def test_a_reloaded_page_shows_the_story_and_the_question_again(case: Case) -> None:
    await case.tell(started(), STEP, delta("one\n\ntwo"), warned(), asked("p1"))
    before = await case.text(".smn-text")
    await case.browser.open()
    assert await case.text(".smn-text") == before
    assert await case.count(".smn-toast") == 1
    await case.page.click('[data-tool-call-id="p1"] button[data-action="allow"]')
    assert case.agent.calls == [("p1", "allow", None, None)]
    await case.tell(resolved("p1"), delta("three"))
    assert "three" in await case.text(".smn-run")


async def test_a_lost_message_is_made_good(case: Case) -> None:
    await case.tell(started(), STEP, delta("one "))
    for event in events(delta("lost "), first=5):
        case.view.on_event(event)
    case.view._flush()
    case.browser._sent = len(case.widget.updates)  # the page never hears of it
    await case.tell(delta("three"))
    assert await case.text(".smn-text") == "one lost three"


async def test_toasts_stack_and_when_dismissed_stay_folded(case: Case) -> None:
    await case.tell(started(), STEP, warned(), warned("hook_failed", "A hook failed."))
    assert await case.count(".smn-toasts .smn-toast") == 2
    await case.page.locator('.smn-toast button[data-action="dismiss"]').first.click()
    assert await case.count(".smn-toasts .smn-toast") == 1
    assert await case.count('.smn-notices .smn-toast[data-code="provider_rate_limited"]') == 1
    assert await case.text(".smn-notices summary") == "1 notice"


async def test_retry_is_offered_on_the_error_card_and_goes_with_the_answer(case: Case) -> None:
    await case.tell(started(), STEP, failed())
    assert await case.count(".smn-error button") == 0
    offer = asyncio.ensure_future(
        case.view.offer_retry(error_info("provider_unavailable", "It cannot be reached."), 20)
    )
    await asyncio.sleep(0.05)
    await case.browser.sync()
    retry = '.smn-error[data-code="provider_unavailable"] button[data-action="retry"]'
    await case.page.click(retry)
    assert await offer
    await case.tell(started(retry_of="run_1"), STEP, delta("done"), end(), completed())
    assert await case.count(".smn-error") == 0
    assert await case.count("button[data-action='retry']") == 0


async def test_nothing_hostile_acts_in_a_real_browser(case: Case) -> None:
    requests = list[str]()
    case.page.on("request", lambda request: requests.append(request.url))
    await case.tell(started(model_reason="<img src=x onerror=hits++>"), STEP)
    for at, payload in enumerate(PAYLOADS):
        await case.tell(
            ("step.started", {"step": at}),
            delta(payload[: len(payload) // 2]),
            delta(payload[len(payload) // 2 :]),
            end(),
            tool_started(payload, f"t{at}", input={"code": payload}, summary=payload),
            ("tool.output", {"tool_call_id": f"t{at}", "text": payload}),
            warned(message=payload),
            asked(f"p{at}", tool_name=payload, preview=payload, reason=payload),
        )
    await case.page.wait_for_timeout(200)
    assert await case.page.evaluate("window.hits") == 0
    assert await case.count("#cell :is(script, style, iframe, form, svg, object, embed, link)") == 0
    assert [url for url in requests if "evil" in url] == []
    assert await case.count('#cell [data-action="allow"]') == len(PAYLOADS)
