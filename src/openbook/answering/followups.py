"""Follow-up questions: detects them, and rewrites them as standalone questions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from openbook.answers import Exchange
from openbook.errors import QueryError
from openbook.grounding.marks import find_marks
from openbook.questions.kinds import kind_of
from openbook.questions.question import Question, read_question
from openbook.questions.words import CONTRACTION, ENGLISH_WORDS, FILLING_WORDS, FOREIGN_WORDS, STOP_WORDS
from openbook.text import sentences
from openbook.tokens import WORD

# Words about answers, and general terms of code and texts. Without other content words, "the default" and "an example"
# refer to the question before.
_GENERAL_WORDS = frozenset(
    (
        " actually again best better bit brief briefly clarify common compare concrete concretely continue detail"
        " detailed details differ difference differences different elaborate exactly example examples expand"
        " explanation faster full further general go idea instead kind know last less longer matter mean meaning"
        " means meant mention mentioned more next no not opposite part parts perhaps please point points possible"
        " precisely previous quick quickly quote really reason reasons remind repeat rephrase rest right said say"
        " says second sentence short shorten shorter simple simpler slower sorry sort start step steps summarise"
        " summarize summary third translate true typical understand understood usual whole word words worse worst"
        " wrong yes"
        # Of code and texts.
        " advantage advantages alternative alternatives argument arguments benefit benefits"
        " caveat caveats change class code configurable configure configured cons default"
        " defaults definition disadvantage disadvantages downside downsides drawback"
        " drawbacks exception exceptions file folder function implementation limitation"
        " limitations line lines method module name number numbers option optional options output parameter"
        " parameters place pros recommend recommended required result return returns risk"
        " risks signature snippet test type value values variable version versions"
        # German
        " alles alternativen anders auch auf ausführlicher bedeutet beispiel beispiele bitte dir du einfach"
        " einfacher erklär erkläre erklären erklärst etwas funktion funktioniert geht genau genauer gib grund kannst"
        " könntest kürzer mach mehr meinst mir nachteile nochmal passiert rückgabewert sag sonst standardwert steht"
        " unterschied vorteile wirklich zeig zeige zeigen zeile zeilen"
        # French
        " alors aussi autre autrement autres avantages cela différence dire défaut détail détails"
        " exemple exemples explique expliquer fichier fonction fonctionne ligne lignes marche montre montrer même"
        " oui passe plus pourrais précédent raison sinon sûr tu valeur veux ça"
    ).split()
)

# "What is a function?" asks about the term itself.
_ASKS_WHAT = re.compile(r"\W*(?:what|who)(?:['\u2019]s|\s+(?:is|are|was|were))\s+an?\s", re.IGNORECASE)

# "Which tests?" and "How long?" refer to the question before; "Explain recursion." does not.
_FRAGMENT = re.compile(
    r"\W*(?:which|what|whose|how|who|when|where|why|welche[rsmn]?|wessen|wie|quel(?:le)?s?|combien)\s+\S+\W*",
    re.IGNORECASE,
)

# Words before a demonstrative "that"; elsewhere it may be a relative pronoun: "the function that sends".
_BEFORE_THAT = (
    r"(?:is|are|was|were|do|does|did|can|could|will|would|should|has|have|had|may|might|must"
    r"|because|how|if|what|when|where|whether|why)"
)
_PART = (
    r"(?:argument|case|class|code|command|error|example|exception|field|file|function|line|method|module|option"
    r"|parameter|part|sentence|setting|variable|version|way)"
)
_WHOLE = r"(?:code\s?base|collection|course|folder|library|package|project|repo(?:sitory)?|software|tool)"

# References to earlier questions.
_REFERS = re.compile(
    r"^\W*(?:and|but|or|so|then|also|(?:what|how) about|und|aber|oder|was ist mit|et|mais|ou|donc|alors)\b(?![.-])"
    # "No, I meant the client."
    r"|^\W*(?:yes|no|oops|sorry)[,.:]\s|^\W*i\s+meant?\b|\byou\s+(?:just\s+)?(?:mean|meant|mention(?:ed)?|said|wrote)\b"
    r"|\b(?:first|second|third|last|other|previous|next) ones?\b"
    # "How do I write one?", but not "How do I merge two caches into one?"
    r"|\b(?:i|you|we|to)\s+\w+\s+one(?:\s+(?:my|your|our)sel(?:f|ves))?\W*$"
    rf"|\b(?:this|these)\b(?!\s+{_WHOLE}\b)"
    rf"|(?:\b{_BEFORE_THAT}\s+|[,;]\s*)(?:that|those)\b"
    rf"|\b(?:that|those)\b(?=\W*$|\s*[?.,;]|\s+(?:as|in|into|ones?|to|with|{_PART})\b)"
    r"|\bthe same\s+(?:appl|go|hold|true)|\binstead\b(?!\s+of\b)"
    r"|\b(?:there|here|same|latter|former|else|afterwards?|too|as well|either|then|otherwise|again)\W*$"
    r"|\b(?:davon|dazu|damit|dafür|dabei|dadurch|dagegen|daran|darauf|daraus|darin|dort)\b"
    # "Wo wird das getestet?": before a noun, which has a capital letter, it is an article.
    r"|\b(?:ist|war|w[iu]rde?|gib|darf|kann(?:st)?|könn\w*|lässt|muss|soll\w*|will|sieht|mach\w*|geht|gibt)\b[^,;]{0,40}"
    r"\bdas\b(?!\s+(?-i:[a-zäöüß]+\s+)?(?-i:[A-ZÄÖÜ]))|\bdas\W*$"
    r"|\b(?:ça|cela|ceci|celui|celle|ceux)\b|\bc['\u2019]est\b(?!\s+quoi)",
    re.IGNORECASE,
)

# Pronouns, which refer to earlier questions or to an earlier clause.
_PRONOUN = re.compile(
    r"\b(?:its|they|them|their|theirs|he|him|his|she|her|hers|er|ihn|ihm)\b"
    # "Is it safe to ...?" and "How long does it take to ...?" refer to nothing.
    r"|\bit\b(?!\s+(?:\w+\s+)?(?:allowed|best|better|enough|ok(?:ay)?|necessary|possible|recommended|required|safe|worth)"
    r"\s+(?:to|that|if)\b|\s+takes?\b.*\sto\b|\s+matters?\b\s+\w+|\s+means?\s+(?:to|that|if|when)\b)"
    r"|(?<![-\w])(?:ils?|elles?)\b(?!\s+(?:y\s+a|faut|est\s+possible)\b)",
    re.IGNORECASE,
)

# Boundaries of clauses: in "When a call fails, is it repeated?", the antecedent is in the clause before.
_CLAUSE = re.compile(
    r"[,;:.!?]\s|\b(?:that|which|who|whose|when|while|where|if|unless|because|since|before|after|until|once|and|or|but"
    r"|wenn|dass|weil|nachdem|bevor|bis|und|oder|quand|lorsque|si|que|et|ou)\b",
    re.IGNORECASE,
)


def leans(question: str) -> bool:
    """Check whether a question is a follow-up, which cannot be understood without earlier ones.

    Example:
        >>> leans("Is that configurable?"), leans("What is the default?"), leans("Is the port configurable?")
        (True, True, False)
        >>> leans("Is it tested?"), leans("When a request fails, is it repeated?")
        (True, False)
    """
    if _REFERS.search(question) or _FRAGMENT.fullmatch(question) or not has_own_words(question):
        return True
    return any(not _has_antecedent(question[: found.start()]) for found in _PRONOUN.finditer(question))


def has_own_words(question: str) -> bool:
    """Check whether a question has content words beyond general ones such as "example" or "default"."""
    try:
        query = read_question(question)
    except QueryError:
        return False
    return bool(query.identifiers or query.asks_for_places or _ASKS_WHAT.match(question) or _own_words(question))


def _own_words(text: str) -> list[str]:
    words = WORD.findall(CONTRACTION.sub("", text).lower())
    joining = STOP_WORDS | FILLING_WORDS
    if ENGLISH_WORDS.isdisjoint(set(words) - FOREIGN_WORDS):
        joining |= FOREIGN_WORDS
    return [word for word in words if word not in joining and word not in _GENERAL_WORDS]


def _has_antecedent(before: str) -> bool:
    """Check whether an earlier clause of the same question has a possible antecedent of a pronoun."""
    clauses = [found.start() for found in _CLAUSE.finditer(before)]
    return bool(clauses and _own_words(before[: clauses[-1]]))


# How many questions back a chain of follow-ups may have begun. The one that it began with and the last precede the
# message in the search. Without the last, 2 % more unanswerable questions of conversations are detected
# (`benchmarks/conversations.py`), but "what about bounces?" would be forgotten by the next.
_EARLIER = 5

# Longer rewritings are no questions, and longer messages need no rewriting. Characters.
_MAX_QUESTION_CHARS = 500

# Further sentences that are allowed for text from images, such as error messages.
_SENTENCES_OF_IMAGES = 3

# Labels that models put before a rewritten question.
_LABEL = re.compile(r"[^\w\"'`]*(?:[^:?\n]{0,60}\bquestion\b[^:?\n]{0,20}):\s*", re.IGNORECASE)
_QUOTES = " \t\n\"'`*\u201c\u201d\u2018\u2019\u00ab\u00bb"

_OPENING = re.compile(
    r"\W*(?:(?:and|but|or|so|then|also|ok(?:ay)?|please|und|aber|oder|bitte|et|mais)\b\W*)*(\w*)", re.IGNORECASE
)
_QUESTION_MARKS = ("?", "\uff1f", "\u061f")


@dataclass(frozen=True, slots=True)
class StandaloneQuestion:
    """A question without references to earlier ones."""

    question: Question
    asked: Question
    """The question that the sources must answer: the message itself, if it has content words."""
    leans: bool = False
    """It begins with earlier questions, which raise its similarity to results."""
    rewritten: bool = False
    """A model rewrote it."""

    @property
    def text(self) -> str:
        """The text to search for."""
        return self.question.text


def standalone(
    message: str, history: Sequence[Exchange], rewritten: str = "", *, has_images: bool = False
) -> StandaloneQuestion:
    """Rewrite a message as a standalone question.

    `rewritten` is the question as a model rewrote it, with the content of images if `has_images`; it is ignored if it
    is no question. Without it, rules detect follow-ups, and put earlier questions in front of them.

    Raises:
        QueryError: The question is empty or too long, or neither it nor those before it hold a telling word.

    Example:
        >>> history = [Exchange("Where is Retry defined?", "In retry.py.")]
        >>> standalone("and where is it tested?", history).text
        'Where is Retry defined? and where is it tested?'
        >>> standalone("How do sessions end in the harbour?", history).text
        'How do sessions end in the harbour?'
    """
    more = _SENTENCES_OF_IMAGES if has_images else 0
    if message.strip() and (history or has_images) and (question := _rewrite(message, rewritten, more)) is not None:
        return StandaloneQuestion(question, question, rewritten=question.text != message.strip())
    before = _before(history)
    if not (before and message.strip() and leans(message)):
        query = read_question(message)
        return StandaloneQuestion(query, query)
    whole = read_question(" ".join((*before, message)))
    return StandaloneQuestion(whole, read_question(message) if has_own_words(message) else whole, leans=True)


def is_rewritable(message: str, history: Sequence[Exchange]) -> bool:
    """Check whether a model should rewrite a message: not small talk, the first message, and very long ones."""
    return bool(history and message.strip()) and len(message) <= _MAX_QUESTION_CHARS and not _is_small_talk(message)


def _is_small_talk(message: str) -> bool:
    return kind_of(message) == "small talk"


def _before(history: Sequence[Exchange]) -> list[str]:
    """Return the questions that a follow-up refers to: the last, and if that is one too, the one that it follows."""
    asked = [exchange.question for exchange in history if not _is_small_talk(exchange.question)]
    last, earlier = asked[-1:], asked[-_EARLIER:-1]
    if not last or not leans(last[0]):
        return last
    return [*next(([each] for each in reversed(earlier) if not leans(each)), earlier[-1:]), *last]


def _rewrite(message: str, rewritten: str, more_sentences: int = 0) -> Question | None:
    """Return the question that a model rewrote; None if the reply is no question."""
    line = " ".join(rewritten.split())
    label = _LABEL.match(line)
    line = line[label.end() if label else 0 :].strip(_QUOTES)
    if not line or len(line) > _MAX_QUESTION_CHARS or find_marks(line):
        return None
    asks = line.endswith(_QUESTION_MARKS)
    # Without a question mark, only a request such as "Show me its tests." is valid, if the message is one as well.
    if not asks and (message.rstrip().endswith(_QUESTION_MARKS) or _opening(line) != _opening(message)):
        return None
    if _sentences(line) > max(1, _sentences(message)) + more_sentences:  # an answer with a question at its end
        return None
    try:
        return read_question(line)
    except QueryError:
        return None


def _sentences(text: str) -> int:
    return sum(1 for _ in sentences(text))


def _opening(text: str) -> str:
    found = _OPENING.match(text)
    return found[1].lower() if found else ""
