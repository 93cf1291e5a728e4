"""The test command: ``python -m tests`` checks style and types, then runs every test.

Arguments go to pytest. Browser tests need Chromium: where it is absent and this machine installs
Debian packages as root it is installed first, elsewhere those tests are skipped, which the summary
says.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
PYTHON = sys.executable


def main(arguments: list[str]) -> int:
    """Run the checks in turn; the exit code is 0 only if all passed."""
    _provide_chromium()
    checks = {
        "lint": [PYTHON, "-m", "ruff", "check", "."],
        "format": [PYTHON, "-m", "ruff", "format", "--check", "."],
        "types": [PYTHON, "-m", "mypy"],
        "tests": [PYTHON, "-m", "pytest", "-q", "--durations=10", *arguments],
    }
    failed = []
    for name, command in checks.items():
        print(f"== {name}: {' '.join(command[1:])}", flush=True)
        if subprocess.run(command, cwd=ROOT).returncode != 0:
            failed.append(name)
    print(f"failed: {', '.join(failed)}" if failed else "all checks passed", flush=True)
    return 1 if failed else 0


def _provide_chromium() -> None:
    if any(shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome")):
        return
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        print("no Chromium here: browser tests are skipped", flush=True)
        return
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["apt-get", "update", "-qq"], env=quiet, check=False)
    packages = ["chromium", "fonts-dejavu-core", "fonts-noto-color-emoji"]
    install = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages]
    subprocess.run(install, env=quiet, check=False, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
