"""Views for places where nobody answers: shown only at the end (nbclient), or not at all."""

from __future__ import annotations

from ..errors import AgentErrorInfo
from ..events import AgentEvent
from .story import RunStory
from .transcript import bundle
from .view import Surface


class NullView:
    """Shows nothing, answers nothing."""

    def open(self) -> None:
        """Nothing to show."""

    def on_event(self, event: AgentEvent) -> None:
        """Nothing to show."""

    async def can_answer(self) -> bool:
        """Nobody is there."""
        return False

    async def offer_retry(self, error: AgentErrorInfo, seconds: float) -> bool:
        """Nobody is there."""
        return False

    def close(self) -> None:
        """Nothing to show."""


class StaticView(NullView):
    """Shows the transcript when the run is over."""

    def __init__(self, surface: Surface) -> None:
        self._surface = surface
        self.story = RunStory()

    def on_event(self, event: AgentEvent) -> None:
        """Remember it for the transcript. Loop thread."""
        self.story.apply(event)

    def close(self) -> None:
        """Show the transcript. Main thread."""
        self.story.settle()
        self._surface.replace(bundle(self.story))
