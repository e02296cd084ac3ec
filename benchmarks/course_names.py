"""Whether names that people give to courses resolve to the course meant, and other names to none.

    python -m benchmarks.course_names --data path/to/data

`cases/course_names.jsonl` has 60 names for the four transcripts: 45 that mean one of them, in part,
misspelt, abbreviated or described, and 15 that mean none. They were written before anything was
tuned. By turns they are for tuning and held back.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from pathlib import Path

from openbook.courses.names import resolve
from openbook.embedding.static import load_embedder
from openbook.library import Library
from openbook.settings import Settings
from openbook.types import Course

NAMES = Path(__file__).parent / "cases" / "course_names.jsonl"

HALVES = ("tuned", "held")


def main() -> None:
    """Print a line for each half, and the names that go wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with `courses`")
    data = parser.parse_args().data
    with tempfile.TemporaryDirectory() as home, Library.open(settings=Settings(home=Path(home))) as assistant:
        assistant.add(data / "courses")
        courses = assistant.courses()
    counts: Counter[tuple[str, str]] = Counter()
    for place, line in enumerate(NAMES.read_text(encoding="utf-8").splitlines()):
        case = json.loads(line)
        # Four names in a row mean four courses: with each row the turns begin one later.
        half = HALVES[(place + place // len(courses)) % 2]
        outcome = _outcome(case["name"], case["course"], courses)
        counts[half, outcome] += 1
        if outcome != "right":
            print(f"{half}: {case['name']!r} ({case['how']}): {outcome}")
    print("\n| half | names | right % | asked back | wrong |\n|---|---|---|---|---|")
    for half in HALVES:
        names = sum(count for (each, _), count in counts.items() if each == half)
        right = 100 * counts[half, "right"] / names
        print(f"| {half} | {names} | {right:.1f} | {counts[half, 'asked back']} | {counts[half, 'wrong']} |")


def _outcome(name: str, meant: str | None, courses: list[Course]) -> str:
    """Say `right`, `asked back` for several candidates, `unknown`, or `wrong` for another course or one too many."""
    resolution = resolve(name, courses, load_embedder())
    if resolution.candidates:
        return "asked back"
    if resolution.course is None:
        return "unknown" if meant else "right"
    return "right" if resolution.course.path == meant else "wrong"


if __name__ == "__main__":
    main()
