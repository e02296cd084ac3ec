"""Which sentences define a term, by how languages and glossaries write it."""

from __future__ import annotations

import re
from dataclasses import dataclass

_WORD = r"[^\W\d_][\w'’-]*"
_TERM = rf"(?P<term>[*_`\"“„«]{{0,3}}{_WORD}(?:[ ]{_WORD}){{0,4}}?[*_`\"”“»]{{0,3}})(?:\s*\([^()\n]{{1,40}}\))?"

# "X is a ...": the article, the verb, and what a definition begins with; then "... is called X".
_LANGUAGES = {
    "What is {}?": (
        rf"(?:(?P<article>An?|The)\s+)?{_TERM},? (?:(?:is|are) (?:simply |basically |just |essentially )?"
        r"(?:an?|the (?:process|act|set|number|name|amount|part|study|rate|time|practice|ability|difference|ratio)"
        r"|any|one of|when|where|defined as|what)\b|means |refers? to |stands? for |denotes? )",
        r"\b(?:is|are) (?:also )?(?:called|known as|termed|referred to as)"
        rf" (?:(?P<article>an?|the) )?{_TERM}(?=[.,;:]|$)",
    ),
    "Was ist {}?": (
        rf"(?:(?P<article>Eine?|Der|Die|Das)\s+)?{_TERM},? (?:(?:ist|sind) (?:ein|eine|einer|jede[rs]?|die Fähigkeit"
        r"|der Vorgang|das Verfahren)\b|bedeutet |bezeichnet |steht für )",
        rf"\b(?:nennt man|heißt|wird als) (?:(?P<article>eine?|der|die|das) )?{_TERM}(?: bezeichnet)?(?=[.,;:]|$)",
    ),
    "Qu'est-ce que {} ?": (
        rf"(?:(?P<article>Une?|Les?|La)\s+|L['’])?{_TERM},? (?:(?:est|sont) (?:une?|des|l['’]ensemble|le fait)\b"
        r"|signifie |désigne )",
        rf"\b(?:s['’]appelle|est appelée?|on appelle) (?:(?P<article>une?) )?{_TERM}(?=[.,;:]|$)",
    ),
    "¿Qué es {}?": (
        rf"(?:(?P<article>Una?|El|La|Los|Las)\s+)?{_TERM},? "
        r"(?:(?:es|son) (?:una?|el conjunto|el proceso|la capacidad)\b|significa |se refiere a )",
        rf"\b(?:se llama|se denomina|se conoce como) (?:(?P<article>una?) )?{_TERM}(?=[.,;:]|$)",
    ),
}
_PATTERNS = [
    (question, re.compile(rf"\s*{opening}"), re.compile(called)) for question, (opening, called) in _LANGUAGES.items()
]

# An entry of a glossary: `**Term**: what it is`, `- Term - what it is` in emphasis, `Term:: what it is`.
_ENTRY = re.compile(
    r"\s*(?:[-*+•]\s+)?(?:(?P<mark>\*\*|__|`)(?P<term>[^*_`\n]{2,60}?):?(?P=mark)\s*(?::|–|—|-(?=\s))"
    r"|(?P<plain>[^\W\d_][^:\n]{1,60})::)\s+(?=\S+\s+\S)"
)

# What stands for something else, and what says too little to be learnt: "the reason is a lack of water".
_PRONOUNS = frozenset(
    (
        "this that these those it he she we you they i there here what which who one another each all both some any"
        " other others such first second third next last everything nothing something dies das es er sie wir ihr man"
        " hier dort dieser diese dieses jener alles etwas was wer ceci cela ce il elle nous vous ils elles on voici"
        " tout esto eso ello él ella nosotros ustedes ellos aquí todo"
    ).split()
)
_VAGUE = frozenset("result example problem point reason goal idea question answer thing note way".split())
_MARKS = '*_`"“”„«» '
_LONGEST_TERM = 60


@dataclass(frozen=True, slots=True)
class DefinedTerm:
    """A term that a sentence defines."""

    term: str
    question: str
    """Asks for it, in the language of the sentence."""
    is_marked: bool
    """Whether it is set off from the words around it, or said to be what something is called."""


def definition_in(sentence: str) -> DefinedTerm | None:
    """Return the term that a sentence defines; None if it defines none.

    Example:
        >>> definition_in("A levain is a piece of dough that is kept for the next day.").term
        'levain'
        >>> definition_in("It is a piece of dough."), definition_in("**Crumb**: the inside of a loaf.").question
        (None, 'Crumb?')
    """
    if entry := _ENTRY.match(sentence):
        term = (entry["term"] or entry["plain"] or "").strip(_MARKS)
        return DefinedTerm(term, f"{term}?", is_marked=True) if _may_be_term(term) else None
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


def _may_be_term(term: str) -> bool:
    words = term.casefold().split()
    return bool(words) and len(term) <= _LONGEST_TERM and words[0] not in _PRONOUNS
