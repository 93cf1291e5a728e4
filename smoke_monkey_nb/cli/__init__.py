"""The command line: ``smoke-monkey-nb demo`` and ``smoke-monkey-nb doctor``.

Parses and hands over; the commands themselves import what they need (JupyterLab, nbconvert) only
when they run, so that ``--help`` and a friendly word about what is missing always work.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; returns its exit code."""
    options = _parser().parse_args(argv)
    if options.command == "doctor":
        from .doctor import run_doctor

        return run_doctor(as_json=options.json)
    if options.command == "demo":
        from .demo import DemoProblem, open_demo, run_once

        try:
            return run_once(options.dir) if options.once else open_demo(options)
        except DemoProblem as problem:
            print(problem, file=sys.stderr)
            return 1
    _parser().print_help()
    return 0


def _parser() -> argparse.ArgumentParser:
    from .. import __version__

    parser = argparse.ArgumentParser(
        prog="smoke-monkey-nb", description="An LLM agent that runs inside Jupyter cells."
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="command")
    demo = commands.add_parser(
        "demo",
        help="open the quickstart notebook in JupyterLab (no key, no network)",
        description="Open the quickstart notebook in JupyterLab, on a copy in ./smoke-monkey-demo. "
        "Its model is the offline demo: rules, no key, no network.",
    )
    demo.add_argument(
        "--once",
        action="store_true",
        help="run it without a browser, write quickstart.html, and exit",
    )
    demo.add_argument("--no-browser", action="store_true", help="only print the address")
    demo.add_argument("--port", type=int, help="JupyterLab's port (default: 8888 or the next)")
    demo.add_argument(
        "--dir",
        type=Path,
        default=Path("smoke-monkey-demo"),
        help="working folder (default: ./smoke-monkey-demo)",
    )
    doctor = commands.add_parser(
        "doctor",
        help="say what works here: kernel, widgets, keys, model",
        description="Say what works here. Keys are looked for by name; no value is ever shown.",
    )
    doctor.add_argument("--json", action="store_true", help="print JSON")
    return parser
