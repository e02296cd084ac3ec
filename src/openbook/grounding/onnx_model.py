"""One entailment model in ONNX, loaded: claims held against premises, as probabilities.

No windows and no verdicts here.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from openbook.errors import ModelError
from openbook.grounding.entailment_formats import ModelConfig, entailment_folder, read_config
from openbook.onnx_encoder import OnnxEncoder, first_known, without_surrogates

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Pairs that go through the model at once. Larger batches are no faster on a processor, and take more memory.
_BATCH_SIZE = 8

# What ends a text, in the order of T5 and RoBERTa, BERT and DeBERTa.
_ENDS = ("</s>", "[SEP]")


class EntailmentScores(NamedTuple):
    """What a model says of one claim and one premise, as probabilities from 0 to 1."""

    entailed: float
    contradicted: float
    """0 where the model cannot tell it."""


class EntailmentModel:
    """Scores claims against premises. Threads may share one; a forked process must load its own."""

    def __init__(self, folder: Path) -> None:
        """Load `model.onnx` (or `onnx/model.onnx`) and `tokenizer.json`, and run the model once. Takes seconds.

        Raises:
            SettingsError: A file is missing or damaged, or is no model for this.
            MissingExtraError: onnxruntime is not installed.
        """
        model = entailment_folder(folder)
        model.graph()  # what is no model at all is told of first
        self.config: ModelConfig = read_config(folder)
        self._encoder = OnnxEncoder(model)
        self._end = first_known(self._encoder.tokenizer, _ENDS)
        if "{end}" in self.config.input_format.template and not self._end:
            raise model.refused("its tokenizer has no token that ends a text", "take the tokenizer of the model")
        try:
            self.scores("a", ["a", "a a"])
        except ModelError as exc:
            raise model.refused(str(exc), "export it again as a sequence classifier with dynamic axes") from exc

    def count(self, text: str) -> int:
        """Count the tokens of a text, special tokens left out."""
        return len(self._encoder.tokenizer.encode(without_surrogates(text), add_special_tokens=False).ids)

    def room(self, claim: str) -> int:
        """Return how many tokens a premise may have beside a claim; 0 or less if none."""
        return self.config.max_tokens - len(self._encode("", claim).ids)

    def fit(self, text: str, start: int, end: int, claim: str) -> int:
        """Move the end of a premise forward until it fits with the claim. Returns the new end; `start` if none fits."""
        while end > start:
            size = len(self._encode(text[start:end], claim).ids)
            if size <= self.config.max_tokens:
                return end
            end = start + min((end - start) * self.config.max_tokens // size, end - start - 1)
        return start

    def scores(self, claim: str, premises: Sequence[str]) -> list[EntailmentScores]:
        """Score a claim against premises, in their order. What is too long must have been cut before.

        A batch holds premises of one claim only: what else is in it changes the last digits of quantised models.

        Raises:
            ModelError: The model fails, or gives something else than probabilities can be made of.
        """
        found: list[EntailmentScores] = []
        for first in range(0, len(premises), _BATCH_SIZE):
            encoded = [self._encode(premise, claim) for premise in premises[first : first + _BATCH_SIZE]]
            found += self._scored(self._encoder.logits(encoded, len(self.config.labels)))
        return found

    def _encode(self, premise: str, claim: str) -> Any:
        premise, claim = self._encoder.neutral(premise), self._encoder.neutral(claim)
        template = self.config.input_format.template
        if not template:
            return self._encoder.tokenizer.encode(premise, claim)
        before, _, rest = template.replace("{end}", self._end).partition("{premise}")
        between, _, after = rest.partition("{claim}")
        return self._encoder.tokenizer.encode(f"{before}{premise}{between}{claim}{after}")

    def _scored(self, logits: NDArray[np.float64]) -> list[EntailmentScores]:
        import numpy as np

        labels = self.config.labels
        if len(labels) == 1:
            # Of a large score, either way, exp would overflow.
            return [EntailmentScores(float(1 / (1 + np.exp(-np.clip(score, -50, 50)))), 0.0) for score in logits[:, 0]]
        powers = np.exp(logits - logits.max(axis=1, keepdims=True))
        shares = powers / powers.sum(axis=1, keepdims=True)
        entailed = shares[:, labels.index("entailed")]
        against = shares[:, labels.index("contradicted")] if self.config.contradicts else np.zeros(len(shares))
        return [EntailmentScores(float(each), float(other)) for each, other in zip(entailed, against, strict=True)]
