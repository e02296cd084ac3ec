"""Messages to and from models: frozen values, the same for all providers."""

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

`end`: it finished. `length`: the token limit. `tools`: it waits for tool results. `stop`: a stop sequence of the
request. `refused`: the model, or the provider for it, declined. `filtered`: a content filter withheld text.
"""


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Text of a user or a model."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call of a model."""

    id: str
    """Assigned by the model; its result refers to it."""
    name: str
    arguments: str
    """JSON as written by the model, possibly malformed."""


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
    """1-based: the first number of a mark such as `[2:14-18]`."""
    title: str
    place: str
    """Its location, such as `docs/faq.md:3-20`."""
    units: tuple[str, ...]
    """The first is unit 1."""
    note: str = ""
    """A note by us, for example where a truncated source continues. It cannot be cited."""
    numbers: tuple[int, ...] = ()
    """Number of each unit, if some are left out. Empty: from 1 on."""

    def __str__(self) -> str:
        """Format it for a model without native sources: numbered units between two fences.

        Every line of a unit begins with its number, so that no source text can close the fence or pass for the note,
        which is in brackets below the units.

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
    """A native citation by the provider, for the text before it."""

    source: int
    """Number of a `ShownSource` in the request."""
    first: int
    """1-based."""
    last: int
    """1-based, inclusive."""
    quote: str = ""
    """As returned by the provider; empty if there is none."""

    def __str__(self) -> str:
        """Format it as a mark: `[2:14-18]`, or `[2:14]` for one unit."""
        return (
            f"[{self.source}:{self.first}]" if self.first == self.last else f"[{self.source}:{self.first}-{self.last}]"
        )


@dataclass(frozen=True, slots=True)
class OpaqueBlock:
    """A block that the provider requires back unchanged, such as signed thinking."""

    wire: str
    """The API that it came from; others omit it."""
    json: str


Content = str | Sequence[str | Attachment]
"""Content of a user message: a string, or strings, images and PDFs in order."""

Part = TextBlock | Attachment | ToolCall | ToolResult | ShownSource | ProviderCitation | OpaqueBlock


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Literal["user", "assistant"]
    """Tool results have the role `user`."""
    parts: tuple[Part, ...]

    @classmethod
    def user(cls, *content: str | Attachment) -> Message:
        """Build a user message from strings, images and PDFs, in order."""
        return cls("user", tuple(TextBlock(part) if isinstance(part, str) else part for part in content))

    @classmethod
    def assistant(cls, text: str) -> Message:
        """Build a model message."""
        return cls("assistant", (TextBlock(text),))

    @property
    def text(self) -> str:
        """All text of the message, concatenated."""
        return "".join(part.text for part in self.parts if isinstance(part, TextBlock))

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """Its tool calls, in order."""
        return tuple(part for part in self.parts if isinstance(part, ToolCall))


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """The description of a tool for a model."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    """JSON schema of an object."""


# Two minutes: the time that a model on a small machine takes for a page. `Settings.model_timeout_s` has the same
# default.
DEADLINE_S = 120.0


@dataclass(frozen=True, slots=True)
class Request:
    """A model call."""

    messages: tuple[Message, ...]
    system: str = ""
    tools: tuple[ToolSpec, ...] = ()
    tool_choice: str = "auto"
    """`auto`, `none`, `any`, or the name of a tool."""
    max_tokens: int = 4096
    """Maximum output tokens."""
    sampling: Sampling = DEFAULT_SAMPLING
    deadline_s: float = DEADLINE_S
    """Seconds for the whole call, including retries and the stream."""


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More text."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """The model has begun to write a call, which `ReplyFinished` will contain."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class CitationDelta:
    """A citation of the text before it."""

    cited: ProviderCitation


@dataclass(frozen=True, slots=True)
class ReplyFinished:
    """The complete reply: the last event of a stream, exactly once."""

    message: Message
    usage: Usage = field(default_factory=Usage)
    stop: StopReason = "end"
    model: str = ""
    """The provider's name of the model that replied."""
    failure: str = ""
    """Why there is no reply, as a message, if the caller continues without one; else empty."""


Event = TextDelta | ToolStarted | CitationDelta | ReplyFinished


def _attribute(text: str) -> str:
    # File names are untrusted too: they must not contain line ends or close the fence.
    return " ".join(text.split()).replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;").replace(">", "&gt;")
