"""Which view a front end gets."""

from __future__ import annotations

import contextlib
from types import SimpleNamespace
from typing import Any

import pytest

from smoke_monkey_nb.host import PlainHost
from smoke_monkey_nb.notebook import presenter
from smoke_monkey_nb.notebook.basic_view import BasicView
from smoke_monkey_nb.notebook.quiet_views import NullView, StaticView
from smoke_monkey_nb.notebook.text_view import TextView
from smoke_monkey_nb.notebook.view import WidgetView

from .page import FakeAgent


def kernel(allow_stdin: bool) -> Any:
    content = {"content": {"allow_stdin": allow_stdin}}
    return SimpleNamespace(kernel=SimpleNamespace(get_parent=lambda _: content))


@pytest.mark.parametrize(
    ("kind", "shell", "expected"),
    [
        ("auto", kernel(True), WidgetView),
        ("auto", kernel(False), StaticView),
        ("auto", SimpleNamespace(), TextView),
        ("widget", kernel(False), WidgetView),
        ("basic", kernel(True), BasicView),
        ("text", kernel(True), TextView),
        ("none", kernel(True), NullView),
    ],
)
def test_the_view_fits_the_front_end(kind: str, shell: Any, expected: type) -> None:
    assert type(presenter._make(kind, FakeAgent(), PlainHost(), shell)) is expected


async def test_a_kernel_without_stdin_has_nobody_to_answer() -> None:
    view = presenter._make("auto", FakeAgent(), PlainHost(), kernel(False))
    assert not await view.can_answer()


def test_the_environment_decides_in_the_place_of_auto(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SMOKE_MONKEY_VIEW", "none")
    assert presenter._wanted("auto") == "none"
    assert presenter._wanted("text") == "text"
    monkeypatch.setenv("SMOKE_MONKEY_VIEW", "hologram")
    with pytest.raises(ValueError, match="hologram"):
        presenter._wanted("auto")


def test_the_live_widget_is_made_of_the_files(monkeypatch: pytest.MonkeyPatch) -> None:
    widget = presenter._live_widget()
    with contextlib.closing(widget):
        bundle = widget._repr_mimebundle_()
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        assert data["text/plain"] == "smoke_monkey_nb: live view of a running agent"
        assert "application/vnd.jupyter.widget-view+json" in data
        assert "export default" in str(widget._esm)
        assert len(str(widget._esm)) + len(str(widget._css)) < 25_000
