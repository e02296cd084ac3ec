"""Study guides that a model writes: one call, its answer checked claim by claim, and read into items."""

from __future__ import annotations

import re
from collections.abc import Iterator

from openbook.answers import Citation, Claim, GenerationResult
from openbook.llm.prompts import prompts_of
from openbook.study.guide import StudyItem

SENTENCES = 8
"""Most sentences of a summary."""

PARTS = ("summary", "key terms", "questions")
"""The headings of an answer, in lower case."""

_HEADING = re.compile(r"\s*#{1,6}\s*(.*?)\s*#*$")
_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+(?:(?P<mark>\*\*|__)(?P<prompt>.+?)(?P=mark)\s*:?\s*)?(?P<text>.+)$")
_MARK = re.compile(r"\s*\[\d+(?:[:,\s\d-]*\d)?\]")
_GOOD = frozenset({"exact", "confirmed"})


def request_text(count: int) -> str:
    """Return what a model is asked for."""
    return prompts_of("openbook.study.prompts").fill("guide", sentences=str(SENTENCES), count=str(count))


def items_of(result: GenerationResult) -> tuple[dict[str, tuple[StudyItem, ...]], int]:
    """Return the items of a checked answer by the heading that they stand under, and how many were not kept.

    An item is kept if it cites something and all that it claims passed: `exact` or `confirmed`; or `unverified`,
    where no verifier was asked.
    """
    good = _GOOD if result.verifier else _GOOD | {"unverified"}
    found: dict[str, list[StudyItem]] = {part: [] for part in PARTS}
    left_out = 0
    for part, start, line in _lines(result):
        item = _ITEM.match(line)
        if item is None:
            continue
        read = _item(item, start, result, good) if bool(item["prompt"]) == (part != "summary") else None
        if read is None:
            left_out += 1
        else:
            found[part].append(read)
    return {part: tuple(items) for part, items in found.items()}, left_out


def _lines(result: GenerationResult) -> Iterator[tuple[str, int, str]]:
    """Yield the lines under known headings, with these and their offsets. Quotes that follow an answer are none."""
    part, offset = "", 0
    for line in result.answer[: result.own_chars].split("\n"):
        heading = _HEADING.fullmatch(line)
        if heading:
            part = heading[1].strip("*: ").casefold()
        elif part in PARTS:
            yield part, offset, line
        offset += len(line) + 1


def _item(item: re.Match[str], start: int, result: GenerationResult, good: frozenset[str]) -> StudyItem | None:
    end = start + len(item.string)
    # A question is no claim, whatever it takes for granted.
    said = start + item.start("text")
    claims = [
        number for number, one in enumerate(result.claims) if start <= one.start_char < end and one.end_char > said
    ]
    citations = tuple(one for one in result.citations if one.claim in claims and one.verdict in good)
    if not citations or any(_is_bad(result.claims[number], good) for number in claims):
        return None
    prompt = (item["prompt"] or "").strip(" :")
    return StudyItem(_without_marks(item["text"]), _each_once(citations), prompt)


def _is_bad(claim: Claim, good: frozenset[str]) -> bool:
    return bool(claim.verdict) and claim.verdict not in good


def _each_once(citations: tuple[Citation, ...]) -> tuple[Citation, ...]:
    return tuple({(one.source, one.span): one for one in citations}.values())


def _without_marks(text: str) -> str:
    return _MARK.sub("", text).strip()
