"""Stop words of questions: English, German, French and Spanish."""

from __future__ import annotations

import re
import unicodedata

from openbook.tokens import WORD

# Words of asking. They are rare in code, so they would get high weights.
STOP_WORDS = frozenset(
    "a about all an and any are as at be by can could do does did for from get give has have how i if in into is it"
    " its me my of on one or our please show so tell than that the their them then there these this those to us use"
    " used uses using was we were what when where which who why will with work works would you your explain"
    " describe find".split()
)

# Further function words. They are kept if a question has no other words, as `make all`.
FILLING_WORDS = frozenset(
    "also although always am among another anything because been being between both but cannot come each else ever"
    " every few gets getting goes going happen happens he her here him his however just let like made make makes making"
    " many may might more most much must need needs neither no nor now off often once only other others otherwise ought"
    " own per rather same she should since some something still such sure take takes they thing things though through"
    " thus together too toward towards upon very via want wants way ways well went whatever whether while whole whom"
    " whose yet".split()
)

_EVERYDAY_WORDS = frozenset(
    "put puts putting drop drops dropping cut cuts cutting stick sticks throw throws toss grab grabs bring brings tell"
    " tells told say says said look looks looking seem seems know knows think thinks try tries trying tried keep keeps"
    " kept leave leaves left everywhere anywhere somewhere nowhere elsewhere anymore already properly correctly"
    " actually really simply easily basically exactly somehow anyway quickly nicely big bigger biggest huge tiny giant"
    " little bunch lots lot tons nice nicer good best better great easy easier easiest proper weird strange annoying"
    " whole entire enough stuff guys folks people person someone somebody anyone anybody everyone everybody nobody bit"
    " everything nothing".split()
)

# Function words that other languages have as well.
_SHARED_WORDS = frozenset("a also am an as come do he in me no on or so want was will".split())
ENGLISH_WORDS = (STOP_WORDS | FILLING_WORDS) - _SHARED_WORDS

# Shorter texts without a function word may be keywords.
_SENTENCE_WORDS = 5

# Endings with an apostrophe: "doesn't", "we'll", "the client's".
CONTRACTION = re.compile(r"(?<=\w)(?:n['\u2019]t|['\u2019](?:s|m|d|ll|ve|re))\b", re.IGNORECASE)

# "Must a user log in again?" is answered by `login`, or by prose in the same two words.
_LOGS_IN = re.compile(r"\b(log|sign)(?:s|g?ed|g?ing)?[ -](in|on|out|off|up)\b", re.IGNORECASE)

# "How do I turn TLS off?" is answered by how to disable it, or by prose in the same words.
_SWITCHES = re.compile(r"\b(turn|switch)(?:e?s|ed|ing)?((?:\s+[^\s?.,;]+){0,5}?)\s+(off|on)\b", re.IGNORECASE)
_SWITCHED = {"off": "disable", "on": "enable"}

# "What does `--style` accept?" asks for values. A text that lists them need not contain "accept" or "exist".
_ASKS_FOR_VALUES = re.compile(
    r"(\W*(?:what|which)\s.*\S)\s+(?:accept|expect|allow|mean|exist)s?\W*", re.IGNORECASE | re.DOTALL
)

THIS_PROJECT = (
    r"\bthis (?:app(?:lication)?|collection|crate|extension|framework|gem|library|package|plugin|program|project"
    r"|provider|repo(?:sitory)?|software|tool)\b"
)
"""Pattern of what a question may call the sources as a whole."""

# Answers to "Where in the code are ropes spliced?" and "How do I moor ships with this library?" need not contain "code"
# and "library".
_PLACE = re.compile(
    rf"(?<=\bwhere )in (?:the |this |your )?(?:source )?(?:code|codebase|sources)\b|{THIS_PROJECT}", re.IGNORECASE
)

# "Which rope is taken when I choose none?" asks for a default; "How do I check that none is set?" does not.
_CHOOSE, _CHOSEN = (
    r"(?:set|choose|configure|specify|give|pick|select)",
    r"(?:set|chosen|configured|specified|given|picked|selected)",
)
NO_CHOICE = re.compile(
    rf"(?<=^which )(.+)\b(?:when|if)\s+(?:(?:i|we|you|one)\s+(?:{_CHOOSE}\s+(?:none|nothing)|"
    rf"(?:do\s+not|don['\u2019]t)\s+{_CHOOSE}\s+(?:any|it|one))|(?:none|nothing)\s+is\s+{_CHOSEN})\b",
    re.IGNORECASE,
)

COMMON_WORDS = {
    language: frozenset(words.split())
    for language, words in {
        "de": "aber als am an auch auf aus bei beim bis da dann das dass dem den der des die dies diese diesem diesen"
        " dieser dieses durch ein eine einem einen einer eines er es für gibt haben hat hatte ich ihr ihre im in ist ja"
        " jede jeder kann kein keine können lässt machen macht man mein meine mich mir mit muss nach nicht noch nur ob"
        " oder ohne sein seine sich sie sind so soll sollte um und uns vom von wann war waren warum was"
        " welche welchem welchen welcher welches wenn wer werden wie wieder wieso wir wird wo wofür wozu wurde wurden"
        " zu zum zur über",
        "fr": "a au aux avec c ce ces cette comment d dans de des du elle en est et faire fait il ils j je l la le les"
        " leur ma mais me mes mon n ne nous on ont ou où par pas peut peux plus pour pourquoi qu quand que quel quelle"
        " quelles quels qui quoi s sa sans se ses son sont sur t ta un une votre vous y à être",
        "es": "a al como con cual cuales cuando cuanto cuantos cuál cuáles cuándo cuánto cuántos cómo de del donde"
        " dónde el ella ellos en entre es esta estas este esto está están fue ha hacer hay la las lo los me mi muy"
        " más no o para pero por porque puede puedo que quien quién qué se según si sin sobre son su sus sí también"
        " tiene un una unas unos y",
    }.items()
}
"""Stop words of the other supported languages, by language code."""

FOREIGN_WORDS = frozenset[str]().union(*COMMON_WORDS.values())

# Japanese endings and particles are in Hiragana, most content words in other scripts.
_ENDINGS = re.compile(r"[\u3041-\u309f]{2,}")

# A single one may be an English word, as in "comment syntax".
_MIN_STOP_WORDS = 2


def stop_words(question: str) -> frozenset[str]:
    """Return the stop words of a question if it is German, French or Spanish.

    Example:
        >>> sorted(stop_words("Wie kann ich das Protokoll abschalten?"))
        ['das', 'ich', 'kann', 'wie']
        >>> stop_words("What does the comment say on the man page?")
        frozenset()
    """
    words = set(WORD.findall(question.lower()))
    found = words & FOREIGN_WORDS
    english = (words - FOREIGN_WORDS) & (STOP_WORDS | FILLING_WORDS)  # "Computer Use" has one in any language
    return frozenset(found) if len(found) > max(len(english), _MIN_STOP_WORDS - 1) else frozenset()


def is_in_other_language(text: str) -> bool:
    """Return whether a text is a sentence without English function words, or has no Latin letters."""
    words = WORD.findall(text.lower())
    is_sentence = len(words) >= _SENTENCE_WORDS or not any(word.isascii() for word in words)
    return is_sentence and ENGLISH_WORDS.isdisjoint(words)


def without_place(text: str) -> str:
    """Return a question without the words for all of the sources, unless it has no others.

    Example:
        >>> without_place("How do I moor ships with this library?"), without_place("What is this library?")
        ('How do I moor ships with ?', 'What is this library?')
    """
    left = _PLACE.sub("", text)
    return left if content_words_of_question(left) else text


def content_words_of_question(text: str) -> list[str]:
    """Return the words of a text in order without stop words; function words are kept if there are no others.

    Example:
        >>> content_words_of_question("How do I also make the clients wait?"), content_words_of_question("make all")
        (['clients', 'wait'], ['make'])
    """
    if (asked := _ASKS_FOR_VALUES.fullmatch(text)) and (words := content_words_of_question(asked[1])):
        return words
    text = _SWITCHES.sub(lambda found: f"{found[1]} {_SWITCHED[found[3].lower()]}{found[2]} ", text)
    joined = _LOGS_IN.sub(lambda found: f"{found[1]} {found[1]}{found[2]}", CONTRACTION.sub("", text))
    words = [word for word in WORD.findall(joined) if word.lower() not in STOP_WORDS]
    if not text.isascii():
        words = [part for word in words for part in _ENDINGS.sub(" ", word).split()] or words
    return [word for word in words if word.lower() not in FILLING_WORDS] or words


def is_everyday(word: str) -> bool:
    """Return whether people use a word of anything, so that sources may well answer without it.

    Such words are searched for like others.

    Example:
        >>> is_everyday("put"), is_everyday("PUT")
        (True, False)
    """
    return word.lower() in _EVERYDAY_WORDS and not word.isupper()


def folded(text: str) -> str:
    """Return a text without case and accents.

    Example:
        >>> folded("Leçon")
        'lecon'
    """
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(each for each in decomposed if not unicodedata.combining(each))
