"""Random replies and conversations."""

from __future__ import annotations

import json

from hypothesis import strategies as st

from openbook.llm.messages import (
    Message,
    OpaqueBlock,
    Part,
    ProviderCitation,
    Request,
    ShownSource,
    TextBlock,
    ToolCall,
    ToolResult,
    ToolSpec,
)
from tests.unit.llm.calls import FERRY

SOURCES = (
    ShownSource(1, "FAQ", "faq.md:3-4", ("It opens at nine.", "It closes.")),
    ShownSource(7, "Ü", "ü.md:1-1", ("你好",)),
)

words = st.text(st.characters(codec="utf-8"), min_size=1, max_size=30).filter(str.strip)
texts = words.map(TextBlock)
objects = st.dictionaries(words, st.one_of(st.integers(), words, st.lists(words, max_size=2)), max_size=3)
arguments = objects.map(json.dumps)
places = st.sampled_from(
    [ProviderCitation(1, 1, 1), ProviderCitation(1, 1, 2), ProviderCitation(1, 2, 2), ProviderCitation(7, 1, 1)]
)


@st.composite
def calls(draw: st.DrawFn, written: st.SearchStrategy[str] = arguments) -> tuple[ToolCall, ...]:
    """Up to three calls with ids of their own."""
    return tuple(ToolCall(f"call_{n}", FERRY.name, draw(written)) for n in range(draw(st.integers(0, 3))))


@st.composite
def cited_texts(draw: st.DrawFn) -> list[Part]:
    """Texts, each followed by citations of it."""
    parts: list[Part] = []
    for text in draw(st.lists(texts, max_size=3)):
        parts += [text, *draw(st.lists(places, max_size=2))]
    return parts


@st.composite
def thoughts(draw: st.DrawFn) -> list[OpaqueBlock]:
    """What Anthropic wants back as it came."""
    thinking = {"type": "thinking", "thinking": draw(words), "signature": draw(words)}
    redacted = {"type": "redacted_thinking", "data": draw(words)}
    return [
        OpaqueBlock("anthropic", json.dumps(block)) for block in draw(st.lists(st.sampled_from([thinking, redacted])))
    ]


@st.composite
def conversations(draw: st.DrawFn) -> Request:
    """What may have been said before: questions with sources, tool calls that may be malformed, their results."""
    messages = [Message("user", (*SOURCES, draw(texts)))]
    for _ in range(draw(st.integers(0, 2))):
        called = draw(calls(st.one_of(arguments, words, st.just(""))))
        spoken = draw(cited_texts())
        if not called and not spoken:
            continue
        messages.append(Message("assistant", (*draw(thoughts()), *spoken, *called)))
        results = (ToolResult(call.id, draw(st.one_of(st.just(""), words)), draw(st.booleans())) for call in called)
        messages.append(Message("user", (draw(texts), *results)))
    named = ToolSpec("other", "Does something else.", {"type": "object"})
    choice = draw(st.sampled_from(["auto", "none", "any", "other"]))
    return Request(tuple(messages), system=draw(st.text(max_size=9)), tools=(FERRY, named), tool_choice=choice)
