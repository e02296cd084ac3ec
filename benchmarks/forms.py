"""Whether a text is told to be a question or a topic, and whether documentation or code answers it.

    python -m benchmarks.forms --data DATA [--write] [--checkouts FOLDER --home FOLDER]

Questions are those of `real-questions` in DATA and of our own sets on repositories; topics are those of `code-search`,
`code-search-wide` and our own cases. A question without its question mark shows whether the words tell that it is one;
those that were written without one count more. Where the answers stand tells what answers a question. Sets that
nothing is fitted to are only measured. Prints the shares by leaving out a sixth of the projects in turn, then those
of these sets; `--write` trains on all others and writes `openbook/questions/forms.json`.

`--checkouts` searches for the questions and answers them as well: without the predictions, with those of models that
were trained without the project, and with the model that ships. Folders are those of `benchmarks.answers`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from unittest.mock import patch

import numpy as np

import openbook.questions
from benchmarks.answers import Asked, open_library, places_cited, read_questions
from benchmarks.fit import DOCUMENTATION_OF_QUESTIONS
from benchmarks.kinds import Case, Trained, hundredths, vocabulary
from benchmarks.works import CASES, read_json
from openbook.evals.metrics import ExpectedSpan, mean
from openbook.library import Library
from openbook.questions import forms, question
from openbook.questions.forms import MIN_QUESTION
from openbook.retrieval import weights
from openbook.sources.classify import classify

MODEL = Path(openbook.questions.__file__).with_name("forms.json")

_SETS = (
    "newcomer_questions paraphrased_questions asked_questions asked_questions_later visitor_questions"
    " visitor_questions_second visitor_questions_third visitor_questions_fourth site_questions entry_questions"
).split()
_ONLY_MEASURED = (
    "asked_questions_third visitor_questions_later visitor_questions_second_later visitor_questions_third_later"
    " where_questions"
).split()

_FORMS, _ANSWERS = ("question", "topic"), ("documentation", "code")
_FOLDS = 6
_MIN_COUNT = 3
# Chosen with projects left out.
_FORM_RIDGE, _ANSWER_RIDGE = 1.1, 10.0
# Of a question whose mark was taken off, of topics, and of our own topics, which are found as well among passages.
_MARKED, _TOPIC, _OWN_TOPIC = 0.15, 0.25, 0.1


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with the question sets")
    parser.add_argument("--write", action="store_true", help="write the model that ships")
    parser.add_argument("--checkouts", type=Path, help="folder with checkouts of the repositories")
    parser.add_argument("--home", type=Path, default=Path("build/forms"), help="where the libraries are kept")
    arguments = parser.parse_args()
    texts, answers = list(_forms(arguments.data, _SETS)), list(_answers(arguments.data, _SETS))
    print("| | cases | told % |\n|---|---|---|")
    form_odds, answer_odds = _left_out(texts, _FORMS, _FORM_RIDGE), _left_out(answers, _ANSWERS, _ANSWER_RIDGE)
    _print_forms("left out", texts, form_odds)
    _print_answers("left out", answers, answer_odds)
    names = sorted({*_names(texts), *_names(answers)})
    form = Trained(texts, _FORMS, names, _FORM_RIDGE)
    answer = Trained(answers, _ANSWERS, names, _ANSWER_RIDGE)
    unseen = list(_forms(None, _ONLY_MEASURED)), list(_answers(None, _ONLY_MEASURED))
    _print_forms("only measured", unseen[0], _odds(form, unseen[0]))
    _print_answers("only measured", unseen[1], _odds(answer, unseen[1]))
    if arguments.write:
        _write(names, form, answer)
    if arguments.checkouts:
        told = _by_text(unseen[0], _odds(form, unseen[0])) | _by_text(texts, form_odds)
        answered = _by_text(unseen[1], _odds(answer, unseen[1])) | _by_text(answers, answer_odds)
        _print_searches(arguments, told, answered)


def _forms(data: Path | None, sets: Sequence[str]) -> Iterator[Case]:
    """Yield questions without their question marks, and topics of several words."""
    for item in _asked(data, sets):
        text = item["question"].rstrip("? ")
        weight = 1.0 if text == item["question"] else _MARKED
        yield {"question": text, "kind": "question", "project": item["repo"], "weight": weight}
    if data is None:
        return
    for folder in (data / "code-search" / "annotations", data / "code-search-wide" / "annotations"):
        for file in sorted(folder.glob("*.json")):
            for topic in _several_words(read_json(file)):
                yield {"question": topic, "kind": "topic", "project": file.stem, "weight": _TOPIC}
    for file in sorted(CASES.glob("*.json")):
        case = read_json(file)
        for topic in _several_words(case["questions"]):
            yield {"question": topic, "kind": "topic", "project": case["name"], "weight": _OWN_TOPIC}


def _several_words(annotations: Sequence[Case]) -> list[str]:
    return [each["query"] for each in annotations if len(each["query"].split()) > 1]


def _answers(data: Path | None, sets: Sequence[str]) -> Iterator[Case]:
    """Yield each answerable question twice, weighted by the share of its places in documentation and in code."""
    for item in _asked(data, sets):
        if item["answerable"]:
            in_code = [classify(gold["path"], "")[0] != "docs" for gold in item["gold"]]
            share = sum(in_code) / len(in_code)
            for kind, weight in (("documentation", 1 - share), ("code", share)):
                yield {"question": item["question"], "kind": kind, "project": item["repo"], "weight": weight}


def _asked(data: Path | None, sets: Sequence[str]) -> Iterator[Case]:
    files = [CASES / f"{name}.jsonl" for name in sets]
    for file in files if data is None else [data / "real-questions" / "questions.jsonl", *files]:
        yield from map(json.loads, file.read_text(encoding="utf-8").splitlines())


def _left_out(cases: Sequence[Case], kinds: Sequence[str], ridge: float) -> np.ndarray:
    """Return the log-odds of the first kind by models that were trained without the project."""
    projects = sorted({case["project"] for case in cases})
    odds = np.zeros(len(cases))
    for fold in range(_FOLDS):
        held = set(projects[fold::_FOLDS])
        others = [case for case in cases if case["project"] not in held]
        places = [n for n, case in enumerate(cases) if case["project"] in held]
        trained = Trained(others, kinds, _names(others), ridge)
        odds[places] = _odds(trained, [cases[n] for n in places])
    return odds


def _names(cases: Sequence[Case]) -> list[str]:
    """Return the features that several texts have."""
    return vocabulary({case["question"]: case for case in cases}.values(), _MIN_COUNT)


def _odds(trained: Trained, cases: Sequence[Case]) -> np.ndarray:
    scores = trained.scores(cases)
    odds: np.ndarray = scores[:, 0] - scores[:, 1]
    return odds


def _print_forms(name: str, cases: Sequence[Case], odds: np.ndarray) -> None:
    told = odds > MIN_QUESTION
    groups = (
        ("questions without a mark", "question", 1.0),
        ("questions whose mark was taken off", "question", _MARKED),
        ("topics", "topic", _TOPIC),
        ("our own topics", "topic", _OWN_TOPIC),
    )
    for group, kind, weight in groups:
        some = np.array([case["kind"] == kind and case["weight"] == weight for case in cases])
        if some.any():
            right = told[some] if kind == "question" else ~told[some]
            print(f"| {group}, {name} | {some.sum()} | {100 * right.mean():.1f} |")


def _print_answers(name: str, cases: Sequence[Case], odds: np.ndarray) -> None:
    """Print how often the first of two questions has higher odds, one answered by documentation alone, one by code."""
    sure = [np.flatnonzero([case["kind"] == kind and case["weight"] == 1.0 for case in cases]) for kind in _ANSWERS]
    ahead = (odds[sure[0]][:, None] > odds[sure[1]][None, :]).mean()
    print(
        f"| pairs answered by documentation and by code, {name} | {len(sure[0])}, {len(sure[1])} | {100 * ahead:.1f} |"
    )


def _by_text(cases: Sequence[Case], odds: np.ndarray) -> dict[str, float]:
    return {case["question"].strip(): float(each) for case, each in zip(cases, odds, strict=True)}


def _print_searches(arguments: argparse.Namespace, told: dict[str, float], answered: dict[str, float]) -> None:
    """Print how searches and answers do by each way to predict, by groups of sets."""
    ways = {
        "without": (lambda _: False, lambda _: 0.0),
        "left out": (lambda text: told.get(text, 0.0) > MIN_QUESTION, lambda text: answered.get(text, 0.0)),
        "fitted": (forms.is_question, forms.documentation_odds),
    }
    files = {"real": None, **{name: CASES / f"{name}.jsonl" for name in (*_SETS, *_ONLY_MEASURED)}}
    asked = [(name, each) for name, file in files.items() for each in read_questions(arguments.data, file)]
    found: dict[tuple[str, str], list[tuple[float, ...]]] = {}
    for project in sorted({each.project for _, each in asked}):
        if not (arguments.checkouts / project).is_dir():
            continue
        with open_library(arguments.checkouts / project, arguments.home / project) as library:
            for way, (is_question, odds) in ways.items():
                before = {"role:documentation": weights.QUESTION["role:documentation"] - DOCUMENTATION_OF_QUESTIONS}
                with (
                    patch.multiple(question, is_question=is_question, documentation_odds=odds),
                    patch.dict(weights.QUESTION, before if way == "without" else {}),
                ):
                    for name, each in asked:
                        if each.project == project and each.is_answerable:
                            found.setdefault((name, way), []).append(_figures(library, each))
    print("\n| set | questions | | at 1 | in 3 | in 10 | MRR | first citation | any citation | refused |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    groups = {"all": list(files), "only measured": list(_ONLY_MEASURED), **{name: [name] for name in files}}
    for group, names in groups.items():
        for way in ways:
            rows = [row for name in names for row in found.get((name, way), [])]
            if not rows:
                continue
            figures = " | ".join(f"{mean(list(column)):.3f}" for column in zip(*rows, strict=True))
            print(f"| {group} | {len(rows)} | {way} | {figures} |", flush=True)


def _figures(library: Library, asked: Asked) -> tuple[float, ...]:
    """Return how a search does at 1, in 3 and in 10, its reciprocal rank, and how the answer does.

    Of several places that are needed together, ten results have a share.
    """
    spans = [result.chunk.span for result in library.search(asked.text, limit=10)]
    found = [ExpectedSpan(span.path, span.start_line, span.end_line) for span in spans]
    held = [[place.overlaps(each) for each in asked.places] for place in found]
    rank = next((n for n, each in enumerate(held, 1) if any(each)), 0)
    share = mean([float(any(column)) for column in zip(*held, strict=True)]) if asked.needs_all else float(rank > 0)
    answer = library.query(asked.text)
    first, anywhere = (0.0, 0.0) if answer.refused else places_cited(answer, asked)
    within = [float(0 < rank <= most) for most in (1, 3)]
    return (*within, share, 1 / rank if rank else 0.0, first, anywhere, float(answer.refused))


def _write(names: Sequence[str], form: Trained, answer: Trained) -> None:
    rows = np.stack([each.weights[:, 0] - each.weights[:, 1] for each in (form, answer)], axis=1)
    weights = dict(zip(names, hundredths(rows[:-1]), strict=True))
    told = {name: row for name, row in weights.items() if any(row)}
    model = {"names": ["question", "documentation"], "bias": hundredths(rows[-1:])[0], "weights": told}
    MODEL.write_text(json.dumps(model, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
