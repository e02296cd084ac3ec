"""How often questions about courses themselves are answered: who gives one, its link, its lessons, which covers what.

    python -m benchmarks.course_catalog --data DATA [--verbose]

An answer is right if it says all that is expected (names, titles, parts of an address), whatever their case, nothing
that belongs to another course, and cites something; those of kind `no` are right if no lesson or header of a course is
quoted as asked for. `cases/course_catalog.jsonl` was written by who wrote the frames, before these;
`course_catalog_fresh.jsonl` by somebody who had seen no frame. Of both, wrong answers about two courses were read and
mended; those about the two other courses were only counted. `course_terms.jsonl` asks what 16 terms are, in English
and in one more language; one of the sentences that say so must be quoted.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

from openbook.evals.metrics import facts_found, mean
from openbook.extractive.course_results import is_asked_for
from openbook.library import Library
from openbook.settings import Settings

_CASES = Path(__file__).parent / "cases" / "course_catalog.jsonl"
_FRESH = _CASES.with_name("course_catalog_fresh.jsonl")
_TERMS = _CASES.with_name("course_terms.jsonl")


def main() -> None:
    """Print the share of right answers by language, by kind, and of all, for both halves."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with courses")
    parser.add_argument("--verbose", action="store_true", help="print what went wrong in the fitted half")
    arguments = parser.parse_args()
    for file in (_CASES, _FRESH, _TERMS):
        print(f"\n{file.name}\n")
        _measure([json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()], arguments)


def _measure(cases: Sequence[dict[str, str]], arguments: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as scratch, _library(arguments.data, scratch) as assistant:
        right = [_is_right(assistant, case, arguments.verbose) for case in cases]
    print("| | fitted | left out |\n|---|---|---|")
    for key in ("language", "kind", ""):
        for value in sorted({case[key] for case in cases}) if key else ["all"]:
            row = [
                mean(
                    [
                        one
                        for case, one in zip(cases, right, strict=True)
                        if case["half"] == half and value in ("all", case.get(key))
                    ]
                )
                for half in ("fitted", "left out")
            ]
            print(f"| {value} | {row[0]:.2f} | {row[1]:.2f} |")


def _library(data: Path, scratch: str) -> Library:
    return Library.of(data / "courses", settings=Settings(home=Path(scratch)))


def _is_right(assistant: Library, case: dict[str, str], verbose: bool) -> float:
    answer = assistant.query(case["question"])
    said = " ".join(answer.answer.casefold().split())
    if case["kind"] == "no":
        found = not any(is_asked_for(result) for result in answer.results)
    elif case["kind"] == "term":
        found = any(line.casefold() in said for line in case["any"])
    else:
        found = bool(answer.citations) and facts_found(answer.answer, case["expects"]) == 1
    found = found and not any(other.casefold() in said for other in case.get("excludes", ()))
    if verbose and not found and case["half"] == "fitted":
        print(f"{case['language']} {case['kind']}: {case['question']}\n    {' '.join(answer.answer.split())[:300]}")
    return float(found)


if __name__ == "__main__":
    main()
