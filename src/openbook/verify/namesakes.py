"""Chooses among several files that a short path can mean, or versions of one, by what the page says of the lines."""

from __future__ import annotations

from collections.abc import Sequence, Set
from functools import lru_cache

from openbook.verify.line_tracking import PastFile
from openbook.verify.mentions import Mention
from openbook.verify.names import by_names, lines_with
from openbook.verify.nearby import Nearby, listings_beside
from openbook.verify.relocation import DISTINCTIVE_CHARS, ComparedText

# By how much the lines of one version must fit what the page says better than those of another (`fit`).
LEAD_OF_FIT = 2

SEVERAL_FILES = "several files have that name"

# 20 files for each citation of a long page.
_FIT_CACHE_SIZE = 10_000

Statement = tuple[Mention, Nearby]
"""A citation and the text next to it."""


def best_fitting(
    text: str, own: Statement, all_said: Sequence[Statement], files: Sequence[PastFile]
) -> PastFile | None:
    """Return the file that fits a citation best; None if none fits, or two fit equally well.

    The sentence of the citation is compared first, then those of all citations of the same path on the page, since
    they mean the same file. Otherwise, return the only file that contains a name of the sentence.
    """
    same = [(mention, near) for mention, near in all_said if mention.path == own[0].path]
    for said in ([own], same):
        ranked = sorted(((_total_fit(text, said, file), file.path, file) for file in files), key=lambda each: each[:2])
        if len(ranked) > 1 and ranked[-1][0] > max(0, ranked[-2][0]):
            return ranked[-1][2]
    return _only_with_name(own[1], files)


def _only_with_name(near: Nearby, files: Sequence[PastFile]) -> PastFile | None:
    """Return the only file that contains a name that the others lack; None if there are none or several."""
    files_by_name = [[file for file in files if lines_with(file.page, name)] for name in (*near.label, *near.names)]
    found = {has[0].path: has[0] for has in files_by_name if len(has) == 1}
    return found.popitem()[1] if len(found) == 1 else None


def _total_fit(text: str, said: Sequence[Statement], file: PastFile) -> int:
    return sum(
        _fit(file.page, mention.first_line, mention.last_line, near, listings_beside(text, mention))
        for mention, near in said
        if 1 <= mention.first_line <= mention.last_line <= len(file.page)
    )


@lru_cache(maxsize=_FIT_CACHE_SIZE)
def _fit(page: ComparedText, first: int, last: int, near: Nearby, listings: tuple[str, ...]) -> int:
    return fit(page, first, last, near, listings)


def fit(page: ComparedText, first: int, last: int, near: Nearby, listings: Sequence[str]) -> int:
    """Return how well lines fit a page.

    It is 2 as quoted beside the citation, 1 as named, -1 if the name is elsewhere, and -2 without a word in them.
    """
    block = page.block(first, last)
    if not any(map(str.isalnum, block)):
        return -2
    if any(_is_same(block, "".join(code.split())) for code in listings):
        return 2
    named = by_names(page, first, last, near)
    return named.is_here - named.is_elsewhere


def _is_same(block: str, code: str) -> bool:
    """Return whether one of two squeezed stretches of code stands in the other, and is long enough to prove it."""
    return min(len(code), len(block)) >= DISTINCTIVE_CHARS and (code in block or block in code)


def is_guessed(full_names: Set[str] | None, *paths: str) -> bool:
    """Return whether a text leaves open which of several files it cites by the end of their paths.

    Args:
        full_names: What it has in full of such paths; None if only one file ends so.
        paths: The file that was chosen, under each name that it had.

    Example:
        >>> is_guessed({"src/app.py"}, "src/app.py"), is_guessed({"src/app.py"}, "lib/app.py")
        (False, True)
    """
    if full_names is None:
        return False
    chosen = [name for name in full_names for path in paths if path and f"/{name}".endswith(f"/{path}")]
    return len(full_names) != 1 or not chosen
