"""Answers from a library, for tests."""

from __future__ import annotations

from openbook.answering.generator import Generator
from openbook.answers import GenerationResult
from tests.unit.retrieval.material import Library


def ask(library: Library, question: str) -> GenerationResult:
    """Return the answer to a question, without a model."""
    generator = Generator(library.index, library.embedder, text_now=library.text_now, context_tokens=6_000)
    return generator.generate_with_retrieval(question)
