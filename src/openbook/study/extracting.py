"""Extracts study guides from the sources without a model: summary sentences, definitions and questions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from openbook.answering.verification import check_quotes
from openbook.embedding.protocol import Embedder
from openbook.extractive.answerer import ScoredPassage
from openbook.extractive.citations import TextNow
from openbook.extractive.composing import quotes_of
from openbook.extractive.context import Context
from openbook.extractive.paragraphs import COURSE_FACT
from openbook.extractive.passages import Passage, passages_of
from openbook.extractive.summaries import central_passages
from openbook.questions.languages import languages_of
from openbook.study.guide import StudyItem
from openbook.text import sentences

_WORD = r"[^\W\d_][\w'’-]*"
_TERM = rf"(?P<term>[*_`\"“„«]{{0,3}}{_WORD}(?:[ ]{_WORD}){{0,4}}?[*_`\"”“»]{{0,3}})(?:\s*\([^()\n]{{1,40}}\))?"

# Patterns for "X is a ..." (article, verb, beginning of the definition), then for "... is called X".
_LANGUAGES = {
    ("en", "What is {}?"): (
        rf"(?:(?P<article>An?|The)\s+)?{_TERM},? (?:(?:is|are) (?:simply |basically |just |essentially )?"
        r"(?:an?|the (?:process|act|set|number|name|amount|part|study|rate|time|practice|ability|difference|ratio)"
        r"|any|one of|when|where|defined as|what)\b|means |refers? to |stands? for |denotes? )",
        r"\b(?:is|are) (?:also )?(?:called|known as|termed|referred to as)"
        rf" (?:(?P<article>an?|the) )?{_TERM}(?=[.,;:]|$)",
    ),
    ("de", "Was ist {}?"): (
        rf"(?:(?P<article>Eine?|Der|Die|Das)\s+)?{_TERM},? (?:(?:ist|sind) (?:ein|eine|einer|jede[rs]?|die Fähigkeit"
        r"|der Vorgang|das Verfahren)\b|bedeutet |bezeichnet |steht für )",
        rf"\b(?:nennt man|heißt|wird als) (?:(?P<article>eine?|der|die|das) )?{_TERM}(?: bezeichnet)?(?=[.,;:]|$)",
    ),
    ("fr", "Qu'est-ce que {} ?"): (
        rf"(?:(?P<article>Une?|Les?|La)\s+|L['’])?{_TERM},? (?:(?:est|sont) (?:une?|des|l['’]ensemble|le fait)\b"
        r"|signifie |désigne )",
        rf"\b(?:s['’]appelle|est appelée?|on appelle) (?:(?P<article>une?) )?{_TERM}(?=[.,;:]|$)",
    ),
    ("es", "¿Qué es {}?"): (
        rf"(?:(?P<article>Una?|El|La|Los|Las)\s+)?{_TERM},? "
        r"(?:(?:es|son) (?:una?|el conjunto|el proceso|la capacidad)\b|significa |se refiere a )",
        rf"\b(?:se llama|se denomina|se conoce como) (?:(?P<article>una?) )?{_TERM}(?=[.,;:]|$)",
    ),
}
_PATTERNS = [
    (question, re.compile(rf"\s*{opening}"), re.compile(called))
    for (_, question), (opening, called) in _LANGUAGES.items()
]

# A glossary entry: `**Term**: definition`, `- Term - definition` in emphasis, `Term:: definition`.
_ENTRY = re.compile(
    r"\s*(?:[-*+•]\s+)?(?:(?P<mark>\*\*|__|`)(?P<term>[^*_`\n]{2,60}?):?(?P=mark)\s*(?::|–|—|-(?=\s))"
    r"|(?P<plain>[^\W\d_][^:\n]{1,60})::)\s+(?=\S+\s+\S)"
)

# Pronouns, words that open clauses, and words too general to be terms: "the reason is a lack of water".
_PRONOUNS = frozenset(
    (
        "this that these those it he she we you they i there here what which who one another each all both some any"
        " other others such first second third next last everything nothing something dies das es er sie wir ihr man"
        " hier dort dieser diese dieses jener alles etwas was wer ceci cela ce il elle nous vous ils elles on voici"
        " tout if when only wenn falls nur si esto eso ello él ella nosotros ustedes ellos aquí todo"
    ).split()
)
_VAGUE = frozenset("result example problem point reason goal idea question answer thing note way".split())
_MARKS = '*_`"“”„«» '
_MAX_TERM_CHARS = 60


@dataclass(frozen=True, slots=True)
class DefinedTerm:
    """A term that a sentence defines."""

    term: str
    question: str
    """The matching question, in the language of the sentence."""
    is_marked: bool
    """Whether it is emphasized or introduced with "is called"."""
    start_char: int = 0
    """Where the definition begins in the sentence: behind the term of a glossary entry."""


def definition_in(sentence: str) -> DefinedTerm | None:
    """Return the term that a sentence defines; None if there is none.

    Example:
        >>> definition_in("A levain is a piece of dough that is kept for the next day.").term
        'levain'
        >>> definition_in("It is a piece of dough."), definition_in("**Crumb**: the inside of a loaf.").question
        (None, 'What is Crumb?')
    """
    if entry := _ENTRY.match(sentence):
        term = (entry["term"] or entry["plain"] or "").strip(_MARKS)
        if not _may_be_term(term):
            return None
        return DefinedTerm(term, _question_for(term, sentence), is_marked=True, start_char=entry.end())
    for question, opening, called in _PATTERNS:
        opened = opening.match(sentence)
        found = opened or called.search(sentence)
        if found is None:
            continue
        term = found["term"].strip(_MARKS)
        is_vague = opened is not None and term.casefold().rpartition(" ")[2] in _VAGUE
        if _may_be_term(term) and not is_vague:
            asked = question.format(" ".join(filter(None, ((found["article"] or "").lower(), term))))
            return DefinedTerm(term, asked, is_marked=opened is None or term != found["term"])
    return None


def _question_for(term: str, sentence: str) -> str:
    """Ask for the term of a glossary entry, in the language of its definition; in English if that is unclear."""
    possible = languages_of(sentence)
    questions = dict(_LANGUAGES.keys())
    question = next((asked for code, asked in questions.items() if code in possible), questions["en"])
    return term if term.endswith("?") else question.format(term)


def _may_be_term(term: str) -> bool:
    words = term.casefold().split()
    return bool(words) and len(term) <= _MAX_TERM_CHARS and words[0] not in _PRONOUNS


# Length limits of a sentence that can stand alone.
_MIN_WORDS, _MAX_WORDS = 5, 45

# A term that is neither emphasized nor used twice is rarely worth learning.
_MIN_USES = 2

# A number in a sentence, not part of a name, version, reference, formula or citation.
_NUMBER = re.compile(r"(?<![\w.,:/^#\[(-])(?:[$€£]\s?)?\d+(?:[.,]\d+)*(?:\s?%)?(?![\w\])/:^$-]|[.,]\w)")
# Single digits such as 0 and 1 are guessed too easily.
_MIN_NUMBER_CHARS = 2
# A statement in prose, not a line of code or of a table.
_STATEMENT = re.compile(r"[^\W\d_a-z][^<>=|{}\\_]*[.!。]$")
# The dot leader of a table of contents.
_LEADER = re.compile(r"(?:\. ?){4}")
_REFERENCE = re.compile(
    r"(?:\[|\b(?:chapter|section|lesson|figure|fig\.|table|page|p\.|step|part|equation|kapitel|abschnitt|abbildung"
    r"|tabelle|seite|chapitre|section|capítulo|figura|tabla|página))\s*$",
    re.IGNORECASE,
)
_BLANK = "____"
# Signs of headings, list items and quotations, which need a space: `#include` and `**term**` have none.
_LINE_MARKS = re.compile(r"\A\s*(?:(?:#{1,6}|[-*+•>])[ \t]+)+")

_Made = tuple[str, Passage, str]
"""A question, the passage with the answer, and the answer itself if it is only part of the passage."""


@dataclass(frozen=True, slots=True)
class Extract:
    """The parts of a guide, and the number of dropped items."""

    summary: tuple[StudyItem, ...]
    terms: tuple[StudyItem, ...]
    questions: tuple[StudyItem, ...]
    left_out: int


def extract(context: Context, embedder: Embedder, text_now: TextNow, count: int) -> Extract:
    """Extract a guide verbatim from the sources. Text that has changed since indexing is left out."""
    telling = list(_standalone_sentences(context))
    defined = _definitions(telling, " ".join(entry.result.chunk.text for entry in context.shown))
    terms: list[_Made] = [(term, passage, "") for term, _, passage in defined[:count]]
    asked: list[_Made] = [(question, passage, "") for _, question, passage in defined]
    questions = _chosen([*_headings(context), *asked], list(_gaps(telling)), count)
    parts: list[list[_Made]] = [list(_summary(context, embedder)), terms, questions]
    kept = [_checked(part, context, text_now) for part in parts]
    left_out = sum(len(part) for part in parts) - sum(len(part) for part in kept)
    return Extract(kept[0], kept[1], kept[2], left_out)


def _summary(context: Context, embedder: Embedder) -> Iterator[_Made]:
    for passage in central_passages(context, embedder):
        is_fact = COURSE_FACT.match(passage.text) or _LEADER.search(passage.text)
        if not passage.is_title and not is_fact:
            yield "", passage, ""


def _standalone_sentences(context: Context) -> Iterator[Passage]:
    """Yield the sentences of prose that can stand alone."""
    seen = set()
    for shown in context.shown:
        for passage in passages_of(shown) if shown.is_prose else ():
            for one in _sentences_of(passage):
                words = len(one.text.split())
                if _MIN_WORDS <= words <= _MAX_WORDS and not one.is_title and one.text not in seen:
                    seen.add(one.text)
                    yield one


def _sentences_of(passage: Passage) -> Iterator[Passage]:
    """Split a passage into sentences, because a line may contain several."""
    start = passage.start_char
    found = list(sentences(passage.text))
    for begin, end in found:
        yield replace(passage, part=(start + begin, start + end)) if len(found) > 1 else passage


def _definitions(telling: Iterable[Passage], text: str) -> list[tuple[str, str, Passage]]:
    """Return terms with their questions and definitions, in order, each once."""
    text = text.casefold()
    found: dict[str, tuple[str, str, Passage]] = {}
    for passage in telling:
        definition = definition_in(passage.text)
        if definition is None or definition.term.casefold() in found:
            continue
        if definition.is_marked or text.count(definition.term.casefold()) >= _MIN_USES:
            start = passage.start_char + definition.start_char
            defining = replace(passage, part=(start, passage.end_char)) if definition.start_char else passage
            found[definition.term.casefold()] = (definition.term, definition.question, defining)
    return list(found.values())


def _headings(context: Context) -> Iterator[_Made]:
    """Yield headings that are questions, with the first sentences below as answers."""
    for shown in context.shown:
        said = [passage for passage in passages_of(shown) if not passage.is_title] if shown.is_prose else []
        for unit in shown.units if said else ():
            heading = unit.text.strip().strip("#* ")
            is_heading = unit.text.startswith("#") or heading in shown.result.chunk.context
            answer = next((one for one in said if one.start_char >= unit.span.end_char), None)
            if answer is not None and is_heading and heading.endswith("?"):
                yield heading, answer, ""


def _gaps(telling: Iterable[Passage]) -> Iterator[_Made]:
    """Yield cloze questions: sentences with their only number removed."""
    for passage in telling:
        text = " ".join(passage.text.split())
        numbers = list(_NUMBER.finditer(text))
        if len(numbers) != 1 or not _STATEMENT.fullmatch(text):
            continue
        gap = numbers[0]
        if len(gap[0]) >= _MIN_NUMBER_CHARS and not _REFERENCE.search(text[: gap.start()]):
            yield f"{text[: gap.start()]}{_BLANK}{text[gap.end() :]}", passage, gap[0]


def _chosen(asked: Sequence[_Made], gaps: Sequence[_Made], count: int) -> list[_Made]:
    """Select questions: half of each kind if there are enough, spread over the sources, in source order."""
    of_gaps = min(len(gaps), max(count // 2, count - len(asked)))
    chosen = [*_spread(asked, count - of_gaps), *_spread(gaps, of_gaps)]
    return sorted(chosen, key=lambda made: (made[1].shown.number, made[1].start_char))


def _spread(made: Sequence[_Made], count: int) -> list[_Made]:
    step = max(1.0, len(made) / max(1, count))
    return [made[int(place * step)] for place in range(min(count, len(made)))]


def _checked(made: Sequence[_Made], context: Context, text_now: TextNow) -> tuple[StudyItem, ...]:
    """Return items for the passages that their sources still contain verbatim."""
    claims = quotes_of([ScoredPassage(passage, 1.0) for _, passage, _ in made])
    checked = check_quotes(claims, context, text_now)
    return tuple(
        StudyItem(_with_answer(passage, answer), (citation,), question)
        for (question, passage, answer), citation in zip(made, checked.citations, strict=True)
        if citation.verdict == "exact"
    )


def _with_answer(passage: Passage, answer: str) -> str:
    text = " ".join(_LINE_MARKS.sub("", passage.text).split())
    return f"{answer}: {text}" if answer else text
