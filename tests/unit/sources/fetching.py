"""What tests of fetching from GitHub share: a mirror that is brought up to date as often as they like."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from openbook.errors import FetchError
from openbook.settings import Secret
from openbook.sources.github import GitHubRemote
from openbook.sources.loading import LoadOptions
from openbook.sources.mirrors import Mirror
from openbook.sources.network_policy import NetworkPolicy
from openbook.sources.remote import Patience
from openbook.sources.repository_urls import read_repository_url
from openbook.testing.github_server import GitHubServer

FILES = {"README.md": "# Shop\n", "src/till.py": "TILL = 1\r\n", "docs/api.md": "# API\n"}
MANY = {f"src/m{number}.py": f"VALUE = {number}\n" for number in range(30)}


@dataclass
class Fetching:
    """Fetches from the server of a test, as often as it likes, into one mirror."""

    server: GitHubServer
    folder: Path
    token: Secret | None = None
    reach: NetworkPolicy = field(default_factory=NetworkPolicy)
    timeout_s: float = 60.0
    slept: list[float] = field(default_factory=list)
    while_asleep: Callable[[], None] = lambda: None

    def __call__(self, address: str = "octo/shop", **options: Any) -> Mirror:
        url = read_repository_url(address)
        mirror = Mirror.of(self.folder, url, LoadOptions(**options))
        patience = Patience(self.timeout_s, sleep=self._sleep)
        remote = GitHubRemote(
            url, api_url=self.server.api_url, token=self.token, reach=self.reach, patience=patience, max_bytes=1 << 24
        )
        with mirror.locked(1.0), remote:
            mirror.update(address, remote, LoadOptions(**options), max_bytes=1 << 24, now=lambda: 0.0)
        return mirror

    def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.while_asleep()


def held(mirror: Mirror) -> dict[str, str]:
    files = (path for path in mirror.files.rglob("*") if path.is_file())
    return {path.relative_to(mirror.files).as_posix(): path.read_bytes().decode() for path in files}


def refusal(fetch: Fetching, address: str = "octo/shop") -> FetchError:
    with pytest.raises(FetchError) as caught:
        fetch(address)
    return caught.value
