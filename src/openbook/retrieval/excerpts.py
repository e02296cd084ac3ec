"""Selects the lines of a result that match the question best, with the matching words."""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise

from openbook.questions.question import Question, read_question
from openbook.retrieval.proximity import expand_inflections
from openbook.tokens import ABBREVIATIONS, WORD, tokenize
from openbook.types import BEGIN_OF_CODE, END_OF_CODE, Chunk, Excerpt, RetrievalResult, Span

# Short enough to read beside nine other results.
EXCERPT_LINES = 3

# Signs of keyboards, and of typesetting programs for the same.
_SIGNS_ALIKE = ("\\-\u2010\u2011", "'\u2018\u2019", '"\u201c\u201d\u201e\xab\xbb')
_ALIKE = re.compile(rf"\\?[{''.join(_SIGNS_ALIKE)}]")

_JOINT = re.compile(r"[^\w\s]{1,2}")
# Letters that the forms of a token share: the stem of "retry" is "retri".
_BEGINNING = 5
_DEFINITION = re.compile(
    r"^[^\S\n]*(?:[a-z]+[^\S\n]+)*(?:def|func|fn|fun|function|class|struct|interface|trait|enum|contract|library|modifier)[^\S\n]+(?:\([^)\n]*\)\s*)?(\w+)",
    re.MULTILINE,
)
_LINE = re.compile(rf"[^\n]*[^\s{BEGIN_OF_CODE}{END_OF_CODE}][^\n]*")


@dataclass(frozen=True, slots=True)
class _Line:
    """A line that is not blank, by its offsets in the chunk."""

    start: int
    end: int
    matches: tuple[tuple[int, int], ...]
    tokens: frozenset[str]


def excerpts(question: str | Question, chunks: Sequence[Chunk], lines: int = EXCERPT_LINES) -> list[Excerpt]:
    r"""Return the lines of each chunk that match a question best, in the order of the chunks.

    For a chunk without any word of the question, these are its first lines. Those of a quotation have its text.

    Args:
        question: A text or a parsed question.
        chunks: The results of the question. A word weighs more the fewer of their lines contain it.
        lines: The maximum number of lines of an excerpt, without blank ones.

    Raises:
        QueryError: See `read_question`.

    Example:
        >>> from openbook.types import Span
        >>> chunk = Chunk("docs", Span("a.md", 0, 20, 1, 2), "wait = 1\nretries = 3", "config")
        >>> excerpts("retry", [chunk], lines=1)[0].text
        'retries = 3'
    """
    query = read_question(question) if isinstance(question, str) else question
    read = _read(chunks, _asked(query, chunks))
    weights = _weights(read)
    shown = [
        _with_text(chunk, found, query.as_written, lines) or _best(chunk, found, weights, lines)
        for chunk, found in zip(chunks, read, strict=True)
    ]
    return [replace(each, symbol=_symbol(query, chunk, each)) for chunk, each in zip(chunks, shown, strict=True)]


def written(text: str) -> re.Pattern[str]:
    """Return a pattern for a text as it is written, in any case and across line ends.

    Typographic hyphens and quotation marks match those of keyboards.
    """
    words = (_ALIKE.sub(_like, re.escape(word)) for word in text.split())
    return re.compile(r"\s+".join(words), re.IGNORECASE)


def _like(escaped: re.Match[str]) -> str:
    return next(f"[{signs}]" for signs in _SIGNS_ALIKE if escaped[0][-1] in signs)


def with_excerpts(question: str | Question, results: Sequence[RetrievalResult]) -> list[RetrievalResult]:
    """Return the same results, each with its excerpt; see `excerpts`."""
    shown = excerpts(question, [result.chunk for result in results])
    return [replace(result, excerpt=excerpt) for result, excerpt in zip(results, shown, strict=True)]


def with_best_excerpts(
    questions: Sequence[Question], found: Sequence[Sequence[RetrievalResult]], results: Sequence[RetrievalResult]
) -> list[RetrievalResult]:
    """Return results with the lines that match the search which ranks them best, the first one of several."""
    best: dict[tuple[str, Span], tuple[int, int]] = {}
    for number, each in enumerate(found):
        for rank, result in enumerate(each):
            best[result.chunk.key] = min(best.get(result.chunk.key, (rank, number)), (rank, number))
    chosen = [best[result.chunk.key][1] for result in results]
    shown = [with_excerpts(question, results) if n in chosen else [] for n, question in enumerate(questions)]
    return [shown[number][position] for position, number in enumerate(chosen)]


def telling_lines(questions: Sequence[Question], chunk: Chunk, among: Sequence[Chunk], share: float) -> list[int]:
    """Return the numbers of the lines of a chunk that match several questions best, in order.

    A line is returned from `share` of the best score on, from 0 to 1. A word weighs more the fewer lines of all chunks
    contain it.
    """
    chunks = [chunk, *(other for other in among if not is_within(other, chunk))]
    asked: dict[str, frozenset[str]] = {}
    for question in questions:
        for word, tokens in _asked(question, chunks).items():
            asked[word] = tokens | asked.get(word, frozenset())
    read = _read(chunks, asked)
    weights = _weights(read)
    worths = [_worth(line.tokens, weights) for line in read[0]]
    least = share * max(worths, default=0.0)
    found: list[int] = []
    number, reached = chunk.span.start_line, 0
    for line, worth in zip(read[0], worths, strict=True):
        if worth and worth >= least:
            number += chunk.text.count("\n", reached, line.start)
            reached = line.start
            found.append(number)
    return found


def is_within(chunk: Chunk, whole: Chunk) -> bool:
    """Return whether a chunk is equal to another one, or a part of it."""
    place, around = chunk.span, whole.span
    same = (chunk.source, place.path) == (whole.source, around.path)
    return same and around.start_char <= place.start_char and place.end_char <= around.end_char


def _symbol(query: Question, chunk: Chunk, excerpt: Excerpt) -> str:
    """Return the definition that a result shows: of a search for one name, what it defines; else that of its lines."""
    asked = query.identifiers[0] if query.is_symbol else ""
    if asked in chunk.defines:
        return asked if chunk.symbol.rpartition(".")[2] != asked else ""
    symbol = symbol_at(chunk, excerpt) if chunk.kind == "code" else ""
    return symbol if symbol != chunk.symbol else ""


def symbol_at(chunk: Chunk, excerpt: Excerpt) -> str:
    r"""Return the definition that contains an excerpt: of several in a chunk, the last one above its first match.

    Only definitions with a keyword count; without one, it is the symbol of the chunk.

    Example:
        >>> from openbook.types import Span
        >>> text = "def moor(): ...\ndef sail(): return sea"
        >>> chunk = Chunk("s", Span("a.py", 0, 38, 1, 2), text, "code", symbol="moor", defines=("moor", "sail"))
        >>> symbol_at(chunk, excerpts("sea", [chunk], lines=1)[0])
        'sail'
    """
    shown = sum(len(line) + 1 for line in chunk.text.split("\n")[: excerpt.start_line - chunk.span.start_line])
    first = chunk.text.find(excerpt.text, shown) + (excerpt.matches[0][1] if excerpt.matches else 0)
    line_end = chunk.text.find("\n", first)
    above = chunk.text[: line_end if line_end >= 0 else len(chunk.text)]
    places = [(found.start(), found[1]) for found in _DEFINITION.finditer(above) if found[1] in chunk.defines]
    name = max(places, default=(0, ""))[1]
    return chunk.symbol if not name or chunk.symbol.rpartition(".")[2] == name else name


def _read(chunks: Sequence[Chunk], asked: Mapping[str, frozenset[str]]) -> list[list[_Line]]:
    words = "|".join(map(re.escape, sorted(asked, key=lambda word: (-len(word), word)))) or r"(?!)"
    pattern = re.compile(rf"\b(?:{words})\b")
    return [list(_lines(chunk, asked, pattern)) for chunk in chunks]


def _weights(read: Sequence[Sequence[_Line]]) -> dict[str, float]:
    held = Counter(token for found in read for line in found for token in line.tokens)
    return {token: 1 / math.log2(1 + count) for token, count in held.items()}


def _lines(chunk: Chunk, asked: Mapping[str, frozenset[str]], pattern: re.Pattern[str]) -> Iterator[_Line]:
    """Yield the lines of a chunk that are not blank."""
    for line in _LINE.finditer(chunk.text):
        matches: list[tuple[int, int]] = []
        tokens: set[str] = set()
        for word in pattern.finditer(chunk.text, line.start(), line.end()):
            # `message-delay-limit` is one name.
            joined = matches and _JOINT.fullmatch(chunk.text, matches[-1][1], word.start())
            matches.append((matches.pop()[0] if joined else word.start(), word.end()))
            tokens |= asked[word.group()]
        yield _Line(line.start(), line.end(), tuple(matches), frozenset(tokens))


def _asked(query: Question, chunks: Sequence[Chunk]) -> dict[str, frozenset[str]]:
    """Map the words of chunks to the tokens of the question that they match; words without a match are left out.

    A name counts as a whole, beside its parts.
    """
    # Most words match nothing, and tokenizing all of them takes longer than the search, so filter by prefixes first.
    beginnings = {token[: min(len(token) - 1, _BEGINNING)] if len(token) > 2 else token for token in query.tokens}
    beginnings |= {short for short, full in ABBREVIATIONS.items() if full.startswith(tuple(beginnings))}
    may_be = re.compile("|".join(map(re.escape, sorted(beginnings | {name.lower() for name in query.identifiers}))))
    words = {word for chunk in chunks for word in WORD.findall(chunk.text)}
    found: dict[str, frozenset[str]] = {}
    for word in words:
        if may_be.search(word.lower()):
            names = {word}.intersection(query.identifiers)
            said = names.union(expand_inflections(tokenize(word), query.tokens)).intersection((*query.tokens, *names))
            if said:
                found[word] = frozenset(said)
    return found


def _with_text(chunk: Chunk, found: Sequence[_Line], texts: Sequence[str], lines: int) -> Excerpt | None:
    """Return the lines around the first of some texts in a chunk, all of which matches; None if it has none of them."""
    places = sorted(place.span() for text in texts if (place := written(text).search(chunk.text)))
    if not places:
        return None
    start, end = places[0]
    first = bisect_right(found, start, key=lambda line: line.start) - 1
    last = bisect_left(found, end, key=lambda line: line.end)
    around = max(0, lines - (last - first + 1))
    first = max(0, min(first - around // 2, len(found) - lines))
    return _of_lines(chunk, found[first : max(last + 1, first + lines)], [(start, end)])


def _best(chunk: Chunk, found: Sequence[_Line], weights: dict[str, float], lines: int) -> Excerpt:
    """Choose the adjacent lines that match best; of equals, those with a match in the middle.

    In code, blank lines separate statements: of equals, lines without one between them come first.
    """
    is_code = chunk.kind == "code"
    worth = [_worth(line.tokens, weights) if line.tokens else 0.0 for line in found]
    middle = min(lines, len(found)) // 2

    def rank(first: int) -> tuple[float, bool, float, float, int]:
        each = worth[first : first + lines]
        shown = found[first : first + lines]
        is_one = not is_code or all(above.end + 1 == below.start for above, below in pairwise(shown))
        together = frozenset().union(*(line.tokens for line in shown))
        return _worth(together, weights), is_one, sum(each), each[middle], -first

    last = max(0, len(found) - lines)
    matching = (range(max(0, n - lines + 1), min(n, last) + 1) for n, line in enumerate(found) if line.tokens)
    first = max(sorted(set(chain.from_iterable(matching))), key=rank, default=0)
    shown = found[first : first + lines]
    return _of_lines(chunk, shown, [match for each in shown for match in each.matches])


def _of_lines(chunk: Chunk, shown: Sequence[_Line], matches: Sequence[tuple[int, int]]) -> Excerpt:
    start, end = shown[0].start, shown[-1].end
    first_line = chunk.span.start_line + chunk.text.count("\n", 0, start)
    return Excerpt(
        text=chunk.text[start:end],
        start_line=first_line,
        end_line=first_line + chunk.text.count("\n", start, end),
        matches=tuple((first - start, last - start) for first, last in matches),
    )


def _worth(tokens: frozenset[str], weights: dict[str, float]) -> float:
    return sum(weights[token] for token in sorted(tokens))
