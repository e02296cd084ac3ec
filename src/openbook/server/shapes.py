"""What requests and replies look like, as JSON. The page and the OpenAPI description are made from these."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from openbook.generation import ClaimVerdict, Verdict
from openbook.types import Kind

# A question is some sentences; retrieval refuses what is longer than it can use.
_QUESTION_CHARS = 10_000

Name = Annotated[str, Field(max_length=500)]
Identifier = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Told(BaseModel):
    """What went wrong, for people."""

    message: str
    hint: str
    """What to do next, in one line; may be empty."""


class ErrorReply(BaseModel):
    """Every reply that is no success."""

    error: Told


class Narrowing(_Strict):
    """Which documents an answer may come from. Empty lists allow all."""

    kinds: list[Kind] = Field(default=[], max_length=10)
    globs: list[Name] = Field(default=[], max_length=20)
    sources: list[Name] = Field(default=[], max_length=100)


class Question(BaseModel):
    """What is asked."""

    query: str = Field(max_length=_QUESTION_CHARS)
    session_id: Identifier | None = None
    """Of a conversation that goes on. Without it, a new one begins."""
    course_name: Name | None = None
    """Title of a course, or a part of it."""
    lesson_number: int | None = Field(default=None, ge=0, le=1_000_000)
    filters: Narrowing | None = None
    model: Name | None = None
    """One that `GET /api/models` names."""
    agent: bool = False
    """Let the model search and read by itself, with tools."""


class Place(BaseModel):
    """A place in a document."""

    source: str
    path: str
    document_id: str
    start_char: int
    end_char: int
    start_line: int
    end_line: int
    symbol: str
    label: str
    """Where the original puts it, for people: `cell 3`, `page 7`, or course and lesson."""
    place: str
    """All of it in one line, for people."""
    quote: str
    url: str
    """Permanent link to the lines; empty if there is none."""


class CitationReply(Place):
    """A mark of the answer, the place that it names, and what a check of it found."""

    number: int
    mark: str
    verdict: Verdict
    reason: str


class ClaimReply(BaseModel):
    """A statement of the answer."""

    text: str
    marks: list[str]
    verdict: ClaimVerdict
    reason: str


class UsageReply(BaseModel):
    """Tokens that the model read and wrote."""

    input_tokens: int
    output_tokens: int
    cached_input_tokens: int
    cache_write_tokens: int
    known: bool


class AnswerReply(BaseModel):
    """An answer whose citations have been checked, or a refusal."""

    query: str
    answer: str
    html: str
    sources: list[str]
    """Places that the answer cites, for people."""
    session_id: str
    citations: list[CitationReply]
    nearest: list[Place]
    """Of a refusal: the places that came closest."""
    claims: list[ClaimReply]
    refused: bool
    reason: str
    model: str
    usage: UsageReply
    cost_usd: float | None
    quality_score: float
    took_ms: float
    searched: str
    stopped: str
    warning: str
    """What went wrong beside the answer, in words; else empty."""


class LessonReply(BaseModel):
    """A lesson of a course."""

    number: int
    title: str
    link: str


class CourseReply(BaseModel):
    """A course, with its lessons in order."""

    source: str
    path: str
    title: str
    link: str
    instructor: str
    lessons: list[LessonReply]


class CoursesReply(BaseModel):
    """All courses, in order of source and path."""

    total_courses: int
    course_titles: list[str]
    courses: list[CourseReply]


class ModelReply(BaseModel):
    """A model that may be chosen."""

    name: str
    label: str


class ModelsReply(BaseModel):
    """What may write answers."""

    default: str
    models: list[ModelReply]


class SuggestionsReply(BaseModel):
    """Questions that the sources answer."""

    questions: list[str]


class UploadedFile(BaseModel):
    """A file that somebody has uploaded, under the name that it was sent with."""

    document_id: str
    name: str


class SourceReply(BaseModel):
    """A source, and how far it is indexed."""

    name: str
    kind: str
    location: str
    documents: int
    state: str
    """`ready`, `indexing` or `error`."""
    message: str
    skipped: dict[str, int]
    remarks: list[str]
    uploaded: list[UploadedFile]
    """Of uploads: the files, which can be removed one by one. Else empty."""


class SourcesReply(BaseModel):
    """All sources, in order of names."""

    sources: list[SourceReply]
    writable: bool


class NewSource(_Strict):
    """A folder of the server's machine, or the address of a repository."""

    path: Annotated[str, Field(max_length=4096)] | None = None
    url: Annotated[str, Field(max_length=2000)] | None = None


class Accepted(BaseModel):
    """Work that goes on in the background."""

    job_id: str
    source: str


class RefusedFile(BaseModel):
    """A file that was not taken."""

    name: str
    reason: str


class UploadReply(BaseModel):
    """What came of an upload."""

    job_id: str
    accepted: list[str]
    refused: list[RefusedFile]


class JobReply(BaseModel):
    """Work in the background."""

    id: str
    state: str
    """`queued`, `running`, `done` or `error`."""
    done: int
    total: int
    message: str
    report: dict[str, Any] | None


class UnitReply(BaseModel):
    """A line, or a sentence of a long line."""

    number: int
    text: str
    start_char: int
    end_char: int
    cited: bool
    label: str


class DocumentReply(BaseModel):
    """A part of a document, as it was indexed."""

    document_id: str
    source: str
    path: str
    kind: Kind
    language: str
    title: str
    url: str
    label: str
    units: list[UnitReply]
    more_before: bool
    more_after: bool
    remarks: list[str]


class SessionReply(BaseModel):
    """A conversation, without what was said."""

    id: str
    title: str
    created_at: float
    updated_at: float
    exchanges: int


class SessionsReply(BaseModel):
    """Conversations of the caller, the latest first."""

    sessions: list[SessionReply]


class WholeSession(BaseModel):
    """A conversation, with all that was said."""

    id: str
    title: str
    exchanges: list[AnswerReply]


class NewTitle(_Strict):
    """Another title for a conversation."""

    title: str = Field(min_length=1, max_length=200)


class Login(_Strict):
    """A key, as `openbook keys add` printed it."""

    key: str = Field(max_length=200)


class Me(BaseModel):
    """Who is asking."""

    key: str
    """Name of the key; empty without one."""
    needs_key: bool


class Health(BaseModel):
    """The server runs."""

    status: str


class Readiness(BaseModel):
    """The library can be asked."""

    status: str
    documents: int
    chunks: int
