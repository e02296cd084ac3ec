"""Verdicts from an entailment check: what a verifier is asked, how its reply is read, and what both layers say."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

from openbook.answers import ClaimVerdict
from openbook.errors import OpenbookError
from openbook.grounding.facts import has_facts
from openbook.grounding.literal import LiteralVerdict, check_literally
from openbook.grounding.lookup import squash
from openbook.grounding.protocol import CitedClaim, Entailment, EntailmentLabel, Judge
from openbook.llm.messages import DEADLINE_S, Message, Request, ShownSource
from openbook.llm.prompts import prompts_of

NOT_ASKED = "no verifier checked whether the cited lines say it"
NO_MARK = "it states facts and cites nothing"
_NOT_SAID = "the verifier did not find it in the cited lines"
_NO_REPLY = "the verifier gave no verdict on it"
_WRONG_QUOTE = "the words that the verifier points to are not in the cited lines"
_DISPUTED = "the verifier finds it said there, but"

_PROMPTS = "openbook.grounding.prompts"

# What one claim cites is a few lines. Of a whole page, a verifier is shown as much as of a long function.
_MOST_CITED_CHARS = 8_000
_MOST_CLAIM_CHARS = 2_000

# A reply has a label and a quote of one or two lines for each claim.
_TOKENS_PER_CLAIM = 120
_TOKENS_BESIDE = 300

_LABELS: Mapping[str, EntailmentLabel] = {label: label for label in get_args(EntailmentLabel)}
_GAP = re.compile(r"\[?(?:\.\.\.|…)\]?")
_LETTERS = re.compile(r"[^\W_]")
_FEWEST_LETTERS = 3
_LIST = re.compile(r"^\s*\[\s*\{.*\}\s*\]", re.DOTALL | re.MULTILINE)
# One entry of a reply whose JSON is broken, as by a quotation mark in code.
_ENTRY = re.compile(r'"claim"\s*:\s*"?(\d+)"?\s*,\s*"verdict"\s*:\s*"([a-z_ ]+)"(?:\s*,\s*"quote"\s*:\s*"(.*)")?\s*\}')


def verification_request(claims: Sequence[CitedClaim], *, deadline_s: float = DEADLINE_S) -> Request:
    """Build the call that asks a model to check claims against the lines that they cite, and nothing else.

    Lines that several claims cite are sent once. Every line begins with its number, so no line can close
    the fence around it.
    """
    fences: dict[str, int] = {}
    blocks: list[str] = []
    asked: list[str] = []
    for number, claim in enumerate(claims, start=1):
        text = claim.cited_text[:_MOST_CITED_CHARS]
        if text not in fences:
            fences[text] = len(fences) + 1
            places = "; ".join(dict.fromkeys(source.path for source in claim.sources if source.path))
            names = "; ".join(dict.fromkeys(source.symbol for source in claim.sources if source.symbol))
            blocks.append(str(ShownSource(fences[text], names, places, tuple(text.split("\n")))))
        asked.append(f"{number}. (source {fences[text]}) {' '.join(claim.claim.split())[:_MOST_CLAIM_CHARS]}")
    prompts = prompts_of(_PROMPTS)
    return Request(
        (Message.user(prompts.fill("verify", lines="\n\n".join(blocks), claims="\n".join(asked))),),
        prompts.fill("verify_rules"),
        max_tokens=_TOKENS_BESIDE + _TOKENS_PER_CLAIM * len(claims),
        deadline_s=deadline_s,
    )


def read_entailments(reply: str, count: int) -> list[Entailment | None]:
    """Read the reply to `verification_request`: an entry for each of `count` claims, None where there is none.

    A claim that has two different entries has none: which of them was meant, nobody knows.

    Example:
        >>> read_entailments('{"claim": 2, "verdict": "not said", "quote": ""}', 2)
        [None, Entailment(label='not said', quote='')]
    """
    found: dict[int, Entailment | None] = {}
    for entry in _entries(reply):
        number, label, quote = entry.get("claim"), entry.get("verdict"), entry.get("quote") or ""
        number = int(number) if isinstance(number, str) and number.isdecimal() else number
        known = _LABELS.get(label.strip().lower().replace("_", " ")) if isinstance(label, str) else None
        if not isinstance(number, int) or known is None or not isinstance(quote, str):
            continue
        entailment = Entailment(known, quote.strip())
        found[number] = entailment if found.get(number, entailment) == entailment else None
    return [found.get(number) for number in range(1, count + 1)]


def _entries(reply: str) -> Iterator[Mapping[str, Any]]:
    """Yield what looks like an entry: objects on lines of their own, in one list, or with broken quotes."""
    listed = _LIST.search(reply)  # brackets stand in quotes too
    whole = _parsed(listed.group()) if listed else None
    if isinstance(whole, list) and all(isinstance(entry, dict) for entry in whole):
        yield from whole
        return
    for line in reply.splitlines():
        start, end = line.find("{"), line.rfind("}")
        text = line[start : end + 1] if 0 <= start < end else ""
        entry = _parsed(text)
        if isinstance(entry, dict):
            yield entry
        elif match := _ENTRY.search(text):
            yield {"claim": match[1], "verdict": match[2], "quote": (match[3] or "").replace('\\"', '"')}


def _parsed(text: str) -> Any:
    try:
        return json.loads(text) if text else None
    except (ValueError, RecursionError):
        return None


def quotes_literally(quote: str, text: str) -> bool:
    r"""Return whether each part of a quote stands in a text, markup, case and white space aside.

    Example:
        >>> quotes_literally("retries = 3 ... sleep(1)", "retries = 3\nwhile True:\n    sleep(1)")
        True
    """
    parts = [part for part in (squash(part).strip(" .,;") for part in _GAP.split(quote)) if part]
    is_telling = sum(len(_LETTERS.findall(part)) for part in parts) >= _FEWEST_LETTERS or any(
        character.isdigit() for part in parts for character in part
    )
    squashed = squash(text)
    return is_telling and all(part in squashed for part in parts)


def decide(claim: CitedClaim, literal: LiteralVerdict, entailment: Entailment | None) -> LiteralVerdict:
    """Return the verdict of both layers on one claim.

    A claim is `confirmed` only with words that stand literally in its own cited lines, so that nothing
    that is said of other claims, or in their lines, can confirm it. Where the layers disagree, it is `unverified`.

    Args:
        claim: What was judged.
        literal: What its words alone say.
        entailment: What a verifier says; None if it said nothing.
    """
    if literal.verdict == "exact":
        return literal
    if entailment is None:
        return literal if literal.verdict == "conflict" else LiteralVerdict("unverified", _NO_REPLY)
    if entailment.label == "not said":
        return literal if literal.verdict == "conflict" else LiteralVerdict("unverified", _NOT_SAID)
    stands = quotes_literally(entailment.quote, claim.cited_text)
    if entailment.label == "contradicted":
        if literal.verdict == "conflict":
            return replace(literal, quote=entailment.quote if stands else "")
        said = " ".join(entailment.quote.split())
        return (
            LiteralVerdict("conflict", f'the cited lines say "{said}"', quote=entailment.quote)
            if stands
            else LiteralVerdict("unverified", _WRONG_QUOTE)
        )
    if literal.verdict == "conflict":
        return LiteralVerdict("unverified", f"{_DISPUTED} {literal.reason}") if stands else literal
    if stands:
        return LiteralVerdict("confirmed", quote=entailment.quote)
    elsewhere = next((source.path for source in claim.sources if quotes_literally(entailment.quote, source.text)), None)
    if elsewhere is not None:
        reason = f"the cited lines do not say it, but others of {elsewhere or 'the same source'} do"
        return LiteralVerdict("unverified", reason, quote=entailment.quote)
    return LiteralVerdict("unverified", _WRONG_QUOTE)


@dataclass(frozen=True, slots=True)
class JudgedClaim:
    """A claim of any program, and its verdict."""

    claim: CitedClaim
    verdict: ClaimVerdict
    reason: str = ""
    """Why it has this verdict, for people; empty for `exact` and `confirmed`."""
    quote: str = ""
    """Words of the cited text that the judge points to."""


def judge_claims(claims: Sequence[CitedClaim], judge: Judge | None = None) -> list[JudgedClaim]:
    """Judge claims of any program, and return each with its verdict, in order.

    Args:
        claims: Each with the text that it cites. One that cites nothing is `uncited`, or has an empty verdict if it
            states nothing that needs a source.
        judge: Checks entailment. Without one, words alone decide: `exact`, `conflict` or `unverified`. If it fails,
            what it was to judge stays `unverified`.

    Example:
        >>> judge_claims([CitedClaim("It waits 30 seconds.", "wait(60)")])[0].reason
        'the number 30 seconds is not in the cited lines'
    """
    literal = [check_literally(claim) if claim.cited_text.strip() else None for claim in claims]
    open_places = [place for place, found in enumerate(literal) if found is not None and found.verdict != "exact"]
    entailments: dict[int, Entailment | None] = {}
    failure = NOT_ASKED if judge is None else ""
    if judge is not None and open_places:
        try:
            replies = judge.judge([claims[place] for place in open_places])
            entailments = dict(zip(open_places, replies, strict=True))
        except OpenbookError as exc:
            failure = f"the verifier failed: {exc}"
        except ValueError:
            failure = "the verifier gave another number of verdicts than there are claims"
    return [
        _verdict(claim, found, entailments.get(place), failure)
        for place, (claim, found) in enumerate(zip(claims, literal, strict=True))
    ]


def _verdict(
    claim: CitedClaim, literal: LiteralVerdict | None, entailment: Entailment | None, failure: str
) -> JudgedClaim:
    if literal is None:
        return JudgedClaim(claim, "uncited", NO_MARK) if has_facts(claim.claim) else JudgedClaim(claim, "")
    if failure:
        return JudgedClaim(claim, literal.verdict, failure if literal.verdict == "unverified" else literal.reason)
    judged = decide(claim, literal, entailment)
    return JudgedClaim(claim, judged.verdict, judged.reason, judged.quote)
