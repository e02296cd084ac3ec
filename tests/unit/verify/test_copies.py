from __future__ import annotations

from openbook.verify.copies import with_likely_originals


def test_files_without_a_suffix_are_compared_with_such_files_alone() -> None:
    listed = ["v1/README", "NEWSME", "a.E", "docs.d/README", ".ignore"]

    assert with_likely_originals(["v2/README"], listed) == [
        (["v2/README"], ["v1/README", "NEWSME", "docs.d/README", ".ignore"])
    ]


def test_of_many_files_with_the_suffix_those_with_the_same_name_are_compared() -> None:
    listed = [*(f"v1/{n}.md" for n in range(501)), "v1/index.md"]

    assert with_likely_originals(["v2/index.md", "v2/new.md"], listed) == [(["v2/index.md"], ["v1/index.md"])]
