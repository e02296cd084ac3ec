"""A reranker: short passages first."""

from collections.abc import Sequence


class Shortest:
    """Scores a text by its length."""

    name = "shortest"

    def __init__(self, argument: str) -> None:
        self.limit = int(argument or 10_000)

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return one finite number for each text, in their order: the higher, the better."""
        return [-float(min(len(text), self.limit)) for text in texts]
