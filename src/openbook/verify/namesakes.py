"""Chooses among files whose paths end as a citation is written, by what the page says of the lines."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from openbook.verify.certainty import fit
from openbook.verify.line_tracking import PastFile
from openbook.verify.mentions import Mention
from openbook.verify.names import lines_with
from openbook.verify.nearby import Nearby, listings_beside
from openbook.verify.relocation import ComparedText

# Comparisons that are kept: 20 files with each of the citations of a long page.
_KEPT = 10_000

Statement = tuple[Mention, Nearby]
"""A citation, and what is said next to it."""


def best_fitting(
    text: str, own: Statement, all_said: Sequence[Statement], files: Sequence[PastFile]
) -> PastFile | None:
    """Return the one of several files that a citation fits; None if none does, or another one does as well.

    If the lines do not tell by its own sentence, they do by all those of the page that cite the same path, since a page
    means one file by it. Last comes a name that only one of the files has at all.
    """
    same = [(mention, near) for mention, near in all_said if mention.path == own[0].path]
    for said in ([own], same):
        ranked = sorted(((_fit_of(text, said, file), file.path, file) for file in files), key=lambda each: each[:2])
        if len(ranked) > 1 and ranked[-1][0] > max(0, ranked[-2][0]):
            return ranked[-1][2]
    return _only_with_name(own[1], files)


def _only_with_name(near: Nearby, files: Sequence[PastFile]) -> PastFile | None:
    """Return the one file that has a name of the sentence which none of the others has; None if two have such names."""
    holders = [[file for file in files if lines_with(file.page, name)] for name in (*near.label, *near.names)]
    found = {has[0].path: has[0] for has in holders if len(has) == 1}
    return found.popitem()[1] if len(found) == 1 else None


def _fit_of(text: str, said: Sequence[Statement], file: PastFile) -> int:
    return sum(
        _fit(file.page, mention.first_line, mention.last_line, near, listings_beside(text, mention))
        for mention, near in said
        if 1 <= mention.first_line <= mention.last_line <= len(file.page)
    )


@lru_cache(maxsize=_KEPT)
def _fit(page: ComparedText, first: int, last: int, near: Nearby, listings: tuple[str, ...]) -> int:
    return fit(page, first, last, near, listings)
