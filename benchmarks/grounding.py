"""What the checking of citations is worth: one command for all its figures.

    python -m benchmarks.grounding --data DATA [--only PART ...] [--write]

Prints a section for each part; `--write` puts them between the marks in docs/benchmarks-citations.md.
"""

from __future__ import annotations

import argparse
import datetime
import platform
from collections.abc import Callable
from pathlib import Path

from benchmarks import claim_support, conversations, model_claims, mutations, relocation
from benchmarks.true_claims import read_chinese_files, read_files, read_other_files

PAGE = Path(__file__).resolve().parents[1] / "docs" / "benchmarks-citations.md"

BEGIN = "<!-- Made by `make bench-grounding`: begin -->"
END = "<!-- Made by `make bench-grounding`: end -->"

_COUNT, _SEED = 1000, 1


def claims(data: Path) -> str:
    """Count what words alone say of claims of WiCE."""
    title = "#### Claims of Wikipedia against the pages they cite (WiCE dev), words alone"
    return f"{title}\n\n{claim_support.table(claim_support.measure(data))}"


def models(data: Path) -> str:
    """Measure the checks on claims that a strong model wrote."""
    cases = model_claims.read_given(data)
    return f"#### Claims that a strong model wrote ({len(cases)})\n\n{model_claims.report(cases, rules=True)}"


def attacks(data: Path) -> str:
    """Measure the mutation attack."""
    outcomes = mutations.attack(read_files(data), _COUNT, _SEED)
    others = mutations.attack(read_other_files(), _COUNT, _SEED)
    scarce = mutations.attack_scarce(read_files(data), read_chinese_files(data), _SEED)
    return "\n\n".join(
        (
            f"#### {_COUNT:,} true claims, each broken one way",
            mutations.table(outcomes),
            mutations.cost(outcomes),
            "The same of packages that no rule was improved with:",
            mutations.table(others),
            "What few claims say, broken by another word of its kind:",
            mutations.table(scarce),
        )
    )


def refusals(data: Path) -> str:
    """Measure which questions in conversations are refused."""
    return f"#### Questions in conversations, refused by label\n\n{conversations.table(data)}"


def relocations(_: Path) -> str:
    """Measure how many citations are found again after their files have changed."""
    return f"#### 500 citations in files that then drifted\n\n{relocation.table()}"


# Each gives a section of Markdown. What measures another side of citations adds its line here.
PARTS: dict[str, Callable[[Path], str]] = {
    "models": models,
    "claims": claims,
    "attacks": attacks,
    "refusals": refusals,
    "relocations": relocations,
}


def write(block: str, page: Path = PAGE) -> None:
    """Put a block between the two marks of a page, or with them at its end."""
    text = page.read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    if not begin:
        before, after = f"{text.rstrip()}\n\n", "\n"
    page.write_text(f"{before}{BEGIN}\n\n{block}\n\n{END}{after}", encoding="utf-8")


def main() -> None:
    """Print the sections, and write them where that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--data", type=Path, required=True, help="folder with model-claims, claim-support, span-qa, docs-qa, courses"
    )
    parser.add_argument("--only", nargs="+", choices=tuple(PARTS), default=tuple(PARTS), metavar="PART")
    parser.add_argument("--write", action="store_true", help="put them into docs/benchmarks-citations.md")
    arguments = parser.parse_args()
    if arguments.write and set(arguments.only) != set(PARTS):
        parser.error("--write needs all parts")
    day = datetime.datetime.now(datetime.UTC).date().isoformat()
    sections = [f"{day}, {platform.system()} {platform.machine()}, Python {platform.python_version()}."]
    for part in arguments.only:
        sections.append(PARTS[part](arguments.data))
        print(f"\n{sections[-1]}", flush=True)
    if arguments.write:
        write("\n\n".join(sections))


if __name__ == "__main__":
    main()
