from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from openbook.answers import Citation, Claim, GenerationResult, RefusalReason, Repair, Verdict
from openbook.cli.answers import print_answer
from openbook.cli.printing import LocationFormatter, complain, print_report, print_results, remark_lines, size_advice
from openbook.grounding.literal import NOT_CHECKED
from openbook.index.protocol import Source
from openbook.ingest.sync import SyncReport
from openbook.retrieval.excerpts import with_excerpts
from openbook.types import RetrievalResult, Span
from tests.unit.retrieval.material import chunk_of

NOWHERE = LocationFormatter([])
SIGNALS = {"lexical": 0.25, "path": 0.5, "role": -0.5, "dense": 0.125}


def found(**signals: float) -> RetrievalResult:
    return RetrievalResult(chunk_of("one\n\ntwo\nthree\nfour"), sum(signals.values()), signals)


def test_a_result_shows_its_place_its_score_and_the_lines_that_match(capsys: pytest.CaptureFixture[str]) -> None:
    print_results(with_excerpts("four", [found(**SIGNALS)]), NOWHERE)

    assert capsys.readouterr().out == " 1. a.md:1-5  0.375\n     3  two\n     4  three\n     5  four\n"


def test_a_result_without_an_excerpt_is_shown_whole(capsys: pytest.CaptureFixture[str]) -> None:
    print_results([found()], NOWHERE)

    assert (
        capsys.readouterr().out
        == " 1. a.md:1-5  0.000\n     1  one\n     2  \n     3  two\n     4  three\n     5  four\n"
    )


def test_a_line_shown_whole_has_no_blanks_where_a_reader_left_a_mark(capsys: pytest.CaptureFixture[str]) -> None:
    print_results([RetrievalResult(chunk_of("-k\f\n  Keeps."), 0.0, {})], NOWHERE)

    assert capsys.readouterr().out == " 1. a.md:1-2  0.000\n     1  -k\n     2    Keeps.\n"


def test_lines_that_end_with_a_carriage_return_are_shown_without_it(capsys: pytest.CaptureFixture[str]) -> None:
    chunk = chunk_of("one ship\r\ntwo needles\r\nthree\r\nneedles\r\n")

    print_results(with_excerpts("needles", [RetrievalResult(chunk, 0.5)]), NOWHERE)

    shown = capsys.readouterr().out
    assert "     2  two needles\n" in shown
    assert "\N{REPLACEMENT CHARACTER}" not in shown


def test_of_a_long_line_what_stands_around_the_match_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    chunk = chunk_of(f"{'before ' * 60}needle{' behind' * 60}")

    print_results(with_excerpts("needle", [RetrievalResult(chunk, 0.5)]), NOWHERE)

    shown = capsys.readouterr().out.splitlines()[1]
    assert shown.startswith("     1  …")
    assert "before needle behind" in shown
    assert len(shown) < 180


def test_what_would_drive_a_terminal_is_no_more_in_an_excerpt_than_elsewhere(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_results(with_excerpts("red", [RetrievalResult(chunk_of("a \x1b[31m red\x07 line"), 0.5)]), NOWHERE)

    assert "a \ufffd[31m red\ufffd line" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("query", "label"),
    [("Ring.Locate", "Locate"), ("Locate", "Locate"), ("Hasher", "Hasher"), ("what is relocated?", "Hasher")],
)
def test_a_chunk_bears_the_name_that_is_asked_for_if_it_defines_it(
    query: str, label: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "type Hasher int\n\nvar relocated = 1\n\n// Locate gives the host.\nfunc (r *Ring) Locate() {}"
    chunk = replace(chunk_of(text), symbol="Hasher", defines=("Hasher", "relocated", "Locate"))

    (result,) = with_excerpts(query, [RetrievalResult(chunk, 0.5)])
    print_results([result], NOWHERE)

    assert capsys.readouterr().out.startswith(f" 1. a.md:1-6  {label}  0.500\n")
    assert result.symbol == result.to_dict()["symbol"] == label


def test_a_result_of_what_has_no_lines_shows_the_place_that_the_original_has(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    chunk = replace(chunk_of("one"), language="pdf", anchor="p. 4")

    results = with_excerpts("one", [RetrievalResult(chunk, 0.5)])

    print_results(results, LocationFormatter([Source(chunk.source, "folder", str(tmp_path))]))

    assert capsys.readouterr().out == f" 1. {(tmp_path / 'a.md').as_posix()} p. 4  0.500\n      one\n"


def test_what_could_not_be_read_has_a_line_for_each_reason_though_nothing_was_written(
    capsys: pytest.CaptureFixture[str],
) -> None:
    remarks = {f"{number:02}.pdf": ("not indexed: damaged", f"page {number}\n") for number in range(22)}

    print_report(SyncReport("s", remarks=remarks))

    first, *_, twentieth, rest = capsys.readouterr().err.splitlines()
    assert first == "00.pdf: not indexed: damaged; page 0\ufffd"
    assert twentieth == "19.pdf: not indexed: damaged; page 19\ufffd"
    assert rest == "... and 2 more files; openbook status counts the reasons"


@pytest.mark.parametrize(
    ("number", "line"),
    [(1, "0.zip: binary"), (3, "0.zip, 1.zip, 2.zip: binary"), (9, "0.zip, 1.zip, 2.zip and 6 more files: binary")],
)
def test_files_with_the_same_remark_share_a_line(number: int, line: str) -> None:
    remarks = {f"{place}.zip": ("binary",) for place in range(number)}

    assert list(remark_lines({**remarks, "a.pdf": ("damaged",)})) == [line, "a.pdf: damaged"]


def test_an_explained_result_shows_what_moved_it_strongest_first_and_equals_by_name(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_results([found(**SIGNALS)], NOWHERE, explain=True)

    head, why, first, *_ = capsys.readouterr().out.splitlines()
    assert head == " 1. a.md:1-5  0.375"
    assert why == "      path +0.500  role -0.500  lexical +0.250  dense +0.125"
    assert first == "     1  one"


def test_no_result_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    print_results([], NOWHERE, show=True, explain=True)

    assert capsys.readouterr().out == ""


def test_a_refusal_without_anything_near_is_only_its_reason(capsys: pytest.CaptureFixture[str]) -> None:
    print_answer(GenerationResult("q", "Nothing found.", refused=True), NOWHERE, show=True)

    assert capsys.readouterr().out == "Nothing found.\n\n"


@pytest.mark.parametrize(
    ("answer", "cut_off"),
    [
        pytest.param(GenerationResult("q", "It wai", stopped="length"), True, id="length"),
        pytest.param(
            GenerationResult("q", "It wai", stopped="filtered", refused=True, reason=RefusalReason.NOTHING_CLAIMED),
            True,
            id="filter",
        ),
        pytest.param(
            GenerationResult("q", "No text.", stopped="length", refused=True, reason=RefusalReason.LENGTH),
            False,
            id="nothing-written",
        ),
        pytest.param(GenerationResult("q", "It waits.", stopped="max_rounds"), False, id="whole"),
    ],
)
def test_below_an_answer_that_is_cut_off_stands_why(
    capsys: pytest.CaptureFixture[str], answer: GenerationResult, *, cut_off: bool
) -> None:
    print_answer(answer, NOWHERE, show=False)

    assert capsys.readouterr().out.startswith(f"{answer.answer}\n\n(The answer is cut off: ") == cut_off


LINES = Span("a.py", 0, 9, 10, 20)
WAITS = Claim(0, 13, "It waits.", ("[1]",), "exact")


def cited(verdict: Verdict, reason: str = "", mark: str = "[1]", span: Span = LINES) -> Citation:
    return Citation(mark, "s", span, "x", verdict, "cell 3", reason=reason, symbol="wait()", claim=0)


def printed(capsys: pytest.CaptureFixture[str], *citations: Citation, claims: tuple[Claim, ...]) -> str:
    print_answer(GenerationResult("q", "It waits.", citations, claims=claims), NOWHERE, show=False)
    return capsys.readouterr().out.removeprefix("It waits.\n\n")


def test_what_is_good_has_its_verdict_and_no_word_more(capsys: pytest.CaptureFixture[str]) -> None:
    claims = (WAITS, replace(WAITS, verdict="confirmed"), Claim(30, 31, "So."))

    out = printed(capsys, cited("exact"), cited("confirmed"), claims=claims)

    assert out == "Sources:\n  [1]  wait() (a.py:10-20)  exact  cell 3\n  [1]  wait() (a.py:10-20)  confirmed  cell 3\n"


def test_claims_to_look_at_are_listed_with_their_reasons(capsys: pytest.CaptureFixture[str]) -> None:
    claims = (
        WAITS,
        Claim(14, 29, "It\nends\x1b.", ("[1]",), "conflict", 'the lines say "go"'),
        Claim(30, 40, "It sings.", ("[9]",), "unknown", "never shown"),
    )
    never = cited("unknown", "never shown", "[9]", Span("", 0, 0, 1, 1))

    out = printed(capsys, cited("conflict", 'the lines say "go"'), replace(never, symbol="", label=""), claims=claims)

    assert out == (
        "Sources:\n"
        '  [1]  wait() (a.py:10-20)  conflict  cell 3: the lines say "go"\n'
        "  [2]  unknown: never shown\n"
        "\nProblems (2 of 3 claims):\n"
        '  conflict: the lines say "go"\n      It ends�.\n'
        "  unknown: never shown\n      It sings.\n"
    )


def test_claims_that_were_not_verified_are_listed_by_reason(capsys: pytest.CaptureFixture[str]) -> None:
    not_found, no_mark = "the verifier did not find it in the cited lines", "it states facts and cites nothing"
    claims = (
        WAITS,
        Claim(14, 29, "It\nsings.", ("[1]",), "unverified", not_found),
        *(Claim(30, 40, f"It ends {number}.", (), "uncited", no_mark) for number in range(7)),
    )

    out = printed(capsys, cited("unverified", not_found), claims=claims)

    listed = "".join(f"      It ends {number}.\n" for number in range(5))
    assert out == (
        "Sources:\n"
        "  [1]  wait() (a.py:10-20)  unverified  cell 3\n"
        "\nNot verified (8 of 9 claims):\n"
        f"  7 claims: {no_mark}\n{listed}      and 2 more\n"
        f"  1 claim: {not_found}\n      It sings.\n"
    )


@pytest.mark.parametrize("reason", [NOT_CHECKED, "the verifier failed: busy"])
def test_claims_that_nothing_checked_are_only_counted(capsys: pytest.CaptureFixture[str], reason: str) -> None:
    claims = (replace(WAITS, verdict="unverified", reason=reason),)
    failures = frozenset({"the verifier failed: busy"})

    print_answer(GenerationResult("q", "", claims=claims, verifier_failures=failures), NOWHERE, show=False)

    assert capsys.readouterr().out.endswith(f"\nNot verified (1 of 1 claim):\n  1 claim: {reason}\n")


def test_a_citation_beside_the_one_that_confirms_its_claim_is_no_open_one(capsys: pytest.CaptureFixture[str]) -> None:
    confirmed = replace(WAITS, marks=("[1]", "[2]"), verdict="confirmed")
    both = cited("unverified", "elsewhere"), cited("confirmed", mark="[2]", span=Span("b.py", 0, 9, 3, 3))

    once = printed(capsys, *both, claims=(confirmed,))
    good = printed(capsys, *both, replace(cited("confirmed"), claim=1), claims=(confirmed, WAITS))
    alone = printed(capsys, both[0], claims=(confirmed,))

    assert once == (
        "Sources:\n  [1]  wait() (a.py:10-20)  cited too, confirmed by [2]  cell 3\n"
        "  [2]  wait() (b.py:3)  confirmed  cell 3\n"
    )
    assert good.count("[1]") == 1
    assert "[1]  wait() (a.py:10-20)  unverified" in alone


def test_an_answer_without_citations_has_no_list_of_sources(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, claims=(Claim(0, 9, "So."),)) == ""


def test_a_claim_of_several_lines_is_told_on_one(capsys: pytest.CaptureFixture[str]) -> None:
    claim = Claim(0, 9, "> It waits.\n>\n> So it is.", (), "stale", "the document is gone")
    repair = Repair("removed", "It\nwaits.", "[8]", "", "never shown")

    print_answer(GenerationResult("q", "It waits.", claims=(claim,), repairs=(repair,)), NOWHERE, show=False)

    out = capsys.readouterr().out
    assert "\n      > It waits. > > So it is.\n" in out
    assert out.endswith("\n      It waits.\n")


def test_what_the_check_changed_is_told_with_the_reason(capsys: pytest.CaptureFixture[str]) -> None:
    repairs = (
        Repair("anchored", "It waits.", "", "[1]", "it cites nothing"),
        Repair("removed", "It waits.", "[8]", "", "never shown"),
        Repair("retried", "", "a", "b", "2 claims in conflict, and 0 of the second answer"),
    )

    print_answer(GenerationResult("q", "It waits.", repairs=repairs), NOWHERE, show=False)

    assert capsys.readouterr().out == (
        "It waits.\n"
        "\n\nChanges made by the check:\n"
        "  now cites [1]: it cites nothing\n      It waits.\n"
        "  a mark was removed: never shown\n      It waits.\n"
        "  retried: 2 claims in conflict, and 0 of the second answer\n"
    )


def test_of_a_refusal_nothing_is_said_to_be_not_verified(capsys: pytest.CaptureFixture[str]) -> None:
    claim = Claim(0, 1, "It waits.", (), "uncited", "it cites nothing")

    print_answer(GenerationResult("q", "No answer.", refused=True, claims=(claim,)), NOWHERE, show=False)

    assert capsys.readouterr().out == "No answer.\n\n"


def test_an_error_without_a_hint_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    complain("it broke", "")

    assert capsys.readouterr().err == "error: it broke\n"


def test_a_library_of_many_chunks_says_what_it_costs_and_where_it_can_go() -> None:
    cost, command = size_advice(1_000_000, "my team")

    assert cost.endswith("it takes each process about 370 MB, and each search 60 ms of processor time")
    assert "openbook migrate 'my team' --to lance:" in command
    assert size_advice(499_999, "my team") == []


def test_a_result_of_code_bears_the_name_of_the_definition_that_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    text = "def moor(): ...\n\n\ndef sail():\n    return sea"
    chunk = chunk_of(text, "a.py", kind="code", symbol="moor", defines=("moor", "sail"))

    print_results(with_excerpts("sea", [RetrievalResult(chunk, 0.5)]), NOWHERE)

    assert capsys.readouterr().out.startswith(" 1. a.py:1-5  sail  0.500\n")


def test_on_a_terminal_a_quoted_heading_is_no_part_of_the_paragraph_below(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    words = "> ## Build\n> \n> Requirements of\n> this program:\n> \n> - Go"

    print_answer(GenerationResult("q", words, refused=True), NOWHERE, show=False)

    printed = capsys.readouterr().out.replace("\x1b[0m", "")
    assert printed.startswith("> ## Build\n> \n> Requirements of this program:\n> \n> - Go\n")
