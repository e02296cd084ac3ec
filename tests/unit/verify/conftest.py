from __future__ import annotations

from pathlib import Path

import pytest

from tests.repositories import Repository


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """Return an empty repository whose remote is on GitHub."""
    repository = Repository(tmp_path / "shop")
    repository.git("remote", "add", "origin", "https://github.com/acme/shop.git")
    return repository
