"""Combines the literal check and the entailment check into the verdict on a claim."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import get_args

from openbook.answers import ClaimVerdict
from openbook.errors import OpenbookError
from openbook.grounding.facts import has_facts
from openbook.grounding.literal import LiteralVerdict, check_literally
from openbook.grounding.lookup import SearchedText
from openbook.grounding.protocol import CitedClaim, Entailment, EntailmentLabel, Judge

_logger = logging.getLogger(__name__)

NOT_ASKED = "no verifier checked whether the cited lines say it"
VERIFIER_FAILED = "the verifier failed"
NO_MARK = "it states facts and cites nothing"
_NOT_SAID = "the verifier did not find it in the cited lines"
_NO_REPLY = "the verifier gave no verdict on it"
_WRONG_QUOTE = "the words that the verifier points to are not in the cited lines"
_DISPUTED = "the verifier finds it said there, but"


def quotes_literally(quote: str, text: str) -> bool:
    r"""Return whether a text contains each part of a quote as whole words, ignoring markup, case and whitespace.

    Example:
        >>> quotes_literally("retries = 3 ... sleep(1)", "retries = 3\nwhile True:\n    sleep(1)")
        True
    """
    return SearchedText(text).has_evidence(quote)


def decide(claim: CitedClaim, literal: LiteralVerdict, entailment: Entailment | None) -> LiteralVerdict:
    """Combine the literal and the entailment verdict on one claim.

    A claim is `confirmed` only if the deciding words occur verbatim in its own cited lines, so that evidence for
    another claim cannot confirm it. If the layers disagree, the claim is `unverified`.
    """
    if literal.verdict == "exact":
        return literal
    if entailment is None:
        return literal if literal.verdict == "conflict" else LiteralVerdict("unverified", _NO_REPLY)
    if entailment.label == "not said":
        return literal if literal.verdict == "conflict" else LiteralVerdict("unverified", _NOT_SAID)
    return (_contradicted if entailment.label == "contradicted" else _entailed)(claim, literal, entailment.quote)


def _contradicted(claim: CitedClaim, literal: LiteralVerdict, quote: str) -> LiteralVerdict:
    stands = quotes_literally(quote, claim.cited_text)
    if literal.verdict == "conflict":
        return replace(literal, quote=quote if stands else "")
    said = " ".join(quote.split())
    if stands:
        return LiteralVerdict("conflict", f'the cited lines say "{said}"', quote=quote)
    place = _place_of(quote, claim)
    if place is not None:
        return LiteralVerdict("conflict", f'{place} says "{said}" beside the cited lines')
    return LiteralVerdict("unverified", _WRONG_QUOTE)


def _entailed(claim: CitedClaim, literal: LiteralVerdict, quote: str) -> LiteralVerdict:
    stands = quotes_literally(quote, claim.cited_text)
    if literal.verdict == "conflict":
        return LiteralVerdict("unverified", f"{_DISPUTED} {literal.reason}") if stands else literal
    if stands:
        return LiteralVerdict("confirmed", quote=quote)
    place = _place_of(quote, claim)
    if place is not None:
        reason = f"the cited lines do not say it, but others of {place} do"
        return LiteralVerdict("unverified", reason, quote=quote)
    return LiteralVerdict("unverified", _WRONG_QUOTE)


def _place_of(quote: str, claim: CitedClaim) -> str | None:
    """Return the path of the first source that contains the quote, or a phrase for it; None if none does."""
    has_it = (source for source in claim.sources if quotes_literally(quote, source.text))
    source = next(has_it, None)
    return None if source is None else source.path or "the same source"


@dataclass(frozen=True, slots=True)
class JudgedClaim:
    """A claim from any program, and its verdict."""

    claim: CitedClaim
    verdict: ClaimVerdict
    reason: str = ""
    """Explanation for users; empty for `exact` and `confirmed`."""
    quote: str = ""
    """The deciding words of the cited text, according to the judge."""


def judge_claims(claims: Sequence[CitedClaim], judge: Judge | None = None) -> list[JudgedClaim]:
    """Judge claims from any program. Returns them in order, each with its verdict.

    Args:
        claims: Each with the text it cites. Without cited text, a claim is `uncited`, or gets an empty verdict if it
            states nothing that needs a source.
        judge: Checks entailment. Without it, only words decide: `exact`, `conflict` or `unverified`. If it fails, the
            claims it was asked about stay `unverified`.

    Example:
        >>> judge_claims([CitedClaim("It waits 30 seconds.", "wait(60)")])[0].reason
        'the number 30 seconds is not in the cited lines'
    """
    literal = [check_literally(claim) if claim.cited_text.strip() else None for claim in claims]
    open_places = [place for place, found in enumerate(literal) if found is not None and found.verdict != "exact"]
    entailments: dict[int, Entailment | None] = {}
    failure = NOT_ASKED if judge is None else ""
    if judge is not None and open_places:
        found, failure = ask_judge(judge, [claims[place] for place in open_places])
        entailments = dict(zip(open_places, found, strict=False))
    return [
        _verdict(claim, found, entailments.get(place), failure)
        for place, (claim, found) in enumerate(zip(claims, literal, strict=True))
    ]


def ask_judge(judge: Judge, claims: Sequence[CitedClaim]) -> tuple[list[Entailment | None], str]:
    """Call a judge. It may be a plugin, so whatever it raises or returns costs only its verdicts.

    Returns:
        Its verdict on each claim, and why there are none at all; one of the two is empty.
    """
    try:
        found = list(judge.judge(claims))
    except OpenbookError as exc:
        return [], f"{VERIFIER_FAILED}: {exc}"
    except Exception:
        _logger.exception("the judge %s failed", getattr(judge, "name", judge))
        return [], VERIFIER_FAILED
    if len(found) != len(claims):
        return [], "the verifier gave another number of verdicts than there are claims"
    return [each if _is_entailment(each) else None for each in found], ""


def _is_entailment(value: object) -> bool:
    return isinstance(value, Entailment) and value.label in get_args(EntailmentLabel) and isinstance(value.quote, str)


def _verdict(
    claim: CitedClaim, literal: LiteralVerdict | None, entailment: Entailment | None, failure: str
) -> JudgedClaim:
    if literal is None:
        return JudgedClaim(claim, "uncited", NO_MARK) if has_facts(claim.claim) else JudgedClaim(claim, "")
    if failure:
        return JudgedClaim(claim, literal.verdict, failure if literal.verdict == "unverified" else literal.reason)
    judged = decide(claim, literal, entailment)
    return JudgedClaim(claim, judged.verdict, judged.reason, judged.quote)
