"""What the checks say of claims that a strong model wrote: true ones flagged, false ones caught, rule by rule.

    python -m benchmarks.model_claims --data DATA [--fresh FILE=FOLDER ...] [--rules] [--prompts FOLDER]

Reads `DATA/model-claims/claims.jsonl`. `--fresh` adds claims that name places only, such as
`benchmarks/claims/packages.jsonl=.venv/lib/python3.11/site-packages`: their text is read below the folder.
`--prompts` writes the calls that a verifier is sent, one file for each answer, and measures nothing. Replies that
were recorded for exactly these prompts lie in `benchmarks/claims/replies.jsonl`, and stand for a verifier.

Flagged or caught means `conflict`, and with a verifier also claims that it did not find in the cited lines, since
that is what a reader sees: they are not `confirmed`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from openbook.grounding.entailment import decide
from openbook.grounding.literal import RULES, LiteralVerdict, ReadClaim, check_literally
from openbook.grounding.model_prompt import VerificationPrompt
from openbook.grounding.protocol import CitedClaim, SourceText

HERE = Path(__file__).resolve().parent / "claims"
REPLIES = HERE / "replies.jsonl"

# A rule is kept on the projects that it is chosen on if it catches so many more false claims than it flags true ones.
_MIN_GAIN = 2

STYLES = ("free", "close")


@dataclass(frozen=True, slots=True)
class Case:
    """One claim with its label."""

    set: str
    project: str
    answer: str
    """The answer that it stood in: its claims are verified in one call."""
    style: str
    is_true: bool
    error: str
    claim: CitedClaim


def read_given(data: Path) -> list[Case]:
    """Read the claims of the data folder that cite something, in order."""
    cases = []
    for line in (data / "model-claims" / "claims.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        sources = tuple(SourceText(each["text"], each["path"], each["symbol"]) for each in row["sources"])
        claim = CitedClaim(row["claim"], row["cited_text"], sources)
        answer = f"{row['project']}-{row['style']}-{row['id']}"
        cases.append(Case("model-claims", row["project"], answer, row["style"], row["label_true"], row["error"], claim))
    return [case for case in cases if case.claim.cited_text.strip()]


def read_fresh(file: Path, folder: Path) -> list[Case]:
    """Read claims that name places, and their text below a folder.

    Raises:
        OSError: A file is not there.
    """
    cases = []
    questions: dict[str, int] = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        root = folder / row["project"] if "repository" in row else folder
        cited = "\n".join(_text_at(root, place) for place in row["places"])
        contexts = {each["place"]: each["symbol"] for each in row["contexts"]}
        sources = tuple(
            SourceText(_text_at(root, place), place.rpartition(":")[0], symbol) for place, symbol in contexts.items()
        )
        answer = f"{row['project']}-{questions.setdefault(row['question'], len(questions) + 1):02}"
        claim = CitedClaim(row["claim"], cited, sources)
        cases.append(Case(file.stem, row["project"], answer, row["style"], row["label_true"], row["error"], claim))
    return cases


def _text_at(folder: Path, place: str) -> str:
    path, _, lines = place.rpartition(":")
    first, last = map(int, lines.split("-"))
    return "\n".join((folder / path).read_text(encoding="utf-8").split("\n")[first - 1 : last])


@dataclass(frozen=True, slots=True)
class Share:
    """How many of some claims were hit."""

    hit: int
    of: int

    def __str__(self) -> str:
        return f"{self.hit} of {self.of} ({100 * self.hit / self.of:.1f} %)" if self.of else "none"


def shares(cases: Sequence[Case], is_hit: Callable[[Case], bool]) -> dict[tuple[str, bool], Share]:
    """Count hits by style and label."""
    return {
        (style, label): Share(
            sum(is_hit(case) for case in those),
            len(those),
        )
        for style in STYLES
        for label in (True, False)
        for those in [[case for case in cases if (case.style, case.is_true) == (style, label)]]
    }


def row(name: str, found: Mapping[tuple[str, bool], Share]) -> str:
    """Write one line of a table: true flagged and false caught, for each style."""
    return f"| {name} | {' | '.join(str(found[style, label]) for style in STYLES for label in (True, False))} |"


HEAD = (
    "| | true flagged, free | false caught, free | true flagged, close | false caught, close |\n|---|---|---|---|---|"
)


def _conflicts_of(claim: CitedClaim) -> set[str]:
    """Return the names of all rules that find a conflict."""
    read = ReadClaim(claim)
    return {name for name, rule in RULES.items() if rule(read)}


def rule_table(cases: Sequence[Case]) -> str:
    """Write what each rule alone hits, and how many claims it alone would lose."""
    hits = {id(case): _conflicts_of(case.claim) for case in cases}

    def hit_by(rule: str) -> str:
        return row(rule, shares(cases, lambda case: rule in hits[id(case)]))

    lines = [HEAD, *map(hit_by, RULES)]
    lines.append(row("all rules", shares(cases, lambda case: bool(hits[id(case)]))))
    return "\n".join(lines)


def left_out(cases: Sequence[Case]) -> dict[tuple[str, bool], Share]:
    """Choose the rules on all projects but one, and measure that one; every project in turn."""
    hits = {id(case): _conflicts_of(case.claim) for case in cases}
    caught: set[int] = set()
    for project in {case.project for case in cases}:
        counts: Counter[tuple[str, bool]] = Counter(
            (rule, case.is_true) for case in cases if case.project != project for rule in hits[id(case)]
        )
        kept = {rule for rule in RULES if counts[rule, False] >= _MIN_GAIN * max(counts[rule, True], 1)}
        caught.update(id(case) for case in cases if case.project == project and kept & hits[id(case)])
    return shares(cases, lambda case: id(case) in caught)


def calls(cases: Sequence[Case]) -> Iterator[tuple[str, list[Case], str]]:
    """Yield each answer with those of its claims that a verifier is asked, and the text of the call."""
    asked = [case for case in cases if check_literally(case.claim).verdict != "exact"]
    for answer, group in groupby(sorted(asked, key=lambda case: case.answer), key=lambda case: case.answer):
        those = list(group)
        request = VerificationPrompt([case.claim for case in those]).request()
        yield answer, those, f"{request.system}\n\n=== user ===\n\n{request.messages[0].text}"


def digest(prompt: str) -> str:
    """Return what a recorded reply is found by."""
    return hashlib.sha256(prompt.encode()).hexdigest()


def recorded(file: Path = REPLIES) -> dict[str, str]:
    """Read the recorded replies by the digests of their prompts."""
    rows = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    return {each["prompt"]: each["reply"] for each in rows}


def verified(cases: Sequence[Case], file: Path = REPLIES) -> dict[int, LiteralVerdict]:
    """Return the verdicts of both layers on the claims whose replies were recorded, by the identity of the case."""
    replies = recorded(file)
    found: dict[int, LiteralVerdict] = {}
    for _, those, prompt in calls(cases):
        reply = replies.get(digest(prompt))
        if reply is not None:
            entailments = VerificationPrompt([case.claim for case in those]).read(reply)
            for case, entailment in zip(those, entailments, strict=True):
                found[id(case)] = decide(case.claim, check_literally(case.claim), entailment)
    if found:
        exact = (case for case in cases if check_literally(case.claim).verdict == "exact")
        found |= {id(case): check_literally(case.claim) for case in exact}
    return found


def report(cases: Sequence[Case], *, rules: bool) -> str:
    """Write the tables of one set."""
    flagged = shares(cases, lambda case: check_literally(case.claim).verdict == "conflict")
    parts = [HEAD, row("words alone", flagged), row("words alone, rules chosen on other projects", left_out(cases))]
    judged = verified(cases)
    those = [case for case in cases if id(case) in judged]
    if those:
        parts.append(row("with a verifier: conflict", shares(those, lambda c: judged[id(c)].verdict == "conflict")))
        good = ("exact", "confirmed")
        parts.append(row("with a verifier: not confirmed", shares(those, lambda c: judged[id(c)].verdict not in good)))
    exact = [case for case in cases if not case.is_true and check_literally(case.claim).verdict == "exact"]
    wrong = [case for case in those if not case.is_true and judged[id(case)].verdict in ("exact", "confirmed")]
    false = sum(not case.is_true for case in cases)
    parts.append(f"\nFalse claims shown as `exact` by words alone: {len(exact)} of {false}.")
    if those:
        false = sum(not case.is_true for case in those)
        parts.append(f"False claims shown as `exact` or `confirmed` with a verifier: {len(wrong)} of {false}.")
        parts += [f"- {case.answer}: {case.error}: {case.claim.claim}" for case in wrong]
    if rules:
        parts += ["\nRule by rule:\n", rule_table(cases)]
        by_project = defaultdict(list)
        for case in cases:
            by_project[case.project].append(case)
        parts += ["\nProject by project, words alone:\n", HEAD]
        for project, own in sorted(by_project.items()):
            conflict = shares(own, lambda case: check_literally(case.claim).verdict == "conflict")
            parts.append(row(project, conflict))
    return "\n".join(parts)


def main() -> None:
    """Print the tables, or write the prompts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with model-claims")
    parser.add_argument("--fresh", nargs="*", default=(), metavar="FILE=FOLDER", help="claims that name places only")
    parser.add_argument("--rules", action="store_true", help="add tables by rule and by project")
    parser.add_argument("--prompts", type=Path, help="write what a verifier is sent into this folder")
    arguments = parser.parse_args()
    sets = [read_given(arguments.data)]
    for named in arguments.fresh:
        file, _, folder = named.partition("=")
        sets.append(read_fresh(Path(file), Path(folder)))
    for cases in sets:
        if arguments.prompts:
            arguments.prompts.mkdir(parents=True, exist_ok=True)
            for answer, _, prompt in calls(cases):
                (arguments.prompts / f"{answer}.txt").write_text(prompt, encoding="utf-8")
            continue
        print(f"\n#### {cases[0].set}: {len(cases)} claims\n\n{report(cases, rules=arguments.rules)}", flush=True)


if __name__ == "__main__":
    main()
