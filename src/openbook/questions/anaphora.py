"""Whether a question leans on those before it: it has no word of its own, or refers to what they said."""

from __future__ import annotations

import re

from openbook.errors import QueryError
from openbook.questions.question import read_question
from openbook.questions.words import CONTRACTION, ENGLISH_WORDS, FILLING_WORDS, FOREIGN_WORDS, STOP_WORDS
from openbook.tokens import WORD

# Words of talking about an answer, and names for parts that every code and text has: with nothing else beside
# them, "the default" and "an example" are those of what was asked before.
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

# "What is a function?" asks for the word itself.
_ASKS_WHAT = re.compile(r"\W*(?:what|who)(?:['\u2019]s|\s+(?:is|are|was|were))\s+an?\s", re.IGNORECASE)

# "Which tests?" and "How long?" are about what was asked before; "Explain recursion." says it all.
_FRAGMENT = re.compile(
    r"\W*(?:which|what|whose|how|who|when|where|why|welche[rsmn]?|wessen|wie|quel(?:le)?s?|combien)\s+\S+\W*",
    re.IGNORECASE,
)

_AUXILIARY = r"(?:is|are|was|were|do|does|did|can|could|will|would|should|has|have|had|may|might|must)"
_PART = (
    r"(?:argument|case|class|code|command|error|example|exception|field|file|function|line|method|module|option"
    r"|parameter|part|sentence|setting|variable|version|way)"
)
_WHOLE = r"(?:code\s?base|collection|course|folder|library|package|project|repo(?:sitory)?|software|tool)"

# German nouns have capitals.
_LOWER = r"(?-i:[a-zäöüß]+)"

# What refers to something said before, wherever it stands.
_REFERS = re.compile(
    r"^\W*(?:and|but|or|so|then|also|(?:what|how) about|und|aber|oder|was ist mit|et|mais|ou|donc|alors)\b(?![.-])"
    # "No, I meant the client."
    r"|^\W*(?:yes|no|oops|sorry)[,.:]\s|^(?:\W*\w+[,.])?\W*i\s+meant?\b"
    rf"|\b(?:this|these)\b(?!\s+{_WHOLE}\b)"
    # "That" and "those" also point ahead: "the function that sends".
    rf"|\b{_AUXILIARY}\s+(?:that|those)\b"
    rf"|(?:^|[,;.]|\b(?:because|how|if|what|when|where|whether|why))\s*\b(?:that|those)\s+(?:happens?|works?|{_AUXILIARY})\b"
    rf"|\b(?:that|those)\b(?=\W*$|\s*[?.,;]|\s+(?:as|in|into|ones?|to|with|{_PART})\b)"
    r"|\bthe same\s+(?:appl|go|hold|true)"
    r"|\b(?:there|here|same|latter|former|else|afterwards?|too|as well|either|then|otherwise|again)\W*$"
    r"|\binstead\b(?!\s+of\b)|\b(?:first|second|third|last|other|previous|next) ones?\b"
    r"|\byou\s+(?:just\s+|have\s+)?(?:mean|meant|mention(?:ed)?|said|say|showed|told|wrote)\b"
    r"|\b(?:davon|dazu|damit|dafür|dabei|dadurch|dagegen|daran|darauf|daraus|darin|dort)\b|\b(?:hier|sonst)\W*$"
    r"|\bdas\b(?=\W*$|\s+(?:auch|denn|genauer?|noch|nicht|so)\b)"
    # "Wo wird das getestet?", "Ist das sicher?", "Kann man das ändern?": a noun would come before the last word.
    rf"|\bw(?:ird|urde)\s+das\s+{_LOWER}\W*$|(?:^\W*|\b(?:warum|wieso|weshalb|wann)\s+)(?:ist|war)\s+das\s+{_LOWER}\W*$"
    rf"|\b(?:ist|war|wurde)\s+das\s+(?-i:ge[a-zäöüß]+[nt]|[a-zäöüß]+(?:bar|iert|isch|lich))\W*$|\bdas\s+aus\W*$"
    r"|\b(?:darf|dürfen|kann(?:st)?|können|könn?te(?:st)?|lässt|möchte|muss|müssen|soll(?:en|te)?|will)\b[^,;]{0,40}\bdas"
    r"\s+(?:(?:auch|einfach|selbst|sich|wieder)\s+)?(?-i:[a-zäöüß]+(?:en|ern|eln))\W*$"
    r"|\b(?:ça|cela|ceci|celui|celle|ceux)\b|\bc['\u2019]est\b(?!\s+quoi)",
    re.IGNORECASE,
)

# What refers to something said before, or earlier in the same question.
_PRONOUN = re.compile(
    r"\b(?:its|they|them|their|theirs|he|him|his|she|her|hers|er|ihn|ihm)\b"
    # "Is it safe to ...?" and "How long does it take to ...?" refer to nothing.
    r"|\bit\b(?!\s+(?:\w+\s+)?(?:allowed|best|better|enough|ok(?:ay)?|necessary|possible|recommended|required|safe|worth)"
    r"\s+(?:to|that|if)\b|\s+takes?\b.*\sto\b|\s+matters?\b\s+\w+|\s+means?\s+(?:to|that|if|when)\b)"
    r"|(?<![-\w])(?:ils?|elles?)\b(?!\s+(?:y\s+a|faut|est\s+possible)\b)",
    re.IGNORECASE,
)

# Where a clause begins: in "When a call fails, is it repeated?" the pronoun has its noun in the one before.
_CLAUSE = re.compile(
    r"[,;:.!?]\s|\b(?:that|which|who|whose|when|while|where|if|unless|because|since|before|after|until|once|and|or|but"
    r"|wenn|dass|weil|nachdem|bevor|bis|und|oder|quand|lorsque|si|que|et|ou)\b",
    re.IGNORECASE,
)


def leans(question: str) -> bool:
    """Check whether a question can only be understood with those before it.

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
    """Check whether a question names anything itself, beyond general words such as "example" or "default"."""
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
    """Check whether an earlier clause of the same question names something that a pronoun can mean."""
    clauses = [found.start() for found in _CLAUSE.finditer(before)]
    return bool(clauses and _own_words(before[: clauses[-1]]))
