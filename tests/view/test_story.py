"""The fold: any events make a story, and the story says what the events said."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from smoke_monkey_nb.errors import error_info
from smoke_monkey_nb.events import EVENT_TYPES
from smoke_monkey_nb.notebook import transcript
from smoke_monkey_nb.notebook.blocks import (
    LIVE_LIMIT,
    ErrorBlock,
    LiveText,
    PermissionBlock,
    TextBlock,
    ThoughtBlock,
    ToolBlock,
)
from smoke_monkey_nb.notebook.board import Board
from smoke_monkey_nb.notebook.story import RunStory
from smoke_monkey_nb.usage import Usage

from .events import (
    asked,
    completed,
    delta,
    end,
    events,
    failed,
    resolved,
    started,
    story_of,
    tool_completed,
    tool_started,
    warned,
)
from .hostile import problems

STEP = ("step.started", {"step": 1})
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 5),
    st.text(max_size=20),
    st.lists(st.dictionaries(st.sampled_from(["status", "content", "data"]), st.text(max_size=5))),
    st.just(Usage(1, 2, 3)),
    st.just(error_info("tool_failed", "it failed")),
)
# fmt: off
FIELDS = st.sampled_from([
    "prompt", "model", "provider", "step", "text", "reason",
    "tool_call_id", "tool_name", "input", "summary", "result", "images",
    "error_info", "duration_ms", "blocked", "preview", "preview_kind", "decision",
    "by", "remember", "feedback", "question", "choices", "answer",
    "items", "before_tokens", "after_tokens", "attempt", "max_attempts", "delay_s",
    "usage", "cost_usd", "total_usage", "total_cost_usd", "retry_of",
])
# fmt: on
ANY_EVENTS = st.lists(
    st.tuples(st.sampled_from(sorted(EVENT_TYPES)), st.dictionaries(FIELDS, VALUES, max_size=6)),
    max_size=30,
)


@given(ANY_EVENTS)
def test_any_events_in_any_order_make_a_story_and_a_safe_transcript(
    specs: list[tuple[str, dict[str, Any]]],
) -> None:
    story = RunStory()
    board = Board(story)
    for event in events(*specs):
        board.touch(story.apply(event))
        board.flush()
    board.snapshot()
    story.settle()
    assert story.questions() == []
    bundle = transcript.bundle(story)
    assert problems(bundle["text/html"]) == []


@given(st.lists(st.text(max_size=30), min_size=1, max_size=20))
def test_the_deltas_of_a_step_are_its_text(parts: list[str]) -> None:
    story = story_of(started(), STEP, *(delta(part) for part in parts), end("".join(parts)))
    assert [b.text for b in story.blocks if isinstance(b, TextBlock)] == ["".join(parts)]


def test_a_reset_voids_what_the_step_had_streamed_and_nothing_before() -> None:
    story = story_of(
        started(),
        STEP,
        delta("kept"),
        end(),
        STEP,
        delta("lost"),
        ("text.reset", {"reason": "x"}),
        delta("said"),
        end(),
    )
    assert story.text == "kept\n\nsaid"


def test_thoughts_are_never_part_of_the_answer() -> None:
    story = story_of(started(), STEP, ("text.thought", {"text": "hm"}), delta("yes"), end())
    assert story.text == "yes"
    assert [b.live.tail() for b in story.blocks if isinstance(b, ThoughtBlock)] == ["hm"]


def test_a_question_makes_the_run_wait_until_it_is_answered() -> None:
    story = story_of(started(), STEP, asked())
    assert story.status == "waiting"
    for event in events(resolved(remember="session"), first=9):
        story.apply(event)
    assert story.status == "running"
    (block,) = (b for b in story.blocks if isinstance(b, PermissionBlock))
    assert (block.decision, block.by, block.remember) == ("allow", "user", "session")


def test_a_decision_without_a_question_is_told_on_the_tool() -> None:
    story = story_of(started(), STEP, resolved(by="rule"), tool_started())
    (tool,) = (b for b in story.blocks if isinstance(b, ToolBlock))
    assert tool.decision == "Allowed by a rule"


def test_a_run_that_breaks_off_is_interrupted_and_leaves_nothing_open() -> None:
    story = story_of(started(), STEP, delta("half"), tool_started(), asked("c2"))
    story.settle()
    assert story.status == "interrupted"
    assert [b.status for b in story.blocks if isinstance(b, ToolBlock)] == ["failed"]
    assert story.questions() == []


def test_a_retried_run_goes_on_in_the_same_story() -> None:
    spent = ("step.ended", {"step": 1, "total_usage": Usage(10, 5, 15), "total_cost_usd": 0.5})
    story = story_of(started(), STEP, spent, failed())
    assert story.status == "failed"
    again = [started(retry_of="run_1"), STEP, delta("done"), end(), completed(cost_usd=0.25)]
    for event in events(*again, first=9, run_id="run_2"):
        story.apply(event)
    assert story.status == "completed"
    assert story.error is None
    assert [b.is_retried for b in story.blocks if isinstance(b, ErrorBlock)] == [True]
    assert story.totals.tokens == 15 + 2434
    assert story.totals.cost_usd == 0.75


def test_an_unknown_price_is_unknown_not_free() -> None:
    story = story_of(started(), completed(cost_usd=None))
    assert story.totals.cost_usd is None
    assert "price unknown" in transcript.text(story)


def test_live_text_keeps_its_end_and_counts_all() -> None:
    live = LiveText()
    for number in range(20_000):
        live.append(f"{number:05d}")
    assert live.total == 100_000
    assert len(live.tail()) == LIVE_LIMIT
    assert live.tail().endswith("1999819999")
    assert live.since(live.total - 5) == "19999"


def board_text(specs: list[Any], every: int) -> tuple[list[Any], list[Any]]:
    """Operations while it streams, and the snapshot at the end."""
    story = RunStory()
    board, sent = Board(story), []
    for at, event in enumerate(events(*specs)):
        board.touch(story.apply(event))
        if at % every == 0:
            sent += board.flush()
    return sent + board.flush(), board.snapshot()


def test_a_flush_sends_what_is_new_and_only_that() -> None:
    specs = [started(), STEP, *(delta("word ") for _ in range(200)), end()]
    sent, _ = board_text(specs, every=1)
    assert sent[0][0] == "put"
    assert {op[0] for op in sent[2:]} == {"add"}
    assert sum(len(op[3]) for op in sent if op[0] == "add") < 5 * 200


def test_a_snapshot_shows_what_the_flushes_showed() -> None:
    specs = [started(), STEP, delta("# One\n\ntwo"), end(), tool_started(), tool_completed()]
    specs += [warned(), completed()]
    sent, whole = board_text(specs, every=100)
    assert [op[:4] for op in whole if op[0] != "toast"] == [op for op in sent if op[0] != "toast"]


def test_open_questions_are_state_not_operations() -> None:
    sent, whole = board_text([started(), STEP, asked()], every=1)
    assert sent == whole == []


def test_a_tool_that_prints_without_end_is_sent_with_gaps() -> None:
    specs = [started(), STEP, tool_started()]
    specs += [("tool.output", {"tool_call_id": "c1", "text": "x" * 1000}) for _ in range(1000)]
    sent, _ = board_text(specs, every=100)
    assert sum(len(op[2]) for op in sent if op[0] == "live") < 50_000
