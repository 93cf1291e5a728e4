"""The command line: what it prints, what it leaves behind, what it returns."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from smoke_monkey_nb.cli import demo, doctor, main

KEY = "sk-proj-Abcd1234Efgh5678Ijkl9012Mnop"


@pytest.mark.kernel
def test_demo_once_executes_the_quickstart_and_writes_a_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "demo"
    assert main(["demo", "--once", "--dir", str(folder)]) == 0
    page = folder / "quickstart.html"
    assert str(page) in capsys.readouterr().out
    html = page.read_text(encoding="utf-8")
    assert "smn-run" in html
    assert 'data-code="provider_rate_limited"' in html
    assert 'data-status="failed"' in html  # the blocked .env, the denied call
    assert (folder / "report.md").read_text().startswith("# Report on sales")


@pytest.mark.kernel
def test_doctor_names_keys_and_never_shows_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert main(["doctor"]) == 0
    printed = capsys.readouterr()
    assert "OPENAI_API_KEY (openai)" in printed.out
    assert "openai:" in printed.out
    assert KEY[8:] not in printed.out + printed.err
    assert "FAIL" not in printed.out


@pytest.mark.kernel
def test_doctor_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["ok"] is True
    names = [check["name"] for check in report["checks"]]
    assert names == [
        "python",
        "packages",
        "extras",
        "kernel",
        "widgets",
        "keys",
        "ollama",
        "model",
        "store",
    ]
    kernel = next(check for check in report["checks"] if check["name"] == "kernel")
    assert kernel["status"] == "ok"


def test_doctor_fails_when_something_needed_does_not_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SMOKE_MONKEY_HOME", str(tmp_path / "file" / "below"))
    monkeypatch.setattr(doctor, "_CHECKS", (("store", doctor._store),))
    assert main(["doctor"]) == 1
    assert "SMOKE_MONKEY_HOME" in capsys.readouterr().out


def test_a_check_that_breaks_is_a_finding_not_a_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> doctor.Check:
        raise LookupError("no such thing")

    monkeypatch.setattr(doctor, "_CHECKS", (("odd", broken),))
    (check,) = doctor.collect()
    assert (check.status, check.name) == ("fail", "odd")


def test_demo_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo.importlib.util, "find_spec", lambda name: None)
    assert main(["demo", "--once", "--dir", str(tmp_path)]) == 1
    assert 'pip install "smoke_monkey_nb[demo]"' in capsys.readouterr().err


def test_demo_keeps_a_copy_that_was_worked_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    started: list[list[str]] = []
    monkeypatch.setattr(demo, "_jupyterlab", lambda arguments, _: started.append(arguments) or 0)
    assert main(["demo", "--no-browser", "--port", "9000", "--dir", str(tmp_path)]) == 0
    notebook = tmp_path / demo.NOTEBOOK
    notebook.write_text("mine")
    assert main(["demo", "--dir", str(tmp_path)]) == 0
    assert notebook.read_text() == "mine"
    assert (tmp_path / demo.DATA).is_file()
    assert "--no-browser" in started[0]
    assert "--port=9000" in started[0]
    assert "--no-browser" not in started[1]
    assert "delete it to start afresh" in capsys.readouterr().out


def test_demo_in_a_folder_that_cannot_be_written_names_the_way_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    assert main(["demo", "--once", "--dir", str(tmp_path / "file")]) == 1
    assert "--dir" in capsys.readouterr().err


def test_without_a_command_it_helps(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert "doctor" in capsys.readouterr().out


def test_help_and_version_import_nothing_heavy() -> None:
    code = (
        "import sys; from smoke_monkey_nb.cli import main\n"
        "try: main(['--version'])\nexcept SystemExit: pass\n"
        "print([m for m in ('pandas', 'openai', 'nbformat', 'jupyterlab') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_script_is_installed() -> None:
    assert shutil.which("smoke-monkey-nb", path=str(Path(sys.executable).parent))
