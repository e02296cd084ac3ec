"""The values shared by all rooms: frozen and validated on creation, independent of storage and models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, get_args

from openbook.errors import InvalidArgumentError

Kind = Literal["code", "docs", "course", "config", "data"]
"""The format family of a document. Set by its reader, from name and content."""

KINDS: tuple[Kind, ...] = get_args(Kind)

View = Literal["auto", "files", "passages"]
"""How results are listed: `files` (each once) or `passages` (several per file). `auto`: depends on the query."""

VIEWS: tuple[View, ...] = get_args(View)

Use = Literal["definition", "call", "import", "mention"]
"""How a line uses a name, most significant first. A line with several uses has the first of them."""

USES: tuple[Use, ...] = get_args(Use)

BlockKind = Literal["heading", "text", "code"]
"""Type of a block of prose. `code` is fenced or literal; it is never searched for headings."""

BEGIN_OF_CODE, END_OF_CODE = "\x02", "\x03"
"""What the reader of HTML writes around the text of `pre`, each between the form feeds that mark borders."""


def shown_text(text: str) -> str:
    """Return a text for display. The marks of readers become blanks, so offsets stay."""
    return text.replace("\f", " ").replace(BEGIN_OF_CODE, " ").replace(END_OF_CODE, " ")


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A range in a document: lines for people, characters for machines.

    Lines end at a line feed. Spans are ordered by path, then by characters: a total order within one source.
    """

    path: str
    """POSIX path relative to the root of the source."""
    start_char: int
    """Offset of the first character in the document's text."""
    end_char: int
    """End offset, exclusive."""
    start_line: int
    end_line: int
    """Inclusive; lines are counted from 1."""

    def __post_init__(self) -> None:
        if not 0 <= self.start_char <= self.end_char:
            raise ValueError(f"span {self.path!r}: bad characters {self.start_char}-{self.end_char}")
        if not 1 <= self.start_line <= self.end_line:
            raise ValueError(f"span {self.path!r}: bad lines {self.start_line}-{self.end_line}")

    def __str__(self) -> str:
        return f"{self.path}:{self.start_line}-{self.end_line}"

    def to_dict(self) -> dict[str, Any]:
        """Return the span as JSON values."""
        return {
            "path": self.path,
            "start_line": self.start_line,
            "end_line": self.end_line,
            "start_char": self.start_char,
            "end_char": self.end_char,
        }


@dataclass(frozen=True, slots=True)
class Lesson:
    """A part of a course, as named by the course itself."""

    course: str
    """Title of the course; empty if the material has none."""
    number: int | None = None
    """As written, so 0 is a valid number. None for text before the first lesson."""
    title: str = ""
    link: str = ""
    course_link: str = ""
    instructor: str = ""
    course_path: str = ""
    """Path of the course folder; empty if the document is a course by itself."""
    part: int | None = None
    """Number of the lesson within module `number`: 3 for lesson 1.3."""
    titles_itself: bool = field(default=False, compare=False)
    """Whether the title was found in the document, not in a list of lessons such as `course.toml`."""

    @property
    def label(self) -> str:
        """The number as people write it, such as `4` or `1.3`; empty if there is none.

        Example:
            >>> Lesson("Knots", 1, part=3).label
            '1.3'
        """
        numbers = (self.number, self.part if self.number is not None else None)
        return ".".join(str(number) for number in numbers if number is not None)

    def __str__(self) -> str:
        return "" if self.number is None else f"Lesson {self.label}: {self.title}".rstrip(": ")

    def to_dict(self) -> dict[str, Any]:
        """Return the lesson for lists, as JSON values."""
        return {"number": self.number, "part": self.part, "label": self.label, "title": self.title, "link": self.link}


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a document that its reader recognized."""

    start_char: int
    end_char: int
    kind: BlockKind = "text"
    level: int = 0
    """Heading level, 1 at the top; 0 for other blocks."""
    title: str = ""
    """Heading text without markup."""
    lesson: Lesson | None = None
    closes: int = 0
    """Sections of this level and deeper end above it, as at the end of a tab; 0 if none does."""

    def __post_init__(self) -> None:
        if not 0 <= self.start_char <= self.end_char:
            raise ValueError(f"bad block {self.start_char}-{self.end_char}")
        if (self.kind == "heading") != (self.level > 0):
            raise ValueError(f"a {self.kind} block cannot have level {self.level}")


@dataclass(frozen=True, slots=True, order=True)
class Anchor:
    """A name in the original for a place in the extracted text, such as `cell 3`."""

    start_char: int
    label: str


@dataclass(frozen=True, slots=True)
class Document:
    """One file of a source, as text."""

    source: str
    """Name of its source."""
    path: str
    """POSIX path relative to the root of the source."""
    kind: Kind
    language: str
    """Name of the grammar or format, such as `python` or `markdown`; empty if unknown."""
    text: str = field(repr=False)
    """The text that all offsets refer to. Line ends are kept as in the file."""
    content_hash: str
    """SHA-256 of the file's bytes, hexadecimal; then the version of the reader rules, `/v2`, if not the first."""
    blocks: tuple[Block, ...] = field(default=(), repr=False)
    """Structure of prose, in order and without overlaps. Empty for code. Not stored."""
    anchors: tuple[Anchor, ...] = field(default=(), repr=False)
    """In order. Each anchor applies until the next."""
    remarks: tuple[str, ...] = ()
    """What could not be read of the file, for users: `no text on pages 3 to 7`."""


@dataclass(frozen=True, slots=True)
class Course:
    """A course of a library, identified by source and path. Titles need not be unique."""

    source: str
    path: str
    """Path of the course document or folder; `.` for the whole source."""
    title: str
    """Title given by the course, or else the name of its file or folder."""
    link: str = ""
    instructor: str = ""
    lessons: tuple[Lesson, ...] = ()
    """Lessons with a number, in order of appearance."""

    @property
    def key(self) -> tuple[str, str]:
        """Unique key within a library."""
        return (self.source, self.path)

    def to_dict(self) -> dict[str, Any]:
        """Return the course and its lessons as JSON values, in the format of `courses --json`."""
        return {
            "source": self.source,
            "path": self.path,
            "title": self.title,
            "link": self.link,
            "instructor": self.instructor,
            "lesson_count": len(self.lessons),
            "lessons": [lesson.to_dict() for lesson in self.lessons],
        }


@dataclass(frozen=True, slots=True)
class Unit:
    """The smallest citable range: a line, or a sentence of a long line."""

    number: int
    """1-based within its chunk. Models cite this number."""
    span: Span
    text: str
    """Exact slice of the document, never blank."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A retrievable part of a document, an exact slice of its text. What else helps to find it is in other fields."""

    source: str
    span: Span
    text: str
    kind: Kind
    language: str = ""
    symbol: str = ""
    """Qualified name of the first type or function, such as `Client.get`; else of a constant or enclosing symbol."""
    defines: tuple[str, ...] = ()
    """Unqualified names of all definitions, in order of appearance."""
    signature: str = ""
    docstring: str = ""
    context: tuple[str, ...] = ()
    """Outermost first: heading path or enclosing symbols."""
    anchor: str = ""
    """Label of its anchor in the original, such as `cell 3`."""
    lesson: Lesson | None = None
    code_opening: str = ""
    """The line above that opens the code block in which it begins, such as a fence; empty if it begins in none."""
    is_generated: bool = False
    """Whether the header of its file says that a tool has written it."""

    def __post_init__(self) -> None:
        size = self.span.end_char - self.span.start_char
        if len(self.text) != size:
            raise ValueError(f"chunk {self.span}: {len(self.text)} characters of text for a span of {size}")
        if not self.text.strip():
            raise ValueError(f"chunk {self.span}: blank text")

    @property
    def key(self) -> tuple[str, Span]:
        """Unique key within a library, used to order ties."""
        return (self.source, self.span)


@dataclass(frozen=True, slots=True)
class Filter:
    """Restricts which documents may be found. Empty fields allow everything.

    Fields with several values accept any collection, and store the annotated type.

    Raises:
        TypeError: A field has the wrong type, such as a string instead of a collection of strings.
        InvalidArgumentError: The kind does not exist, or a lesson number is negative.
    """

    kinds: frozenset[Kind] = frozenset()
    globs: tuple[str, ...] = ()
    """Path patterns as in `.gitignore`, any of which may match: `*.py` matches in every folder. They are relative to
    the source: in the source `docs`, a page is `faq.md`, not `docs/faq.md`."""
    sources: frozenset[str] = frozenset()
    courses: frozenset[tuple[str, str]] = frozenset()
    """Sources and paths, as in `Course.key`."""
    lesson: int | None = None
    """Only chunks of lessons with this number, in any allowed course. 0 is a valid number. In courses with modules, it
    is the number of a module, and allows all of its lessons."""
    within: frozenset[tuple[str, str]] = frozenset()
    """Sources with the POSIX path of a file or folder: only that and everything below it. Empty path: all."""
    part: int | None = None
    """Only the lesson with this number in module `lesson`: 3 for lesson 1.3."""

    def __post_init__(self) -> None:
        """Validate the fields, so that a wrong one is not mistaken for a damaged library later."""
        object.__setattr__(self, "kinds", frozenset(_strings("kinds", self.kinds)))
        object.__setattr__(self, "globs", _strings("globs", self.globs))
        object.__setattr__(self, "sources", frozenset(_strings("sources", self.sources)))
        object.__setattr__(self, "courses", frozenset(_pairs("courses", self.courses)))
        object.__setattr__(self, "within", frozenset(_pairs("within", self.within)))
        for kind in sorted(self.kinds.difference(KINDS)):
            raise InvalidArgumentError(f"there is no kind {kind!r}", hint=f"kinds are {', '.join(KINDS)}")
        for name, value in (("lesson", self.lesson), ("part", self.part)):
            if type(value) not in (int, type(None)):  # `True` is also an `int`
                raise TypeError(f"{name} is {value!r}, which is not an integer")
            if value is not None and value < 0:
                raise InvalidArgumentError(f"{name} is {value}", hint="the first is 0 or 1")
        if self.part is not None and self.lesson is None:
            raise InvalidArgumentError("part is given without lesson", hint="give the lesson that it is a part of")

    def allows_lesson(self, lesson: Lesson | None) -> bool:
        """Return whether a lesson passes the lesson filter; None stands for text outside of lessons.

        Example:
            >>> [Filter(lesson=1, part=3).allows_lesson(Lesson("Knots", 1, part=part)) for part in (3, 4)]
            [True, False]
        """
        if self.lesson is None:
            return True
        is_number = lesson is not None and lesson.number == self.lesson
        return is_number and (self.part is None or (lesson is not None and lesson.part == self.part))


def _strings(name: str, values: object) -> tuple[str, ...]:
    """Return values as a tuple.

    Raises:
        TypeError: They are not a collection of strings.
    """
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise TypeError(f"{name} is {values!r}; give a collection of strings, such as [{values!r}]")
    found = tuple(values)
    if wrong := [value for value in found if not isinstance(value, str)]:
        raise TypeError(f"{name} contains {wrong[0]!r}, which is not a string")
    return found


def _pairs(name: str, values: object) -> tuple[tuple[str, str], ...]:
    """Return values as a tuple of pairs.

    Raises:
        TypeError: They are not a collection of pairs of strings.
    """
    found = tuple(values) if isinstance(values, Iterable) and not isinstance(values, str) else (values,)
    for value in found:
        if not (isinstance(value, tuple) and len(value) == 2 and all(isinstance(part, str) for part in value)):
            raise TypeError(f"{name} contains {value!r}; each is a pair of source and path")
    return found


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Whole lines of a chunk that show why it matches."""

    text: str
    """Exact slice of the chunk, without the last line feed."""
    start_line: int
    """1-based, in the document."""
    end_line: int
    """1-based, inclusive."""
    matches: tuple[tuple[int, int], ...] = ()
    """Matched words: half-open character ranges in `text`, in order, without overlaps."""
    symbol: str = ""
    """The definition that contains it; empty if that is the first one of the chunk, or none."""

    def to_dict(self) -> dict[str, Any]:
        """Return the excerpt as JSON values."""
        lines = {"start_line": self.start_line, "end_line": self.end_line}
        return {"text": shown_text(self.text), **lines, "matches": [list(match) for match in self.matches]}


class SkipReason(StrEnum):
    """Why a file is not indexed. The text shown to users and stored in libraries starts with the value."""

    SECRET = "secret"
    BINARY_NAME = "binary by name"
    BINARY = "binary"
    TOO_LARGE = "too large"
    TOO_LONG = "more than"
    """A PDF with more pages than allowed."""
    TOOK_LONGER = "took longer than"
    TOO_MUCH_MEMORY = "takes too much memory"
    ENCRYPTED = "encrypted"
    SCANNED = "no text: scanned pages need OCR"
    GARBLED = "garbled letters: they need OCR"
    DAMAGED = "damaged"
    UNKNOWN_ENCODING = "text in an unknown encoding"
    READER_FAILED = "reader of"
    """A third-party reader failed."""
    OLD_OFFICE = "old Office format"
    """A Word or PowerPoint document from before 2007, which requires LibreOffice."""
    NO_RECOGNIZER = "text in pictures is not recognized"
    """Neither RapidOCR nor Tesseract is installed."""
    NO_TRANSCRIBER = "speech is not recognized"
    """faster-whisper or its model is not installed."""
    OUTLOOK_MESSAGE = "message of Outlook"
    QUESTION_SET = "question set"
    """Input of `openbook eval`. The following reasons are for output of Openbook itself."""
    EVALUATION = "run of openbook eval"
    ANSWER = "answer of openbook ask"
    SEARCH_RESULTS = "results of openbook search"
    UNREADABLE_FOLDER = "unreadable folder"
    """Its contents are unknown, which does not mean deleted."""
    UNREADABLE = "unreadable"
    VANISHED = "vanished"
    CHANGING = "changing"
    NAME_NOT_UTF8 = "name is not UTF-8"
    LINK_INSIDE = "link in the source"
    LINK_OUTSIDE = "link out of root"
    OUTSIDE = "outside the source"
    NOT_REGULAR = "not a regular file"

    @classmethod
    def of(cls, text: str) -> SkipReason | None:
        """Return the reason at the start of a text; None for other texts, which explain themselves.

        Example:
            >>> SkipReason.of("took longer than 60 s")
            <SkipReason.TOOK_LONGER: 'took longer than'>
        """
        return next((reason for reason in cls if text.startswith(reason)), None)


class ResultRole(StrEnum):
    """Why a result is included, if not for its own words."""

    HEADING = "heading asked for"
    LESSON = "lesson asked for"
    OTHER_LESSON = "not the lesson asked for"
    """A heading of an existing lesson, if the requested one does not exist."""
    OF_COURSE = "of its course"
    """Represents its course as its most informative chunk."""
    OF_LESSON = "of its lesson"
    INSIDE = "in what was named"
    """Belongs to a course or lesson that the question names."""
    DOCUMENT = "document asked for"
    OVERVIEW = "introduces it"


@dataclass(frozen=True, slots=True)
class RetrievalResult:
    """A retrieved chunk with its score and signals."""

    chunk: Chunk
    score: float
    """Higher is better. Comparable only within one query."""
    signals: Mapping[str, float] = field(default_factory=dict)
    """Contribution of each signal to the score."""
    goes_on_to: int = 0
    """Last line of the definition or section that continues after the chunk; 0 if none does."""
    excerpt: Excerpt | None = None
    """The lines that match the question, for display."""
    roles: frozenset[ResultRole] = frozenset()

    def __post_init__(self) -> None:
        # No read-only mapping: `dataclasses.asdict`, FastAPI and pydantic know dictionaries only.
        object.__setattr__(self, "signals", dict(self.signals))

    @property
    def symbol(self) -> str:
        """The definition that it shows."""
        return (self.excerpt and self.excerpt.symbol) or self.chunk.symbol

    def __str__(self) -> str:
        """Return the place, followed by the matching lines."""
        if (shown := self.excerpt) is None:
            return f"{self.chunk.span}\n{self.chunk.text}"
        return f"{self.chunk.span.path}:{shown.start_line}-{shown.end_line}\n{shown.text}"

    def to_dict(self, *, explain: bool = False) -> dict[str, Any]:
        """Return the result as JSON values, in the format of `search --json`."""
        chunk = self.chunk
        roles = {"roles": sorted(self.roles)} if self.roles else {}
        why = {"signals": {name: round(value, 6) for name, value in self.signals.items()}, **roles} if explain else {}
        return {
            "source": chunk.source,
            **chunk.span.to_dict(),
            "kind": chunk.kind,
            "language": chunk.language,
            "symbol": self.symbol,
            "anchor": chunk.anchor,
            "score": round(self.score, 6),
            **why,
            **({"excerpt": self.excerpt.to_dict()} if self.excerpt else {}),
            "text": shown_text(chunk.text),
        }


AttachmentKind = Literal["image", "pdf"]
"""The capability a model needs to read an attachment."""


@dataclass(frozen=True, slots=True)
class Attachment:
    """An image or a PDF in a user message; `openbook.agent.image` and `pdf` read one from a file."""

    media_type: str
    """For example `image/png` or `application/pdf`."""
    base64: str = field(repr=False)
    name: str = ""
    """File name; empty if there is none."""
    pages: int = 1

    @property
    def kind(self) -> AttachmentKind:
        """The capability a model needs."""
        return "pdf" if self.media_type == "application/pdf" else "image"


@dataclass(frozen=True, slots=True)
class Stamp:
    """File metadata that cheaply shows whether a file may have changed since it was read."""

    size_bytes: int
    modified_ns: int
    changed_ns: int
    """Inode change time: advances even if a tool resets the modification time."""
