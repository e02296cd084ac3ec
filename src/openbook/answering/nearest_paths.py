"""What to say of a path that no document has: which ones could be meant."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches

# What is told outside of a fence has no room for a sentence.
_PLAIN = re.compile(r"[\w./-]{1,100}")

# More would have to be read.
_MOST = 3


def told_instead(wanted: str, paths: Sequence[str]) -> str:
    """Return what helps an agent that named a path which no document has.

    Example:
        >>> told_instead("main.rs", ["src/main.rs", "src/cli.rs"])
        'did you mean src/main.rs?'
        >>> told_instead("src", ["src/main.rs", "src/cli.rs"])
        'that is a folder; list_files shows what is in it'
    """
    plain = [path for path in paths if _PLAIN.fullmatch(path)]
    asked = wanted.replace("\\", "/").strip("/")
    if asked and any(path.startswith(f"{asked}/") for path in paths):
        return "that is a folder; list_files shows what is in it"
    meant = [path for path in plain if asked and f"/{path}".endswith(f"/{asked}")]
    if not meant and asked:
        name = asked.rpartition("/")[2]
        meant = [path for path in plain if path.rpartition("/")[2] == name]
        meant = meant or [path for path in plain if path.rpartition("/")[2].partition(".")[0] == name]
        meant = meant or get_close_matches(asked, plain, _MOST, 0.8)
    if 0 < len(meant) <= _MOST:
        return f"did you mean {' or '.join(sorted(meant))}?"
    return "search shows paths as they are"
