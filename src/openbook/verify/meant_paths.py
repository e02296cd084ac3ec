"""Tells the paths of files from words that only have their form, where no file answers to them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from openbook.sources.languages import BY_NAME, BY_SUFFIX
from openbook.verify.mentions import Mention

# Endings of files that are also names of products and hosts: `Node.js:18`, `crates.rs:443`. Without a folder
# before them they are citations only in code or with `#L`.
_DOUBTFUL_SUFFIXES = frozenset({"app", "cc", "io", "js", "md", "pl", "rs", "sh", "sc", "so", "st", "net", "com", "org"})

# What documentation calls a file that is none: `path/to/file.py:12`.
_PLACEHOLDER = re.compile(
    r"(?:.*/)?(?:path/to.*|(?:your|my|some)[-_]\w+\.\w+|(?:file|filename|foo|bar|baz|qux|example|path|name)\d*(?:\.\w+)?)",
    re.IGNORECASE,
)

# Where systems keep their own files. Prose has other words with a slash before them, such as `/s:1`.
_SYSTEM_PATH = re.compile(
    r"/(?:bin|boot|dev|etc|home|lib\w*|mnt|opt|private|proc|root|run|s?bin|srv|sys|tmp|usr|var|Users|Volumes)/"
)

# Of the files that a path can mean, named in a report.
_MOST_LISTED = 3


def leads_out(path: str) -> bool:
    """Return whether a path names a place out of the root: above it, or where systems keep their own files."""
    return path.startswith("../") or "/../" in path or _SYSTEM_PATH.match(path) is not None


def last_named(text: str, paths: Sequence[str], now: Mapping[str, str]) -> str:
    """Return which of some files a text names last; empty if it names none of them.

    Args:
        text: What stands before a citation.
        paths: Of the files.
        now: The present path for each longer path in the text, which a file may have had before it was renamed.

    Example:
        >>> last_named("Of `old/hooks.py` and `src/app.py`", ["src/app.py", "src/hooks.py"], {})
        'src/app.py'
        >>> last_named("Of `old/hooks.py`", ["src/app.py", "src/hooks.py"], {"old/hooks.py": "src/hooks.py"})
        'src/hooks.py'
    """
    written = {path: path for path in paths} | {old: path for old, path in now.items() if path in paths}
    at, path = max((text.rfind(name), path) for name, path in written.items())
    return path if at >= 0 else ""


def is_meant_as_file(text: str, mention: Mention, *, is_name_known: bool) -> bool:
    """Return whether what has the form of a citation is meant as one, by its wording.

    `is_name_known`: some file has that name.
    """
    if _PLACEHOLDER.fullmatch(mention.path):
        return False
    if mention.form != "plain":
        return True
    name = mention.path.rpartition("/")[2].lower()
    suffix = name.rpartition(".")[2] if "." in name else ""
    if name not in BY_NAME and suffix not in BY_SUFFIX:
        return False
    if "/" in mention.path or text[mention.lines_chars[0]] == "L":
        return True
    in_code = text[mention.start_char - 1 : mention.start_char] == "`"
    return in_code or (not is_name_known and suffix not in _DOUBTFUL_SUFFIXES and bool(suffix))


def listed(paths: Sequence[str]) -> str:
    """Name the first of several files, and how many more there are."""
    more = len(paths) - _MOST_LISTED
    return ", ".join(paths[:_MOST_LISTED]) + (f" and {more} more" if more > 0 else "")
