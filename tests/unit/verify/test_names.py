"""Names and quotes tell where lines are only where they can be sure."""

from __future__ import annotations

import pytest

from openbook.verify.names import NameEvidence, by_names, lost_words, stands_elsewhere
from openbook.verify.nearby import Nearby
from openbook.verify.relocation import ComparedText, Relocation

PAGE = ComparedText(
    """\
import os

class Client:
    limit = 3

    @cached
    def get(self, url):
        return send("GET", url)

    def post(self, url):
        return send("POST", url)

def retry(times):
    for each in range(times):
        yield each
"""
)


def subject(name: str) -> Nearby:
    return Nearby(names=(name,), subject=name)


@pytest.mark.parametrize(
    ("first", "last"), [(7, 8), (6, 8), (7, 7), (6, 6)], ids=["whole", "decorated", "head", "decorator"]
)
def test_a_definition_is_here_where_it_begins(first: int, last: int) -> None:
    assert by_names(PAGE, first, last, subject("get")).is_here


def test_a_definition_of_the_cited_length_elsewhere_is_certain() -> None:
    assert by_names(PAGE, 1, 3, subject("retry")) == NameEvidence(
        is_elsewhere=True, spot=Relocation(13, 15), is_certain=True, reason="'retry' begins at line 13", is_strong=True
    )


def test_a_definition_of_another_length_is_a_hint() -> None:
    said = by_names(PAGE, 1, 2, subject("retry"))

    assert (said.is_elsewhere, said.is_certain, said.spot) == (True, False, Relocation(13, 15))


def test_lines_within_a_definition_may_be_the_right_ones_or_not() -> None:
    assert by_names(PAGE, 14, 14, subject("retry")) == NameEvidence()


@pytest.mark.parametrize("comment", ["    // Sends\n    // it.\n", "    /**\n     * Sends it.\n     */\n"])
def test_the_comment_above_a_definition_is_its_definition(comment: str) -> None:
    page = ComparedText(f"class Client {{\n{comment}    function get(url) {{\n        send();\n    }}\n}}\n")

    assert by_names(page, 2, 3, subject("get")).is_here
    assert not stands_elsewhere(page, 2, 3, ["get"])
    assert stands_elsewhere(page, 1, 1, ["get"])


def test_lines_that_begin_blank_are_in_the_definition_that_they_stand_in() -> None:
    page = ComparedText("def get():\n    first()\n\n    second()\n\nget()\n")

    assert not stands_elsewhere(page, 3, 4, ["get"])
    assert stands_elsewhere(page, 5, 5, ["get"])


def test_a_decorator_alone_is_its_definition_and_with_half_of_it_is_not() -> None:
    short, long = ComparedText("@cached\nlimit = 3\n"), ComparedText("@cached\ndef limit():\n    return 3\n")

    assert by_names(short, 1, 1, subject("limit")).is_here
    assert by_names(long, 1, 2, subject("limit")).spot == Relocation(2, 3)


TWICE = ComparedText(
    "class A:\n    def get(self):\n        return 1\n\nclass B:\n    def get(self):\n        return 2\n"
)


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        pytest.param(2, 3, NameEvidence(is_here=True), id="one-of-them"),
        pytest.param(2, 2, NameEvidence(), id="the-head-of-one"),
        pytest.param(
            4,
            5,
            NameEvidence(is_elsewhere=True, reason="'get' is defined at other lines", is_strong=True),
            id="none-of-them",
        ),
    ],
)
def test_of_several_definitions_only_a_whole_one_is_sure(first: int, last: int, expected: NameEvidence) -> None:
    assert by_names(TWICE, first, last, subject("get")) == expected


def test_a_single_line_means_the_head_of_a_definition() -> None:
    assert by_names(PAGE, 2, 2, subject("retry")).spot == Relocation(13, 13)


def test_a_name_that_is_defined_elsewhere_is_a_hint() -> None:
    said = by_names(PAGE, 2, 2, Nearby(names=("retry",)))

    assert (said.is_elsewhere, said.is_certain, said.spot) == (True, False, Relocation(13, 15))


def test_a_quote_elsewhere_says_nothing_where_a_name_is_here() -> None:
    near = Nearby(names=("retry",), quotes=('send("POST",url)',))

    assert by_names(PAGE, 13, 13, near).is_here


def test_a_quote_on_several_other_lines_gives_no_place() -> None:
    said = by_names(PAGE, 1, 1, Nearby(quotes=("returnsend(",)))

    assert (said.is_elsewhere, said.spot) == (True, None)


def test_a_name_that_encloses_the_lines_is_here() -> None:
    assert by_names(PAGE, 11, 11, Nearby(names=("Client",))).is_here


def test_a_name_on_many_lines_proves_nothing() -> None:
    page = ComparedText("x = self\n" * 9)

    assert by_names(page, 3, 3, Nearby(names=("self",))) == NameEvidence()


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        pytest.param(11, 11, NameEvidence(is_here=True), id="here"),
        pytest.param(
            5,
            5,
            NameEvidence(
                is_elsewhere=True,
                spot=Relocation(11, 11),
                is_certain=True,
                reason="what is quoted is at line 11",
                is_strong=True,
            ),
            id="elsewhere",
        ),
    ],
)
def test_a_quote_that_stands_once_is_certain(first: int, last: int, expected: NameEvidence) -> None:
    assert by_names(PAGE, first, last, Nearby(quotes=('send("POST",url)',))) == expected


def test_a_quote_that_stands_twice_proves_nothing() -> None:
    assert by_names(PAGE, 8, 8, Nearby(quotes=("returnsend(",))) == NameEvidence()


def test_what_a_file_does_not_know_tells_nothing() -> None:
    assert (
        by_names(PAGE, 1, 1, Nearby(names=("elsewhere",), quotes=("nothinglikethis",), subject="elsewhere"))
        == NameEvidence()
    )


def test_a_range_outside_of_the_file_can_still_be_found() -> None:
    assert by_names(PAGE, 40, 42, subject("retry")).spot == Relocation(13, 15)


@pytest.mark.parametrize(
    ("near", "word"),
    [
        pytest.param(Nearby(numbers=("30",)), "30", id="number"),
        pytest.param(Nearby(names=("timeout_s",)), "", id="kept-name"),
        pytest.param(Nearby(quotes=("timeout_s=30",)), "timeout_s=30", id="quote"),
        pytest.param(Nearby(numbers=("7",)), "", id="never-there"),
    ],
)
def test_what_was_said_of_lines_and_is_gone_is_named(near: Nearby, word: str) -> None:
    assert lost_words(near, "timeout_s = 30", "timeout_s = 60") == word
