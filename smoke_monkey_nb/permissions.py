"""Who may do what: rules, requests, and the decision whether a call runs, is refused, or must be
asked for.

``Policy`` decides without a person; ``prompts`` suspends a call until one answers. Anything unclear
means *ask*, anything that fails means *deny*.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Literal, cast

from . import shell_rules
from .aio import TimedOut, being_cancelled, call, limited

logger = logging.getLogger("smoke_monkey_nb")

Effect = Literal["allow", "deny", "ask"]
Remember = Literal["run", "session"]
_EFFECTS = ("allow", "deny", "ask")


@dataclass(frozen=True)
class PermissionRequest:
    """A call that wants to run. ``input`` is a copy; ``preview`` is the whole of what will happen,
    for a person.
    """

    tool_call_id: str
    tool_name: str
    input: Mapping[str, Any]
    preview: str
    preview_kind: str  # "text" | "diff" | "python" | "shell" | "json"
    read_only: bool
    reason: str | None  # why a read-only call asks, e.g. that the file usually holds secrets
    run_id: str
    session_id: str


@dataclass(frozen=True)
class Rule:
    """``Rule("allow", "run_command", "git status*")``: effect, tool (a glob), and a glob on what
    the call is about.

    The pattern is matched against the call's subject: the path for file tools, the *parsed* command
    for ``run_command`` (see ``shell_rules``), else the input as JSON. No pattern matches every call
    of the tool.

    Raises:
        ValueError: the effect is none of allow, deny, ask.
        TypeError: tool or pattern is no string.
    """

    effect: Effect
    tool: str
    pattern: str | None = None

    def __post_init__(self) -> None:
        if self.effect not in _EFFECTS:
            raise ValueError(f"effect must be one of {', '.join(_EFFECTS)}, got {self.effect!r}")
        if not isinstance(self.tool, str) or not isinstance(self.pattern, (str, type(None))):
            raise TypeError("tool and pattern of a Rule must be strings")


@dataclass(frozen=True)
class RulesFirst:
    """Rules for a while on top of a policy: what they do not decide, ``otherwise`` does."""

    rules: tuple[Rule, ...]
    otherwise: Any


Decider = Callable[[PermissionRequest], Any]
PolicySpec = str | Decider | Rule | Sequence[Rule] | RulesFirst


@dataclass(frozen=True)
class Subject:
    """What rules look at: the tool, whether it is read-only, and what the call is about."""

    tool_name: str
    text: str
    runs_shell: bool


class Policy:
    """``create_agent``'s ``permissions`` argument, checked.

    Raises:
        ValueError: an unknown word.
        TypeError: neither word, callable nor rules.
    """

    def __init__(self, spec: PolicySpec) -> None:
        self._default: Effect = "ask"
        self._rules: tuple[Rule, ...] = ()
        self._decider: Decider | None = None
        if isinstance(spec, RulesFirst):
            below = Policy(spec.otherwise)
            self._default, self._decider = below._default, below._decider
            self._rules = (*spec.rules, *below._rules)
        elif isinstance(spec, str):
            if spec not in _EFFECTS:
                raise ValueError(f"permissions must be one of {', '.join(_EFFECTS)}, got {spec!r}")
            self._default = cast(Effect, spec)
        elif isinstance(spec, Rule):
            self._rules = (spec,)
        elif callable(spec):
            self._decider = spec
        else:
            self._rules = _check_rules(spec)

    def by_rule(self, subject: Subject) -> Effect | None:
        """What the rules say of a call: a matching deny wins, else the first match, else
        ``None``.
        """
        if subject.runs_shell:
            return _shell_effect(self._rules, subject)
        matching = [r for r in self._rules if _matches(r, subject)]
        if any(r.effect == "deny" for r in matching):
            return "deny"
        return matching[0].effect if matching else None

    async def decide(
        self, request: PermissionRequest, timeout_s: float | None
    ) -> tuple[Effect, str]:
        """The effect for a call that no rule decided, and who said so ("rule" or "callback")."""
        if self._decider is None:
            return self._default, "rule"
        try:
            answer = await limited(call(self._decider, request), timeout_s)
        except TimedOut:
            return "deny", "timeout"
        except (Exception, asyncio.CancelledError) as error:
            if isinstance(error, asyncio.CancelledError) and being_cancelled():
                raise
            logger.warning("the permission callback failed; denied", exc_info=error)
            return "deny", "callback"
        if answer not in _EFFECTS:
            logger.warning("the permission callback returned %r; denied", answer)
            return "deny", "callback"
        return cast(Effect, answer), "callback"


def _check_rules(spec: Any) -> tuple[Rule, ...]:
    if not isinstance(spec, Sequence) or not all(isinstance(r, Rule) for r in spec):
        raise TypeError('permissions must be "ask", "allow", "deny", a callable, or a list of Rule')
    return tuple(spec)


def _matches(rule: Rule, subject: Subject) -> bool:
    if not fnmatchcase(subject.tool_name, rule.tool):
        return False
    return rule.pattern is None or fnmatchcase(subject.text, rule.pattern)


def _shell_effect(rules: Sequence[Rule], subject: Subject) -> Effect | None:
    rules = [r for r in rules if fnmatchcase(subject.tool_name, r.tool)]
    parsed = shell_rules.parse(subject.text)
    for rule in rules:
        if rule.effect == "deny" and (
            rule.pattern is None or shell_rules.deny_matches(rule.pattern, subject.text, parsed)
        ):
            return "deny"
    whole = next((r.effect for r in rules if r.pattern is None), None)
    denies = any(r.effect == "deny" for r in rules)
    if whole == "allow" and denies and shell_rules.hides_a_program(parsed):
        return "ask"  # what a deny rule forbids may be in there
    if parsed.opaque or not parsed.commands:
        return whole
    effects = {_command_effect(rules, words) for words in parsed.commands}
    if effects == {"allow"}:
        return "allow"
    return "ask" if "ask" in effects else whole


def _command_effect(rules: Sequence[Rule], words: tuple[str, ...]) -> Effect | None:
    for rule in rules:
        if rule.pattern is None or shell_rules.allow_matches(rule.pattern, words):
            return rule.effect
    return None
