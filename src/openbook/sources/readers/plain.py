"""Readers of formats whose text says nothing about its structure that we could trust."""

from __future__ import annotations

from openbook.sources.classify import classify
from openbook.sources.readers.reading import Reading
from openbook.text import paragraphs
from openbook.types import Block


def read_unstructured(text: str, path: str) -> Reading:
    """Read code, settings and data: text without blocks."""
    kind, language = classify(path, text)
    return Reading(text, kind, language)


def read_plain_text(text: str, path: str) -> Reading:
    """Read prose as paragraphs. No line is taken for a heading, because nothing marks one."""
    kind, language = classify(path, text)
    return Reading(text, kind, language, tuple(Block(start, end) for start, end in paragraphs(text)))
