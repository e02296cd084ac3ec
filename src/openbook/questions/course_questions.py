"""Parses questions on courses: outlines, links, instructors, summaries of lessons, and places of a topic.

One table has the function words of such questions in English, German, French and Spanish. Whether the remaining words
name an existing course or lesson is decided by `openbook.courses.names`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile
from typing import Literal

from openbook.questions.words import FILLING_WORDS, STOP_WORDS, content_words_of_question, folded

Asks = Literal["courses", "lessons", "outline", "header", "link", "summary", "topic", ""]
"""Courses or lessons on a topic, the outline of a course, its instructor and link, the link of a lesson, a summary, a
topic within; or nothing of the kind."""

# Longer texts are no questions on courses. Characters.
_MAX_CHARS = 500

# Stands for "Is there any" and the like, as one word.
_EXISTS = "exists"

# The words of questions on courses by their roles. A word may have several.
# codespell:ignore-begin
_FRAMES = {
    role: frozenset(map(folded, words.split()))
    for role, words in {
        "course": "course courses kurs kurse kursen kurses cours curso cursos",
        "lesson": "lesson lessons lecture lectures lektion lektionen vorlesung vorlesungen leçon leçons"
        " lección lecciones clase clases",
        "lessons": "lessons lectures lektionen vorlesungen leçons lecciones clases",
        "outline": "outline syllabus curriculum contents gliederung inhaltsverzeichnis lehrplan sommaire temario",
        "instructor": "instructor instructors teacher teachers dozent dozentin dozenten kursleiter kursleiterin lehrer"
        " lehrerin enseignant enseignante formateur formatrice instructeur instructrice professeur docente"
        " instructora profesor profesora",
        "who": "who wer qui quién",
        "teaches": "gives holds leads made taught teaches gibt hält lehrt leitet unterrichtet anime donne enseigne da"
        " dicta enseña imparte",
        "link": "link url adresse lien enlace dirección",
        "title": "title titel heißt titre appelle título llama",
        "online": "online internet netz",
        "where": "where wo où dónde",
        "which": "all list name show what which alle liste nenne zeig welche welchem welchen welcher welches zeige"
        " montre quel quelle quelles quels tous toutes cuáles enumera lista muestra muéstrame qué todos todas",
        "whether": _EXISTS,
        "many": "many viele vielen combien cuántas cuántos",
        "this": "the this der die diese dieser cette la esta",
        "speaks": "address addressed cover covered covers discuss discussed discusses explain explained explains"
        " introduce introduced introduces mentioned speak talk talked talks taught teach teaches tell tells treated"
        " treats behandelt behandelte behandeln besprochen erklärt erklären geht handelt aborde explique expliqué"
        " expliquée parle traite cubre explica explican habla trata",
        "about": "about called named on titled namens über zu zum zur sur con sobre",
        "belongs": "al for from in of to aus im in vom von au dans de des du en del",
        "article": "a an any some my our the this your das dem den der die ein eine einem einen einer des ce cet cette"
        " l la le les un une el esta este las los una un algún alguna algunos",
        "joins": "and are at by how me or that with am auf mir mit wie oder sind und avec et ou pour sont con para"
        " por son y",
        "asks": "answer available brief briefly chapter chapters contain contains content current deal deals dealt did"
        " do does entire exactly exist has have held hold holds idea ideas included includes is key learn learned"
        " learnt main number order overview part parts point points present presented said say says send short"
        " structure subject subjects summaries summarise summarize summary table topic topics was were"
        " beinhaltet besteht bitte brauche enthält erkläre es fass fasse finde gelernt gib haben handeln hat hier"
        " gibt ich inhalt ist kurz lautet lernen lernt man nr thema themen um viel war wird worum wovon wurde zusammen"
        " zusammenfassung"
        " cherche comment compte comporte contient disponibles donne contenu est fais il je moi numéro que quoi"
        " résume résumer résumez résumé se t trouve"
        " busco cómo cual contiene contenido cuál dame es hay necesito número pasas resume resumen resumir tiene",
    }.items()
}
# codespell:ignore-end
# The unambiguous verbs of `teaches`: "Who made MCP?" asks for no instructor.
_TAUGHT = frozenset(map(folded, ("teaches", "taught", "lehrt", "unterrichtet", "enseigne", "enseña", "imparte")))
_OF_HEADER = _FRAMES["instructor"] | _FRAMES["link"] | _FRAMES["online"] | _FRAMES["title"]
_ROLES = {
    word: frozenset(role for role, words in _FRAMES.items() if word in words)
    for word in frozenset[str]().union(*_FRAMES.values())
}

_OPENING = ("which", "whether", "many", "article", "belongs", "joins")

_WHETHER = re.compile(r"[¿\s]*(?:(?:is|are) there\b|gibt es\b|y a-t-il\b|hay\b)", re.IGNORECASE)

_NEVER_IN_NAMES = ("course", "lesson", "outline", "instructor", "online")

_WORD = re.compile(r"\w+(?:['’.]\w+)*")
# "l'instructeur" and "who's".
_ELIDED = re.compile(r"^(?:[cdjlmnst]|qu)['’]|(?:n['’]t|['’](?:s|m|d|ll|ve|re))$")
_LESSON_NUMBER = re.compile(r"\d{1,4}(?:\.\d{1,3})?")
_BETWEEN_QUESTIONS = re.compile(r"(?<=\?)\s+")
_QUOTED = re.compile(r"[\"“„«]([^\"“”„«»]{2,120})[\"”“»]")


@dataclass(frozen=True, slots=True)
class _Word:
    """A word of a question."""

    text: str
    key: str
    """Without case, accents and elisions."""
    start_char: int
    end_char: int
    opens_phrase: bool

    @property
    def roles(self) -> frozenset[str]:
        return _ROLES.get(self.key, frozenset())

    def does(self, *roles: str) -> bool:
        return not self.roles.isdisjoint(roles)

    @property
    def tells(self) -> bool:
        """It is a content word: MIT is one, "mit" is not."""
        is_written_large = len(self.text) > 1 and self.text.isupper()
        return is_written_large or not (self.key in STOP_WORDS or self.key in FILLING_WORDS or self.key in _ROLES)

    @property
    def is_framing(self) -> bool:
        """It is a function word, and not a capitalized part of a title."""
        return self.key in _ROLES and (self.opens_phrase or not self.text[0].isupper())

    @property
    def ends_before(self) -> bool:
        """It may precede the name in "the X course"."""
        return self.is_framing or self.does(*_NEVER_IN_NAMES)

    @property
    def ends_name(self) -> bool:
        """It follows a name, or begins the next clause."""
        return self.opens_phrase or self.does(*_NEVER_IN_NAMES)


def _words(text: str) -> list[_Word]:
    whether = _WHETHER.match(text)
    words = [_Word(whether[0], _EXISTS, *whether.span(), opens_phrase=True)] if whether else []
    for found in _WORD.finditer(text, whether.end() if whether else 0):
        before = text[words[-1].end_char if words else 0 : found.start()]
        opens = not words or any(sign in before for sign in "?!,;¿¡") or before.startswith(". ")
        words.append(_Word(found[0], folded(_ELIDED.sub("", found[0])), *found.span(), opens))
    return words


@dataclass(frozen=True, slots=True)
class CourseQuestion:
    """A question that mentions courses or lessons."""

    text: str
    names: tuple[str, ...]
    """Possible names of a course, as written, likeliest first."""
    lesson: int | None
    """The number of a lesson, which may be 0."""
    says_course: bool
    """It contains "course", so an unknown name is meant as a course."""
    lesson_names: tuple[str, ...] = ()
    """Possible names of a lesson."""
    part: int | None = None
    """The part of the lesson, as in "lesson 1.3"."""
    asks_for_header: bool = False
    """It asks for the instructor or the link, if it asks for nothing else."""

    @property
    def lists_courses(self) -> bool:
        """It begins as "Which courses ..." does."""
        return _begins_with(_words(self.text), "course")

    @property
    def lists_lessons(self) -> bool:
        """It begins as "Which lessons ..." does."""
        return _begins_with(_words(self.text), "lesson")

    @property
    def counts(self) -> bool:
        """It asks for a number."""
        return any(word.does("many") for word in _words(self.text))

    def topic(self, *names: str) -> str:
        """Return the topic: the question without names, the lesson and function words; may be empty."""
        return self._without_asking(names, frozenset())

    def _without_asking(self, names: Sequence[str], others: frozenset[str]) -> str:
        text = self.text
        for name in filter(None, names):
            text = text.replace(name, " ")
        words, told = _words(text), ""
        numbers = _numbered(words)
        for word in words:
            if (word.tells or word.key in _OF_HEADER) and word not in numbers and word.key not in others:
                told += f"{'-' if text[: word.start_char].endswith('-') else ' '}{word.text}"
        return told.strip(" -") if _is_searchable(told) else ""

    def asks(self, *names: str) -> Asks:
        """Return what it asks for. `names`: the words that name an existing course or lesson."""
        if self.lists_courses:
            return "courses"
        is_placed, words = any(names) or self.lesson is not None, _words(self.text)
        if not is_placed and self.topic() and _asks_where(words):
            return "lessons"
        if self.asks_for_header and not self._without_asking(names, _OF_HEADER):
            is_of_lesson = self.lesson is not None or not set(names).isdisjoint(self.lesson_names)
            return "link" if is_of_lesson and any(word.does("link", "title", "where") for word in words) else "header"
        if self.topic(*names):
            return "topic" if is_placed else ""
        if self.lesson is None and any(word.does("outline", "lessons") for word in words):
            return "outline"
        return "summary" if is_placed else ""

    @property
    def is_about_the_only_one(self) -> bool:
        """It asks what "the course" is about without a name, which is unambiguous if there is only one."""
        return self.says_course and not self.names and self.lesson is None and not self.topic()

    @property
    def is_about_the_chosen_one(self) -> bool:
        """It asks what "this lesson" is about, which is unambiguous if one is selected."""
        return not self.names and self.lesson is None and not self.topic() and _says_this_lesson(_words(self.text))

    @property
    def is_about_one(self) -> bool:
        """It asks for the outline or a lesson of a named course, which may not exist."""
        return self.says_course and any(
            self.asks(name) == "outline" or (self.asks(name) in ("summary", "link") and self.lesson is not None)
            for name in self.names
        )


def read_course_question(text: str) -> CourseQuestion | None:
    """Parse a question; None if it mentions no course, no numbered lesson, and asks for no place of an explanation.

    Of several questions, the last one is parsed; those before it may name the course.

    Example:
        >>> asked = read_course_question("What was covered in lesson 5 of the MCP course?")
        >>> asked.names, asked.lesson, asked.asks("MCP")
        (('MCP',), 5, 'summary')
    """
    if len(text) > _MAX_CHARS:
        return None
    *before, last = _BETWEEN_QUESTIONS.split(text.strip())
    words = _words(last)
    lesson, part = next(
        (_place(word) for word in _numbered(words) if _LESSON_NUMBER.fullmatch(word.text)), (None, None)
    )
    says_course = any(_says_course(words, place) for place in range(len(words)))
    of_lessons = lesson is not None or _asks_where(words) or _says_this_lesson(words) or _begins_with(words, "lesson")
    is_of_courses = says_course or any(word.does("outline") for word in words)
    # "Where is the bread course? I need the link."
    for_header = _asks_for_header(words) or (
        any(word.does("link") for word in words) and _asks_for_header(_words(text))
    )
    taught = _taught(words, last)
    if not (of_lessons or is_of_courses or for_header or taught):
        return None
    told = () if _begins_with(words, "course") else (last, *reversed(before))
    names = dict.fromkeys([*(name for part in told for name in _names(part)), *taught])
    of_last = dict.fromkeys(_names_beside(words, "lesson", last))
    return CourseQuestion(last, tuple(names), lesson, says_course, tuple(of_last), part, for_header or bool(taught))


def _taught(words: Sequence[_Word], text: str) -> Sequence[str]:
    """Return the object of "Who teaches ...?", which may be a course; empty for other questions."""
    if len(words) < 3 or not words[0].does("who") or words[1].key not in _TAUGHT:
        return ()
    return (text[words[2].start_char :].rstrip(" ?!."),)


def _says_course(words: Sequence[_Word], place: int) -> bool:
    # "Of course" and "au cours de" mention no course.
    before = words[place - 1].key if place else ""
    return words[place].does("course") and (before, words[place].key) not in (("of", "course"), ("au", "cours"))


def _says_this_lesson(words: Sequence[_Word]) -> bool:
    return any(before.does("this") and word.does("lesson") for before, word in pairwise(words))


def _begins_with(words: Sequence[_Word], role: str) -> bool:
    before = list(takewhile(lambda word: not word.does(role), words))
    is_asked = any(word.does("which", "many", "whether") for word in before)
    return len(before) < len(words) and is_asked and all(word.does(*_OPENING) for word in before)


def _asks_where(words: Sequence[_Word]) -> bool:
    """Return whether a question asks where something is explained, unlike "Where is the default port?"."""
    is_where = bool(words) and words[0].does("where")
    return (is_where or _begins_with(words, "lesson")) and any(word.does("speaks") for word in words)


def _asks_for_header(words: Sequence[_Word]) -> bool:
    does = frozenset[str]().union(*(word.roles for word in words))
    is_placed = not does.isdisjoint(("course", "lesson"))
    asks_who = "instructor" in does or ("who" in does and ("teaches" in does or is_placed))
    # "Where can I find lesson 3?" and "What is lesson 3 called?". Without a number, search finds the lesson.
    is_numbered = bool(_numbered(words)) and not does.isdisjoint(("where", "title")) and "speaks" not in does
    return asks_who or is_numbered or {"where", "online"} <= does or ("link" in does and is_placed)


def _numbered(words: Sequence[_Word]) -> list[_Word]:
    """Return the number of the first numbered lesson, with the word "number" before it."""
    for place, word in enumerate(words):
        if word.does("lesson"):
            after = words[place + 1 : place + 3]
            skipped = after[:1] if after and after[0].key in ("number", "no", "nr", "numero") else []
            number = after[len(skipped) : len(skipped) + 1]
            # "Lesson #5" and "Nr. 5", but not "lesson: [5]".
            is_near = all(b.start_char - a.end_char <= 2 for a, b in pairwise([word, *skipped, *number]))
            if number and is_near and _LESSON_NUMBER.fullmatch(number[0].text):
                return [*skipped, *number]
    return []


def _place(word: _Word) -> tuple[int, int | None]:
    number, _, part = word.text.partition(".")
    return int(number), int(part) if part else None


def _is_searchable(text: str) -> bool:
    return bool(content_words_of_question(text))


def _names(text: str) -> Iterator[str]:
    for quoted in _QUOTED.finditer(text):
        yield quoted[1].strip()
    words = _words(text)
    yield from _names_beside(words, "course", text)
    numbers = _numbered(words)
    for place, word in enumerate(words):
        if word.does("outline", "lessons", "instructor", "link") or word in numbers[-1:]:
            yield from _name_behind(words[place + 1 :], "belongs", text)


def _names_beside(words: Sequence[_Word], role: str, text: str) -> Iterator[str]:
    """Yield names as in "the course on tides", "der Kurs Tides", and "the tides course"."""
    for place, word in enumerate(words):
        if not word.does(role) or (role == "course" and not _says_course(words, place)):
            continue
        behind = words[place + 1 :]
        yield from _name_behind(behind, "about", text)
        if role == "course":
            yield from _name_behind(behind, "belongs", text)
        if behind and behind[0].text[0].isupper() and not behind[0].opens_phrase:
            yield from _name_of(behind, text)
        start = place
        while start > 0 and not (words[start].opens_phrase or words[start - 1].ends_before):
            start -= 1
        if start < place:
            yield from _name_of(words[start:place], text)


def _name_behind(words: Sequence[_Word], link: str, text: str) -> Iterator[str]:
    """Yield the name after a linking phrase such as "of the"."""
    links = list(takewhile(lambda word: word.is_framing and word.does(link, "article"), words))
    if any(word.does(link) for word in links) or (links and link == "article"):
        yield from _name_of(words[len(links) :], text)


def _name_of(words: Sequence[_Word], text: str) -> Iterator[str]:
    """Yield the name at the start of words: up to the next function word of the question."""
    name = list(words[:1])
    for word in words[1:]:
        if word.ends_name or (word.is_framing and word.does("asks", "speaks", "teaches", "many")):
            break
        name.append(word)
    while name and name[-1].is_framing:
        name.pop()
    # "The outline of this course" names none.
    if name and any(word.tells for word in name):
        yield text[name[0].start_char : name[-1].end_char]
