"""The prompt for a model that checks claims, and the parser of its reply."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast, get_args

from openbook.grounding.cited_lines import ShownClaim, show_claims
from openbook.grounding.entailment import quotes_literally
from openbook.grounding.protocol import CitedClaim, Entailment, EntailmentLabel
from openbook.llm.messages import DEADLINE_S, Message, Request, ShownSource
from openbook.llm.prompts import prompts_of

_PROMPTS = "openbook.grounding.prompts"

_MAX_CLAIM_CHARS = 2_000

# Per claim, a label and a quote of one or two lines.
_TOKENS_PER_CLAIM = 120
_OVERHEAD_TOKENS = 300

_LABELS: Mapping[str, EntailmentLabel] = {label: label for label in get_args(EntailmentLabel)}
_OPENING = re.compile(r"[{\[]")
_DECODER = json.JSONDecoder(strict=False)  # models copy line feeds into quotes unescaped
_MAX_DIGITS = 9
# An entry of a reply with broken JSON, such as an unescaped quotation mark in code.
_ENTRY = re.compile(
    r'\{\s*"claim"\s*:\s*"?(\d+)"?\s*,\s*"verdict"\s*:\s*"([a-z_ ]+)"(?:\s*,\s*"quote"\s*:\s*"(.*)")?\s*\}'
)


class VerificationPrompt:
    """One call that checks claims against their cited lines.

    The prompt includes the lines around them, so that the model can resolve names and conditions, and can tell a mark
    that is a few lines off from a claim without support. Each line starts with its number, so that no source line can
    close the fence.
    """

    def __init__(self, claims: Sequence[CitedClaim]) -> None:
        """Take the claims, in the order of their text."""
        self._excerpts, self._claims = show_claims(claims)

    def request(self, *, deadline_s: float = DEADLINE_S) -> Request:
        """Return the call."""
        sources = [
            ShownSource(
                number,
                excerpt.source.symbol,
                excerpt.source.path,
                tuple(line for _, line in excerpt.lines),
                numbers=tuple(line for line, _ in excerpt.lines),
            )
            for number, excerpt in enumerate(self._excerpts, start=1)
        ]
        claims = [f"{number}. {_asked(claim)}" for number, claim in enumerate(self._claims, start=1)]
        prompts = prompts_of(_PROMPTS)
        text = prompts.fill("verify", lines="\n\n".join(map(str, sources)), claims="\n".join(claims))
        return Request(
            (Message.user(text),),
            prompts.fill("verify_rules"),
            max_tokens=_OVERHEAD_TOKENS + _TOKENS_PER_CLAIM * len(self._claims),
            deadline_s=deadline_s,
        )

    def read(self, reply: str) -> list[Entailment | None]:
        """Parse the reply: the verdict on each claim, None where there is none.

        Quotes found neither in the lines of the claim nor around them are dropped: lines of other claims must not
        decide on it.
        """
        found = read_entailments(reply, len(self._claims))
        return [
            entailment and _own_words(entailment, shown) for entailment, shown in zip(found, self._claims, strict=True)
        ]


def _asked(shown: ShownClaim) -> str:
    cited: dict[int, list[str]] = {}
    for place, first, last in shown.ranges:
        cited.setdefault(place + 1, []).append(str(first) if first == last else f"{first}-{last}")
    lines = "; ".join(f"source {number}, lines {', '.join(ranges)}" for number, ranges in cited.items())
    return f"({lines}) {' '.join(shown.claim.claim.split())[:_MAX_CLAIM_CHARS]}"


def _own_words(entailment: Entailment, shown: ShownClaim) -> Entailment:
    seen = f"{shown.claim.cited_text}\n{shown.around}"
    return entailment if quotes_literally(entailment.quote, seen) else replace(entailment, quote="")


def read_entailments(reply: str, count: int) -> list[Entailment | None]:
    """Parse a reply into `count` entries, None where a claim has none.

    A claim with two different entries gets None, because either could be meant.

    Example:
        >>> read_entailments('{"claim": 2, "verdict": "not said", "quote": ""}', 2)
        [None, Entailment(label='not said', quote='')]
    """
    found: dict[int, Entailment | None] = {}
    for entry in _entries(reply):
        number, label, quote = _number(entry.get("claim")), entry.get("verdict"), _words(entry.get("quote"))
        known = _LABELS.get(label.strip().lower().replace("_", " ")) if isinstance(label, str) else None
        if number is None or known is None or quote is None:
            continue
        entailment = Entailment(known, quote.strip())
        found[number] = entailment if found.get(number, entailment) == entailment else None
    return [found.get(number) for number in range(1, count + 1)]


def _number(value: object) -> int | None:
    """Parse the number of a claim: `1`, `"1"` or `1.0`."""
    if isinstance(value, str) and value.isdecimal():
        return int(value[:_MAX_DIGITS])
    is_whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    return int(cast("float", value)) if is_whole and not isinstance(value, bool) else None


def _words(value: object) -> str | None:
    """Return a quote, or a list of quotes joined; None for anything else."""
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return " ... ".join(value)
    return value if isinstance(value, str) else None if value else ""


def _entries(reply: str) -> Iterator[Mapping[str, Any]]:
    """Yield possible entries: JSON objects, on one line or several, in lists, or with broken quotes.

    Text inside a quote is not an entry: skip valid objects as a whole, and broken ones to the end of the line.
    """
    at = 0
    while match := _OPENING.search(reply, at):
        start = match.start()
        try:
            value, at = _DECODER.raw_decode(reply, start)
        except (ValueError, RecursionError):
            line = reply[start:].partition("\n")[0]
            at = start + len(line)
            if match.group() == "[":  # a list of words, or a truncated list with complete entries
                at = start + line.find("{") if "{" in line else at
            elif broken := _ENTRY.match(line[: line.rfind("}") + 1]):
                yield {"claim": broken[1], "verdict": broken[2], "quote": (broken[3] or "").replace('\\"', '"')}
        else:
            yield from _listed(value)


def _listed(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the entries of a value: itself, or the items of a list in it."""
    if isinstance(value, dict) and "claim" not in value:
        value = next((inner for inner in value.values() if isinstance(inner, list)), [])
    for entry in value if isinstance(value, list) else [value]:
        if isinstance(entry, dict):
            yield entry
