"""Estimates the tokens of requests, without a vocabulary."""

from __future__ import annotations

import json
from collections.abc import Iterable

from openbook.costs import estimate_tokens
from openbook.llm.messages import (
    Attachment,
    Message,
    OpaqueBlock,
    Part,
    ProviderCitation,
    Request,
    ShownSource,
    TextBlock,
    ToolCall,
    ToolResult,
)

# Roles and separators of one message or part, in the templates of current models.
_FRAME_TOKENS = 8

# What a provider adds as soon as there are tools: Anthropic's documentation names up to 346 tokens.
_TOOLS_TOKENS = 350


# Of an image, or of a page of PDF, which is an image and its text: the largest that providers document for one image
# that is not scaled down, 4,784 tokens at Anthropic.
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
