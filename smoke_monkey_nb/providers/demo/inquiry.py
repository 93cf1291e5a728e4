"""Questions about data: find the table that is meant, look at it, work the answers out, write them
down.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from . import phrasing
from .asks import Ask, default_ask, main_number, read_ask, wants_chart, with_chart
from .codegen import identifier, read_csv, snippet
from .errands import Errand, paths
from .frames import Frame, Variable, read_frame, read_variables
from .lexicon import says
from .match import mentions, nearest
from .steps import Steps, Work
from .tables import markdown_table, read_figures, read_table
from .turn import Outcome
from .wire import Call

DATA_FILE = re.compile(r"\.(?:csv|tsv|parquet)$", re.I)
_ASK_ME = r"ask me|let me (?:choose|pick|decide)|i(?:'ll| will) choose"
_AGAIN = r"it|that|this|them|those|again|same|now|instead|as an?"
_INSPECT = (
    r"\b(?:what is|what's|show(?: me)?|describe|inspect|print|value of|look at)"
    r"\s+(?:in\s+|the value of\s+)?`?{}`?\W*$"
)
#: Names that the demo gives to its results; such a table is rarely the one that is asked about.
_RESULT_NAME = re.compile(
    r"^(?:mean|median|std|total|max|min|rows|highest|lowest)_"
    r"|_(?:summary|missing|complete|correlation|statistics)$"
)
#: A result never takes the name of one of these.
_FIXED_TYPES = ("module", "function", "type", "class")


@dataclass
class Inquiry:
    """The data questions of one turn. ``earlier`` are the clauses of the prompts before it."""

    work: Work
    earlier: Sequence[str] = ()
    variables: list[Variable] | None = None
    frame: Frame | None = None
    asked: list[Ask] = field(default_factory=list)

    def load(self, path: str) -> Steps[None]:
        """Read a data file into a table named after it."""
        name = identifier(re.sub(r"\.\w+$", "", path.rsplit("/", 1)[-1]))
        code = read_csv(path, name).code
        say = f"I load `{path}` into `{name}`."
        outcome = yield from self.work.use("run_python", {"code": code}, say)
        table = read_table(outcome.text)
        if outcome.error or table is None:
            self.work.say(phrasing.failed(outcome, f"load {path}"))
            return
        self.variables = self.frame = None  # what is known of the notebook is out of date
        self.work.say(f"`{path}` is loaded into `{name}`; it begins:\n\n{markdown_table(table)}")

    def questions(self, clauses: list[str]) -> Steps[None]:
        """Answer the questions collected so far, and empty the list."""
        if not clauses:
            return
        waiting, clauses[:] = list(clauses), []
        frame = yield from self._find_frame(" ".join(waiting))
        if frame is None:
            return
        asks = yield from self._read_asks(waiting, frame)
        for ask in asks:
            yield from self._answer(ask, frame)

    def report(self, path: str) -> Steps[None]:
        """Write a report of what was found; without anything found, find the usual things first."""
        frame = yield from self._find_frame(self.work.turn.prompt)
        if frame is None:
            return
        if not self.work.findings:
            for ask in filter(None, (Ask("summary"), default_ask(frame), Ask("missing"))):
                yield from self._answer(ask, frame)
        if not self.work.findings:
            self.work.say("Without results there is nothing to write a report from.")
            return
        content = phrasing.report(frame, self.work.findings)
        write = Call("write_file", {"path": path, "content": content})
        outcome = yield from self.work.run(Errand(write, f"write the report to {path}"))
        if outcome is not None:
            self.work.say(f"The report is in `{path}`.")

    # -- the table ----------------------------------------------------------------------------

    def _find_frame(self, text: str) -> Steps[Frame | None]:
        """Look for the table that is meant; says what is missing when there is none."""
        if self.frame is not None:
            return self.frame
        if "list_variables" not in self.work.tools or "inspect_variable" not in self.work.tools:
            self.work.say(phrasing.lack_of_tools(self.work.tools))
            return None
        if self.variables is None:
            say = "I look at what is in the notebook."
            outcome = yield from self.work.use("list_variables", {}, say)
            if outcome.error:
                self.work.say(phrasing.failed(outcome, "list the variables"))
                return None
            self.variables = read_variables(outcome.text)
        chosen = _choose(text, self.variables)
        if chosen is None:
            yield from self._explain_loading()
        elif chosen.is_frame:
            self.frame = yield from self._inspect(chosen)
        else:
            look = Call("inspect_variable", {"name": chosen.name})
            yield from self.work.quote(Errand(look, f"inspect `{chosen.name}`"))
        return self.frame

    def _inspect(self, variable: Variable) -> Steps[Frame | None]:
        say = f"`{variable.name}` is a table; I look at its columns."
        outcome = yield from self.work.use("inspect_variable", {"name": variable.name}, say)
        if outcome.error:
            self.work.say(phrasing.failed(outcome, f"inspect {variable.name}"))
            return None
        return read_frame(variable.name, outcome.text, variable.type)

    def _explain_loading(self) -> Steps[None]:
        files: list[str] = []
        if "list_directory" in self.work.tools:
            say = "There is no table yet; I look for one to load."
            outcome = yield from self.work.use("list_directory", {}, say)
            if not outcome.error:
                files = [p for p in paths(outcome.text) if DATA_FILE.search(p)]
        self.work.say(phrasing.no_frame([v.name for v in self.variables or ()], files))

    # -- the questions ------------------------------------------------------------------------

    def _read_asks(self, clauses: Sequence[str], frame: Frame) -> Steps[list[Ask]]:
        asks: list[Ask] = []
        unread = False
        for clause in clauses:
            if says(_ASK_ME, clause) and "ask_user" in self.work.tools:
                chosen = yield from self._ask_person(frame)
                asks += [chosen] if chosen else []
                continue
            ask = read_ask(clause, frame)
            before = asks[-1] if asks else self._before(frame)
            if before and _follows(clause, frame):
                asks[-1:] = [with_chart(before, clause)]
            elif ask is not None:
                asks.append(ask)
            elif re.search(_INSPECT.format(re.escape(frame.name)), clause, re.I):
                asks.append(Ask("summary"))
            else:
                unread = True
        if unread and not asks:
            self.work.say(phrasing.no_rule(frame, _suggestions(frame)))
        return asks

    def _before(self, frame: Frame) -> Ask | None:
        """What an earlier prompt asked, for "plot it"."""
        for clause in reversed(self.earlier):
            ask = read_ask(clause, frame)
            if ask is not None and ask.kind != "summary":
                return ask
        return None

    def _ask_person(self, frame: Frame) -> Steps[Ask | None]:
        value = main_number(frame)
        groups = [c.name for c in frame.columns if frame.kind(c.name) == "text"][:6]
        base = default_ask(frame)
        if value is None or not groups or base is None:
            return base
        question = {"question": f"By which column shall I break {value} down?", "choices": groups}
        outcome = yield from self.work.use("ask_user", question, "One question first.")
        found = [] if outcome.error else mentions(outcome.text, groups)
        if not found:
            self.work.say(f"I asked which column to use and got none; I take `{groups[0]}`.")
        return Ask("aggregate", value, (found[0].name if found else groups[0],), base.how)

    def _answer(self, ask: Ask, frame: Frame) -> Steps[None]:
        if ask.kind == "size":
            self.work.say(phrasing.size(frame))
            return
        if "run_python" not in self.work.tools:
            need = "For more I would need the tool `run_python`, which is not offered to me."
            self.work.say(f"{phrasing.size(frame)}\n\n{need}")
            return
        # Other tables may be replaced: on a second run of a cell, that table is this very result.
        fixed = {v.name for v in self.variables or () if v.type in _FIXED_TYPES}
        made = snippet(ask, frame, {frame.name, *fixed})
        title = made.title[0].lower() + made.title[1:]
        say = f"I work out: {title}{', with a chart' if ask.chart else ''}."
        outcome = yield from self.work.use("run_python", {"code": made.code}, say, _reading(ask))
        columns = made.columns
        table = read_figures(outcome.text) if columns is None else read_table(outcome.text, columns)
        if outcome.error or table is None:
            self.work.say(phrasing.failed(outcome, title) + _hint(ask, frame, outcome))
            return
        found = phrasing.finding(ask, frame, made.title, table)
        self.work.findings.append(found)
        chart = "\n\nThe chart is in this cell's output." if ask.chart else ""
        self.work.say(found.markdown() + chart)


def _choose(text: str, variables: Sequence[Variable]) -> Variable | None:
    """The variable that is meant: a table by its name, another by a question about it, else the
    largest table.
    """
    frames = [v for v in variables if v.is_frame]
    named = {m.name for m in mentions(text, [v.name for v in frames]) if m.rank == 0}
    exact = [v for v in frames if re.search(rf"(?<![\w.]){re.escape(v.name)}(?![\w.])", text)]
    spoken = [v for v in frames if v.name in named and not _RESULT_NAME.search(v.name)]
    if exact or spoken:
        return (exact or spoken)[0]
    for variable in variables:
        if re.search(_INSPECT.format(re.escape(variable.name)), text, re.I):
            return variable
    frames.sort(key=lambda v: (_RESULT_NAME.search(v.name) is not None, -v.cells, v.name))
    return frames[0] if frames else None


def _names(frame: Frame) -> list[str]:
    return [c.name for c in frame.columns]


def _follows(clause: str, frame: Frame) -> bool:
    """Whether the clause only says how to draw what was asked before ("plot it", "now as a line
    chart").
    """
    return wants_chart(clause) and says(_AGAIN, clause) and not mentions(clause, _names(frame))


def _reading(ask: Ask) -> str:
    """How the rules read the sentence, as the demo's "reasoning"."""
    facts = {
        "statistic": ask.how if ask.kind in ("aggregate", "total", "trend") else None,
        "value": ask.value,
        "by": " and ".join(ask.groups) or (ask.unit if ask.kind == "trend" else None),
        "chart": ask.chart,
        "rows": ask.n,
    }
    read = ", ".join(f"{key}: {value}" for key, value in facts.items() if value)
    return f"Rule {ask.kind!r} matches" + (f" ({read})." if read else ".")


def _hint(ask: Ask, frame: Frame, outcome: Outcome) -> str:
    """After a failure that comes from a column that is not there: which ones are."""
    wanted = [c for c in (ask.value, *ask.groups) if c and frame.kind(c) is None]
    if outcome.refused or not wanted:
        return ""
    near = nearest(wanted[0], _names(frame))
    guess = f" Did you mean `{near}`?" if near else ""
    columns = ", ".join(f"`{n}`" for n in _names(frame)[:20])
    return f"\n\n`{frame.name}` has no column `{wanted[0]}`.{guess} It has: {columns}."


def _suggestions(frame: Frame) -> list[str]:
    """Prompts that the rules understand, on this very table."""
    told = [f"Summarise {frame.name}", "Which columns have missing values?"]
    ask = default_ask(frame)
    if ask is not None:
        word = "Total" if ask.how == "sum" else "Mean"
        told.append(f"{word} {ask.value} by {ask.groups[0]}")
        told.append(f"Plot {word.lower()} {ask.value} by {ask.groups[0]}")
    return told
