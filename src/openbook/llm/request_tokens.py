"""Estimates the tokens of requests without a vocabulary, and calibrates the estimate by reported usage."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable

from openbook.costs import estimate_tokens
from openbook.llm.messages import (
    Attachment,
    Message,
    OpaqueBlock,
    Part,
    ProviderCitation,
    ReplyFinished,
    Request,
    ShownSource,
    TextBlock,
    ToolCall,
    ToolResult,
)

# Roles and separators of a message or part, in the templates of current models.
_FRAME_TOKENS = 8

# Overhead of having tools: Anthropic documents up to 346 tokens.
_TOOLS_TOKENS = 350


# Tokens of an image, or of a PDF page, which is an image and its text: the documented maximum for an image that is not
# scaled down, 4,784 tokens at Anthropic.
_PAGE_TOKENS = 4800


def estimate_request(request: Request) -> int:
    """Estimate the input tokens of a request."""
    tools = sum(
        estimate_tokens(f"{tool.name}\n{tool.description}\n{json.dumps(dict(tool.parameters))}") + _FRAME_TOKENS
        for tool in request.tools
    )
    frame = _FRAME_TOKENS + (_TOOLS_TOKENS if request.tools else 0)
    return frame + estimate_tokens(request.system) + tools + estimate_messages(request.messages)


def estimate_messages(messages: Iterable[Message]) -> int:
    """Estimate the tokens of messages."""
    return sum(_FRAME_TOKENS + sum(_FRAME_TOKENS + _tokens_of(part) for part in message.parts) for message in messages)


def _tokens_of(part: Part) -> int:
    if isinstance(part, Attachment):
        return part.pages * _PAGE_TOKENS
    return estimate_tokens(_text_of(part))


def _text_of(part: TextBlock | ToolCall | ToolResult | ShownSource | ProviderCitation | OpaqueBlock) -> str:
    match part:
        case TextBlock(text) | ToolResult(text=text):
            return text
        case ToolCall(name=name, arguments=arguments):
            return f"{name}\n{arguments}"
        case ShownSource() | ProviderCitation():
            return str(part)
        case OpaqueBlock():
            return part.json


# Of the texts that `benchmarks/tokens.py` counts with four vocabularies, 99 in 100 have at most this many times their
# estimate; of those in Chinese 94.
MARGIN = 1.3


class TokenEstimator:
    """Estimates the tokens of requests, calibrated by reported usage.

    Tokens that the previous call read or wrote count as reported. The rest is estimated, with a margin, and corrected
    by how much earlier estimates were too low.
    """

    def __init__(self) -> None:
        self._read = Request(())
        self._seen: tuple[Message, ...] = ()
        self._seen_tokens = 0
        self._shortfall = 1.0
        self._estimate = (Request(()), estimate_request(Request(())))

    def max_input_tokens(self, request: Request) -> int:
        """Return an upper estimate of the input tokens of a request."""
        seen = len(self._seen)
        if seen and self._is_alike(request) and request.messages[:seen] == self._seen:
            return self._seen_tokens + self._safely(estimate_messages(request.messages[seen:]))
        return self._safely(self._estimated(request))

    def learn(self, request: Request, reply: ReplyFinished) -> None:
        """Record the reported usage of a request and its reply. Unreported usage is ignored."""
        usage = reply.usage
        if not usage.known:
            return
        self._shortfall = max(1.0, usage.input_tokens / self._estimated(request))
        self._read = request
        self._seen = (*request.messages, reply.message)
        self._seen_tokens = usage.input_tokens + usage.output_tokens

    def _estimated(self, request: Request) -> int:
        # Learning usually follows an estimate of the same request, apart from its limits. Estimating a context takes
        # milliseconds.
        of, tokens = self._estimate
        if (request.system, request.tools, request.messages) != (of.system, of.tools, of.messages):
            tokens = estimate_request(request)
            self._estimate = (request, tokens)
        return tokens

    def _is_alike(self, request: Request) -> bool:
        return (request.system, request.tools) == (self._read.system, self._read.tools)

    def _safely(self, tokens: int) -> int:
        return math.ceil(tokens * MARGIN * self._shortfall)
