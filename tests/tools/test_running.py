"""``run_python`` in a plain namespace and in an in-process IPython shell."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib
import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from smoke_monkey_nb.tools.base import ToolContext, ToolOutput
from smoke_monkey_nb.tools.errors import ToolError
from smoke_monkey_nb.tools.kernel import TOOLS, insert_cell, run_python

matplotlib.use("agg")


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[InteractiveShell]:
    """An IPython shell of its own, without history file."""
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    kept = sys.displayhook, sys.excepthook, dict(sys.modules["builtins"].__dict__)
    made = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
    yield made
    InteractiveShell.clear_instance()
    sys.displayhook, sys.excepthook = kept[:2]
    for name in set(sys.modules["builtins"].__dict__) - set(kept[2]):
        delattr(sys.modules["builtins"], name)


@pytest.fixture(params=["plain", "ipython"])
def lent(request: pytest.FixtureRequest, context: ToolContext) -> ToolContext:
    """The context with a namespace of either kind."""
    if request.param == "plain":
        return context
    return replace(context, namespace=request.getfixturevalue("shell").user_ns)


def run(context: ToolContext, code: str) -> str:
    return run_python(code, context).text


def fail(context: ToolContext, code: str) -> str:
    with pytest.raises(ToolError) as caught:
        run_python(code, context)
    return str(caught.value)


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("x = 1", "(no output)"),
        ("1 + 1", "2"),
        ("'a'", "'a'"),
        ("1;", "(no output)"),
        ("None", "(no output)"),
        ("print('a')\n'b'", "a\n'b'"),
        ("import sys\nprint('a')\nprint('b', file=sys.stderr)", "a\nb"),
        ("print('a', end='')\n1", "a\n1"),
        ("def f(n):\n    return n * 2\nf(4)", "8"),
        ("[n for n in range(3)]", "[0, 1, 2]"),
        ("{'b': float('nan'), 'a': 1}", "{'b': nan, 'a': 1}"),
        ("for i in range(2):\n    i", "(no output)"),
        ("import asyncio\nawait asyncio.sleep(0, 'done')", "'done'"),
        ("async def f():\n    return 3\nx = await f()\nx", "3"),
        ("import asyncio\nasync with asyncio.Lock():\n    print('in')", "in"),
        ("'''a\tb'''", "'a\\tb'"),
        ("print('\x1b[31mred\x1b[0m')", "red"),
        ("print('10%\\r50%\\r100%')", "100%"),
        ("", "(no output)"),
        ("# only a comment", "(no output)"),
    ],
)
def test_a_cell_gives_its_output_and_last_value(lent: ToolContext, code: str, text: str) -> None:
    assert run(lent, code) == text


def test_what_code_defines_stays(lent: ToolContext) -> None:
    run(lent, "total = 41")
    assert lent.namespace is not None
    assert lent.namespace["total"] == 41
    assert run(lent, "total += 1\ntotal") == "42"


def test_output_is_shown_in_the_cell_too(
    lent: ToolContext, capsys: pytest.CaptureFixture[str]
) -> None:
    run(lent, "import sys\nprint('to the cell')\nprint('a warning', file=sys.stderr)\n40 + 2")
    shown = capsys.readouterr()
    assert "to the cell" in shown.out
    assert "42" in shown.out
    assert "a warning" in shown.err


def test_endless_output_is_bounded(lent: ToolContext, capsys: pytest.CaptureFixture[str]) -> None:
    text = run(lent, "print('start')\nfor _ in range(200):\n    print('x' * 10_000)\nprint('end')")
    assert len(text) <= 30_000
    assert text.startswith("start")
    assert text.endswith("end")
    assert "characters left out" in text


def test_an_error_is_the_traceback_of_the_users_frames(lent: ToolContext) -> None:
    text = fail(lent, "import json\ndef load(s):\n    return json.loads(s)\nload('{')")
    lines = text.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[-1].startswith("json.decoder.JSONDecodeError: Expecting property name")
    assert "in load\n    return json.loads(s)\n" in text
    assert "frames left out" in text
    assert "smoke_monkey_nb" not in text


def test_what_was_printed_before_an_error_is_kept(lent: ToolContext) -> None:
    text = fail(lent, "print('step one')\n1/0")
    assert text.startswith("Traceback (after this output):\nstep one\n")
    assert text.splitlines()[-1] == "ZeroDivisionError: division by zero"


def test_a_syntax_error_shows_the_place_alone(lent: ToolContext) -> None:
    lines = fail(lent, "y = 1\nx = = 2").splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert "line 2" in lines[1]
    assert lines[-1] == "SyntaxError: invalid syntax"
    assert len(lines) == 5


def test_causes_are_told(lent: ToolContext) -> None:
    code = "try:\n    1/0\nexcept Exception as e:\n    raise ValueError('w') from e"
    text = fail(lent, code)
    assert "ZeroDivisionError: division by zero\n\nThis error was the direct cause" in text
    assert text.endswith("ValueError: w")


def test_an_error_in_awaited_code_is_told(lent: ToolContext) -> None:
    code = "async def bad():\n    raise ValueError('later')\nawait bad()"
    assert fail(lent, code).endswith("ValueError: later")


@pytest.mark.parametrize(
    "code", ["import sys; sys.exit()", "raise SystemExit", "import sys\nsys.exit(0)"]
)
def test_leaving_does_not_end_the_kernel(lent: ToolContext, code: str) -> None:
    assert "the kernel goes on" in run(lent, code)


def test_leaving_with_a_failure_is_a_failure(lent: ToolContext) -> None:
    assert fail(lent, "import sys\nsys.exit('bad state')").endswith("SystemExit: bad state")


@pytest.mark.parametrize("error", ["GeneratorExit", "StopIteration", "asyncio.CancelledError"])
def test_strange_errors_are_failures(lent: ToolContext, error: str) -> None:
    assert error.split(".")[-1] in fail(lent, f"import asyncio\nraise {error}")


def test_an_interrupt_passes_through(lent: ToolContext) -> None:
    with pytest.raises(KeyboardInterrupt):
        run_python("raise KeyboardInterrupt", lent)
    assert run(lent, "1") == "1"


def interrupt_soon() -> None:
    threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()


def test_an_interrupt_ends_awaited_code_and_lets_it_clean_up(lent: ToolContext) -> None:
    assert lent.namespace is not None
    lent.namespace["interrupt_soon"] = interrupt_soon
    code = (
        "import asyncio\ninterrupt_soon()\n"
        "try:\n    await asyncio.sleep(60)\n"
        "except asyncio.CancelledError:\n    cleaned = True\n    raise"
    )
    with pytest.raises(KeyboardInterrupt):
        run_python(code, lent)
    assert lent.namespace["cleaned"] is True


async def test_awaiting_works_below_a_running_loop_and_leaves_it_alone(lent: ToolContext) -> None:
    task, loop = asyncio.current_task(), asyncio.get_running_loop()
    code = "import asyncio\nawait asyncio.sleep(0.01)\nasyncio.current_task() is not None"
    assert run(lent, code) == "True"
    assert asyncio.current_task() is task
    assert asyncio.get_running_loop() is loop
    await asyncio.sleep(0)


async def test_a_task_of_one_call_can_be_awaited_in_the_next(lent: ToolContext) -> None:
    run(
        lent,
        "import asyncio\nt = asyncio.ensure_future(asyncio.sleep(0, 5))\nawait asyncio.sleep(0)",
    )
    assert run(lent, "await t") == "5"


async def test_an_interrupt_reaches_code_below_a_loop_that_handles_it_otherwise(
    lent: ToolContext,
) -> None:
    heard = []
    before = signal.signal(signal.SIGINT, lambda *_: heard.append("loop"))
    try:
        assert lent.namespace is not None
        lent.namespace["interrupt_soon"] = interrupt_soon
        with pytest.raises(KeyboardInterrupt):
            run_python("import time\ninterrupt_soon()\ntime.sleep(60)", lent)
        assert signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert heard == []


def test_code_runs_on_a_worker_thread_too(lent: ToolContext) -> None:
    results: list[ToolOutput] = []
    code = "import asyncio\nawait asyncio.sleep(0, 7)"
    worker = threading.Thread(target=lambda: results.append(run_python(code, lent)))
    worker.start()
    worker.join()
    assert results[0].text == "7"


def test_a_repr_that_raises_is_guarded(
    lent: ToolContext, capsys: pytest.CaptureFixture[str]
) -> None:
    code = "class Bad:\n    def __repr__(self):\n        raise RuntimeError\nBad()"
    assert "its repr raised RuntimeError" in run(lent, code)


def test_a_frame_comes_as_a_preview(lent: ToolContext) -> None:
    text = run(lent, "import pandas as pd\npd.DataFrame({'a': [1, 2]})")
    assert text.startswith("DataFrame, shape (2, 1), 2 rows × 1 column\n  a: int64")


def test_an_open_figure_is_an_image_once(lent: ToolContext) -> None:
    code = "import matplotlib.pyplot as plt\nplt.plot([1, 2]);"
    output = run_python(code, lent)
    assert len(output.images) == 1
    assert output.text.startswith("[Figure")
    assert run_python("1", lent).images == ()
    run(lent, "plt.close('all')")


def test_a_figure_as_the_last_value_is_an_image(lent: ToolContext) -> None:
    code = "from matplotlib.figure import Figure\nFigure(figsize=(2, 1))"
    assert len(run_python(code, lent).images) == 1


def test_streams_are_put_back_and_a_handler_that_kept_one_still_writes(lent: ToolContext) -> None:
    before = sys.stdout, sys.stderr
    run(lent, "import sys\nkept = sys.stdout")
    assert (sys.stdout, sys.stderr) == before
    assert lent.namespace is not None
    lent.namespace["kept"].write("later\n")


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("!echo hi", "hi"),
        ("exit()", "(The code called sys.exit; the kernel goes on.)"),
        ("%precision 3", "'%.3f'"),
        ("x = !echo one\nx[0]", "'one'"),
        ("%%capture out\nprint('hidden')", "(no output)"),
        (
            "from IPython.display import Markdown, display\ndisplay(Markdown('**bold**'))",
            "**bold**",
        ),
        ("from IPython.display import HTML\nHTML('<b>hey</b><script>x</script>')", "[HTML] hey"),
    ],
)
def test_ipython_has_its_own_ways(
    shell: InteractiveShell, context: ToolContext, code: str, text: str
) -> None:
    assert run(replace(context, namespace=shell.user_ns), code) == text


def test_ipython_history_and_outputs_are_untouched(
    shell: InteractiveShell, context: ToolContext
) -> None:
    names = shell.user_ns
    before = (names.get("_"), dict(names["Out"]), list(names["In"]), shell.execution_count)
    run(replace(context, namespace=names), "1 + 1")
    assert (names.get("_"), dict(names["Out"]), list(names["In"]), shell.execution_count) == before


def test_a_namespace_that_is_not_the_shells_is_plain(
    shell: InteractiveShell, context: ToolContext
) -> None:
    assert "SyntaxError" in fail(context, "%time 1")


def test_without_variables_the_tool_says_so(context: ToolContext) -> None:
    assert "no variables here" in fail(replace(context, namespace=None), "1")


def test_insert_cell_asks_the_front_end(shell: InteractiveShell, context: ToolContext) -> None:
    asked: list[tuple[str, bool]] = []
    shell.set_next_input = lambda s, replace=False: asked.append((s, replace))  # type: ignore[method-assign]
    insert_cell("df.plot()", replace(context, namespace=shell.user_ns))
    assert asked == [("df.plot()", False)]


def test_insert_cell_needs_a_notebook(context: ToolContext) -> None:
    with pytest.raises(ToolError, match="no notebook"):
        insert_cell("x", context)


def test_both_run_on_the_main_thread_and_show_their_code(context: ToolContext) -> None:
    code = "import x\nx.run()"
    for tool in TOOLS:
        arguments: dict[str, Any] = {"code": code}
        assert (tool.where, tool.read_only) == ("main", False)
        assert tool.preview is not None
        assert tool.summary is not None
        assert tool.subject is not None
        shown = tool.preview(arguments, context)
        assert (shown.text, shown.kind) == (code, "python")
        assert tool.summary(arguments) == "import x (+1 lines)"
        assert tool.subject(arguments, context) == code
