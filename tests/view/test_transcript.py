"""The finished cell: safe in every form, complete, bounded."""

from __future__ import annotations

import mistune
import pytest
from markdown_it import MarkdownIt

from smoke_monkey_nb.errors import error_info
from smoke_monkey_nb.notebook import transcript

from .events import (
    asked,
    completed,
    delta,
    end,
    failed,
    resolved,
    started,
    story_of,
    tool_completed,
    tool_started,
    warned,
)
from .hostile import PAYLOADS, marked, problems, tags

STEP = ("step.started", {"step": 1})


def everywhere(text: str) -> transcript.RunStory:
    """A story that says ``text`` in every place where a model, a tool or a user can."""
    return story_of(
        started(prompt=text, model=text, provider=text, model_reason=text),
        STEP,
        ("text.thought", {"text": text}),
        delta(text),
        delta(f"\n\n- {text}\n\n```{text}\n{text}\n```\n{text}"),
        end(),
        ("todo.updated", {"items": [{"content": text, "status": text}]}),
        asked("a", tool_name=text, preview=text, preview_kind="diff", reason=text, summary=text),
        resolved("a", decision="deny", feedback=text),
        asked("b", preview=text, preview_kind=text),
        resolved("b", by=text, remember=text),
        ("ask_user.required", {"tool_call_id": text, "question": text, "choices": [text]}),
        ("ask_user.response", {"tool_call_id": text, "answer": text}),
        tool_started(text, text, input={text: text, "code": text}, summary=text),
        ("tool.output", {"tool_call_id": text, "text": text}),
        tool_completed(text, text, result=text, images=[{"media_type": text, "data": text}]),
        tool_started("run_python", "c", input={"code": text}),
        ("tool.failed", {"tool_call_id": "c", "error_info": error_info("tool_failed", text)}),
        warned(message=text),
        ("compaction.completed", {"before_tokens": text, "after_tokens": text}),
        failed(message=text),
    )


@pytest.mark.parametrize("payload", PAYLOADS)
def test_nothing_acts_in_the_html(payload: str) -> None:
    assert problems(transcript.html(everywhere(payload))) == []


@pytest.mark.parametrize("payload", PAYLOADS)
def test_nothing_acts_in_the_markdown_whoever_renders_it(payload: str) -> None:
    source = transcript.markdown(everywhere(payload))
    for html in (
        MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(source),
        str(mistune.create_markdown(escape=False, plugins=["table", "strikethrough"])(source)),
    ):
        found = [p for p in problems(html) if "<code class=" not in p]  # the fence's language
        assert found == []


@pytest.mark.parametrize("payload", PAYLOADS)
def test_a_terminal_gets_no_control_characters(payload: str) -> None:
    text = transcript.text(everywhere(payload))
    assert not [c for c in text if ord(c) < 32 and c not in "\n\t"]
    assert "\x1b" not in text
    text.encode("utf-8")


def test_it_has_the_marks_and_no_buttons() -> None:
    html = transcript.html(
        story_of(
            started(),
            STEP,
            delta("hello"),
            end(),
            asked("p1"),
            resolved("p1"),
            tool_started("run_python", "p1"),
            tool_completed("run_python", "p1"),
            ("ask_user.required", {"tool_call_id": "q", "question": "Which?", "choices": []}),
            ("ask_user.response", {"tool_call_id": "q", "answer": "that"}),
            warned(),
            ("step.ended", {"step": 1, "total_cost_usd": 0.5}),
            failed(),
        )
    )
    assert marked(html, "smn-run", status="failed")
    assert marked(html, "smn-text")
    assert marked(html, "smn-tool", tool="run_python", status="completed")
    assert marked(html, "smn-permission", tool_call_id="p1")
    assert marked(html, "smn-ask")
    assert marked(html, "smn-toast", severity="warning", code="provider_rate_limited")
    assert marked(html, "smn-error", code="provider_unavailable")
    assert marked(html, "smn-cost")
    assert "button" not in {tag for tag, _ in tags(html)}


def test_it_says_who_allowed_what_and_what_it_took() -> None:
    story = story_of(
        started(model_reason="No key was found."),
        STEP,
        asked("p1", summary="2 lines"),
        resolved("p1", remember="session"),
        tool_started("run_python", "p1"),
        tool_completed("run_python", "p1", result="42"),
        delta("It is **42**."),
        end(),
        completed(),
    )
    for form in transcript.bundle(story).values():
        for words in ("demo:analyst", "Completed", "1 step", "8.0 s", "2,434 tokens", "$0.0024"):
            assert words in form
        assert "Allowed by you for this session" in form
        assert "42" in form


def test_it_needs_no_style_sheet_and_no_variables() -> None:
    html = transcript.html(everywhere("x"))
    assert "<style" not in html
    assert "var(" not in html
    assert marked(html, "smn-run")[0]["style"]


@pytest.mark.parametrize(
    "text",
    [
        "word and word " * 2_860,
        "A **bold** word, `code`, and more of it, as models write.\n\n" * 660,
        "Text.\n\n```python\ndef f(x, y=1):\n    return 'text' + str(x)  # why\n```\n" * 560,
        "| a | b |\n|---|---|\n" + "| some words | `code` |\n" * 1_600,
    ],
    ids=["prose", "markup", "code", "table"],
)
def test_an_answer_of_5000_tokens_takes_less_than_300_kb(text: str) -> None:
    assert 38_000 < len(text) < 42_000
    bundle = transcript.bundle(story_of(started(), STEP, delta(text), end(), completed()))
    assert len(bundle["text/html"].encode()) < 300_000


def test_endless_results_and_answers_are_cut_and_say_so() -> None:
    specs = [started(), STEP]
    for number in range(20):
        specs += [tool_started(call_id=f"c{number}", input={"code": "x" * 50_000})]
        specs += [tool_completed(call_id=f"c{number}", result="y" * 50_000)]
    specs += [delta("z" * 2_000_000), end(), completed()]
    html = transcript.html(story_of(*specs))
    assert len(html) < 800_000
    assert "characters left out" in html


def test_pictures_are_shown_up_to_a_limit() -> None:
    small = {"media_type": "image/png", "data": "iVBORw0KGgo="}
    large = {"media_type": "image/png", "data": "A" * 3_000_000}
    story = story_of(
        started(), STEP, tool_started(), tool_completed(images=[small, large]), completed()
    )
    html = transcript.html(story)
    assert html.count("<img") <= 1
    assert "not shown here" in html
    assert len(html) < 100_000


def test_code_in_the_markdown_stays_as_it_was_written() -> None:
    code = "if a < b and c & d:\n    print('`')"
    story = story_of(started(), STEP, delta(f"So:\n\n```python\n{code}\n```\n\nA < B"), end())
    source = transcript.markdown(story)
    assert f"```python\n{code}\n```" in source
    assert "A &lt; B" in source
