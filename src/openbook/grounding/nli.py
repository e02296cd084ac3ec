"""A judge that asks an entailment model in ONNX, on this machine.

`open_nli` loads a folder. Which families of models there are, and how each wants its input, is in docs/entailment.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from openbook.errors import SettingsError
from openbook.grounding.onnx_model import EntailmentModel, EntailmentScores
from openbook.grounding.premises import likeliest, windows_of
from openbook.grounding.protocol import CitedClaim, Entailment
from openbook.grounding.sentences import sentence_ranges

# Windows that one claim may cost: of the cited text, and again of all its sources together. A window of 512 tokens
# takes a processor from a tenth of a second to one, so no claim takes minutes. What shares most words is read.
_MOST_WINDOWS = 16

# Short pieces that are tried alone to make a quote shorter; twelve together cost about as much as one window.
_MOST_PIECES = 12
_LONGEST_PIECE = 3  # sentences or lines

# Beside a claim that leaves less, a premise could say nothing.
_LEAST_ROOM_TOKENS = 16

# Ten times the largest file of handwritten text in the question sets; tokenizing it takes about a second.
_MAX_CHARS = 1_000_000

_Measure = Callable[[EntailmentScores], float]


class _Window(NamedTuple):
    """A part of a text that was scored."""

    text: str
    start: int
    end: int
    scores: EntailmentScores


class OnnxJudge:
    """Judges claims by an entailment model. Implements `Judge`.

    The same claim gets the same result, whatever else is judged with it. Threads may share a judge; a forked process
    must open its own. Pickled, it travels as the path of its folder.
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
        """Judge claims, each by its own text alone. Returns one result for each claim, in their order.

        A quote is an exact slice: of the cited text, or, where only a source entails the claim, of that source.

        Raises:
            ModelError: The model fails.
        """
        return [self._judge(claim) for claim in claims]

    def _judge(self, cited: CitedClaim) -> Entailment:
        claim = " ".join(cited.claim.split())
        room = self._model.room(claim) if claim else 0
        if room < _LEAST_ROOM_TOKENS:
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
        """Score the windows of all texts that share most words with a claim."""
        places = [(text, *place) for text in texts for place in self._windows(text[:_MAX_CHARS], room)]
        chosen = [places[number] for number in likeliest(claim, [text[a:b] for text, a, b in places], _MOST_WINDOWS)]
        fitted = [(text, start, self._model.fit(text, start, end, claim)) for text, start, end in chosen]
        fitted = [place for place in fitted if place[1] < place[2]]
        scores = self._model.scores(claim, [text[start:end] for text, start, end in fitted])
        return [_Window(*place, score) for place, score in zip(fitted, scores, strict=True)]

    def _windows(self, text: str, room: int) -> list[tuple[int, int]]:
        units = sentence_ranges(text)
        # Each with the white space before it, which stands in a window too.
        begins = [units[0][0], *(end for _, end in units[:-1])] if units else []
        sizes = [self._model.count(text[begin:end]) for begin, (_, end) in zip(begins, units, strict=True)]
        return [(units[first][0], units[last - 1][1]) for first, last in windows_of(sizes, room)]

    def _quote(self, window: _Window, claim: str, measure: _Measure, least: float) -> str:
        """Return the shortest run of sentences or lines in a window that decides a claim alone; else the window."""
        whole = window.text[window.start : window.end]
        units = sentence_ranges(whole)
        for length in range(1, min(_LONGEST_PIECE, len(units) - 1) + 1):
            runs = [whole[units[first][0] : units[first + length - 1][1]] for first in range(len(units) - length + 1)]
            pieces = [runs[number] for number in likeliest(claim, runs, _MOST_PIECES)]
            values = [measure(scores) for scores in self._model.scores(claim, pieces)]
            highest = max(values)
            if highest >= least:
                return pieces[values.index(highest)]
        return whole


def open_nli(folder: Path) -> OnnxJudge:
    """Load the entailment model in a folder. Takes seconds for a large one; nothing is fetched.

    The folder has `model.onnx` (or `onnx/model.onnx`) and `tokenizer.json`; `config.json` and `openbook.json` may say
    more.

    Raises:
        SettingsError: There is no such folder, or no model in it that can be used.
        MissingExtraError: The packages for it are not installed.
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
    """Return the window with the highest value; of equals, the shortest, then the first. None if there is none."""
    numbered = enumerate(windows)
    ranked = min(
        numbered, key=lambda pair: (-measure(pair[1].scores), pair[1].end - pair[1].start, pair[0]), default=None
    )
    return ranked[1] if ranked else None
