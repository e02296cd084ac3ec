"""What a question asks of courses: their outlines, what a lesson is about, which of them speak of something.

Words of asking are known in English, German, French and Spanish. Only words are read here: whether they name a course
is for `openbook.courses.names` to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from openbook.questions.words import CONTRACTION, FILLING_WORDS, STOP_WORDS, foreign_words, telling_words

Asks = Literal["courses", "lessons", "outline", "header", "heading", "summary", "topic", ""]
"""Which courses or lessons speak of something, what lessons a course has, who gives it or where it is, what one lesson
is called or where it is, what it or one of them is about, something in it; or nothing of the kind."""

# Words of each language for one idea stand together: English, German, French, Spanish.
_COURSE = r"(?:courses?|kurse?[ns]?|cours|cursos?)\b"
_LESSON_WORD = r"(?:lessons?|lektion(?:en)?|le[çc]ons?|lecci(?:[óo]n|ones))"
_LESSON = re.compile(rf"\b{_LESSON_WORD}\s+(?:n(?:umber|um[ée]ro|úmero)\s+|n[or°º]\.?\s*)?(\d{{1,4}})\b", re.IGNORECASE)
_OUTLINE_WORD = (
    r"(?:outline|syllabus|curriculum|table of contents|gliederung|inhaltsverzeichnis|lehrplan|sommaire|temario)"
)
# What asks for all or some of a kind: "which", "list", "show me all".
_WHICH = (
    r"[^\w\n]*(?:(?:in|dans|en|auf)\s+)?(?:which|what|list|name|show|all|is there|are there|welche[mnrs]?"
    r"|liste|zeige?|alle"
    r"|nenne|gibt es|quel(?:le)?s?|liste[zr]?|montre[zr]?|tou(?:s|tes)|y a-t-il|qu[eé]|cu[aá]les|lista"
    r"|enumera|muestra"
    r"|mu[eé]strame|tod[oa]s|hay)\b"
    r"(?:[\s-]+(?:me|moi|mir|are|the|a|an|any|of|all|these|my|our|die|der|alle|ein(?:en)?|les?|des?|la|un"
    r"|tous|toutes|los"
    r"|las|tod[oa]s|alg[uú]n|sont|son|sind|hier))*\s+"
)

# Which one is meant, a filter says.
_THIS_LESSON = re.compile(rf"\b(?:this|the|diese[rn]?|die|der|cette|la|esta)\s+{_LESSON_WORD}\b", re.IGNORECASE)

# Characters. What is longer is no such question, or more than one.
_LONGEST = 500
_BETWEEN_QUESTIONS = re.compile(r"(?<=\?)\s+")

# "Of course" and "au cours de" say nothing of courses.
_SAYS_COURSE = re.compile(rf"(?:(?<!\bof )(?<!\bau )(?<!\ben )\b|(?<=-)){_COURSE}", re.IGNORECASE)
_MENTIONS = re.compile(rf"{_SAYS_COURSE.pattern}|\b{_OUTLINE_WORD}\b", re.IGNORECASE)
_WHICH_COURSES = re.compile(rf"{_WHICH}{_COURSE}", re.IGNORECASE)
_WHICH_LESSONS = re.compile(rf"{_WHICH}{_LESSON_WORD}\b", re.IGNORECASE)

# "Where is the default port?" asks for the port, "Where is it explained?" for a place.
_WHERE = re.compile(
    rf"(?:\W*(?:where|wo|o[uù]|d[oó]nde)\b|{_WHICH_LESSONS.pattern})"
    r"[^?]*\b(?:explain|cover|teach|taught|discuss|introduc|treat|talk|erklärt|behandelt|besprochen|expliqu"
    r"|trait|abord|parl"
    r"|explica|trata|habla)(?:s|ed|es|e|ée?s?)?\b",
    re.IGNORECASE,
)
_OUTLINE = re.compile(rf"\b(?:{_OUTLINE_WORD}|lessons|lektionen|le[çc]ons|lecciones)\b", re.IGNORECASE)

# Who gives it, where it is, what it is called: the lines that a course or lesson begins with say so.
_HEADER_WORDS = frozenset(
    (
        "who instructor instructors teacher lecturer gives made leads called title link url find send"
        " wer wem dozent dozentin lehrer unterrichtet leitet hält heißt titel finde finden"
        " qui formateur formatrice professeur enseignant enseigne donne donné titre appelle lien trouver trouve"
        " adresse address dirección quién quien profesor profesora imparte enseña título llama enlace encuentro"
    ).split()
)
_ASKS_WHO = re.compile(
    r"\b(?:who\s+(?:teaches|taught|gives|holds|leads|made|is)|instructors?|teacher|lecturer|wer|von wem"
    r"|dozent(?:in)?|lehrer|qui"
    r"|formateur|formatrice|professeur|enseignant|qui[eé]n|profesora?)\b",
    re.IGNORECASE,
)
_ASKS_LINK = re.compile(
    r"\b(?:link|url|address|adresse|lien|enlace|direcci[oó]n|where (?:can|do) i find"
    r"|wo finde ich|o[uù] (?:trouver|puis-je trouver)"
    r"|d[oó]nde encuentro)\b",
    re.IGNORECASE,
)
_ASKS_TITLE = re.compile(r"\b(?:title|called|titel|heißt|titre|appelle|título|llama)\b", re.IGNORECASE)

# What stands between words of asking and the name of a course.
_BEFORE_NAME = (
    r"of|in|from|by|on|for|the|this|that|a|an|my|our|your|does|do|did|is|are|was|were|has|have|and|or|"
    r"de[rmns]|das|die|ein(?:e[mnrs]?)?|im|vom|von|zu[mr]|aus|hat|ist|und|oder"
)
_ENDS_NAME = re.compile(
    r"[?!,;.](?=\s|$)|\s[?!]|\s(?:say|tell|cover|explain|teach|discuss|mention|speak|talk|about|use|used"
    r"|called|please|sagt|erklärt"
    r"|behandelt|auf|dit|parle|explique|dice|habla|explica)(?:s|es)?\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"[\"“„«]\s?([^\"“”„«»]{2,120}?)\s?[\"”“»]")
# "The course on tides", "der Kurs über Gezeiten", "le cours sur les marées", "el curso Mareas".
_OF = r"(?:of|in|from|for|von|aus|im|de[rsl]?|du)\s+(?:(?:the|de[mnr]|la|les?|los|el)\s+)?"
_CALLED = re.compile(
    rf"{_COURSE}\s+(?:(?:on|about|called|named|titled|über|zu[mr]?|namens|sur|intitulé|sobre|llamado|de)"
    r"\s+(?:(?:the|de[nmr]|la|les?|los|las|el)\s+)?|(?=(?-i:[A-ZÄÖÜ])))",
    re.IGNORECASE,
)
_BELONGS = re.compile(
    rf"(?:\b{_LESSON_WORD}\s+\d{{1,4}}|\b(?:{_OUTLINE_WORD}|lessons|lektionen|leçons|lecciones))\s+{_OF}", re.IGNORECASE
)
_BEFORE_COURSE = re.compile(
    rf"(?:^|\b(?:{_BEFORE_NAME})\s+)((?:(?!(?:{_BEFORE_NAME})\s)[^\s?!;]+\s+){{0,7}}?(?:(?!(?:{_BEFORE_NAME})\s)[^\s?!;]+?))"
    rf"[\s-]+{_COURSE}",
    re.IGNORECASE,
)
_TRAILING_COURSE = re.compile(
    rf"[\s-]+{_COURSE}\W*$|^(?:{_COURSE}|cours\s+(?:de|sur)|curso\s+(?:de|sobre))\s+", re.IGNORECASE
)

_ELISION = re.compile(r"\b(?:[cdjlmnst]|qu)['’](?=\w)", re.IGNORECASE)

# Words of asking what something is about. What is left of a question without them is its topic.
_ASKING = frozenset(
    (
        " about address addressed answer available brief briefly chapter chapters contain contains content"
        " contents course courses cover covered covers current curriculum deal deals dealt discuss discussed"
        " discusses entire exactly exist explained hold holds idea ideas included includes introduce introduced"
        " introduces key learn learned learnt lesson lessons list main many mentioned name number order outline"
        " overview part parts point points present presented said say says short show speak structure subject"
        " subjects summaries summarise summarize summary syllabus table talk talked talks taught teach teaches"
        " tell tells topic topics treated treats"
        # German
        " alle auf behandeln behandelt behandelte behandle beinhaltet besprochen bitte das dem den der des die"
        " diese dieser dieses ein eine einen einer enthält erkläre erklären erklärt es fass fasse geht gelernt gib"
        " gibt gliederung haben handeln handelt hat hier im inhalt inhaltsverzeichnis ist kurs kurse kursen kurses"
        " kurz lehrplan lektion lektionen lernen lernt liste man mir nenne nr thema themen und viele vom von war"
        " was welche welchem welchen welcher welches wer wie wird wo worum wovon wurde zeig zeige zum zur zusammen"
        " zusammenfassung über"
        # French
        " a aborde abordent ce cette combien comprend compte contenu cours dans de disponibles donne du en est et"
        " explique expliqué il la le les leçon leçons moi montre parle parler plan quel quelle quelles quels quoi"
        " résume résumer résumez résumé sommaire sont sujet sur t tous toutes traite un une y"
        # Spanish
        " curso cursos cuántas dame del el enumera esta este explica habla hay las lecciones lección lista los"
        " muestra muéstrame que qué resume resumen resumir se sobre temario tiene todos trata índice"
    ).split()
)


@dataclass(frozen=True, slots=True)
class CourseQuestion:
    """A question in which courses or lessons are mentioned."""

    text: str
    names: tuple[str, ...]
    """Words that may name a course, as written, the likeliest first."""
    lesson: int | None
    """0 is a lesson."""
    says_course: bool
    """It says that it means a course, so that a name that is unknown is one."""

    @property
    def lists_courses(self) -> bool:
        """It begins as "Which courses ..." does."""
        return _WHICH_COURSES.match(self.text) is not None

    @property
    def lists_lessons(self) -> bool:
        """It begins as "Which lessons ..." does."""
        return _WHICH_LESSONS.match(self.text) is not None

    def topic(self, name: str = "") -> str:
        """Give what is left to search for without a name, the lesson and words of asking; empty if nothing is."""
        text = _LESSON.sub(" ", self.text.replace(name, " ") if name else self.text)
        words = re.findall(r"\w+(?:[-'’.]\w+)*", _ELISION.sub("", CONTRACTION.sub("", text)))
        joining = foreign_words(self.text)
        told = " ".join(word for word in words if _tells(word) and word.lower() not in joining)
        return told if _is_searchable(told) else ""

    def asks(self, name: str = "") -> Asks:
        """Say what it asks for, `name` being the one among its words that does name a course."""
        if self.lists_courses:
            return "courses"
        if not name and self.lesson is None and self.topic() and (self.lists_lessons or _WHERE.match(self.text)):
            return "lessons"
        topic = self.topic(name)
        others = set(re.findall(r"\w+", topic.lower())) - _HEADER_WORDS
        is_of_header = not others
        asks_title = self.lesson is not None and is_of_header and _ASKS_TITLE.search(self.text)
        # "Would you pass me the link" has a word more.
        if asks_title or (len(others) <= 1 and _ASKS_LINK.search(self.text)):
            return "header" if self.lesson is None else "heading"
        if is_of_header and self.lesson is None and _ASKS_WHO.search(self.text):
            return "header"
        if topic:
            return "topic" if name or self.lesson is not None else ""
        if self.lesson is None and _OUTLINE.search(self.text):
            return "outline"
        return "summary" if name or self.lesson is not None else ""

    @property
    def is_about_the_only_one(self) -> bool:
        """It asks what "the course" is about and names none, which is clear where there is but one."""
        return self.says_course and not self.names and self.lesson is None and not self.topic()

    @property
    def is_about_the_chosen_one(self) -> bool:
        """It asks what "this lesson" is about, which is clear where one is chosen."""
        return not self.names and self.lesson is None and not self.topic() and bool(_THIS_LESSON.search(self.text))

    @property
    def is_about_one(self) -> bool:
        """It asks for the outline or a lesson of a course that it names, whether there is such a course or not."""
        return self.says_course and any(
            self.asks(name) == "outline" or (self.asks(name) == "summary" and self.lesson is not None)
            for name in self.names
        )


def _tells(word: str) -> bool:
    lowered = word.lower()
    return not (lowered in STOP_WORDS or lowered in FILLING_WORDS or lowered in _ASKING)


def _is_searchable(text: str) -> bool:
    return bool(telling_words(text))


def read_course_question(text: str) -> CourseQuestion | None:
    """Read a question; None if it mentions no course, no lesson by its number, and no place of explaining.

    Of several questions the last one is read; those before it may name the course.

    Example:
        >>> asked = read_course_question("What was covered in lesson 5 of the MCP course?")
        >>> asked.names, asked.lesson, asked.asks("MCP")
        (('MCP',), 5, 'summary')
    """
    if len(text) > _LONGEST:
        return None
    *before, last = _BETWEEN_QUESTIONS.split(text.strip())
    lesson = _LESSON.search(last)
    goes_on = bool(before) and any(asks.search(last) for asks in (_ASKS_WHO, _ASKS_LINK))  # "Who teaches it?"
    mentions = (_MENTIONS.search, _WHERE.match, _THIS_LESSON.search, _WHICH_LESSONS.match)
    if lesson is None and not goes_on and not any(mention(last) for mention in mentions):
        return None
    told = () if _WHICH_COURSES.match(last) else (last, *reversed(before))
    found = dict.fromkeys(name for part in told for name in _names(part))
    # "The outline of this course" names none.
    names = tuple(name for name in found if any(map(_tells, re.findall(r"\w+", name))))
    return CourseQuestion(last, names, int(lesson[1]) if lesson else None, _SAYS_COURSE.search(last) is not None)


def _names(text: str) -> Iterator[str]:
    for quoted in _QUOTED.finditer(text):
        yield quoted[1].strip()
    for before in (*_CALLED.finditer(text), *_BELONGS.finditer(text)):
        rest = _ENDS_NAME.split(text[before.end() :], maxsplit=1)[0].strip()
        name = _TRAILING_COURSE.sub("", rest)
        if name and re.fullmatch(_COURSE, name, re.IGNORECASE) is None:
            yield name
    for match in _BEFORE_COURSE.finditer(text):
        yield match[1].strip(" -")
