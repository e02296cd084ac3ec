"""Finds the files that a query names, and nothing else: `go.mod`, `README.md`, `client/session.py`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from openbook.index.protocol import Index, Outline
from openbook.types import Filter

# A library may have hundreds of files called README.md. Only the nearest to the top are listed first.
_MOST = 10

# Names with spaces must end in a suffix: "3. Neural networks.pdf" may be a file, "neural networks" is a topic.
_SPACED = re.compile(r"\S.*\.\w{1,8}")
_QUOTES = "`\"'"

FileKey = tuple[str, str]
"""Source and path."""


def file_asked(text: str) -> str:
    r"""Return the path or file name that a query may consist of, in lower case; empty if it cannot be one.

    Example:
        >>> file_asked("`./Client/session.py`"), file_asked("Gemfile"), file_asked("how sessions end")
        ('client/session.py', 'gemfile', '')
    """
    asked = text.strip().strip(_QUOTES).replace("\\", "/").removeprefix("./").strip("/")
    is_name = bool(asked) and (len(asked.split()) == 1 or _SPACED.fullmatch(asked) is not None)
    return asked.casefold() if is_name else ""


def named_files(index: Index, text: str, where: Filter, outlines: Sequence[Outline]) -> list[FileKey]:
    """Return the files whose paths end with the whole query, the nearest to the top first, at most ten.

    A single word without a dot or slash is rather a name in code, and not worth listing a library for: it is compared
    with the files of the candidates, given by their outlines.
    """
    asked = file_asked(text)
    if not asked:
        return []
    if "." in asked or "/" in asked:
        found = _ending(asked, ((each.source, each.path) for each in index.documents(where)))
    else:
        found = _ending(asked, {(each.source, each.span.path) for each in outlines})
    return sorted(found, key=lambda file: (file[1].count("/"), len(file[1]), file))[:_MOST]


def _ending(asked: str, files: Iterable[FileKey]) -> list[FileKey]:
    # Results show the source in front of the path if there are several.
    return [(source, path) for source, path in files if f"/{source}/{path}".casefold().endswith(f"/{asked}")]
