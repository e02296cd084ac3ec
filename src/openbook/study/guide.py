"""Study guides with sources for each item, as Markdown and as Anki cards."""

from __future__ import annotations

import hashlib
import html
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Any

from openbook.answers import Citation

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token


@dataclass(frozen=True, slots=True)
class StudyItem:
    """A sentence of a summary, a term with its definition, or a question with its answer."""

    text: str
    """The sentence, the definition or the answer."""
    citations: tuple[Citation, ...]
    """Its sources, at least one. Their verdicts are `exact`, `confirmed`, or `unverified` if no verifier checked the
    cited lines."""
    prompt: str = ""
    """The term or the question; empty for a sentence of a summary."""

    def to_dict(self) -> dict[str, Any]:
        """Return the item as JSON values."""
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
    """Number of dropped items: without a citation, in conflict with it, or with an illegible number."""
    model: str = "extractive"
    """Name of the model; `extractive` without one."""
    cost_usd: Decimal | None = Decimal(0)
    """None if the price is unknown."""
    note: str = ""
    """Why the model wrote nothing; else empty."""

    @property
    def items(self) -> Iterator[StudyItem]:
        """Yield all items, in order."""
        return chain(self.summary, self.terms, self.questions)

    @property
    def cards(self) -> Iterator[StudyItem]:
        """Yield the items with questions: terms, then questions, but none that the definition of a term answers."""
        defined = {item.text for item in self.terms}
        return chain(self.terms, (item for item in self.questions if item.text not in defined))

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
        """Return the guide as Markdown, with numbered sources at the end."""
        sources = _Sources()
        lines = [f"# {self.title}", "", f"*{_origin(self)}*"]
        if self.summary:
            lines += ["", "## Summary", ""]
            lines += [f"- {item.text} {sources.marks(item.citations)}" for item in self.summary]
        if self.terms:
            lines += ["", "## Key terms", ""]
            lines += [f"- **{item.prompt}**: {item.text} {sources.marks(item.citations)}" for item in self.terms]
        if self.questions:
            lines += ["", "## Questions", ""]
            lines += [f"{number}. {item.prompt}" for number, item in enumerate(self.questions, start=1)]
            lines += ["", "## Answers", ""]
            lines += [
                f"{number}. {item.text} {sources.marks(item.citations)}"
                for number, item in enumerate(self.questions, start=1)
            ]
        if sources.numbers:
            lines += ["", "## Sources", ""]
            lines += [f"- [{number}] {place}" for place, number in sources.numbers.items()]
        return "\n".join(lines) + "\n"

    def to_anki(self) -> str:
        """Return terms and questions as a text file for Anki: identifier, front, back and tag of each card."""
        lines = [
            "#separator:tab",
            "#html:true",
            "#notetype:Basic",
            f"#deck:{_DECK}::{_on_one_line(self.title).replace('::', ':')}",
            "#guid column:1",
            "#tags column:4",
        ]
        tag = _TAG_SEPARATORS.sub("-", self.title.strip())
        for item in self.cards:
            # Stable, so that importing the same question of the same lesson again updates its card.
            identifier = hashlib.sha256(f"{self.title}\0{item.prompt}".encode()).hexdigest()[:20]
            lines.append("\t".join((identifier, *_sides(item), tag)))
        return "\n".join(lines) + "\n"

    def __str__(self) -> str:
        return self.to_markdown()


_DECK = "Openbook"
_TAG_SEPARATORS = re.compile(r"[\s\"]+")


class _Sources:
    """Numbers places in the order of first citation."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def marks(self, citations: Iterable[Citation]) -> str:
        """Return the numbers of the cited places, each once, as `[1][3]`, with unchecked ones marked as such."""
        found: dict[int, bool] = {}
        for citation in citations:
            number = self.numbers.setdefault(citation.place, len(self.numbers) + 1)
            found[number] = found.get(number, True) and citation.verdict == "unverified"
        return "".join(f"[{number}]{' (not checked)' * unchecked}" for number, unchecked in found.items())


def _origin(guide: StudyGuide) -> str:
    if guide.model == "extractive":
        return "Quoted from the sources; no model wrote this."
    return f"Written by {guide.model} from the sources that are cited, and checked against them."


def _sides(item: StudyItem) -> tuple[str, str]:
    places = dict.fromkeys(citation.place for citation in item.citations)
    note = " (not checked)" if any(citation.verdict == "unverified" for citation in item.citations) else ""
    source = html.escape(f"{'; '.join(places)}{note}")
    return _field(item.prompt), f"{_field(item.text)}<br><br><small>{source}</small>"


def _field(text: str) -> str:
    """Write a text as HTML: emphasis and code as such, links and images as their words."""
    return str(_inline().renderInline(_on_one_line(text)))


@cache
def _inline() -> MarkdownIt:
    from markdown_it import MarkdownIt  # lazy: only exports need it

    inline = MarkdownIt("commonmark", {"html": False})
    inline.disable(["escape", "autolink"])  # a formula as `\(x\)` is one for Anki as well
    inline.add_render_rule("link_open", _nothing)
    inline.add_render_rule("link_close", _nothing)
    inline.add_render_rule("image", _words)
    return inline


def _nothing(*_: Any) -> str:
    return ""


def _words(_: Any, tokens: Sequence[Token], index: int, *__: Any) -> str:
    return html.escape(tokens[index].content)


def _on_one_line(text: str) -> str:
    return " ".join(text.split())
