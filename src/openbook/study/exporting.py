"""Study guides as Markdown, and as cards of Anki.

Anki imports text files with tabs that name their deck and the type of their notes in the first lines
(https://docs.ankiweb.net/importing/text-files.html, since 2.1.54). That needs no package, and a note keeps its history
when it is imported again, because its first field is an identifier.
"""

from __future__ import annotations

import hashlib
import html
import re
from collections.abc import Iterable

from openbook.answers import Citation
from openbook.study.guide import StudyGuide, StudyItem

_DECK = "Openbook"
_TAG_SEPARATORS = re.compile(r"[\s\"]+")


class _Sources:
    """Numbers places in the order in which they are first cited."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def marks(self, citations: Iterable[Citation]) -> str:
        """Return the numbers of places, each once, as `[1][3]`, with what was not checked named so."""
        found: dict[int, bool] = {}
        for citation in citations:
            number = self.numbers.setdefault(citation.place, len(self.numbers) + 1)
            found[number] = found.get(number, True) and citation.verdict == "unverified"
        return "".join(f"[{number}]{' (not checked)' * unchecked}" for number, unchecked in found.items())


def as_markdown(guide: StudyGuide) -> str:
    """Write a guide as Markdown. Answers stand behind their questions, in a part of their own."""
    sources = _Sources()
    lines = [f"# {guide.title}", "", f"*{_origin(guide)}*"]
    if guide.summary:
        lines += ["", "## Summary", ""]
        lines += [f"- {item.text} {sources.marks(item.citations)}" for item in guide.summary]
    if guide.terms:
        lines += ["", "## Key terms", ""]
        lines += [f"- **{item.prompt}**: {item.text} {sources.marks(item.citations)}" for item in guide.terms]
    if guide.questions:
        lines += ["", "## Questions", ""]
        lines += [f"{number}. {item.prompt}" for number, item in enumerate(guide.questions, start=1)]
        lines += ["", "## Answers", ""]
        lines += [
            f"{number}. {item.text} {sources.marks(item.citations)}"
            for number, item in enumerate(guide.questions, start=1)
        ]
    if sources.numbers:
        lines += ["", "## Sources", ""]
        lines += [f"- [{number}] {place}" for place, number in sources.numbers.items()]
    return "\n".join(lines) + "\n"


def _origin(guide: StudyGuide) -> str:
    if guide.model == "extractive":
        return "Quoted from the sources; no model wrote this."
    return f"Written by {guide.model} from the sources that are cited, and checked against them."


def as_anki(guide: StudyGuide) -> str:
    """Write terms and questions as a file for Anki's import: identifier, front, back and tag of a card in each line."""
    lines = [
        "#separator:tab",
        "#html:true",
        "#notetype:Basic",
        f"#deck:{_DECK}::{_on_one_line(guide.title).replace('::', ':')}",
        "#guid column:1",
        "#tags column:4",
    ]
    tag = _TAG_SEPARATORS.sub("-", guide.title.strip())
    lines += ["\t".join((_identifier(guide, item), *_sides(item), tag)) for item in guide.cards]
    return "\n".join(lines) + "\n"


def _identifier(guide: StudyGuide, item: StudyItem) -> str:
    """Return what a card is known by: the same whenever the same question is asked of the same lesson."""
    return hashlib.sha256(f"{guide.title}\0{item.prompt}".encode()).hexdigest()[:20]


def _sides(item: StudyItem) -> tuple[str, str]:
    places = dict.fromkeys(citation.place for citation in item.citations)
    note = " (not checked)" if any(citation.verdict == "unverified" for citation in item.citations) else ""
    source = html.escape(f"{'; '.join(places)}{note}")
    return _field(item.prompt), f"{_field(item.text)}<br><br><small>{source}</small>"


def _field(text: str) -> str:
    return html.escape(_on_one_line(text))


def _on_one_line(text: str) -> str:
    return " ".join(text.split())
