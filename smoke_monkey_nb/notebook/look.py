"""How marks become HTML tags: with classes alone for the live view, with inline styles for the
transcript.

One set of cards serves both. Jupyter's sanitiser keeps inline styles and drops style sheets, and
GitHub, nbviewer and nbconvert know none of Jupyter's variables, so the transcript's colours are
neutral greys with alpha, and hues of middle lightness that read on light and on dark grounds.
"""

from __future__ import annotations

from collections.abc import Mapping

from .render import COLORS, escape, inline_colors

ADDED, REMOVED, COMMENT, NAME = (COLORS[letter] for letter in "arcf")
WARN = "#a8741a"
_LINE = "1px solid rgba(127,127,127,0.3)"
_MONO = (
    "font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;"
    "font-size:12px;line-height:1.45"
)

#: class -> inline style of the transcript; "class:value" adds to it where the data mark has that
#: value.
STATIC: Mapping[str, str] = {
    "smn-run": f"border:{_LINE};border-radius:6px;padding:8px 14px;margin:4px 0;max-width:880px;"
    "font-size:14px;line-height:1.5",
    "smn-head": f"border-bottom:{_LINE};padding-bottom:6px;margin-bottom:8px;font-size:12px;"
    f"color:{COMMENT}",
    "smn-model": "font-weight:600",
    "smn-status:completed": f"color:{ADDED};font-weight:600",
    "smn-status:failed": f"color:{REMOVED};font-weight:600",
    "smn-status:interrupted": f"color:{WARN};font-weight:600",
    "smn-why": f"font-size:12px;color:{COMMENT};margin-bottom:6px",
    "smn-thought": f"margin:4px 0;color:{COMMENT};font-size:13px",
    "smn-thought-text": "white-space:pre-wrap;padding:4px 0 4px 14px",
    "smn-tool": f"border:{_LINE};border-radius:4px;margin:5px 0;padding:3px 10px",
    "smn-line": "cursor:pointer;font-size:13px",
    "smn-sign": "font-weight:700",
    "smn-sign:completed": f"color:{ADDED}",
    "smn-sign:failed": f"color:{REMOVED}",
    "smn-name": f"{_MONO};font-weight:600;background:none;padding:0",
    "smn-summary": f"{_MONO};color:{COMMENT}",
    "smn-time": f"color:{COMMENT};font-size:12px",
    "smn-label": f"color:{COMMENT};font-size:11px;margin-top:6px",
    "smn-pre": f"{_MONO};white-space:pre-wrap;margin:2px 0 6px;padding:6px 8px;"
    "max-height:340px;overflow:auto;"
    "background:rgba(127,127,127,0.09);border-radius:3px;overflow-wrap:anywhere",
    "smn-problem": f"color:{REMOVED}",
    "smn-hint": f"color:{COMMENT};font-size:13px",
    "smn-permission": "margin:5px 0;padding:0 11px",
    "smn-decision": f"cursor:pointer;font-size:13px;color:{COMMENT}",
    "smn-notices": f"margin:5px 0;color:{COMMENT};font-size:13px",
    "smn-ask": f"border-left:3px solid {NAME};padding:3px 10px;margin:6px 0",
    "smn-answer": "font-weight:600",
    "smn-todo": "list-style-type:none;padding-left:2px;margin:6px 0",
    "smn-todo-item": "margin:1px 0;list-style-type:none",
    "smn-todo-item:completed": f"color:{COMMENT};text-decoration:line-through",
    "smn-todo-item:in_progress": "font-weight:600",
    "smn-toast": f"border-left:3px solid {WARN};padding:2px 10px;margin:5px 0;font-size:13px",
    "smn-note": f"color:{COMMENT};font-size:13px;margin:5px 0",
    "smn-error": f"border-left:3px solid {REMOVED};padding:4px 10px;margin:8px 0",
    "smn-error-title": f"font-weight:600;color:{REMOVED}",
    "smn-code": f"{_MONO};color:{COMMENT}",
}


#: mark -> classes beside it. MathJax may set formulas of an answer, but must not take a command's
#: dollars for one.
STATIC_CLASSES = {"smn-run": "mathjax_ignore", "smn-text": "mathjax_process"}


class Look:
    """Builds tags; ``styles`` is empty for the live view, which has a style sheet."""

    def __init__(self, styles: Mapping[str, str], classes: Mapping[str, str]) -> None:
        self._styles, self._classes = styles, classes
        self.is_static = bool(styles)

    def colors(self, html: str) -> str:
        """Highlighted code or a rendered answer as this look has it."""
        return inline_colors(html) if self.is_static else html

    def tag(self, name: str, mark: str, *inner: str, **attributes: str | None) -> str:
        """``<name class="mark" …>inner</name>``. ``inner`` is HTML; attribute values are text.

        ``data_tool="x"`` gives ``data-tool="x"``; ``None`` leaves an attribute out; ``""`` gives it
        without value.
        """
        classes = f"{mark} {self._classes[mark]}" if mark in self._classes else mark
        parts = [f'<{name} class="{classes}"']
        for key, value in attributes.items():
            if value is not None:
                key = key.rstrip("_").replace("_", "-")
                parts.append(f' {key}="{escape(value)}"' if value else f" {key}")
        style = self._style(mark, attributes)
        if style:
            parts.append(f' style="{style}"')
        return "".join([*parts, ">", *inner, f"</{name}>"])

    def _style(self, mark: str, attributes: Mapping[str, str | None]) -> str:
        styles = [self._styles.get(mark, "")]
        if self._styles and attributes.get("data_status"):
            styles.append(self._styles.get(f"{mark}:{attributes['data_status']}", ""))
        return ";".join(s for s in styles if s)


# In the live view an answer takes the looks that Jupyter gives to rendered HTML.
LIVE_LOOK = Look({}, {"smn-text": "jp-RenderedHTMLCommon"})
STATIC_LOOK = Look(STATIC, STATIC_CLASSES)
