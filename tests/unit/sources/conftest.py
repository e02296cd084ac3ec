from __future__ import annotations

from pathlib import Path

import pytest

from openbook.testing.github_server import GitHubServer
from tests.unit.sources.fetching import Fetching


@pytest.fixture
def fetch(github_server: GitHubServer, tmp_path: Path) -> Fetching:
    return Fetching(github_server, tmp_path)
