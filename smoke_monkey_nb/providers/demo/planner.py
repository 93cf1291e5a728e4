"""What to do next: a plan is a generator that yields tool calls and is sent their outcomes.

The server keeps nothing between requests, so each request runs the plan from its start: the rounds
that the conversation holds already are sent in, and the first step beyond them is the reply. A plan
must therefore depend on nothing but the messages, the offered tools and those outcomes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from . import phrasing
from .errands import paths, read_errand, take_code
from .inquiry import DATA_FILE, Inquiry
from .lexicon import any_of, says
from .steps import Steps, Work
from .turn import read_turn
from .wire import DemoRequest, Reply

_VERBS = any_of(
    "plot", "draw", "chart", "visuali[sz]e", "write", "save", "read", "open", "show", "list",
    "tell", "run", "give", "find", "make", "create", "delete", "search", "grep", "load", "describe",
    "summari[sz]e", "correlate", "ask",
)  # fmt: skip
_CLAUSE_END = re.compile(
    rf"(?<=[.!?;])\s+|\n+|[,;]?\s*\b(?:and\s+)?then\b\s*|,?\s+and\s+(?:also\s+)?(?={_VERBS}\b)",
    re.I,
)
_GREETINGS = any_of(
    "hi", "hello", "hey", "hallo", "good (?:morning|day|evening)", "thanks?", "help",
    "who are you", "what are you", "what can you do", "how do(?:es)? (?:you|this) work",
    "what is this",
)  # fmt: skip
_GREETING = re.compile(rf"^\W*{_GREETINGS}\b[^.]{{0,40}}$", re.I)
_HICCUP = re.compile(r"\W*hiccups?\W*(?:please\W*)?", re.I)
_WRITE = r"(?:write|save|create|make|put|export)\b"
_RESULTS = r"(?:report|findings|results?|summary|it|this|them|answer)"
_LOAD = r"load|import|read in|read|open"
_TODO = r"to-?do list|make a plan|step by step|plan the work"


def next_reply(request: DemoRequest) -> Reply:
    """The answer to a request: the next step of the plan, or its closing words."""
    turn = read_turn(request.messages)
    plan = _plan(Work(turn, request.tools))
    try:
        reply = next(plan)
        for outcomes in turn.rounds:
            reply = plan.send(outcomes)
    except StopIteration as end:
        return Reply(text=end.value)
    return reply


def split(prompt: str) -> list[str]:
    """The clauses of a prompt, each of which asks for one thing."""
    return [c.strip() for c in _CLAUSE_END.split(prompt) if c and re.search(r"\w", c)]


def _plan(work: Work) -> Steps[str]:
    text, code = take_code(work.turn.prompt)
    if _GREETING.match(text) and not code:
        return phrasing.HELLO
    if _HICCUP.fullmatch(text):
        return phrasing.HICCUP
    clauses = split(text)
    todos = _todos(work, clauses) if says(_TODO, text) else []
    if todos:
        yield from work.use("todo_write", {"items": todos}, "I note what there is to do.")
    for errand in code:
        yield from work.quote(errand)
    if not code or clauses[1:]:
        yield from _clauses(work, clauses)
    if todos and "status" in todos[0]:
        done = [{**item, "status": "completed"} for item in todos]
        yield from work.use("todo_write", {"items": done}, "That was the list.")
    return _closing(work)


def _clauses(work: Work, clauses: Sequence[str]) -> Steps[None]:
    earlier = [clause for prompt in work.turn.earlier for clause in split(prompt)]
    inquiry = Inquiry(work, earlier)
    reports: list[str] = []
    questions: list[str] = []
    for clause in clauses:
        errand = read_errand(clause, work.tools)
        data = [p for p in paths(clause) if DATA_FILE.search(p)]
        if data and says(_LOAD, clause) and "run_python" in work.tools:
            yield from inquiry.questions(questions)
            yield from inquiry.load(data[0])
        elif errand is not None:
            yield from inquiry.questions(questions)
            yield from work.quote(errand)
        elif _wants_report(clause):
            reports.append(clause)
        else:
            questions.append(clause)
    yield from inquiry.questions(questions)
    for clause in reports:
        yield from inquiry.report(next(iter(paths(clause)), "report.md"))


def _wants_report(clause: str) -> bool:
    if says("report", clause):
        return True
    return bool(paths(clause)) and says(rf"{_WRITE}.*\b{_RESULTS}", clause)


def _todos(work: Work, clauses: Sequence[str]) -> list[Any]:
    """The clauses as items for ``todo_write``, in the form that its schema asks for."""
    properties = work.tools.get("todo_write", {}).get("properties") or {}
    if "items" not in properties:
        return []
    texts = [re.sub(rf"^.*?(?:{_TODO})\W*", "", c, flags=re.I).rstrip(".?! ") for c in clauses]
    texts = [text for text in texts if text]
    fields = (properties["items"].get("items") or {}).get("properties")
    if not fields:
        return list(texts)
    key = next((k for k in ("content", "text", "title", "task") if k in fields), "content")
    more = {"status": "pending"} if "status" in fields else {}
    return [{key: text, **more} for text in texts]


def _closing(work: Work) -> str:
    if not work.parts:
        work.say(phrasing.no_rule(None, ("What can you do?",)))
    footnote = phrasing.FOOTNOTE_ON_DATA if work.findings else phrasing.FOOTNOTE
    return "\n\n".join([*work.parts, footnote])
