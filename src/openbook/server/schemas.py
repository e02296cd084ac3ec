"""Request and response models of the API."""

from __future__ import annotations

import re
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from openbook.answers import ClaimVerdict, Verdict
from openbook.types import Kind

# A question is a few sentences; retrieval refuses longer queries than it can use.
QUESTION_CHARS = 10_000
QUESTION_IMAGES = 10

# For history sent by a client, which may contain long answers.
_MESSAGE_CHARS = 200_000

Name = Annotated[str, Field(max_length=500)]


def _web_link(link: str) -> str:
    return link if re.match(r"https?://", link, re.IGNORECASE) else ""


WebLink = Annotated[str, AfterValidator(_web_link)]
"""A URL that browsers may open; empty for others, such as `javascript:`, which would run when clicked."""
LessonLabel = Annotated[str, Field(pattern=r"^[0-9]{1,6}(\.[0-9]{1,3})?$")]
Identifier = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]


class Shape(BaseModel):
    """Base of all response models."""

    model_config: ClassVar[ConfigDict] = ConfigDict(use_attribute_docstrings=True, from_attributes=True)


class StrictShape(Shape):
    """Base of request models. Unknown fields are rejected, because they are mostly misspelt."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid")


class ErrorDetail(Shape):
    """An error message and its hint."""

    message: str
    hint: str
    """What to do next, in one line; may be empty."""


class ErrorResponse(Shape):
    """The body of every error response."""

    error: ErrorDetail


class FilterRequest(StrictShape):
    """Filter by source, kind, path, course and lesson. Empty lists allow all."""

    kinds: list[Kind] = Field(default=[], max_length=10)
    globs: list[Name] = Field(default=[], max_length=20)
    """Patterns of paths, as in `.gitignore`; any of them may match."""
    sources: list[Name] = Field(default=[], max_length=1000)
    """Names that `GET /api/sources` lists."""


class QueryRequest(StrictShape):
    """A question and its options."""

    query: str = Field(max_length=QUESTION_CHARS)
    session_id: Identifier | None = None
    """Conversation to continue. Without it, a new one begins."""
    replaces: Identifier | None = None
    """`id` of an answer of that conversation that this question replaces; all later ones are deleted."""
    course_name: Name | None = None
    """Title of a course, or a part of it."""
    lesson_number: int | None = Field(default=None, ge=0, le=999_999)
    """Number of a lesson or a module. The answer uses only this part of the course."""
    lesson_part: int | None = Field(default=None, ge=0, le=999)
    """Number of the lesson within that module: 3 for lesson 1.3."""
    filters: FilterRequest | None = None
    limit: int | None = Field(default=None, ge=1, le=50)
    """Maximum number of results to answer from. Default: 10 for quotes and 20 for a model, unless the server is
    configured otherwise."""
    model: Name | None = None
    """A name from `GET /api/models`."""
    agent: bool = False
    """Let the model search and read by itself, with tools."""
    images: list[str] = Field(default=[], max_length=QUESTION_IMAGES)
    """Images that the question is about, as data URLs: `data:image/png;base64,...`. Pages of PDFs are rendered. `GET
    /api/models` returns the maximum number. Follow-up questions include the last images of the conversation."""


class ChatMessage(Shape):
    """A message of a conversation in OpenAI's format."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: Annotated[str, Field(max_length=_MESSAGE_CHARS)] | list[dict[str, Any]] | None = None
    """Text, or parts with a `type`: `text`, or `image_url`, which must be a data URL."""


class ChatCompletionRequest(Shape):
    """A conversation in OpenAI's format. Other fields are ignored, because clients send many."""

    messages: list[ChatMessage] = Field(min_length=1, max_length=2000)
    model: Name = "openbook"
    """A name from `GET /v1/models`."""
    stream: bool = False
    stream_options: dict[str, bool] | None = None
    """`include_usage`: report tokens in a last chunk."""
    n: Literal[1] | None = None


class OpenAIModel(Shape):
    """A model in OpenAI's format."""

    id: str
    object: Literal["model"] = "model"
    created: int = 0
    owned_by: str = "openbook"


class OpenAIModelsResponse(Shape):
    """The available models in OpenAI's format."""

    object: Literal["list"] = "list"
    data: list[OpenAIModel]

    @classmethod
    def of(cls, names: list[str]) -> OpenAIModelsResponse:
        return cls(data=[OpenAIModel(id=name) for name in names])


class SpanResponse(Shape):
    """A span of a document."""

    source: str
    path: str
    document_id: str
    start_char: int
    end_char: int
    start_line: int
    end_line: int
    symbol: str
    label: str
    """Its location in the original: `cell 3`, `page 7`, or course and lesson."""
    place: str
    """The full location in one line."""
    quote: str
    matches: list[tuple[int, int]] = []
    """For nearest results: words of the question in `quote`, as half-open ranges of characters."""
    url: str
    """Permanent link to the lines; empty if there is none."""


class CitationResponse(SpanResponse):
    """A citation: mark, span and verdict."""

    number: int
    mark: str
    verdict: Verdict
    reason: str


class ClaimResponse(Shape):
    """A statement of the answer."""

    text: str
    marks: list[str]
    verdict: ClaimVerdict
    reason: str


class UsageResponse(Shape):
    """Tokens that the model read and wrote."""

    input_tokens: int
    output_tokens: int
    cached_input_tokens: int
    cache_write_tokens: int
    known: bool


class AnswerResponse(Shape):
    """An answer whose citations have been checked, or a refusal."""

    id: str = ""
    """32 hexadecimal digits."""
    query: str
    answer: str
    html: str
    sources: list[str]
    """Cited places, for display."""
    session_id: str
    citations: list[CitationResponse]
    nearest: list[SpanResponse]
    """Nearest results of a refusal."""
    claims: list[ClaimResponse]
    refused: bool
    reason: str
    model: str
    usage: UsageResponse
    cost_usd: float | None
    quality_score: float | None
    """Share of decided claims that are `exact` or `confirmed`; null if none is decided."""
    took_ms: float
    """Milliseconds since the question arrived, including the time in the queue."""
    stages_ms: dict[str, float] = {}
    """Milliseconds of each stage. `queued` is the wait for a turn or for a free process."""
    searched: str
    searches: list[str] = []
    """Other searches for the same question, written by the model."""
    stopped: str
    verifier: str = ""
    """The verifier that checked the claims for entailment; empty without one."""
    warning: str
    """A problem that did not prevent the answer; else empty."""
    stored: bool = True
    """Whether its conversation has it. If that failed, `warning` says why."""
    rating: Literal["", "good", "bad"] = ""
    """Its owner's rating, if a conversation is read."""
    earlier: list[AnswerResponse] = []
    """Answers replaced by this one, the oldest first; at most five, each without `earlier`."""


class RunningAnswerResponse(Shape):
    """An answer in the background, running or recently ended."""

    id: str
    session_id: str
    """Its conversation."""
    begins: bool
    """Whether it is the first of its conversation, which can be read once this answer is done."""
    query: str
    replaces: str = ""
    """`id` of the replaced answer; empty for a question at the end."""
    state: Literal["running", "done", "error", "stopped"]
    place: int = 0
    """Place in the queue; 0 once its turn has come."""


class QueueResponse(Shape):
    """The queue of questions."""

    waiting: int
    """Number of waiting questions."""
    most: int
    """Size of the queue. Excess questions are rejected."""
    places: list[int]
    """Places of the caller's own questions; 1 is next."""
    retry_after_s: float
    """Estimate of the seconds until a question asked now has its turn."""


class RunningAnswersResponse(Shape):
    """Answers of the caller: first those of other servers, then those of this one, in the order of their questions."""

    answers: list[RunningAnswerResponse]


class LessonResponse(Shape):
    """A lesson of a course."""

    number: int
    part: int | None
    """Number within a module; `number` is then the number of the module."""
    label: str
    """The formatted number: `4` or `1.3`."""
    title: str
    link: WebLink


class CourseResponse(Shape):
    """A course, with its lessons in order."""

    source: str
    path: str
    title: str
    link: WebLink
    instructor: str
    lessons: list[LessonResponse]


class CourseEditRequest(StrictShape):
    """A change of a lesson, written to the `course.toml` of its course."""

    source: Annotated[str, Field(max_length=4096)]
    path: Annotated[str, Field(max_length=4096)]
    """Path of the course, from `GET /api/courses`."""
    lesson: LessonLabel
    """Number of the lesson: `4` or `1.3`."""
    action: Literal["rename", "move", "split", "hide"]
    value: Annotated[str, Field(max_length=300)] = ""
    """The new title, the number to move it to, or the heading at which the next lesson begins."""


class CoursesResponse(Shape):
    """All courses, sorted by source and path."""

    total_courses: int
    course_titles: list[str]
    courses: list[CourseResponse]


class StudyGuideResponse(Shape):
    """A study guide."""

    markdown: str
    html: str
    """Rendered and sanitized."""


class ModelResponse(Shape):
    """An available model."""

    name: str
    label: str


class ModelsResponse(Shape):
    """The available models."""

    default: str
    models: list[ModelResponse]
    images: int = 0
    """Maximum images per question, for models that read images."""


class SearchRequest(StrictShape):
    """A search with its filter."""

    query: str = Field(max_length=QUESTION_CHARS)
    filters: FilterRequest | None = None
    limit: int = Field(default=20, ge=1, le=50)
    view: Literal["auto", "files", "passages"] = "auto"
    """`files` lists each file once, `passages` may list several passages of one file; `auto` decides by the words."""


class SearchHitResponse(SpanResponse):
    """A search result. `quote` has the best matching lines."""

    kind: Kind
    first_line: int
    """Line of the document at which `quote` begins."""


class SearchResponse(Shape):
    """Results of a search, best first."""

    hits: list[SearchHitResponse]
    reason: str
    """Why nothing was searched, such as a query without a word; else empty."""
    took_ms: float


class SuggestionsResponse(Shape):
    """Questions that the sources answer."""

    questions: list[str]


class UploadedFile(Shape):
    """An uploaded file, readable or not."""

    document_id: str
    name: str
    """Name as sent, with a number appended if it was taken; for course material, below the folder of the course."""
    outcome: str
    """`added`, or why it cannot be read; empty if it is not indexed yet."""


class SourceResponse(Shape):
    """A source and its state."""

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
    """The files of an upload source, which can be removed one by one. Empty for other sources."""


class SourcesResponse(Shape):
    """All sources, sorted by name."""

    sources: list[SourceResponse]
    writable: bool
    """Whether the caller may add or remove sources."""


class SourceRequest(StrictShape):
    """A folder of the server's machine, or the address of a repository."""

    path: Annotated[str, Field(max_length=4096)] | None = None
    """Path of the folder."""
    url: Annotated[str, Field(max_length=2000)] | None = None
    """URL of the repository."""


class AcceptedResponse(Shape):
    """An accepted background job."""

    job_id: str
    source: str


class RejectedFileResponse(Shape):
    """A rejected file."""

    name: str
    reason: str


class UploadResponse(Shape):
    """The result of an upload."""

    job_id: str
    accepted: list[str]
    """Names of the files that are being indexed. A number is appended if another file has the same name."""
    refused: list[RejectedFileResponse]


class JobResponse(Shape):
    """A background job."""

    id: str
    state: str
    """`queued`, `running`, `done` or `error`."""
    done: int
    total: int
    message: str
    report: dict[str, Any] | None
    """Set at the end: counts of files, such as `added`; for an upload also `left_out`, with `name` and `reason`."""


class UnitResponse(Shape):
    """A line, or a sentence of a long line."""

    number: int
    text: str
    start_char: int
    end_char: int
    cited: bool
    """Whether it overlaps the range."""
    label: str
    """Its label in the original, such as `p. 7` or `#usage`; empty without one."""
    html: str = ""
    """The highlighted code, sanitized; empty for other text and for long code."""


class DocumentResponse(Shape):
    """Part of a document, as indexed."""

    document_id: str
    source: str
    path: str
    kind: Kind
    language: str
    title: str
    url: str
    label: str
    units: list[UnitResponse]
    more_before: bool
    more_after: bool
    remarks: list[str]
    page: int = 0
    """Page of a PDF on which the range begins, from 1; 0 for other documents."""
    pages: int = 0
    """The last page with text."""
    html: str = ""
    """The whole document, rendered and sanitized, if `rendered` was requested and it is Markdown, reStructuredText, CSV
    or a workbook of moderate length."""
    original: bool = False
    """Whether the original can be downloaded and looks different from this text: an office format, a book, a PDF."""


class HealthResponse(Shape):
    """Liveness."""

    status: str


class ReadinessResponse(Shape):
    """Readiness."""

    status: str
    """`ok`, or `degraded` if the shared store or the home cannot be written."""
    documents: int
    chunks: int
