"""One JupyterLab and one Chromium for all browser tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kernels import VERSIONS
from tests.lab import Lab, chromium


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """The server and the browser, with a kernel of each ipykernel version."""
    if chromium() is None:
        if os.environ.get("SMOKE_MONKEY_REQUIRE_BROWSER"):
            pytest.fail("there is no Chromium here, and this run requires it")
        pytest.skip("there is no Chromium here")
    folder: Path = tmp_path_factory.mktemp("lab")
    home = tmp_path_factory.mktemp("lab-home")
    env = {"SMOKE_MONKEY_HOME": str(home), "SMOKE_MONKEY_DEMO_PACE": "0"}
    with Lab(folder, kernels=VERSIONS, **env) as running:
        yield running
