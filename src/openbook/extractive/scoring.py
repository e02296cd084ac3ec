"""Scores passages as answers: a linear model over their signals, with bonuses that outweigh it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from openbook.embedding.protocol import Embedder
from openbook.extractive.context import ContextItem
from openbook.extractive.definition_heads import in_comment
from openbook.extractive.deprecations import is_deprecated
from openbook.extractive.displaying import fence_of
from openbook.extractive.headings import headings_over
from openbook.extractive.list_entries import entry_at
from openbook.extractive.paragraphs import is_row
from openbook.extractive.passages import Passage, PassageKey, opened_by
from openbook.extractive.requirements import share_of_versions
from openbook.questions.definitions import AskedTerm, doing_of
from openbook.questions.names import stands_in
from openbook.questions.parameters_asked import CONSTRUCTORS
from openbook.questions.question import Question
from openbook.questions.settings_asked import FRAME, wants_default
from openbook.questions.values_asked import states_number
from openbook.retrieval.asked_places import date_strength, document_share
from openbook.retrieval.definitions import defines_type
from openbook.retrieval.paths import is_named
from openbook.retrieval.raising import tells_cause
from openbook.retrieval.roles import asks_for, is_aside, is_unasked, role_of_part
from openbook.retrieval.signals import coverage
from openbook.tokens import tokenize
from openbook.types import Chunk


class PassageSignals(NamedTuple):
    """The features of a passage."""

    place: float
    """The share of the question's words in it and in the headings above, weighted by rarity."""
    meaning: float
    """Its cosine similarity to the question."""
    result: float
    """The score of its result, as a share of the best."""
    rank: float
    """1 in the first result, a half in the second."""
    number_where_value_is_asked: float
    """1 if it contains a number and the question asks for a value; else 0, like those below."""
    prose_where_it_answers: float
    """It is prose, for questions that ask for steps or a definition; or a sentence, for yes-or-no questions."""
    example_for_how_to: float
    is_head: float
    """It is the head of a definition in code."""

    @property
    def score(self) -> float:
        """The score of the passage. Scores compare within one question and may be negative."""
        return sum(weight * value for weight, value in zip(WEIGHTS, self, strict=True))


# Fitted by `python -m benchmarks.quotes`, which also cross-validates them by project.
WEIGHTS = PassageSignals(4.04, 3.84, 1.99, 1.78, 1.89, 1.50, 2.03, 0.51)

_ASKS_FOR_DEFAULT = re.compile(r"\bdefault\b|\bwhich port\b|\bunless\b", re.IGNORECASE)


def asks_for_value(query: Question) -> bool:
    """Return whether a question asks for a number or a default."""
    return query.asks_for_number or _ASKS_FOR_DEFAULT.search(query.text) is not None


class ReadPassage(NamedTuple):
    """A passage with its text and tokens, which are computed once."""

    passage: Passage
    text: str
    words: frozenset[str]
    place: frozenset[str]
    """Its tokens, and those of the headings or the symbol above."""


def read_passage(passage: Passage) -> ReadPassage:
    """Tokenize a passage, and the headings or the symbol above."""
    chunk, text = passage.shown.result.chunk, passage.said
    above = " ".join(headings_over(chunk, passage.start_char - chunk.span.start_char)) if passage.shown.is_prose else ""
    if entry := entry_at(passage.shown, passage.first.number - 1):
        above = f"{above} {entry.name}"
    words = frozenset(tokenize(text))
    return ReadPassage(passage, text, words, words | _words(" ".join((*chunk.context, chunk.symbol, above))))


# Consecutive passages mostly have the same headings.
@lru_cache(maxsize=256)
def _words(text: str) -> frozenset[str]:
    return frozenset(tokenize(text))


def signals_of(
    query: Question,
    passages: Sequence[ReadPassage],
    scores: Mapping[int, float],
    embedder: Embedder,
    rarity: Mapping[str, float],
) -> list[PassageSignals]:
    """Compute the features of each passage. `scores` are those of their results, by result number."""
    asked, *vectors = embedder.embed([query.text, *(each.text for each in passages)])
    best = max(scores.values(), default=0.0)
    ranks = {number: rank for rank, number in enumerate(sorted(scores), start=1)}
    wants_value = asks_for_value(query)
    wants_prose = not query.intents.isdisjoint(("how-to", "definition"))
    found = []
    for (passage, text, _, place), vector in zip(passages, vectors, strict=True):
        result, is_prose = passage.shown.result, passage.shown.is_prose
        # A sentence or a short example answers yes or no; a statement out of a long example does not.
        is_said = is_prose and not passage.is_code
        fits = is_said if query.asks_whether else is_prose and wants_prose
        found.append(
            PassageSignals(
                place=coverage(place, rarity),
                meaning=max(0.0, float(asked @ vector)),
                result=result.score / best if best > 0 else 0.0,
                rank=1 / ranks[passage.shown.number],
                number_where_value_is_asked=float(wants_value and states_number(text)),
                prose_where_it_answers=float(fits),
                example_for_how_to=float("how-to" in query.intents and passage.has_example),
                is_head=float(passage.is_head),
            )
        )
    return found


# Bonuses that outweigh the fitted signals: for the definition or the uses of a name that the question asks for, and for
# what defines a term: a sentence, one in code below the name of the term, what opens a section on it. The questions of
# the fit contain few names and terms. Chosen on `definition_questions.jsonl`; the others were kept aside.
ASKED_BONUS = 3.0
# Prose on what something does, over its definition.
_TELLING_BONUS = 5.0
_TOLD_BONUS, _TOLD_BY_CODE_BONUS, _OPENING_BONUS = 3.0, 5.0, 2.0
# A description of an option need not repeat its name, unlike mentions, whose words weigh 4, and the code that sets it,
# which has the bonus above (`python -m benchmarks.setting_names`).
_DESCRIBING_BONUS = 9.0
# Documentation says more about a setting than its field in code (`benchmarks.setting_names` on netbox and mise).
_DOCUMENTED_BONUS = 3.0
# What raises an error, over a definition that does not say when.
_CAUSE_BONUS = 5.5

# The definition of an enumeration, over what is done with its values.
_ENUMERATION_BONUS = 9.0

# A list or a manifest states the version required, where sentences have more words of the question.
_REQUIRED_BONUS = 5.0

# Who asks where something is done asks for none of them: of 21 answers that began with one, none was right.
_ASIDE_LOSS = 3.0

# The changes of a release do not repeat its number.
_RELEASE_BONUS = 9.0

# An entry of a changelog, over the description of what it names.
_CHANGE_BONUS = 9.0

# What is of the day that is asked for, over the same words of another day.
_DATE_BONUS = 3.0

# An entry of front matter is a passage only if it is asked for.
_FRONT_MATTER_BONUS = 9.0

# What is of the numbered part that is asked for, over passages that have more words of the question.
_REFERENCE_BONUS = 9.0

# The line that labels a default, in the section on what it is the default of: `**Default:** 5`, `| Default | 5 |`.
_LABELED_BONUS = 3.0
_LABELS_DEFAULT = re.compile(
    r"^[ \t]*(?:[-*+|][ \t]+)?[*_]*default(?:[ \t]+value)?[*_`]*[ \t]*[:|][*_`]*[ \t]*\S.*$",
    re.IGNORECASE | re.MULTILINE,
)
# Words of questions for a default that do not say of what.
_ASKING_FOR_VALUE = FRAME | frozenset(tokenize("number amount"))

# Words that headings add to a term: "What is an overlay?", "The overlay".
_ASKING = frozenset(tokenize("what is are a an the"))
# Headings of parts of such sections.
_DESCRIPTION = re.compile(r"description|overview", re.IGNORECASE)
_RETURNED = re.compile(r"returns?|return(?:ed)? values?", re.IGNORECASE)


def describing(query: Question, passages: Sequence[Passage]) -> set[PassageKey]:
    """Return the keys of the passages that describe a setting or an option of the question.

    There are none if the question asks where something is or what uses it.
    """
    if not query.intents.isdisjoint(("where", "uses")):
        return set()
    return {each.key for each in passages if each.setting is not None} | _in_entries(query, passages)


def _in_entries(query: Question, passages: Sequence[Passage]) -> set[PassageKey]:
    """Return the keys of the passages in the list entries that a question names.

    Many pages have an option `-l`. If the question names a page, as "of scp" names `scp.1`, only its entries count.
    What a setting belongs to is not asked for.
    """
    wanted = set(query.terms).difference(*(setting.owners for setting in query.settings))
    found: dict[bool, set[PassageKey]] = {True: set(), False: set()}
    for passage in passages:
        path = passage.shown.result.chunk.span.path
        entry = None if is_aside(path) else entry_at(passage.shown, passage.first.number - 1)
        if entry is not None and not wanted.isdisjoint(entry.names):
            found[is_named(path, query.tokens)].add(passage.key)
    return found[True] or found[False]


# Import statements.
_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+\S+[ \t]+import\b|import\b|export\b[^\n]{0,200}\bfrom\b|use[ \t]+[\w:\\]+"
    r"|using[ \t]+[\w.]+;|#[ \t]*include\b|require(?:_once|_relative)?\b)(?:[ \t]*[({][^)}]{0,4000}[)}])?[^\n]*",
    re.MULTILINE,
)


def without_imports(question: Question, code: str) -> str:
    """Return code without import statements, unless the question asks for imports."""
    return code if "import" in question.text.lower() else _IMPORT.sub("", code)


def has_only_imports(query: Question, read: ReadPassage) -> bool:
    """Return whether a passage is code of imports alone, perhaps in fences."""
    language = read.passage.shown.result.chunk.language
    code = "\n".join(unit.text for unit in read.passage.units if not fence_of(unit.text, language))
    return (read.passage.is_code or read.passage.has_example) and not without_imports(query, code).strip()


def has_name(question: Question, text: str) -> bool:
    """Return whether a text contains a code name of the question, outside of imports unless it asks for these."""
    text = without_imports(question, text)
    return any(re.search(rf"\b{re.escape(name)}\b", text) for name in question.identifiers)


# "Who calls it, and what does it return?" has two of these words, and asks for the definition as well.
_ASKING_WORD = re.compile(
    r"\b(?:who|what|where|which|how|why|define[sd]?|definition|declare[sd]?|returns?|returned"
    r"|wer|wo|wie|qui|où|comment|quién|qué|dónde|cómo)\b",
    re.IGNORECASE,
)
_WITH_MACROS = frozenset({"c", "cpp", "csharp", "objc"})


def asks_only_for_uses(query: Question) -> bool:
    """Return whether a question asks for nothing but the callers or uses of a name."""
    is_of_uses = bool(query.identifiers) and {"uses"} <= query.intents <= {"uses", "where"}
    return is_of_uses and len(_ASKING_WORD.findall(query.text)) < 2


def bonuses_of(query: Question, passages: Sequence[Passage]) -> tuple[list[float], set[PassageKey]]:
    """Return the bonus of each passage, and the keys of those that are not quoted.

    Not quoted are definitions of other things with the same name; and for questions for uses alone, passages without a
    use, if there is any.
    """
    asked_for, namesakes = heads_of_names(query, passages)
    causes = {each.key for each in passages if each.is_cause}
    if causes:
        telling = [
            each for each in passages if query.error and not each.is_cause and tells_cause(each.text, query.error)
        ]
        asked_for.update(each.key for each in telling)
        # "Raised if no berth is free" tells of every place that raises it.
        causes.update(each.key for each in telling if each.defines == query.error)
    elif "uses" in query.intents:
        uses = [passage for passage in passages if _uses(passage, query)]
        # Recursive calls count only if there are no others.
        others = [use for use in uses if not is_inside(use.shown.result.chunk, query)]
        outside = [] if asks_for("test", query.text) else [use for use in others if not is_of_test(use)]
        asked_for = {use.key for use in outside or others or uses}
        if uses and asks_only_for_uses(query):
            told = {each.key for each in passages if each.shown.is_prose and has_name(query, each.text)}
            namesakes = {each.key for each in passages}.difference(told, (use.key for use in uses))
    definitions, described = _definitions(query, passages), describing(query, passages)
    if query.asks_for_parameters:  # a constructor need not repeat the name of its class either
        described |= asked_for
    of_setting = any(passage.setting is not None for passage in passages)
    bonuses = [
        ASKED_BONUS * (passage.key in asked_for)
        + definitions.get(passage.key, 0.0)
        + _CAUSE_BONUS * (passage.key in causes)
        + _ENUMERATION_BONUS * passage.is_enumeration
        + _CHANGE_BONUS * passage.change
        + _DESCRIBING_BONUS * (passage.key in described)
        + _RELEASE_BONUS * _is_on_release(query, passage)
        + _REFERENCE_BONUS * _reference_of(query, passage)
        + _FRONT_MATTER_BONUS * passage.is_front_matter
        + _DATE_BONUS * _date_of(query, passage)
        + _REQUIRED_BONUS * share_of_versions(query, passage)
        + _LABELED_BONUS * labels_default(query, passage)
        + _DOCUMENTED_BONUS * (of_setting and passage.key in described and passage.shown.is_prose)
        - _ASIDE_LOSS * ("where" in query.intents and is_unasked(passage.shown.result.chunk, query.text))
        for passage in passages
    ]
    return bonuses, namesakes


def labels_default(query: Question, passage: Passage) -> bool:
    """Return whether a passage labels the default asked for, in a section whose heading has the words asked."""
    if not (passage.shown.is_prose and wants_default(query.text) and _LABELS_DEFAULT.search(passage.text)):
        return False
    chunk = passage.shown.result.chunk
    asked = frozenset(query.tokens) - _ASKING_FOR_VALUE
    # A short label is quoted with its heading.
    above = headings_over(chunk, passage.last.span.start_char - chunk.span.start_char)[-1:]
    return asked <= _words(" ".join(above))


def _is_on_release(query: Question, passage: Passage) -> bool:
    """Return whether a passage of prose is on the release of which the changes are asked for."""
    if query.release is None or not passage.shown.is_prose:
        return False
    chunk = passage.shown.result.chunk
    return query.release.is_in(headings_over(chunk, passage.start_char - chunk.span.start_char), chunk.span.path)


def _date_of(query: Question, passage: Passage) -> float:
    """Return how surely a passage is of the dates of the question, from 0 to 1."""
    if query.dates is None:
        return 0.0
    return max(date_strength(query.dates, passage.shown.result.chunk), query.dates.share_in(passage.text))


def _reference_of(query: Question, passage: Passage) -> float:
    """Return how surely a passage is of the numbered part that the question refers to, from 0 to 1."""
    if query.reference is None or not passage.shown.is_prose:
        return 0.0
    chunk = passage.shown.result.chunk
    above = headings_over(chunk, passage.start_char - chunk.span.start_char)
    is_in = query.reference.is_in((*chunk.context, *above), passage.text)
    return is_in and document_share(query, query.reference, chunk)


def without_dates(query: Question, shown: Sequence[ContextItem]) -> Sequence[str]:
    """Return the tokens of a question without those of its dates, which a text that is of them need not repeat."""
    dates = query.dates
    if dates is None or not any(date_strength(dates, each.result.chunk) for each in shown):
        return query.tokens
    return [token for token in query.tokens if token not in dates.tokens] or query.tokens


def heads_of_names(query: Question, passages: Sequence[Passage]) -> tuple[set[PassageKey], set[PassageKey]]:
    """Return the keys of the heads that define the names of the question, and of those that share only the name.

    Definitions in tests count if there are no others, or if the question is about tests, and deprecated ones if all
    are. For `Client.send`, `send` of another class only shares the name if `Client` has one.
    """
    asked_for: set[PassageKey] = set()
    namesakes: set[PassageKey] = set()
    for name, owners in zip(query.identifiers, query.owners, strict=True):
        every = [passage for passage in passages if passage.defines == name]
        every = (query.asks_for_parameters and _constructors(name, passages)) or every
        outside = [] if asks_for("test", query.text) else [head for head in every if not is_of_test(head)]
        named = outside or every
        meant = [head for head in named if stands_in(owners, head.within)] or named
        asked_for.update(head.key for head in [head for head in meant if not is_deprecated(head)] or meant)
        namesakes.update({head.key for head in named}.difference(asked_for, (head.key for head in meant)))
    return asked_for, namesakes


def _constructors(name: str, passages: Sequence[Passage]) -> list[Passage]:
    """Return the heads of the constructors of a class, which may have its name."""
    is_called = re.compile(rf"\b{re.escape(name)}\s*(?:<[^()]*>\s*)?\(")
    own = [each for each in passages if each.defines == name and is_called.search(each.signature)]
    others = [each for each in passages if each.defines in CONSTRUCTORS and _is_of_class(each, name)]
    return [*own, *others] or [each for each in passages if each.defines == f"New{name}"]


def _is_of_class(head: Passage, name: str) -> bool:
    """Return whether a method is one of a class, by its symbol or by a line that encloses it in its chunk."""
    owner = head.shown.result.chunk.symbol.removesuffix(f".{head.defines}").rpartition(".")[2]
    above = (line for line in head.within.split("\n") if name in re.findall(r"\w+", line))
    return owner == name or any(defines_type(line, name) for line in above)


def is_of_test(passage: Passage) -> bool:
    """Return whether a passage is in a test."""
    chunk = passage.shown.result.chunk
    return role_of_part(chunk) == "test"


def is_inside(chunk: Chunk, query: Question) -> bool:
    """Return whether a chunk belongs to the definition of a name in the question."""
    return chunk.symbol.rpartition(".")[2] in query.identifiers


def _uses(passage: Passage, query: Question) -> bool:
    """Return whether a passage of code uses a name of the question outside of comments, and does not define it."""
    shown = passage.shown
    if shown.is_prose or passage.defines in query.identifiers:
        return False
    has_hash_comments = shown.result.chunk.language not in _WITH_MACROS  # `# define` with a space is code in C
    code = (
        unit.text
        for unit in passage.units
        if not in_comment(shown, unit.number - 1) and not (has_hash_comments and unit.text.lstrip().startswith("# "))
    )
    return has_name(query, "\n".join(code))


def _definitions(query: Question, passages: Sequence[Passage]) -> dict[PassageKey, float]:
    """Return the bonuses of passages that define the term of a "What is ...?" question, or tell what something does.

    For a term, these are in each document the first passage in the form of a definition, the comment or the docstring
    of what has the term as its name, and the prose that opens the section with the term as its heading: "Overlays act
    as layers."
    """
    if query.term is None:
        return _tellings(query, passages)
    found: dict[tuple[str, str, float], PassageKey] = {}
    for passage in sorted(passages, key=lambda each: each.start_char):
        if bonus := _defining_bonus(query.term, passage):
            found.setdefault((passage.shown.result.chunk.source, passage.first.span.path, bonus), passage.key)
    return {key: bonus for (_, _, bonus), key in found.items()}


def _tellings(query: Question, passages: Sequence[Passage]) -> dict[PassageKey, float]:
    """Return the bonuses of prose that tells what something does: sentences on it, and what opens its section."""
    name = doing_of(query.text)
    if name is None:
        return {}
    said = [each for each in passages if each.shown.is_prose and not is_aside(each.first.span.path)]
    part = _RETURNED if query.text.rstrip("?. ").endswith("return") else _DESCRIPTION
    telling = (each for each in said if name.is_subject_of(each.text) or _opens_section_of(name, each, part))
    return dict.fromkeys((each.key for each in telling), _TELLING_BONUS)


def _defining_bonus(term: AskedTerm, passage: Passage) -> float:
    if not passage.shown.is_prose:
        if not term.is_name(passage.defines):
            return _TOLD_BONUS * term.is_described_in(passage.text)
        if term.is_defined_in(passage.text, is_code=True):
            return _TOLD_BY_CODE_BONUS
        # Without a comment, the head of a definition has nothing but the name.
        return _TOLD_BONUS * (passage.lines > 1 or not passage.signature)
    if term.is_defined_in(passage.text):
        return _TOLD_BONUS
    return _OPENING_BONUS * (_opens_section_of(term, passage) and not is_aside(passage.first.span.path))


def _opens_section_of(term: AskedTerm, passage: Passage, part: re.Pattern[str] = _DESCRIPTION) -> bool:
    """Return whether a passage is a sentence directly below a heading that names the term, or things it is one of.

    The heading may be that of a part of this section.
    """
    if passage.is_code or is_row(passage.text):
        return False
    heading, chunk = opened_by(passage), passage.shown.result.chunk
    if part.fullmatch(heading):
        heading = "".join(headings_over(chunk, passage.start_char - chunk.span.start_char)[-2:-1])
    wanted = _words(" ".join(term.words))
    return any(_words(each) - _ASKING == wanted for each in heading.split(","))
