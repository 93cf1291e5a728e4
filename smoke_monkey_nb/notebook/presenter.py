"""Which view a run gets: the one place that knows what kind of front end is there.

``auto``: a kernel whose front end can be typed into gets the live widget, with the prompt as its
fallback; a kernel without (nbclient, nbconvert, papermill) gets the transcript at the end, and
nobody can answer; no kernel gets text, with prompts where there is a terminal.
``SMOKE_MONKEY_VIEW`` decides in the place of ``auto``.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Mapping
from typing import Any, Protocol

from ..errors import AgentErrorInfo
from ..events import AgentEvent
from ..host import Host
from .intents import RunControls
from .prompting import Prompter
from .quiet_views import NullView, StaticView
from .text_view import TextView
from .view import WidgetView
from .view_kinds import KINDS


class RunView(Protocol):
    """What shows one run and lets a person answer. One object a run."""

    def open(self) -> None:
        """Display it. Main thread, before the run."""

    def on_event(self, event: AgentEvent) -> None:
        """Take an event in. The run's loop; fast, never raises."""

    async def can_answer(self) -> bool:
        """Whether a person is there; may wait for the front end's first sign of life."""

    async def offer_retry(self, error: AgentErrorInfo, seconds: float) -> bool:
        """Whether the person wants the failed run tried again."""

    def close(self) -> None:
        """Leave the static transcript. Main thread, after the run."""


def open_view(
    kind: str, *, agent: RunControls, host: Host, shell: Any = None, title: str | None = None
) -> RunView:
    """The view of ``kind`` for a run of ``agent``, displayed.

    ``shell`` is the IPython shell (found when not given). ``title`` is reserved.

    Raises:
        ValueError: there is no such kind, or ``SMOKE_MONKEY_VIEW`` names none.
    """
    shell = shell if shell is not None else _current_shell()
    view = _make(_wanted(kind), agent, host, shell)
    view.open()
    return view


def _wanted(kind: str) -> str:
    if kind == "auto":
        kind = os.environ.get("SMOKE_MONKEY_VIEW", "").strip() or "auto"
    if kind not in KINDS:
        raise ValueError(f"unknown view {kind!r}; known: {', '.join(KINDS)}")
    return kind


def _make(kind: str, agent: RunControls, host: Host, shell: Any) -> RunView:
    kernel = getattr(shell, "kernel", None)
    if kind == "none":
        return NullView()
    prompter = Prompter(agent, host) if _can_prompt(kernel) else None
    if kind == "text" or (kind == "auto" and kernel is None):
        return TextView(prompter=prompter)
    surface = CellOutput()
    if kind == "auto" and prompter is None:
        return StaticView(surface)
    if kind == "basic":
        from .basic_view import BasicView

        return BasicView(agent, surface, prepare=_keep_clicks)
    return WidgetView(agent, surface, make_widget=_live_widget, prompter=prompter)


def _can_prompt(kernel: Any) -> bool:
    """Whether ``input()`` reaches a person: the cell's request says so, or there is a terminal."""
    if kernel is None:
        return bool(sys.stdin is not None and sys.stdin.isatty())
    try:
        return bool(kernel.get_parent("shell")["content"].get("allow_stdin"))
    except (AttributeError, KeyError, TypeError, LookupError):
        return False


class CellOutput:
    """The output of the cell that runs now. Main thread."""

    def __init__(self) -> None:
        self._handle: Any = None

    def show(self, widget: Any) -> None:
        """Display the widget so that it can be replaced."""
        from IPython.display import display

        self._handle = display(widget, display_id=True)  # type: ignore[no-untyped-call]

    def replace(self, data: Mapping[str, str]) -> None:
        """Put a mime bundle in its place (or below, when nothing was shown)."""
        from IPython.display import display

        if self._handle is not None:
            self._handle.update(dict(data), raw=True)
        else:
            display(dict(data), raw=True)  # type: ignore[no-untyped-call]


def _live_widget() -> Any:
    _allow_third_party_widgets()
    from .live_widget import LiveWidget

    widget = LiveWidget()
    _keep_clicks(widget)
    return widget


def _allow_third_party_widgets() -> None:
    if "google.colab" in sys.modules:  # Colab shows only core widgets until it is told otherwise
        with contextlib.suppress(Exception):
            sys.modules["google.colab"].output.enable_custom_widget_manager()


def _keep_clicks(widget: Any) -> None:
    with contextlib.suppress(ImportError, AttributeError):
        from .comm_pump import keep_clicks_on_subshell

        keep_clicks_on_subshell(widget.comm)


def _current_shell() -> Any:
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython is not None else None
