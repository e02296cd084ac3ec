"""Writes findings in SARIF 2.1.0, which GitHub, GitLab, Azure and editors read."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any
from urllib.parse import quote

from openbook.verify.finding import Finding, LineRange, Outcome
from openbook.verify.verify import FileReport

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

_RULES: dict[Outcome, str] = {
    "moved": "The cited lines stand elsewhere now.",
    "changed": "The cited lines are gone or say something else.",
    "missing file": "The cited file does not exist.",
    "out of range": "The cited file has fewer lines.",
    "refused": "The citation leads to what is not read.",
    "unknown": "Nobody can tell what the citation named when it was written.",
}


def as_sarif(reports: Sequence[FileReport], version: str, failures: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Return a log with one run: a result for each finding that is not `ok`, `foreign` or fixed."""
    rules = [{"id": _rule_id(outcome), "shortDescription": {"text": text}} for outcome, text in _RULES.items()]
    notes = [
        {"level": "error", "message": {"text": reason}, "locations": [{"physicalLocation": _file(file)}]}
        for file, reason in failures
    ]
    run = {
        "tool": {"driver": {"name": "Openbook", "version": version, "rules": rules}},
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": not failures, "toolExecutionNotifications": notes}],
        "results": [
            _result(report, finding, is_known=at in report.known)
            for report in reports
            for at, finding in enumerate(report.findings)
            if finding.verdict in _RULES and at not in report.fixed
        ],
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule_id(outcome: Outcome) -> str:
    return f"citation-{outcome.replace(' ', '-')}"


def _result(report: FileReport, finding: Finding, *, is_known: bool) -> dict[str, Any]:
    mark = sha256("\0".join((report.path, finding.cited, finding.verdict)).encode("utf-8", "surrogateescape"))
    result: dict[str, Any] = {
        "ruleId": _rule_id(finding.verdict),
        "ruleIndex": list(_RULES).index(finding.verdict),
        "level": "error" if finding.is_wrong else "note",
        "message": {"text": _message(finding)},
        "locations": [{"physicalLocation": _file(report.path) | {"region": {"startLine": finding.line}}}],
        "partialFingerprints": {"citation/v1": mark.hexdigest()},
    }
    related = [place for place in (finding.place, finding.now) if place is not None and place.first_line >= 1]
    if related:
        result["relatedLocations"] = [_related(number, place) for number, place in enumerate(related, start=1)]
    if is_known:
        result["suppressions"] = [{"kind": "external", "justification": "It is in the baseline."}]
    return result


def _message(finding: Finding) -> str:
    arrow = " -> " if finding.verdict == "moved" else ", perhaps "
    now = f"{arrow}{finding.now}" if finding.now else ""
    reasons = "; ".join(filter(None, (finding.reason, finding.doubt)))
    return f"{finding.verdict}: {finding.cited}{now}" + (f" ({reasons})" if reasons else "")


def _related(number: int, place: LineRange) -> dict[str, Any]:
    region = {"startLine": place.first_line, "endLine": max(place.first_line, place.last_line)}
    return {
        "id": number,
        "message": {"text": str(place)},
        "physicalLocation": _file(place.path) | {"region": region},
    }


def _file(path: str) -> dict[str, Any]:
    return {"artifactLocation": {"uri": quote(path, safe="/", errors="surrogateescape")}}
