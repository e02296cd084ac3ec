"""A judge that runs an entailment model in ONNX on this machine.

`open_nli` loads a folder. docs/entailment.md describes the model families and their input formats.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from openbook.errors import ModelError, SettingsError
from openbook.grounding.entailment_formats import ModelConfig, entailment_folder, read_config
from openbook.grounding.facts import likeliest
from openbook.grounding.protocol import CitedClaim, Entailment
from openbook.grounding.sentences import sentence_ranges
from openbook.onnx_encoder import OnnxEncoder, first_known, without_surrogates

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Pairs per batch. Larger batches are no faster on a CPU and take more memory.
_BATCH_SIZE = 8

# End tokens, in order of preference: T5 and RoBERTa, then BERT and DeBERTa.
_ENDS = ("</s>", "[SEP]")


class EntailmentScores(NamedTuple):
    """Probabilities that a model assigns to one claim and one premise, from 0 to 1."""

    entailed: float
    contradicted: float
    """0 if the model does not predict contradiction."""


class EntailmentModel:
    """Scores claims against premises. Thread-safe; a forked process must load its own."""

    def __init__(self, folder: Path) -> None:
        """Load `model.onnx` (or `onnx/model.onnx`) and `tokenizer.json`, and run the model once. Takes seconds.

        Raises:
            SettingsError: A file is missing, damaged, or not an entailment model.
            MissingExtraError: onnxruntime is not installed.
        """
        model = entailment_folder(folder)
        model.graph()  # load the graph first, so that an unusable model is reported before anything else
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
        """Count the tokens of a text, without special tokens."""
        return len(self._encoder.tokenizer.encode(without_surrogates(text), add_special_tokens=False).ids)

    def room(self, claim: str) -> int:
        """Return how many tokens a premise may have together with a claim; 0 or less if none."""
        return self.config.max_tokens - len(self._encode("", claim).ids)

    def fit(self, text: str, start: int, end: int, claim: str) -> int:
        """Shrink a range until it fits together with the claim. Returns the new end; `start` if nothing fits."""
        while end > start:
            size = len(self._encode(text[start:end], claim).ids)
            if size <= self.config.max_tokens:
                return end
            end = start + min((end - start) * self.config.max_tokens // size, end - start - 1)
        return start

    def scores(self, claim: str, premises: Sequence[str]) -> list[EntailmentScores]:
        """Score a claim against premises, in order. The caller must have cut premises that are too long.

        A batch contains premises of one claim only: the batch changes the last digits of quantized models.

        Raises:
            ModelError: The model fails, or its output cannot be converted to probabilities.
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
            # Clip the score, because exp overflows for large values.
            return [EntailmentScores(float(1 / (1 + np.exp(-np.clip(score, -50, 50)))), 0.0) for score in logits[:, 0]]
        powers = np.exp(logits - logits.max(axis=1, keepdims=True))
        shares = powers / powers.sum(axis=1, keepdims=True)
        entailed = shares[:, labels.index("entailed")]
        against = shares[:, labels.index("contradicted")] if self.config.contradicts else np.zeros(len(shares))
        return [EntailmentScores(float(each), float(other)) for each, other in zip(entailed, against, strict=True)]


# Windows overlap by up to a quarter, so that neighbouring sentences that support a claim together share a window.
# MiniCheck cuts without overlap (minicheck/inference.py, commit 00a1ed4) and loses evidence that spans a cut.
_SHARED = 4


def windows_of(sizes: Sequence[int], room: int) -> list[tuple[int, int]]:
    """Split consecutive units into overlapping windows.

    A unit with more tokens than there is `room` gets a window of its own.

    Returns:
        Half-open ranges of unit numbers, in order; each unit is in at least one. No units, no windows.

    Example:
        >>> windows_of([40, 40, 20, 50], room=100)
        [(0, 3), (2, 4)]
    """
    found: list[tuple[int, int]] = []
    start = end = 0
    while end < len(sizes):
        filled = sum(sizes[start:end])
        while end < len(sizes) and (end == start or filled + sizes[end] <= room):
            filled += sizes[end]
            end += 1
        found.append((start, end))
        if end == len(sizes):
            break
        repeated, first = 0, end
        while first - 1 > start and repeated + sizes[first - 1] <= room // _SHARED:
            first -= 1
            repeated += sizes[first]
        # Overlap and next unit must fit together, or the window would contain nothing new.
        while first < end and repeated + sizes[end] > room:
            repeated -= sizes[first]
            first += 1
        start = first
    return found


# Most windows per claim, for the cited text and again for all sources together. A window of 512 tokens takes a CPU
# 0.1 to 1 s, so no claim takes minutes. The windows that share the most words are scored.
_MAX_WINDOWS = 16

# Short pieces that are scored alone to shorten a quote; twelve together cost about as much as one window.
_MAX_PIECES = 12
_MAX_PIECE = 3  # sentences or lines

# If a claim leaves fewer tokens, no useful premise fits.
_MIN_PREMISE_TOKENS = 16

# Ten times the largest file of handwritten text in the question sets; tokenizing it takes about a second.
_MAX_CHARS = 1_000_000

_Measure = Callable[[EntailmentScores], float]


class _Window(NamedTuple):
    """A scored part of a text."""

    text: str
    start: int
    end: int
    scores: EntailmentScores


class OnnxJudge:
    """Judges claims with an entailment model. Implements `Judge`.

    The result for a claim does not depend on the other claims of the batch. Threads may share a judge; a forked
    process must open its own. Pickling stores only the path of the folder.
    """

    def __init__(self, folder: Path) -> None:
        """Load a model; see `open_nli`."""
        self._folder = folder.expanduser().resolve()
        self._model = EntailmentModel(self._folder)
        self._config = self._model.config

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self._folder,))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self._folder)!r})"

    @property
    def name(self) -> str:
        """`nli:` and the name of the folder."""
        return f"nli:{self._folder.name}"

    def judge(self, claims: Sequence[CitedClaim]) -> list[Entailment]:
        """Judge claims, each by its own text alone. Returns one result per claim, in order.

        A quote is an exact slice of the cited text, or, if only a source entails the claim, of that source.

        Raises:
            ModelError: The model fails.
        """
        return [self._judge(claim) for claim in claims]

    def _judge(self, cited: CitedClaim) -> Entailment:
        claim = " ".join(cited.claim.split())
        room = self._model.room(claim) if claim else 0
        if room < _MIN_PREMISE_TOKENS:
            return Entailment("not said")
        config = self._config
        here = self._read([cited.cited_text], claim, room)
        best, worst = _best(here, _entailed), _best(here, _contradicted)
        if best and worst:
            if best.scores.entailed >= max(config.entailed_from, worst.scores.contradicted):
                return Entailment("entailed", self._quote(best, claim, _entailed, config.entailed_from))
            if config.contradicts and worst.scores.contradicted >= config.contradicted_from:
                return Entailment("contradicted", self._quote(worst, claim, _contradicted, config.contradicted_from))
        around = list(dict.fromkeys(source.text for source in cited.sources if source.text != cited.cited_text))
        found = _best(self._read(around, claim, room), _entailed)
        if found and found.scores.entailed >= config.elsewhere_from:
            return Entailment("entailed", self._quote(found, claim, _entailed, config.elsewhere_from))
        return Entailment("not said")

    def _read(self, texts: Sequence[str], claim: str, room: int) -> list[_Window]:
        """Score the windows of all texts that share the most words with a claim."""
        places = [(text, *place) for text in texts for place in self._windows(text[:_MAX_CHARS], room)]
        chosen = [places[number] for number in likeliest(claim, [text[a:b] for text, a, b in places], _MAX_WINDOWS)]
        fitted = [(text, start, self._model.fit(text, start, end, claim)) for text, start, end in chosen]
        fitted = [place for place in fitted if place[1] < place[2]]
        scores = self._model.scores(claim, [text[start:end] for text, start, end in fitted])
        return [_Window(*place, score) for place, score in zip(fitted, scores, strict=True)]

    def _windows(self, text: str, room: int) -> list[tuple[int, int]]:
        units = sentence_ranges(text)
        # A unit includes the whitespace before it, which is part of the window too.
        begins = [units[0][0], *(end for _, end in units[:-1])] if units else []
        sizes = [self._model.count(text[begin:end]) for begin, (_, end) in zip(begins, units, strict=True)]
        return [(units[first][0], units[last - 1][1]) for first, last in windows_of(sizes, room)]

    def _quote(self, window: _Window, claim: str, measure: _Measure, least: float) -> str:
        """Return the shortest run of sentences or lines in a window that decides a claim alone; else the window."""
        whole = window.text[window.start : window.end]
        units = sentence_ranges(whole)
        for length in range(1, min(_MAX_PIECE, len(units) - 1) + 1):
            runs = [whole[units[first][0] : units[first + length - 1][1]] for first in range(len(units) - length + 1)]
            pieces = [runs[number] for number in likeliest(claim, runs, _MAX_PIECES)]
            values = [measure(scores) for scores in self._model.scores(claim, pieces)]
            highest = max(values)
            if highest >= least:
                return pieces[values.index(highest)]
        return whole


def open_nli(folder: Path) -> OnnxJudge:
    """Load the entailment model in a folder. Takes seconds for a large model; nothing is downloaded.

    The folder contains `model.onnx` (or `onnx/model.onnx`) and `tokenizer.json`, and optionally `config.json` and
    `openbook.json`.

    Raises:
        SettingsError: The folder does not exist or contains no usable model.
        MissingExtraError: The packages it needs are not installed.
    """
    if not folder.expanduser().is_dir():
        hint = "name a folder with model.onnx and tokenizer.json, or fetch a model: openbook models list"
        raise SettingsError(f"there is no folder {str(folder)!r}", hint=hint)
    return OnnxJudge(folder)


def _entailed(scores: EntailmentScores) -> float:
    return scores.entailed


def _contradicted(scores: EntailmentScores) -> float:
    return scores.contradicted


def _best(windows: Sequence[_Window], measure: _Measure) -> _Window | None:
    """Return the window with the highest value; ties go to the shortest, then the first. None if there is none."""
    numbered = enumerate(windows)
    ranked = min(
        numbered, key=lambda pair: (-measure(pair[1].scores), pair[1].end - pair[1].start, pair[0]), default=None
    )
    return ranked[1] if ranked else None
