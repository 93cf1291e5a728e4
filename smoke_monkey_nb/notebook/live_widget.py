"""The widget of the live view: two pieces of synced state, and a channel for messages.

Imported late: anywidget brings all of ipywidgets. Text travels as custom messages, not as state: a
trait that is set for every token sends the whole text each time (103 MB for 5,000 tokens), and the
server's IOPub limit cuts it off.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

import anywidget
import traitlets

STATIC = Path(__file__).parent / "static"


SCRIPTS = ("dom.js", "questions.js", "view.js")


@lru_cache(maxsize=1)
def script() -> str:
    """The front end as one module: a widget's code comes as one text, without files to import."""
    text = "\n".join((STATIC / name).read_text(encoding="utf-8") for name in SCRIPTS)
    text = re.sub(r"(?m)^import .*$|^export (?!default)", "", text)
    return _compact(line for line in text.splitlines() if not line.lstrip().startswith("//"))


@lru_cache(maxsize=1)
def style() -> str:
    """The style sheet without comments."""
    text = (STATIC / "view.css").read_text(encoding="utf-8")
    return _compact(re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL).splitlines())


def _compact(lines: Iterable[str]) -> str:
    """Without indentation and empty lines: all this is sent with every run."""
    return "\n".join(stripped for line in lines if (stripped := line.strip()))


class LiveWidget(anywidget.AnyWidget):
    """Draws one run. ``head`` and ``questions`` are state: a reloaded page shows them at once."""

    _esm = script()
    _css = style()
    head = traitlets.Dict().tag(sync=True)
    questions: Any = traitlets.List().tag(sync=True)

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = super()._repr_mimebundle_(**kwargs)
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        if isinstance(data, dict):
            data["text/plain"] = "smoke_monkey_nb: live view of a running agent"
        return bundle
