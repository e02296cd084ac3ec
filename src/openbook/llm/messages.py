"""What is said to a model and what it says: frozen values, the same for every provider."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from openbook.llm.sampling import DEFAULT_SAMPLING, Sampling
from openbook.types import Attachment, AttachmentKind
from openbook.usage import Usage

__all__ = [
    "Attachment",
    "AttachmentKind",
    "CitationDelta",
    "Content",
    "Event",
    "Message",
    "OpaqueBlock",
    "Part",
    "ProviderCitation",
    "ReplyFinished",
    "Request",
    "Sampling",
    "ShownSource",
    "StopReason",
    "TextBlock",
    "TextDelta",
    "ToolCall",
    "ToolResult",
    "ToolSpec",
    "ToolStarted",
    "Usage",
]

StopReason = Literal["end", "length", "tools", "stop", "refused", "filtered", "other"]
"""Why a model stopped.

`end`: it was done. `length`: the limit of tokens. `tools`: it waits for results. `stop`: one of the
request's stop texts. `refused`: the model, or the provider for it, declined. `filtered`: a filter of the provider
withheld words.
"""


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Words of a person or of a model."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call of a model."""

    id: str
    """Given by the model; its result names it."""
    name: str
    arguments: str
    """JSON as the model wrote it, possibly malformed."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a tool call."""

    call_id: str
    text: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class ShownSource:
    """A source that the model may cite, in units."""

    number: int
    """1-based: what a mark such as `[2:14-18]` begins with."""
    title: str
    place: str
    """Where it stands, such as `docs/faq.md:3-20`."""
    units: tuple[str, ...]
    """Unit 1 is the first."""
    note: str = ""
    """In words of ours, such as where a source goes on that is cut. It cannot be cited."""
    numbers: tuple[int, ...] = ()
    """Number of each unit, where some are left out. Empty: from 1 on."""

    def __str__(self) -> str:
        """Write it for a model that has no fields for sources: numbered units between two fences.

        Every line of a unit begins with its number, so no text of a source can close the fence, nor
        be taken for the note, which stands in brackets below the units.

        Example:
            >>> print(ShownSource(2, "FAQ", "docs/faq.md:3-4", ("Wait.", "</source>")))
            <source number="2" place="docs/faq.md:3-4" title="FAQ">
            1| Wait.
            2| </source>
            </source>
        """
        numbers = self.numbers or range(1, len(self.units) + 1)
        numbered = zip(numbers, self.units, strict=True)
        lines = [f"{number}| {line}" for number, unit in numbered for line in unit.splitlines()]
        head = f'<source number="{self.number}" place="{_attribute(self.place)}" title="{_attribute(self.title)}">'
        note = [f"({self.note})"] if self.note else []
        return "\n".join((head, *lines, *note, "</source>"))


@dataclass(frozen=True, slots=True)
class ProviderCitation:
    """A citation in the provider's own fields, of the text before it."""

    source: int
    """Number of a `ShownSource` of the request."""
    first: int
    """1-based."""
    last: int
    """1-based, inclusive."""
    quote: str = ""
    """As the provider gave it; empty if it gave none."""

    def __str__(self) -> str:
        """Write it as a mark: `[2:14-18]`, or `[2:14]` for one unit."""
        return (
            f"[{self.source}:{self.first}]" if self.first == self.last else f"[{self.source}:{self.first}-{self.last}]"
        )


@dataclass(frozen=True, slots=True)
class OpaqueBlock:
    """A block that the wire wants back unchanged, such as signed thinking."""

    wire: str
    """The wire that it came from; others leave it out."""
    json: str


Content = str | Sequence[str | Attachment]
"""What a user says: text; or texts, images and PDF, in order."""

Part = TextBlock | Attachment | ToolCall | ToolResult | ShownSource | ProviderCitation | OpaqueBlock


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Literal["user", "assistant"]
    """Results of tools are the user's."""
    parts: tuple[Part, ...]

    @classmethod
    def user(cls, *content: str | Attachment) -> Message:
        """Build a message of the user: texts, images and PDF, in order."""
        return cls("user", tuple(TextBlock(part) if isinstance(part, str) else part for part in content))

    @classmethod
    def assistant(cls, text: str) -> Message:
        """Build a message of the model."""
        return cls("assistant", (TextBlock(text),))

    @property
    def text(self) -> str:
        """All words of the message, joined as they stand."""
        return "".join(part.text for part in self.parts if isinstance(part, TextBlock))

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tools that it calls, in order."""
        return tuple(part for part in self.parts if isinstance(part, ToolCall))


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """What a model is told of a tool."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    """JSON schema of an object."""


# Two minutes: as long as a model on a small machine takes for a page. `Settings.model_timeout_s` has the same.
DEADLINE_S = 120.0


@dataclass(frozen=True, slots=True)
class Request:
    """One call of a model."""

    messages: tuple[Message, ...]
    system: str = ""
    tools: tuple[ToolSpec, ...] = ()
    tool_choice: str = "auto"
    """`auto`, `none`, `any`, or the name of a tool."""
    max_tokens: int = 4096
    """Tokens that the model may write."""
    sampling: Sampling = DEFAULT_SAMPLING
    deadline_s: float = DEADLINE_S
    """Seconds for the whole call, retries and the stream included."""


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More text."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """The model has begun to write a call; `ReplyFinished` has all of it."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class CitationDelta:
    """A citation of the words before it."""

    cited: ProviderCitation


@dataclass(frozen=True, slots=True)
class ReplyFinished:
    """The whole reply: the last event of a stream, exactly once."""

    message: Message
    usage: Usage = field(default_factory=Usage)
    stop: StopReason = "end"
    model: str = ""
    """As the provider names what replied."""
    failure: str = ""
    """Why there is no reply, for people, where a caller goes on without one; else empty."""


Event = TextDelta | ToolStarted | CitationDelta | ReplyFinished


def _attribute(text: str) -> str:
    # Names of files are text of strangers too: no line of its own, no end of the fence.
    return " ".join(text.split()).replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;").replace(">", "&gt;")
