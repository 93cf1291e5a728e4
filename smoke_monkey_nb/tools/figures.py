"""Figures of matplotlib that running code leaves open: shown and closed, or turned into pictures.

With the inline backend an open figure is shown when its cell ends; code that an agent runs inside a
cell ends earlier. Without a notebook, figures that the code made are drawn for the model and stay
open.
"""

from __future__ import annotations

import sys
from typing import Any

from . import pictures
from .capture import Notes


def open_figures() -> frozenset[int]:
    """Numbers of the open figures; empty as long as pyplot is not imported."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    try:
        return frozenset(pyplot.get_fignums()) if pyplot is not None else frozenset()
    except Exception:  # a half-imported pyplot
        return frozenset()


def flush(before: frozenset[int], notes: Notes, shell: Any | None) -> None:
    """Show or draw what the code left open. ``before``: the figures that were open already."""
    new = sorted(open_figures() - before)
    if not new:
        return
    pyplot = sys.modules["matplotlib.pyplot"]
    if shell is not None and "inline" in str(_backend()):
        _show_inline(pyplot, new)
        return
    for number in new:
        image = pictures.picture(pyplot.figure(number))
        if image is not None:
            notes.picture(image, f"Figure {number}")


def _backend() -> Any:
    matplotlib = sys.modules.get("matplotlib")
    return matplotlib.get_backend() if matplotlib is not None else ""


def _show_inline(pyplot: Any, numbers: list[int]) -> None:
    """Show these figures through ``display`` (which is noted on its way) and close them."""
    for number in numbers:
        figure = pyplot.figure(number)
        display_value(figure)
        pyplot.close(figure)


def display_value(value: Any) -> None:
    """IPython's ``display``."""
    from IPython.display import display

    display(value)  # type: ignore[no-untyped-call]


def shown_already(value: Any, shell: Any | None) -> None:
    """Close a figure that was displayed as a value: the inline backend would show it once more."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None and shell is not None and "inline" in str(_backend()):
        pyplot.close(value)
