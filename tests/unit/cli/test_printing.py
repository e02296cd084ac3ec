from __future__ import annotations

import pytest

from openbook.cli.printing import Places, complain, print_answer, print_results
from openbook.types import GenerationResult, RetrievalResult
from tests.unit.retrieval.material import chunk_of

NOWHERE = Places([])
SIGNALS = {"lexical": 0.25, "path": 0.5, "role": -0.5, "dense": 0.125}


def found(**signals: float) -> RetrievalResult:
    return RetrievalResult(chunk_of("one\n\ntwo\nthree\nfour"), sum(signals.values()), signals)


def test_a_result_shows_its_place_its_score_and_its_first_lines(capsys: pytest.CaptureFixture[str]) -> None:
    print_results([found(**SIGNALS)], NOWHERE)

    assert capsys.readouterr().out == " 1. a.md:1-5  0.375\n      one\n      two\n      three\n"


def test_an_explained_result_shows_what_moved_it_strongest_first_and_equals_by_name(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_results([found(**SIGNALS)], NOWHERE, explain=True)

    head, why, first, *_ = capsys.readouterr().out.splitlines()
    assert head == " 1. a.md:1-5  0.375"
    assert why == "      path +0.500  role -0.500  lexical +0.250  dense +0.125"
    assert first == "      one"


def test_no_result_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    print_results([], NOWHERE, show=True, explain=True)

    assert capsys.readouterr().out == ""


def test_a_refusal_without_anything_near_is_only_its_reason(capsys: pytest.CaptureFixture[str]) -> None:
    print_answer(GenerationResult("q", "Nothing found.", refused=True), NOWHERE, show=True)

    assert capsys.readouterr().out == "Nothing found.\n\n"


def test_an_error_without_a_hint_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    complain("it broke", "")

    assert capsys.readouterr().err == "error: it broke\n"
