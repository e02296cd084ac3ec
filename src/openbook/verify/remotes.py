"""Tells which permalinks are of a repository, by its remotes."""

from __future__ import annotations

import re
from pathlib import Path

from openbook.verify.git import Git

# With `ssh` the port, and a host that only answers there, say nothing of where people read the files.
_REMOTE = re.compile(
    r"(?:(?:ssh://(?:[^@/\s]+@)?(?:(?:alt)?ssh\.)?(?P<ssh>[\w.\-]+)(?::\d+)?/)"
    r"|(?:[a-z+]+://)?(?:[^@/\s]+@)?(?P<host>[\w.\-]+(?::\d+)?)[/:]+)"
    r"(?P<name>[\w.~\-]+(?:/[\w.~\-]+?)+)(?:\.git)?/?"
)


def repositories(folder: Path) -> frozenset[str]:
    """Return what the remotes of a folder are called, in lower case: `github.com/owner/name`."""
    lines = (line.split() for line in Git(folder).ask("remote", "-v").split("\n"))
    found = (_REMOTE.fullmatch(words[1]) for words in lines if len(words) > 1)
    return frozenset(f"{match['ssh'] or match['host']}/{match['name']}".lower() for match in found if match)
