"""Ranges of bounded size: text is cut into pieces, pieces are packed into windows.

All strategies for text use these two steps, with different pieces.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from openbook.settings import STRATEGIES, Strategy
from openbook.text import lines, paragraphs, sentences

Range = tuple[int, int]
"""Half-open offsets of a range of text."""

# Windows of 500 words in the Markdown files of 167 Python packages had at most 7.7 characters per word, including
# spaces, in 19 of 20 cases; German prose has 7.8. More is a table or listing.
_CHARS_PER_WORD = 8

# A longer "word" is a URL, an encoded file or text without spaces, and counts as several.
_LONG_WORD_CHARS = 100

# Han and kana have no spaces; each character counts as a word, as in word processors.
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\s{_UNSPACED}]{{1,{_LONG_WORD_CHARS}}}")
_UNBROKEN = re.compile(r"\S+")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkOptions:
    """How documents are split into chunks.

    Code, configuration and data have their own rules and ignore these options.
    """

    strategy: Strategy = "semantic"
    """For prose: by sections, by a fixed number of words, or `hybrid`: by sections, long ones by words."""
    max_words: int = 500
    """Words per window of the strategies `fixed-size` and `hybrid`, at most 8 characters each on average."""
    overlap_words: int = 50
    """Words that such a window repeats of the previous one. Below `max_words`."""
    max_chars: int = 1500
    """Characters per semantic chunk. Headings at its beginning may add up to half as much."""
    merge_chars: int = 700
    """Neighbouring sections whose total length is at most this become one chunk. At most `max_chars`."""
    course_chars: int = 800
    """Characters per chunk of a course. Headings at its beginning may add up to half as much."""
    course_overlap_chars: int = 150
    """Maximum characters, in whole sentences, that a chunk repeats of the previous one. Below `course_chars`.

    150 results in the intended mean of about 100: 78 to 103 on four courses, while 100 results in 36 to 48.
    """

    def __post_init__(self) -> None:
        if self.strategy not in STRATEGIES:
            raise ValueError(f"strategy is {self.strategy!r}, and must be one of {', '.join(STRATEGIES)}")
        for name, limit in (
            ("overlap_words", self.max_words - 1),
            ("merge_chars", self.max_chars),
            ("course_overlap_chars", self.course_chars - 1),
        ):
            if not 0 <= getattr(self, name) <= limit:
                raise ValueError(f"{name} is {getattr(self, name)}, and must be from 0 to {limit}")
        for name in ("max_words", "max_chars", "course_chars"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}, and must be positive")


def pack_windows(
    pieces: Sequence[Range],
    *,
    max_chars: int,
    max_pieces: int = sys.maxsize,
    overlap_chars: int = 0,
    overlap_pieces: int = sys.maxsize,
) -> Iterator[Range]:
    """Group ordered pieces into windows, each as long as possible.

    Yields half-open ranges of indices into `pieces`. Starts and ends both increase from window to window, and every
    piece is in at least one. A piece above `max_chars` gets a window of its own. The overlap is as long as both limits
    allow, and shorter if the next piece would not fit otherwise. Takes linear time.

    Example:
        >>> list(pack_windows([(0, 4), (5, 9), (10, 14)], max_chars=9))
        [(0, 2), (2, 3)]
        >>> list(pack_windows([(0, 4), (5, 9), (10, 14)], max_chars=9, overlap_chars=4))
        [(0, 2), (1, 3)]
    """

    def chars(first: int, last: int) -> int:
        return pieces[last][1] - pieces[first][0]

    def fits(first: int, last: int) -> bool:
        return chars(first, last) <= max_chars and last - first < max_pieces

    def repeats(first: int, last: int) -> bool:
        return chars(first, last) <= overlap_chars and last - first < overlap_pieces

    first = last = 0
    while first < len(pieces):
        while last + 1 < len(pieces) and fits(first, last + 1):
            last += 1
        yield first, last + 1
        if last + 1 == len(pieces):
            return
        first += 1
        while first <= last and not (repeats(first, last) and fits(first, last + 1)):
            first += 1
        last = max(first, last)


def windows(pieces: Sequence[Range], *, max_chars: int, overlap_chars: int = 0) -> Iterator[Range]:
    """Pack ordered pieces by characters and yield the offsets of each window.

    Example:
        >>> list(windows([(0, 4), (5, 9), (10, 14)], max_chars=9))
        [(0, 9), (10, 14)]
    """
    for first, behind in pack_windows(pieces, max_chars=max_chars, overlap_chars=overlap_chars):
        yield pieces[first][0], pieces[behind - 1][1]


def word_windows(text: str, start: int, end: int, options: ChunkOptions) -> Iterator[Range]:
    """Yield windows of at most `max_words` words that repeat `overlap_words` of the previous one.

    Each starts and ends with a word. Blank text has none.

    Example:
        >>> options = ChunkOptions(max_words=3, overlap_words=1)
        >>> [text[a:b] for text in ["one two three four five"] for a, b in word_windows(text, 0, 23, options)]
        ['one two three', 'three four five']
    """
    words = [match.span() for match in _WORD.finditer(text, start, end)]
    for first, behind in pack_windows(
        words,
        max_chars=options.max_words * _CHARS_PER_WORD,
        max_pieces=options.max_words,
        overlap_chars=options.overlap_words * _CHARS_PER_WORD,
        overlap_pieces=options.overlap_words,
    ):
        yield words[first][0], words[behind - 1][1]


Cut = Callable[[str, int, int], Iterator[Range]]

# From coarse to fine. White space and single characters come last.
_LADDER: tuple[Cut, ...] = (paragraphs, lines, sentences)


def cut(text: str, start: int, end: int, max_chars: int, ladder: Sequence[Cut] = _LADDER) -> Iterator[Range]:
    r"""Cut a range into pieces of at most `max_chars`, as coarsely as possible.

    Together, the pieces contain every non-blank character. A range that fits stays whole.

    Example:
        >>> [text[a:b] for text in ["one\n\ntwo\nthree"] for a, b in cut(text, 0, 14, 9)]
        ['one', 'two\nthree']
    """
    if end - start <= max_chars:
        yield start, end
    elif ladder:
        for piece_start, piece_end in ladder[0](text, start, end):
            yield from cut(text, piece_start, piece_end, max_chars, ladder[1:])
    else:
        words = [
            (at, min(at + max_chars, match.end()))
            for match in _UNBROKEN.finditer(text, start, end)
            for at in range(match.start(), match.end(), max_chars)
        ]
        yield from windows(words, max_chars=max_chars)
