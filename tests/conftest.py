"""What holds for every test: no folder of the user's is touched, and a failure can be repeated."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# No deadline: a slow machine is no bug. The same examples on every run where nobody is there to
# try again.
settings.register_profile("openbook", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("openbook")


def pytest_report_header() -> str:
    """Name the hash seed, without which an order that depends on it cannot be repeated."""
    return f"hash seed: {os.environ.get('PYTHONHASHSEED', 'random')}"


@pytest.fixture(autouse=True)
def _home_of_its_own(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    home: Path = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("OPENBOOK_HOME", str(home))
    for name in [name for name in os.environ if name.startswith("OPENBOOK_") and name != "OPENBOOK_HOME"]:
        monkeypatch.delenv(name)
