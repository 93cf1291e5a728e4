"""What a person sees and clicks in a running ``%%agent`` cell."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.kernels import VERSIONS
from tests.lab import Lab, Page

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180)]

SETUP = """
%load_ext smoke_monkey_nb
from smoke_monkey_nb import RetryPolicy, tool
from smoke_monkey_nb.errors import error_info
from smoke_monkey_nb.testing import ScriptedProvider, calls
done = []
@tool
def change(name: str) -> str:
    "Change something."
    done.append(name)
    return f"changed {name}"
def script(*replies):
    return ScriptedProvider(list(replies))
def reply(request):
    asked = [m["content"] for m in request.messages if m["role"] == "user"][-1]
    answered = request.messages[-1]["role"] == "tool"
    return f"Finished with **{asked}**." if answered else calls(("change", {"name": asked}))
ask = script(*[reply] * 20)
%agent_config model=ask tools=change
"""
HICCUP = """
busy = error_info("provider_rate_limited", "The provider is busy.")
hiccup = script(busy, "It went on after a hiccup.")
quick = RetryPolicy(initial_delay_s=0.4)
%agent_config model=hiccup retry=quick
"""
AGENT = "%%agent --new\nthe {}"
BAD_KEY = "%%agent --new -m openai:gpt-5-mini\nHello."

PLACES = [("lab", v) for v in VERSIONS] + [("notebook", VERSIONS[-1])]


@pytest.fixture(params=PLACES, ids=lambda p: f"{p[0]}-{p[1]}", scope="module")
def page(lab: Lab, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A notebook with all scenes; each test runs its own cells."""
    app, version = request.param
    cells = [
        SETUP, AGENT.format("first"), AGENT.format("second"), AGENT.format("third"),
        "print('next cell', done)", HICCUP, AGENT.format("fourth"), BAD_KEY, "1 + 1",
    ]  # fmt: skip
    name = f"cell-{app}-{version}.ipynb"
    opened = lab.open(name, cells, kernel=f"ipykernel-{version}", app=app)
    opened.run(0)
    opened.errors.clear()  # Notebook 7 has some of its own while it starts
    yield opened
    opened.close()


def test_allow_runs_the_tool_while_the_cell_runs(page: Page) -> None:
    page.start(1)
    page.click(1, ".smn-permission button[data-action=allow]")
    assert "Finished with the first." in page.done(1)
    page.output(1).locator('.smn-run[data-status="completed"]').wait_for()
    assert page.output(1).locator('.smn-tool[data-tool="change"][data-status]').count() == 1
    assert page.output(1).locator("button").count() == 0


def test_deny_does_not_run_it(page: Page) -> None:
    page.start(2)
    page.click(2, ".smn-permission button[data-action=deny]")
    page.done(2)
    assert "changed" not in page.text(2)
    assert page.run(4).strip() == "next cell ['the first']"


def test_interrupting_while_it_asks_ends_the_cell(page: Page) -> None:
    page.start(3)
    page.see(3, ".smn-permission button[data-action=allow]")
    page.interrupt()
    page.done(3, timeout_s=5)
    page.output(3).locator('.smn-run[data-status="interrupted"]').wait_for()
    assert "next cell" in page.run(4)


def test_a_hiccup_shows_a_toast_and_the_run_goes_on(page: Page) -> None:
    page.run(5)
    page.start(6)
    page.see(6, '.smn-toast[data-code="provider_rate_limited"]')
    assert "It went on after a hiccup." in page.done(6)


def test_a_missing_key_shows_an_error_card_and_stops_the_cell(page: Page) -> None:
    page.start(7)
    text = page.done(7)
    assert "OPENAI_API_KEY" in text
    page.output(7).locator('.smn-error[data-code="provider_auth"]').wait_for()
    assert "AgentError" in text
    assert page.run(8).strip().endswith("2")


def test_the_saved_notebook_holds_the_transcript(page: Page) -> None:
    outputs = page.saved().cells[1].outputs
    kinds = [set(o.data) for o in outputs if o.output_type == "display_data"]
    assert {"text/html", "text/markdown", "text/plain"} in kinds
    assert not any("widget-view" in key for kind in kinds for key in kind)
    assert page.errors == []
