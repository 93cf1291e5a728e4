"""The widget of the live view: two pieces of synced state, and a channel for messages.

Imported late: anywidget brings all of ipywidgets. Text travels as custom messages, not as state: a
trait that is set for every token sends the whole text each time (103 MB for 5,000 tokens), and the
server's IOPub limit cuts it off.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Any

import anywidget
import traitlets

STATIC = Path(__file__).parent / "static"


@lru_cache(maxsize=2)
def _asset(name: str) -> str:
    """A front-end file without comment lines and indentation: it is sent with every run."""
    text = (STATIC / name).read_text(encoding="utf-8")
    if name.endswith(".css"):
        text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    lines = (line.strip() for line in text.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//"))


class LiveWidget(anywidget.AnyWidget):
    """Draws one run. ``head`` and ``questions`` are state: a reloaded page shows them at once."""

    _esm = _asset("view.js")
    _css = _asset("view.css")
    head = traitlets.Dict().tag(sync=True)
    questions: Any = traitlets.List().tag(sync=True)

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = super()._repr_mimebundle_(**kwargs)
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        if isinstance(data, dict):
            data["text/plain"] = "smoke_monkey_nb: live view of a running agent"
        return bundle
