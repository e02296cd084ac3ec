"""A judge: a claim is confirmed where its very words are cited."""

from collections.abc import Sequence

from openbook import CitedClaim, Entailment


class Verbatim:
    """Knows nothing but equal words. What follows the colon in `--verifier verbatim:ARGUMENT` is passed to it."""

    name = "verbatim"

    def __init__(self, argument: str) -> None:
        self.ignores_case = argument != "exact"

    def judge(self, claims: Sequence[CitedClaim]) -> list[Entailment | None]:
        """Return a verdict for each claim, in their order; None where nothing can be said."""
        return [self._judge(claim.claim.rstrip("."), claim.cited_text) for claim in claims]

    def _judge(self, claim: str, cited: str) -> Entailment | None:
        found = cited.lower().find(claim.lower()) if self.ignores_case else cited.find(claim)
        return Entailment("entailed", cited[found : found + len(claim)]) if found >= 0 else None
