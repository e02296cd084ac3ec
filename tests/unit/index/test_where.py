from __future__ import annotations

import pytest

from openbook.index.where import allows
from openbook.types import Filter


def test_an_empty_filter_needs_no_predicate() -> None:
    assert allows(Filter()) is None


@pytest.mark.parametrize(
    ("where", "allowed"),
    [
        pytest.param(Filter(kinds=frozenset({"code", "docs"})), True, id="one-of-the-kinds"),
        pytest.param(Filter(kinds=frozenset({"docs"})), False, id="another-kind"),
        pytest.param(Filter(sources=frozenset({"shop", "other"})), True, id="one-of-the-sources"),
        pytest.param(Filter(sources=frozenset({"other"})), False, id="another-source"),
        pytest.param(Filter(globs=("*.md", "*.py")), True, id="any-glob-may-match"),
        pytest.param(Filter(globs=("*.md",)), False, id="no-glob-matches"),
        pytest.param(Filter(globs=("/till/",)), True, id="folder-from-the-root"),
        pytest.param(Filter(globs=("/cash.py",)), False, id="anchored-at-the-root"),
        pytest.param(Filter(globs=("till/**/cash.py",)), True, id="two-stars"),
        pytest.param(Filter(globs=("*.py", "!cash.py")), False, id="taken-out-again"),
        pytest.param(
            Filter(kinds=frozenset({"code"}), sources=frozenset({"shop"}), globs=("*.md",)), False, id="all-must-hold"
        ),
    ],
)
def test_a_document_must_pass_every_part_of_a_filter(where: Filter, allowed: bool) -> None:
    check = allows(where)

    assert check is not None
    assert check("shop", "till/cash.py", "code") is allowed
