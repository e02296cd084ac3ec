"""Real git repositories for tests, made in a folder of the test and untouched by the user's settings."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path


class Repository:
    """A git repository that tests write and commit to."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str) -> str:
        """Run a git command and give what it prints."""
        quiet = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        who = {f"GIT_{role}_{what}": "a@b.c" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.folder,
            env={**os.environ, **quiet, **who},
            capture_output=True,
            check=True,
            encoding="utf-8",
        )
        return done.stdout.strip()

    def commit(self, files: Mapping[str, str] | None = None) -> str:
        """Write files, commit all there is, and give the commit."""
        write(self.folder, files or {})
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "change")
        return self.git("rev-parse", "HEAD")

    def set_trap(self, lost: str, mark: Path) -> None:
        """Delete an object, and let the configuration name a command that fetches it, which makes a file."""
        sha = self.git("rev-parse", lost)
        (self.folder / ".git/objects" / sha[:2] / sha[2:]).unlink()
        self.git("config", "core.repositoryFormatVersion", "1")
        self.git("config", "extensions.partialClone", "origin")
        self.git("config", "remote.origin.promisor", "true")
        self.git("config", "remote.origin.url", f"ext::touch {mark}")
        self.git("config", "protocol.ext.allow", "always")


def write(folder: Path, files: Mapping[str, str]) -> None:
    """Write texts into files below a folder, line ends as they are."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8", newline="")
