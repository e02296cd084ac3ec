"""What words alone say of claims of Wikipedia against the pages they cite (WiCE). No goal: it is published.

    python -m benchmarks.claim_support --data DATA

Each claim cites a whole page, every sentence a line. Words alone find conflicts in short citations; that they
rarely decide anything here is expected, and what a verifier would say of them needs one.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from openbook.grounding.literal import LiteralVerdict, check_literally
from openbook.grounding.protocol import CitedClaim, SourceText

LABELS = ("not_supported", "partially_supported", "supported")
VERDICTS = ("exact", "unverified", "conflict")


@dataclass(frozen=True, slots=True)
class Measured:
    """One claim, its label, and what words alone say of it."""

    claim: str
    label: str
    judgement: LiteralVerdict
    took_ms: float


def measure(data: Path) -> list[Measured]:
    """Judge every claim of WiCE dev, in order."""
    found = []
    for line in (data / "claim-support" / "wice-dev.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        page = "\n".join(row["evidence"])
        started = time.process_time()  # of all threads; other work on the machine does not count
        judgement = check_literally(CitedClaim(row["claim"], page, (SourceText(page),)))
        found.append(Measured(row["claim"], row["label"], judgement, (time.process_time() - started) * 1000))
    return found


def table(measured: Sequence[Measured]) -> str:
    """Write which label got which verdict, and what a claim costs."""
    lines = [f"| label | claims | {' | '.join(VERDICTS)} |", "|---|---|---|---|---|"]
    for label in LABELS:
        counted = Counter(one.judgement.verdict for one in measured if one.label == label)
        row = " | ".join(str(counted[verdict]) for verdict in ("exact", "unverified", "conflict"))
        lines.append(f"| {label.replace('_', ' ')} | {counted.total()} | {row} |")
    took = sum(one.took_ms for one in measured) / len(measured)
    return "\n".join((*lines, f"\n{took:.1f} CPU ms per claim against a whole page."))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with claim-support")
    print(table(measure(parser.parse_args().data)))


if __name__ == "__main__":
    main()
