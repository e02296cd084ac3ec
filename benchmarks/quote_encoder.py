"""What a sentence encoder adds to the choice of quotes, measured on projects left out, and what it costs.

    python -m benchmarks.quote_encoder --data DATA --checkouts FOLDER --home FOLDER --encoder FOLDER

`--encoder` is a folder as `benchmarks.sentence_encoder` says. The 16 passages that are best by the weights in force are
read with the question, and their nearness is weighed beside the other signals of quotes. Weights are fitted on
real-questions and the questions of newcomers, without the project that is asked; visitors are only asked. The error is
that of the mean gain over projects. Libraries are made in `--home`, and used again.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks import works
from benchmarks.answers import open_library
from benchmarks.fit import Case, fit
from benchmarks.quotes import Asked, is_right, passages_with_signals
from benchmarks.second_stage import standard_error
from benchmarks.sentence_encoder import Nearness, SentenceEncoder
from openbook.answering.evidence import EvidenceFinder
from openbook.embedding.static import load_embedder
from openbook.evals.metrics import mean

_READ, _TOKENS = 16, 64

# So that the penalty of large weights hardly weighs.
_SCALE = 5.0

_WAYS: dict[str, tuple[str, ...]] = {
    "as it is": (),
    "cosine": ("cosine",),
    "tokens": ("tokens",),
    "both": Nearness._fields,
}
_DEPTHS = {"the best passage": 1, "one of the best three": 3}


@dataclass(frozen=True, slots=True)
class Read:
    """A question of a set with its best passages, and how near they are."""

    set: str
    asked: Asked
    nearness: Sequence[Nearness]

    def with_signals(self, names: Sequence[str]) -> Asked:
        """Return the question with some more signals of its passages."""
        project, case, passages = self.asked
        signals = [
            {**each, **{name: _SCALE * getattr(near, name) for name in names}}
            for each, near in zip(case.signals, self.nearness, strict=True)
        ]
        return project, Case(signals, case.right, 1.0), passages


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with real-questions")
    parser.add_argument("--checkouts", type=Path, required=True, help="folder with checkouts of the repositories")
    parser.add_argument("--home", type=Path, required=True, help="where the libraries are kept")
    parser.add_argument("--encoder", type=Path, required=True, help="folder of a sentence encoder")
    parser.add_argument("--cache", type=Path, help="file that keeps what the encoder has read")
    arguments = parser.parse_args()
    encoder = SentenceEncoder(arguments.encoder, _TOKENS, cache=arguments.cache)
    sets = [works.real_questions(arguments.data, arguments.checkouts)]
    for name in ("newcomer", "visitor"):
        file = works.CASES / f"{name}_questions.jsonl"
        sets.append(works.repository_questions(name, file, arguments.checkouts))
    costs: list[float] = []
    read = [each for work in sets for each in _read(work, arguments.home, encoder, costs)]
    encoder.save()
    if costs:
        print(f"{_READ} passages: {1000 * float(np.median(costs)):.0f} ms of computing at the median")
    outcomes = {way: _left_out(read, names) for way, names in _WAYS.items()}
    print(f"\n| set | right | {' | '.join(_WAYS)} |\n|---|---|{'---|' * len(_WAYS)}")
    for name in dict.fromkeys(each.set for each in read):
        members = [n for n, each in enumerate(read) if each.set == name]
        for right, depth in _DEPTHS.items():
            cells = [_cell(read, members, outcomes["as it is"], found, depth) for found in outcomes.values()]
            print(f"| {name}, {len(members)} | {right} | {' | '.join(cells)} |")


def _read(work: works.Work, home: Path, encoder: SentenceEncoder, costs: list[float]) -> Iterator[Read]:
    for collection in work.collections:
        with open_library(collection.folder, home / collection.name) as library:
            finder = EvidenceFinder(library.index, load_embedder(), library.text_now, library.retriever)
            for question in collection.questions:
                passages, signals, right = passages_with_signals(finder, question)
                best = sorted(range(len(signals)), key=lambda n: (-signals[n].score, n))[:_READ]
                if not best:
                    continue
                texts = [passages[n].text for n in best]
                is_known, started = encoder.is_known(question.text, texts), time.process_time()
                nearness = encoder.nearness(question.text, texts)
                if not is_known:
                    costs.append(time.process_time() - started)
                case = Case([signals[n]._asdict() for n in best], np.array([right[n] for n in best]), 1.0)
                yield Read(work.name, (collection.name, case, [passages[n] for n in best]), nearness)
        print(f"read {work.name}: {collection.name}", flush=True)


def _left_out(read: Sequence[Read], names: Sequence[str]) -> list[dict[int, bool]]:
    """Return for each question whether the best passages are right, by depth, weighed without its project."""
    asked = [each.with_signals(names) for each in read]
    train = [one for each, one in zip(read, asked, strict=True) if each.set != "visitor"]
    weights = {
        project: fit([case for other, case, _ in train if other != project])
        for project in dict.fromkeys(one[0] for one in asked)
    }
    return [{depth: is_right(one, weights[one[0]], depth) for depth in _DEPTHS.values()} for one in asked]


def _cell(
    read: Sequence[Read],
    members: Sequence[int],
    before: Sequence[dict[int, bool]],
    after: Sequence[dict[int, bool]],
    depth: int,
) -> str:
    share = mean([float(after[n][depth]) for n in members])
    if after is before:
        return f"{share:.3f}"
    gains: dict[str, list[float]] = {}
    for n in members:
        gains.setdefault(read[n].asked[0], []).append(float(after[n][depth]) - float(before[n][depth]))
    by_project = [mean(each) for each in gains.values()]
    return f"{share:.3f} ({mean(by_project):+.3f} ± {standard_error(by_project):.3f})"


if __name__ == "__main__":
    main()
