"""What is quoted along with a sentence, so that people understand it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from openbook.answering.passages import Passage, joined, joins, overlap

# A sentence that begins so leans on the one before. With that in front, one question in forty more is
# answered by the sentence that is wanted (`benchmarks/courses.py`), for four more words in each answer.
_REFERS = re.compile(r"(?:And |But |So )?(?:This|That|These|Those|It|They|He|She|Such)\b")


def with_surroundings(quotes: Sequence[Passage], passages: Sequence[Passage], *, wide: bool) -> list[Passage]:
    """Give quotes with what belongs to them. No two of them come to overlap.

    A sentence that begins with what only the one before explains, such as "That is", gets that one in front.

    Args:
        quotes: What is to be quoted, best first.
        passages: All that may be.
        wide: Whether each gets the sentences on both sides, in its paragraph.
    """
    found = list(quotes)
    for place, quote in enumerate(found):
        if quote.shown.is_prose:
            before = next((each for each in passages if joins(each, quote)), quote)
            behind = next((each for each in passages if joins(quote, each)), quote)
            first = before if wide or _REFERS.match(quote.text) else quote
            whole = joined(first, behind if wide else quote)
            if not any(overlap(whole, other) for other in found if other is not quote):
                found[place] = whole
    return found
