"""What a study guide says: a summary, terms and questions, each with the places that it is taken from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain
from typing import Any

from openbook.answers import Citation


@dataclass(frozen=True, slots=True)
class StudyItem:
    """A sentence of a summary, a term with its definition, or a question with its answer."""

    text: str
    """The sentence, the definition or the answer."""
    citations: tuple[Citation, ...]
    """Where it is said, at least one place. Their verdicts are `exact`, `confirmed`, or `unverified` if nobody checked
    whether the cited lines say it."""
    prompt: str = ""
    """The term or the question; empty for a sentence of a summary."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        asked = {"prompt": self.prompt} if self.prompt else {}
        return {**asked, "text": self.text, "citations": [citation.to_dict() for citation in self.citations]}


@dataclass(frozen=True, slots=True)
class StudyGuide:
    """A study guide. `print` shows it as Markdown."""

    title: str
    summary: tuple[StudyItem, ...] = ()
    terms: tuple[StudyItem, ...] = ()
    questions: tuple[StudyItem, ...] = ()
    left_out: int = 0
    """Items that were not kept: without a citation, in conflict with it, or with a number that cannot be read."""
    model: str = "extractive"
    """What wrote it; `extractive` took the words of the sources."""
    cost_usd: Decimal | None = Decimal(0)
    """None if the price is not known."""
    note: str = ""
    """Why a model wrote nothing, for people; else empty."""

    @property
    def items(self) -> Iterator[StudyItem]:
        """Yield all items, in order."""
        return chain(self.summary, self.terms, self.questions)

    @property
    def cards(self) -> Iterator[StudyItem]:
        """Yield what can be asked: terms, then questions."""
        return chain(self.terms, self.questions)

    def to_dict(self) -> dict[str, Any]:
        """Return the guide as JSON values."""
        return {
            "title": self.title,
            "summary": [item.to_dict() for item in self.summary],
            "terms": [item.to_dict() for item in self.terms],
            "questions": [item.to_dict() for item in self.questions],
            "left_out": self.left_out,
            "model": self.model,
            "cost_usd": None if self.cost_usd is None else float(self.cost_usd),
            **({"note": self.note} if self.note else {}),
        }

    def to_markdown(self) -> str:
        """Return the guide as Markdown, with its sources numbered at the end."""
        from openbook.study.exporting import as_markdown

        return as_markdown(self)

    def to_anki(self) -> str:
        """Return terms and questions as a text file that Anki imports as cards."""
        from openbook.study.exporting import as_anki

        return as_anki(self)

    def __str__(self) -> str:
        return self.to_markdown()
