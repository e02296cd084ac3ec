"""Answers as the API gives them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from openbook.library import Library
from openbook.server.presenting import present
from openbook.server.served_library import ServedLibrary
from openbook.settings import Settings
from tests.support import write_tree

FAILURE = "the verifier failed: no connection to http://10.0.0.7:9000/v1"


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        pytest.param(
            FAILURE,
            "the verifier failed: no connection to the model's server",
            id="of-a-failure",
        ),
        pytest.param(
            'the cited lines say "see http://a.test/b"', 'the cited lines say "see http://a.test/b"', id="else"
        ),
    ],
)
def test_a_verifier_that_failed_is_not_told_with_its_address(tmp_path: Path, reason: str, told: str) -> None:
    folder = write_tree(tmp_path / "docs", {"harbour.md": "Ferries leave the harbour at six."})
    with Library.of(folder, settings=Settings(home=tmp_path / "home", workers=1)) as library:
        answer = library.query("When do ferries leave the harbour?")
        claims = tuple(replace(claim, reason=reason) for claim in answer.claims)
        citations = tuple(replace(citation, reason=reason) for citation in answer.citations)

        failed = replace(answer, claims=claims, citations=citations, verifier_failures=frozenset({FAILURE}))

        given = present(failed, ServedLibrary(library), "")

    assert {claim.reason for claim in given.claims} | {each.reason for each in given.citations} == {told}
