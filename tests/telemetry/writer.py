"""A process of the tests: writes attempts and prints the number of each once it is stored."""

from __future__ import annotations

import sys
from pathlib import Path

from smoke_monkey_nb.telemetry.store import Store

from .helpers import attempt


def main(directory: str, first: str, count: str) -> None:
    """Write ``count`` attempts, numbered from ``first`` on."""
    store = Store(Path(directory))
    for number in range(int(first), int(first) + int(count)):
        warning = store.add_attempt(attempt(number))
        print(number if warning is None else f"failed: {warning.message}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
