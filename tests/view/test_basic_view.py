"""The run in core widgets: the same marks, buttons that answer, and a wire that does not grow."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from smoke_monkey_nb.errors import error_info
from smoke_monkey_nb.notebook.basic_view import BasicView

from .events import (
    asked,
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
from .page import FakeAgent, FakeSurface

STEP = ("step.started", {"step": 1})
RETRYABLE = error_info("provider_unavailable", "It cannot be reached.")


class TestBasicView:
    """The same run in core widgets."""

    @pytest.fixture
    def case(self) -> SimpleNamespace:
        agent, surface = FakeAgent(), FakeSurface()
        view = BasicView(agent, surface)
        view.open()
        return SimpleNamespace(agent=agent, surface=surface, view=view)

    def html(self, widget: Any) -> str:
        own = getattr(widget, "value", "") or ""
        return str(own) + "".join(self.html(child) for child in getattr(widget, "children", ()))

    def buttons(self, widget: Any) -> dict[str, Any]:
        found = {c: widget for c in getattr(widget, "_dom_classes", ()) if hasattr(widget, "click")}
        for child in getattr(widget, "children", ()):
            found |= self.buttons(child)
        return found

    async def test_it_shows_the_marks(self, case: SimpleNamespace) -> None:
        specs = [started(), STEP, delta("hello **you**"), end(), tool_started(), tool_completed()]
        for event in events(*specs, warned(), failed()):
            case.view.on_event(event)
        html = self.html(case.surface.shown[0])
        for mark in ("smn-run", "smn-text", "smn-tool", "smn-toast", "smn-error"):
            assert f'class="{mark}' in html
        assert "<strong>you</strong>" in html

    async def test_its_buttons_answer(self, case: SimpleNamespace) -> None:
        for event in events(started(), STEP, asked("p1")):
            case.view.on_event(event)
        self.buttons(case.surface.shown[0])["smn-allow-session"].click()
        self.buttons(case.surface.shown[0])["smn-stop"].click()
        assert case.agent.calls == [
            ("p1", "allow", "session", None),
            ("abort", "stopped by the user"),
        ]

    async def test_a_question_goes_when_it_is_answered(self, case: SimpleNamespace) -> None:
        for event in events(started(), STEP, asked("p1"), resolved("p1")):
            case.view.on_event(event)
        root = case.surface.shown[0]
        assert "smn-allow" not in self.buttons(root)
        assert "Allowed by you" in self.html(root)

    async def test_a_long_answer_is_spread_over_widgets_sent_once(
        self, case: SimpleNamespace
    ) -> None:
        changes = list[int]()
        for event in events(started(), STEP):
            case.view.on_event(event)
        for at in range(100):
            for event in events(delta("A paragraph of words. " * 20 + "\n\n"), first=at):
                case.view.on_event(event)
            case.view._flush()
            body = case.view._body.children
            if at == 50:
                for widget in body[:-1]:
                    widget.observe(lambda change: changes.append(1), "value")
        assert len(body) > 8
        assert len(changes) <= 1

    async def test_retry(self, case: SimpleNamespace) -> None:
        for event in events(started(), failed()):
            case.view.on_event(event)
        offer = asyncio.ensure_future(case.view.offer_retry(RETRYABLE, 5))
        await asyncio.sleep(0.01)
        self.buttons(case.surface.shown[0])["smn-retry"].click()
        assert await offer
