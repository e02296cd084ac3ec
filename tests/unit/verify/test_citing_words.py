"""Words of a citation are found in versions of its page, at a cost that does not grow with its other citations."""

from __future__ import annotations

import sys
from types import FrameType

import pytest

from openbook.verify.citing_lines import has_citation, lines_with
from openbook.verify.relocation import ComparedText

ENTRY = "### fn{0}\n\nIt does what {1} is for.\n\n[app](../src/app.py#L{2})\n\n"


def page(version: int, citations: int, line: int = 7, what: str = "fn{0}") -> ComparedText:
    entries = (ENTRY.format(each, what.format(each, version), each * line + 1) for each in range(citations))
    return ComparedText(f"# version {version}\n\n" + "".join(entries))


def calls(citations: int, what: str) -> int:
    """Count the calls of functions that it takes to look for all citations of a page in a version of it."""
    newer, older = page(2, citations, what=what), page(1, citations, what=what)
    count = 0

    def counted(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counted)
    try:
        found = [
            has_citation(older, f"../src/app.py#L{each * 7 + 1}", f"[app](../src/app.py#L{each * 7 + 1})", newer)
            for each in range(citations)
        ]
    finally:
        sys.setprofile(None)
    assert len(found) == citations
    return count


@pytest.mark.slow
@pytest.mark.parametrize("what", [pytest.param("fn{0}", id="as-before"), pytest.param("v{1}x{0}", id="rewritten")])
def test_each_citation_of_a_long_page_costs_what_one_of_a_short_page_does(what: str) -> None:
    few, many = calls(60, what), calls(240, what)

    assert many < 6 * few


def test_the_words_of_another_citation_that_begin_alike_are_not_those_of_this_one() -> None:
    older = ComparedText("[one](a.py#L7) and [two](b.py#L1)\n\nabove\n\n[at](a.py#L70)\n\nbelow\n")
    newer = ComparedText("[one](a.py#L8) and [two](b.py#L1)\n\nabove\n\n[at](a.py#L7)\n\nbelow\n")

    assert not has_citation(older, "a.py#L7", "[at](a.py#L7)", newer)


def test_the_lines_with_a_citation_are_not_those_of_one_that_begins_alike() -> None:
    cites = ComparedText("[one](a.py#L7)\n[two](a.py#L70)\na.py#L7, a.py#L71")

    assert lines_with("a.py#L7", cites) == {"[one](a.py#L7)", "a.py#L7, a.py#L71"}
