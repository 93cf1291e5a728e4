"""The gate every call passes: rules first, then what was remembered, then the policy, then a
person.

With nobody to ask the call is refused at once with a hint; it is never left hanging.
"""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .aio import TimedOut, limited
from .errors import AgentErrorInfo, error_info
from .permissions import PermissionRequest, Subject
from .prompts import PermissionAnswer
from .scope import RunScope
from .tools.base import Preview, Tool, ToolContext

_NOBODY_HINT = (
    "Nobody can answer here: allow it in advance, by --allow {tool} or Rule('allow', '{tool}')."
)


@dataclass(frozen=True)
class Asked:
    """What a person was asked about, and for how long the answer counts."""

    subject: Subject
    remember: str | None


@dataclass(frozen=True)
class Permitted:
    """The call may run. ``by`` is ``None`` where nobody had to decide; ``input`` replaces the
    arguments.
    """

    by: str | None = None
    input: Mapping[str, Any] | None = None
    asked: Asked | None = None


@dataclass(frozen=True)
class Denied:
    """The call must not run."""

    info: AgentErrorInfo
    by: str


async def somebody_answers(scope: RunScope, event_type: str) -> bool:
    """Whether a question may be asked: a subscriber to exactly this event, the stream's consumer,
    or a view.
    """
    if scope.bus.has_subscriber(event_type) or scope.prompts.is_consumed():
        return True
    for answerer in tuple(scope.prompts.answerers):
        if await answerer.can_answer():
            return True
    return False


class Gate:
    """Decides for the calls of one run."""

    def __init__(self, scope: RunScope) -> None:
        self._scope = scope

    async def pass_through(
        self, tool: Tool, call_id: str, call_input: dict[str, Any]
    ) -> Permitted | Denied:
        """Permit or deny one call, asking where nothing decides it."""
        scope = self._scope
        context = _context(scope, call_id)
        subject = _subject(tool, call_input, context)
        reason = _reason_to_ask(tool, call_input, context)
        effect = scope.policy.by_rule(subject)
        if effect == "deny":
            return _denied(tool, "rule", f"A permission rule forbids {tool.name} here.")
        if effect == "allow":
            return Permitted("rule")
        if effect is None and tool.read_only and reason is None:
            return Permitted()
        if self._is_remembered(subject):
            return Permitted("remembered")
        request = _request(scope, tool, call_id, call_input, reason, context)
        if effect is None:
            effect, by = await scope.policy.decide(request, scope.limits.permission_timeout_s)
            if effect == "allow":
                return Permitted(by)
            if effect == "deny":
                return _denied(tool, by, f"The permission policy does not allow {tool.name}.")
        return await self._ask(tool, request, subject)

    async def _ask(
        self, tool: Tool, request: PermissionRequest, subject: Subject
    ) -> Permitted | Denied:
        scope = self._scope
        call_id = request.tool_call_id
        if not await somebody_answers(scope, "permission.required"):
            message = f"{tool.name} needs a person's permission and nobody is there to give it."
            return _denied(tool, "nobody", message, _NOBODY_HINT.format(tool=tool.name))
        future = scope.prompts.permissions.open(call_id)
        scope.emit(
            "permission.required",
            tool_call_id=call_id,
            tool_name=tool.name,
            input=copy.deepcopy(dict(request.input)),
            preview=request.preview,
            preview_kind=request.preview_kind,
            reason=request.reason,
            summary=_summary(tool, request.input),
            choices=["allow", "allow-session", "deny"],
        )
        try:
            answer = await limited(future, scope.limits.permission_timeout_s)
        except TimedOut:
            answer = PermissionAnswer("deny", by="timeout")
        except asyncio.CancelledError:
            self._resolved(call_id, PermissionAnswer("deny", by="interrupted"))
            raise
        finally:
            scope.prompts.permissions.close(call_id)
        self._resolved(call_id, answer)
        if answer.decision != "allow":
            return _denied_by_person(tool, answer)
        return Permitted(answer.by, answer.input, Asked(subject, answer.remember))

    def confirm(
        self, tool: Tool, call_id: str, call_input: dict[str, Any], permit: Permitted
    ) -> Denied | None:
        """Look again at a call that a person allowed, now that its input is final and valid.

        Answering takes time, in which a path may come to lead elsewhere; and an edited input is
        subject to deny rules like any other. What is remembered is what will run.
        """
        if permit.asked is None:
            return None
        subject = _subject(tool, call_input, _context(self._scope, call_id))
        if self._scope.policy.by_rule(subject) == "deny":
            return _denied(tool, "rule", f"A permission rule forbids {tool.name} here.")
        if permit.input is None and subject != permit.asked.subject:
            message = f"What {tool.name} was to act on changed while permission was asked for."
            return _denied(tool, "rule", message)
        self._remember(subject, permit.asked.remember)
        return None

    def _resolved(self, call_id: str, answer: PermissionAnswer) -> None:
        self._scope.emit(
            "permission.resolved",
            tool_call_id=call_id,
            decision=answer.decision,
            by=answer.by,
            remember=answer.remember,
            feedback=answer.feedback,
        )

    def _is_remembered(self, subject: Subject) -> bool:
        key = _memory_key(subject)
        return key in self._scope.remembered or key in self._scope.prompts.remembered

    def _remember(self, subject: Subject, remember: str | None) -> None:
        if remember == "run":
            self._scope.remembered.add(_memory_key(subject))
        elif remember == "session":
            self._scope.prompts.remembered.add(_memory_key(subject))


def _memory_key(subject: Subject) -> tuple[str, str | None]:
    return subject.tool_name, subject.text if subject.runs_shell else None


def _subject(tool: Tool, call_input: Mapping[str, Any], context: ToolContext) -> Subject:
    if tool.subject is not None:
        text = tool.subject(call_input, context)
    else:
        text = json.dumps(call_input, sort_keys=True, ensure_ascii=False, default=str)
    return Subject(tool.name, text, tool.runs_shell)


def _reason_to_ask(tool: Tool, call_input: Mapping[str, Any], context: ToolContext) -> str | None:
    return tool.asks(call_input, context) if tool.asks is not None else None


class _Silent:
    """The interaction of a tool that is only asked about, not run."""

    def output(self, text: str) -> None:
        """Nothing runs, nothing is shown."""

    async def ask(self, question: str, choices: Any) -> str | None:
        """Nobody is asked."""
        return None

    def todos(self, items: Any) -> None:
        """Nothing is published."""


def _context(scope: RunScope, call_id: str) -> ToolContext:
    return ToolContext(
        tool_call_id=call_id,
        workspace=scope.workspace,
        run_id=scope.run_id,
        session_id=scope.session_id,
        interaction=_Silent(),
        namespace=scope.host.namespace,
    )


def _request(
    scope: RunScope,
    tool: Tool,
    call_id: str,
    call_input: dict[str, Any],
    reason: str | None,
    context: ToolContext,
) -> PermissionRequest:
    preview = _preview(tool, call_input, context)
    return PermissionRequest(
        tool_call_id=call_id,
        tool_name=tool.name,
        input=copy.deepcopy(call_input),
        preview=preview.text,
        preview_kind=preview.kind,
        read_only=tool.read_only,
        reason=reason,
        run_id=scope.run_id,
        session_id=scope.session_id,
    )


def _preview(tool: Tool, call_input: dict[str, Any], context: ToolContext) -> Preview:
    if tool.preview is not None:
        try:
            return tool.preview(copy.deepcopy(call_input), context)
        except Exception as error:  # e.g. a path outside the workspace: show the call itself
            note = f"(no preview: {error})\n"
            return Preview(note + _as_json(call_input), "text")
    return Preview(_as_json(call_input), "json")


def _as_json(call_input: Mapping[str, Any]) -> str:
    return json.dumps(call_input, indent=2, ensure_ascii=False, default=str)


def _summary(tool: Tool, call_input: Mapping[str, Any]) -> str:
    try:
        return tool.summary(call_input) if tool.summary else ""
    except Exception:
        return ""


def _denied(tool: Tool, by: str, message: str, hint: str | None = None) -> Denied:
    details = {"tool": tool.name, "by": by}
    return Denied(error_info("permission_denied", message, hint=hint, details=details), by)


def _denied_by_person(tool: Tool, answer: PermissionAnswer) -> Denied:
    if answer.by == "timeout":
        return _denied(tool, "timeout", f"Nobody answered in time whether {tool.name} may run.")
    message = f"{tool.name} was denied."
    if answer.feedback:
        message = f"{tool.name} was denied with this feedback: {answer.feedback}"
    return _denied(tool, answer.by, message)
