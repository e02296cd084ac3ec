"""Development tools from the npm registry: fetched once, never a part of the page."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import subprocess
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True, slots=True)
class Tool:
    """A package of the registry."""

    name: str
    version: str
    sha256: str
    """Of its archive."""


def unpacked(tool: Tool, config: pytest.Config) -> Path:
    """Return the folder of a package, kept in pytest's cache. Without npm, the test is skipped; never so in CI."""
    assert config.cache is not None
    cache = Path(config.cache.mkdir("npm"))
    folder = cache / f"{tool.name}-{tool.version}"
    if not folder.is_dir():
        with tempfile.TemporaryDirectory(dir=cache) as fetched:
            archive = _fetched(tool, Path(fetched))
            assert hashlib.sha256(archive.read_bytes()).hexdigest() == tool.sha256
            with tarfile.open(archive) as content:
                content.extraction_filter = getattr(tarfile, "data_filter", None)  # Python 3.11.4 and later have it
                content.extractall(fetched)
            with contextlib.suppress(OSError):  # another worker was faster, and the folder is not empty
                (Path(fetched) / "package").rename(folder)
    assert folder.is_dir()
    return folder


def _fetched(tool: Tool, folder: Path) -> Path:
    npm = shutil.which("npm")
    if npm is None:
        reason = f"{tool.name} comes from npm, which is not installed; on Debian: apt-get install npm"
        if os.environ.get("CI"):
            pytest.fail(reason, pytrace=False)
        pytest.skip(reason)
    command = [npm, "pack", "--silent", "--pack-destination", str(folder), f"{tool.name}@{tool.version}"]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    return folder / f"{tool.name}-{tool.version}.tgz"
