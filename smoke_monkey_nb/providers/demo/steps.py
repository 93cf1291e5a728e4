"""The steps that plans are made of: use one tool, word what came of it.

A step is a generator: it yields the reply that calls a tool and is sent that call's outcomes.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from . import phrasing
from .errands import Errand
from .phrasing import Finding
from .turn import Outcome, Turn
from .wire import Call, Reply

T = TypeVar("T")
Steps = Generator[Reply, Sequence[Outcome], T]


@dataclass
class Work:
    """One turn at work: its prompt, the tools on offer, and what has been found and said so far."""

    turn: Turn
    tools: Mapping[str, Mapping[str, Any]]
    findings: list[Finding] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)

    def say(self, text: str) -> None:
        """Add a paragraph to the closing words."""
        self.parts.append(text)

    def use(
        self, name: str, arguments: Mapping[str, Any], say: str, thought: str = ""
    ) -> Steps[Outcome]:
        """Call one tool and return its outcome."""
        outcomes = yield Reply(say, thought, (Call(name, arguments),))
        same = [o for o in outcomes if o.name == name]
        return same[0] if same else Outcome(name, arguments, "", "tool_cancelled")

    def run(self, errand: Errand) -> Steps[Outcome | None]:
        """Do an errand; a failure is worded at once and ``None`` returned."""
        call = errand.call
        if call.name not in self.tools:
            self.say(f"I cannot {errand.what}: the tool `{call.name}` is not offered to me.")
            return None
        outcome = yield from self.use(call.name, call.arguments, f"I {errand.what}.")
        if outcome.error:
            self.say(phrasing.failed(outcome, errand.what))
            return None
        return outcome

    def quote(self, errand: Errand) -> Steps[None]:
        """Do an errand and quote what the tool said, unless that may hold secrets."""
        outcome = yield from self.run(errand)
        if outcome is None:
            return
        if errand.keeps_quiet:
            lines = phrasing.count(len(outcome.text.splitlines()), "line")
            quiet = "and do not repeat it: such files usually hold secrets."
            self.say(f"I read it ({lines}) {quiet}")
        else:
            self.say(f"`{errand.call.name}` says:\n\n{phrasing.quote(outcome.text)}")
