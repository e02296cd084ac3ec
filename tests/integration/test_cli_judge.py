"""`openbook judge`: claims of any program, judged by the text that they cite."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from openbook.testing import FakeServer, Refusal, ScriptedReply
from openbook.usage import Usage
from tests.integration.support_cli import Outcome, assert_fails_clearly, run, run_alone

Start = Callable[..., FakeServer]
Captured = pytest.CaptureFixture[str]

CITED = "Copies are kept for ninety days.\nLOST_AFTER_DAYS = 14\n"
EXACT = {"id": "a", "claim": "Copies are kept for ninety days.", "cited_text": CITED}
OPEN = {"id": "b", "claim": "After ninety days, copies are thrown away.", "cited_text": CITED}
WRONG = {"id": "c", "claim": "A parcel is lost after 41 days.", "cited_text": CITED}
UNCITED = {"id": "d", "claim": "A parcel is lost after 14 days.", "cited_text": ""}
GREETING = {"id": "e", "claim": "Hello!", "cited_text": ""}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def verifier(fake_server: Start, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Start a server that says what a test wants, and give its name as a verifier."""

    def started(*steps: Any) -> str:
        server = fake_server(*steps)
        monkeypatch.setenv("LLM_API_KEY", server.key)
        return f"{server.openai_url}#checker"

    return started


def written(*entries: object) -> str:
    Path("claims.jsonl").write_text("".join(f"{json.dumps(entry)}\n" for entry in entries), encoding="utf-8")
    return "claims.jsonl"


def said(*verdicts: tuple[str, str]) -> str:
    replies = ({"claim": n, "verdict": label, "quote": quote} for n, (label, quote) in enumerate(verdicts, start=1))
    return "\n".join(map(json.dumps, replies))


def verdicts(outcome: Outcome) -> dict[str, str]:
    return {line["id"]: line["verdict"] for line in outcome.lines}


def test_words_alone_tell_what_is_exact_what_conflicts_and_what_they_cannot_tell(capsys: Captured) -> None:
    outcome = run(capsys, "judge", written(EXACT, OPEN, WRONG, UNCITED, GREETING))

    assert outcome.out == (
        "a: exact\n    Copies are kept for ninety days.\n"
        "b: unverified: no verifier checked whether the cited lines say it\n"
        "    After ninety days, copies are thrown away.\n"
        "c: conflict: the number 41 days is not in the cited lines\n    A parcel is lost after 41 days.\n"
        "d: uncited: it states facts and cites nothing\n    A parcel is lost after 14 days.\n"
    )
    assert outcome.err == "5 claims: 1 exact, 1 conflict, 1 unverified, 1 uncited, 1 without facts\n"


@pytest.mark.parametrize(
    ("entries", "code"),
    [
        pytest.param((EXACT, OPEN, UNCITED, GREETING), 0, id="open-ones-are-no-fault"),
        pytest.param((EXACT, WRONG), 1, id="one-conflict"),
        pytest.param((EXACT, "no object"), 2, id="a-line-that-is-none"),
        pytest.param((WRONG, "no object"), 2, id="both"),
        pytest.param((), 0, id="none"),
    ],
)
def test_the_exit_code_tells_a_conflict_from_a_bad_line(
    capsys: Captured, entries: tuple[object, ...], code: int
) -> None:
    assert run(capsys, "judge", written(*entries)).code == code


def test_each_line_of_json_has_the_same_four_fields_and_the_id_as_it_was_given(capsys: Captured) -> None:
    claims = [
        EXACT,
        {**WRONG, "id": 7},
        {**OPEN, "id": {"page": [1]}},
        {key: UNCITED[key] for key in ("claim", "cited_text")},
    ]

    outcome = run(capsys, "judge", written(*claims), "--json")

    assert [list(line) for line in outcome.lines] == [["id", "claim", "verdict", "reason"]] * 4
    assert [line["id"] for line in outcome.lines] == ["a", 7, {"page": [1]}, None]
    assert outcome.lines[0] == {"id": "a", "claim": EXACT["claim"], "verdict": "exact", "reason": ""}
    assert outcome.lines[1]["reason"] == "the number 41 days is not in the cited lines"


def test_a_claim_without_an_id_is_named_by_its_line(capsys: Captured) -> None:
    Path("claims.jsonl").write_text(f"\n\n{json.dumps({**EXACT, 'id': None})}\n", encoding="utf-8")

    assert run(capsys, "judge", "claims.jsonl").out.startswith("3: exact\n")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        pytest.param("{", "it is not JSON", id="no-json"),
        pytest.param("[" * 100_000, "it is not JSON", id="deep"),
        pytest.param('{"id": NaN, "claim": "a", "cited_text": "b"}', "it is not JSON", id="no-number"),
        pytest.param("3", "it is not a JSON object", id="a-number"),
        pytest.param('["claim"]', "it is not a JSON object", id="a-list"),
        pytest.param("{}", "'claim' is missing, or is not a text", id="nothing"),
        pytest.param('{"claim": "a"}', "'cited_text' is missing, or is not a text", id="no-cited-text"),
        pytest.param('{"claim": null, "cited_text": "b"}', "'claim' is missing, or is not a text", id="null"),
        pytest.param(
            '{"claim": ["a"], "cited_text": "b"}', "'claim' is missing, or is not a text", id="a-list-of-claims"
        ),
        pytest.param(
            '{"claim": "a", "cited_text": 3}', "'cited_text' is missing, or is not a text", id="cites-a-number"
        ),
        pytest.param('{"claim": " \\n", "cited_text": "b"}', "'claim' is empty", id="empty-claim"),
        pytest.param(
            '{"claim": "a", "cited_text": "b", "sources": "c"}', "'sources' must be a list of objects", id="sources"
        ),
        pytest.param(
            '{"claim": "a", "cited_text": "b", "sources": [{"text": "c"}, 3]}',
            "'sources' must be a list of objects",
            id="a-source",
        ),
        pytest.param(
            '{"claim": "a", "cited_text": "b", "sources": [{"path": "c"}]}',
            "'text' is missing",
            id="source-without-text",
        ),
    ],
)
def test_a_line_that_is_no_claim_is_named_and_the_others_are_judged(capsys: Captured, line: str, reason: str) -> None:
    Path("claims.jsonl").write_text(f"{json.dumps(EXACT)}\n{line}\n{json.dumps(OPEN)}\n", encoding="utf-8")

    outcome = run(capsys, "judge", "claims.jsonl", "--json")

    assert outcome.code == 2
    assert f"error: line 2: {reason}" in outcome.err
    assert verdicts(outcome) == {"a": "exact", "b": "unverified"}


def test_of_many_bad_lines_the_first_are_named(capsys: Captured) -> None:
    outcome = run(capsys, "judge", written(*["x"] * 25))

    assert outcome.err.count("error: line ") == 20
    assert "... and 5 more lines" in outcome.err


@pytest.mark.parametrize(
    ("content", "words"),
    [
        pytest.param(None, "No such file", id="no-file"),
        pytest.param(b"\xff{}", "can't decode", id="not-utf-8"),
    ],
)
def test_a_file_that_cannot_be_read_is_told(capsys: Captured, content: bytes | None, words: str) -> None:
    if content is not None:
        Path("claims.jsonl").write_bytes(content)

    outcome = run(capsys, "judge", "claims.jsonl")

    assert_fails_clearly(outcome, 2, "CLAIMS.jsonl", "cannot read 'claims.jsonl'", words)
    assert "Errno" not in outcome.err


def test_an_empty_file_has_no_claims(capsys: Captured) -> None:
    Path("claims.jsonl").touch()

    outcome = run(capsys, "judge", "claims.jsonl")

    assert (outcome.code, outcome.out, outcome.err) == (0, "", "0 claims\n")


@pytest.mark.slow
def test_a_dash_is_standard_input(here: Path) -> None:
    with Path(written(EXACT, OPEN)).open("rb") as claims:
        outcome = run_alone("judge", "-", "--json", cwd=here, stdin=claims)

    assert (outcome.code, verdicts(outcome)) == (0, {"a": "exact", "b": "unverified"})


@pytest.mark.slow
def test_standard_input_that_is_no_utf_8_is_told(here: Path) -> None:
    (here / "claims").write_bytes(b"\xff")
    with (here / "claims").open("rb") as claims:
        outcome = run_alone("judge", "-", cwd=here, stdin=claims)

    assert_fails_clearly(outcome, 2, "CLAIMS.jsonl", "cannot read standard input")


@pytest.mark.slow
def test_a_verifier_confirms_or_contradicts_by_words_that_stand_there(
    capsys: Captured, verifier: Callable[..., str]
) -> None:
    lasting = {**OPEN, "id": "f", "claim": "Copies are kept for ever."}
    invented = {**OPEN, "id": "g", "claim": "Copies are kept in the cellar."}
    name = verifier(
        said(
            ("entailed", "kept for ninety days"),
            ("contradicted", "kept for ninety days"),
            ("entailed", "kept in the cellar"),
        )
    )

    outcome = run(capsys, "judge", written(EXACT, OPEN, lasting, invented), "--verifier", name, "--json")

    assert verdicts(outcome) == {"a": "exact", "b": "confirmed", "f": "conflict", "g": "unverified"}
    reasons = [line["reason"] for line in outcome.lines]
    assert reasons[1] == ""
    assert reasons[2] == 'the cited lines say "kept for ninety days"'
    assert reasons[3] == "the words that the verifier points to are not in the cited lines"
    assert f"verifier {name}: 5 tokens, unknown" in outcome.err


def test_the_verifier_of_the_settings_is_asked(
    capsys: Captured, verifier: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENBOOK_VERIFIER", verifier(said(("entailed", "kept for ninety days"))))

    assert verdicts(run(capsys, "judge", written(OPEN), "--json")) == {"b": "confirmed"}
    assert verdicts(run(capsys, "judge", written(OPEN), "--json", "--verifier", "off")) == {"b": "unverified"}


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        pytest.param(Refusal(400, "too clever"), "too clever", id="it-refuses"),
        pytest.param("All is well.", "the verifier gave no verdict on it", id="it-babbles"),
        pytest.param(said(("not said", "")), "the verifier did not find it in the cited lines", id="it-finds-nothing"),
    ],
)
def test_a_verifier_that_does_not_help_leaves_claims_unverified(
    capsys: Captured, verifier: Callable[..., str], step: Any, reason: str
) -> None:
    outcome = run(capsys, "judge", written(OPEN), "--verifier", verifier(step), "--json")

    assert (outcome.code, verdicts(outcome)) == (0, {"b": "unverified"})
    assert reason in outcome.lines[0]["reason"]


def test_one_batch_that_fails_does_not_spoil_the_others(capsys: Captured, verifier: Callable[..., str]) -> None:
    claims = [{**OPEN, "id": f"{number}"} for number in range(25)]
    good = said(*[("entailed", "kept for ninety days")] * 20)

    outcome = run(capsys, "judge", written(*claims), "--verifier", verifier(good, Refusal(400, "too clever")), "--json")

    found = verdicts(outcome)
    assert [found[f"{number}"] for number in (0, 19, 20, 24)] == ["confirmed"] * 2 + ["unverified"] * 2
    assert outcome.err.count("the verifier failed: ") == 1
    assert "too clever" in outcome.err


def test_text_that_is_half_a_character_is_judged_too(capsys: Captured, verifier: Callable[..., str]) -> None:
    half = {**OPEN, "claim": "After ninety days, copies \ud800 are thrown away."}

    outcome = run(capsys, "judge", written(half), "--verifier", verifier(said(("entailed", "ninety days"))), "--json")

    assert verdicts(outcome) == {"b": "confirmed"}


@pytest.mark.slow
def test_more_than_the_money_is_not_spent(
    capsys: Captured, fake_server: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = said(*[("entailed", "kept for ninety days")] * 20)
    server = fake_server(ScriptedReply(good, usage=Usage(1_000, 3_000)))
    monkeypatch.setenv("ANTHROPIC_API_KEY", server.key)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.anthropic_url)
    claims = [{**OPEN, "id": f"{number}"} for number in range(25)]
    options = ("--verifier", "anthropic:claude-sonnet-5-5", "--max-usd", "0.033", "--json")

    outcome = run(capsys, "judge", written(*claims), *options)

    found = verdicts(outcome)
    assert [found[f"{number}"] for number in (0, 19, 20, 24)] == ["confirmed"] * 2 + ["unverified"] * 2
    assert "the budget left nothing for a check" in outcome.err
    assert len(server.requests) == 1


def test_a_limit_that_cannot_be_kept_sends_nothing(capsys: Captured, verifier: Callable[..., str]) -> None:
    outcome = run(capsys, "judge", written(OPEN), "--verifier", verifier(), "--max-usd", "1", "--json")

    assert verdicts(outcome) == {"b": "unverified"}
    assert "price of" in outcome.lines[0]["reason"]


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        pytest.param("groq", 3, ["groq needs a key", "GROQ_API_KEY"], id="no-key"),
        pytest.param("gpt", 2, ["unknown provider 'gpt'"], id="no-model"),
        pytest.param("extractive", 2, ["'extractive' is not a verifier", "`off`"], id="quotes"),
        pytest.param("model", 2, ["--verifier", "none wrote the claims"], id="nobody-writes"),
    ],
)
def test_a_verifier_that_is_none_is_told_before_anything_is_judged(
    capsys: Captured, name: str, code: int, words: list[str]
) -> None:
    outcome = run(capsys, "judge", written(OPEN), "--verifier", name)

    assert_fails_clearly(outcome, code, *words)
    assert outcome.out == ""
