"""A page without Jupyter that runs the real ``view.js`` against the real ``WidgetView``.

``FakeWidget`` stands where anywidget does; what it is told is replayed to the page by
``Page.sync``, and what the page sends goes to the view's handler, as the kernel would deliver it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from smoke_monkey_nb.notebook import live_widget

CHROMIUM = "/usr/bin/chromium"
ARGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
_HTML = """<!doctype html><meta charset="utf-8"><title>smn</title><div id="cell"></div>
<script>
window.hits = 0;
window.makeModel = () => {
  const listeners = {}, state = {};
  return {
    get: (key) => state[key],
    set: (key, value) => { state[key] = value; model.emit('change:' + key); },
    on: (name, f) => (listeners[name] ??= []).push(f),
    off: (name, f) => { listeners[name] = (listeners[name] ?? []).filter((g) => g !== f); },
    emit: (name, value) => (listeners[name] ?? []).forEach((f) => f(value)),
    send: (content) => window.toKernel(JSON.stringify(content)),
  };
};
</script>"""


class FakeWidget:
    """Records what a view tells its widget; ``deliver`` is a message of the page."""

    def __init__(self) -> None:
        self.updates: list[tuple[str, Any]] = []
        self.closed = False
        self._handler: Callable[[Any, Any, Any], None] | None = None
        self._head: dict[str, Any] = {}
        self._questions: list[Any] = []

    @property
    def head(self) -> dict[str, Any]:
        return self._head

    @head.setter
    def head(self, value: dict[str, Any]) -> None:
        self._head = value
        self.updates.append(("head", value))

    @property
    def questions(self) -> list[Any]:
        return self._questions

    @questions.setter
    def questions(self, value: list[Any]) -> None:
        self._questions = value
        self.updates.append(("questions", value))

    def on_msg(self, handler: Callable[[Any, Any, Any], None]) -> None:
        self._handler = handler

    def send(self, content: Any) -> None:
        self.updates.append(("msg", json.loads(json.dumps(content))))

    def deliver(self, content: Any) -> None:
        assert self._handler is not None
        self._handler(self, content, [])

    def close(self) -> None:
        self.closed = True

    def messages(self) -> list[dict[str, Any]]:
        return [value for kind, value in self.updates if kind == "msg"]


class FakeAgent:
    """Records what a person decided."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.warnings: list[Any] = []

    def abort(self, reason: str | None = None) -> None:
        self.calls.append(("abort", reason))

    def resolve_permission(
        self,
        tool_call_id: str,
        decision: str,
        remember: str | None = None,
        feedback: str | None = None,
        input: Any = None,
    ) -> None:
        self.calls.append((tool_call_id, decision, remember, feedback))

    def respond(self, tool_call_id: str, text: str) -> None:
        self.calls.append((tool_call_id, text))

    def warn(self, info: Any) -> None:
        self.warnings.append(info)


class FakeSurface:
    """Remembers what was shown and what replaced it."""

    def __init__(self) -> None:
        self.shown: list[Any] = []
        self.bundle: dict[str, str] = {}

    def show(self, widget: Any) -> None:
        self.shown.append(widget)

    def replace(self, data: Any) -> None:
        self.bundle = dict(data)


class Page:
    """A browser page with one widget in it."""

    def __init__(self, page: Any, widget: FakeWidget) -> None:
        self.page, self.widget = page, widget
        self._sent = 0

    async def open(self, css: str = "") -> None:
        """Load the page; call again to reload it."""
        await self.page.set_content(_HTML)
        await self.page.add_style_tag(content=css + live_widget.style())
        await self.page.evaluate("window.model = makeModel()")
        state = {"head": self.widget.head, "questions": self.widget.questions}
        await self.page.evaluate("s => { for (const k in s) window.model.set(k, s[k]); }", state)
        self._sent = len(self.widget.updates)
        script = live_widget.script().replace("export default", "const view =")
        script += "\nview.render({model: window.model, el: document.getElementById('cell')});"
        await self.page.add_script_tag(content="{" + script + "}")
        await self.sync()

    async def expose(self) -> None:
        """Let the page talk to the view; once a page."""
        await self.page.expose_function(
            "toKernel", lambda text: self.widget.deliver(json.loads(text))
        )

    async def sync(self) -> None:
        """Bring the page up to date, with everything its messages caused."""
        for _ in range(3):
            await asyncio.sleep(0.02)
            new, self._sent = self.widget.updates[self._sent :], len(self.widget.updates)
            for kind, value in new:
                script = (
                    "v => window.model.emit('msg:custom', v)"
                    if kind == "msg"
                    else f"v => window.model.set('{kind}', v)"
                )
                await self.page.evaluate(script, value)


def lab_theme(name: str) -> str:
    """JupyterLab's own variables (``light`` or ``dark``), for looking at the view."""
    import sys

    root = Path(sys.prefix) / "share/jupyter/lab/themes/@jupyterlab"
    css = (root / f"theme-{name}-extension" / "index.css").read_text(encoding="utf-8")
    ground = "body { background: var(--jp-layout-color1); padding: 12px; }"
    return css + ground
