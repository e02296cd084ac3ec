from __future__ import annotations

import pytest

from openbook.errors import QueryError
from openbook.index.filters import filter_predicate
from openbook.types import Filter


@pytest.mark.parametrize("where", [Filter(), Filter(lesson=0)], ids=["empty", "lesson-alone"])
def test_a_filter_that_lets_every_document_through_needs_no_predicate(where: Filter) -> None:
    assert filter_predicate(where) is None


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
        pytest.param(Filter(within=frozenset({("shop", "")})), True, id="all-of-a-source"),
        pytest.param(Filter(within=frozenset({("shop", "till"), ("other", "")})), True, id="below-a-folder"),
        pytest.param(Filter(within=frozenset({("shop", "till/cash.py")})), True, id="the-file"),
        pytest.param(Filter(within=frozenset({("shop", "til"), ("other", "")})), False, id="below-none"),
        pytest.param(
            Filter(kinds=frozenset({"code"}), sources=frozenset({"shop"}), globs=("*.md",)), False, id="all-must-hold"
        ),
    ],
)
def test_a_document_must_pass_every_part_of_a_filter(where: Filter, allowed: bool) -> None:
    check = filter_predicate(where)

    assert check is not None
    assert check("shop", "till/cash.py", "code") is allowed


def test_a_pattern_that_could_be_tried_for_hours_is_refused() -> None:
    with pytest.raises(QueryError, match="more than 4 wildcards"):
        filter_predicate(Filter(globs=("*a" * 30 + "b",)))


@pytest.mark.filterwarnings("ignore:Possible nested set:FutureWarning")
def test_a_pattern_that_only_some_backends_can_compile_is_no_error() -> None:
    check = filter_predicate(Filter(globs=("[[:alpha:]]", "*.md")))

    assert check is not None
    assert check("shop", "till/bread.md", "docs")


@pytest.mark.parametrize(
    ("glob", "path", "matches"),
    [
        ("./till/**", "till/cash.py", True),
        ("./*.py", "cash.py", True),
        ("./*.py", "till/cash.py", False),
        (r"\[*.py", "[cash.py", True),
        ("*.{py,md}", "till/cash.md", True),
        ("{till,bank}/*.{py,md}", "bank/cash.py", True),
        ("{till,bank}/*.{py,md}", "shop/cash.py", False),
        (r"\{till,bank\}.md", "{till,bank}.md", True),
        (r"\{till,bank\}.md", "till.md", False),
        (r"{till\,bank,shop}.md", "till,bank.md", True),
        ("{bank,{till,shop}}/*.py", "shop/cash.py", True),
        (r"*.{py,\[md}", "till/cash.[md", True),
        ("till/cash{,_old}.py", "till/cash.py", True),
        ("{{cash}}/*.py", "{{cash}}/a.py", True),
    ],
)
def test_a_pattern_may_have_braces_or_begin_with_the_current_folder_or_an_escaped_bracket(
    glob: str, path: str, *, matches: bool
) -> None:
    check = filter_predicate(Filter(globs=(glob,)))

    assert check is not None
    assert check("shop", path, "code") is matches


@pytest.mark.parametrize("glob", ["{a,b}" * 7, f"*.{{{'a,' * 10_000}}}", "{" * 20_000 + "a,b}" * 9])
def test_a_pattern_that_stands_for_too_many_is_refused(glob: str) -> None:
    with pytest.raises(QueryError, match="stands for more than 64"):
        filter_predicate(Filter(globs=(glob,)))


@pytest.mark.parametrize("glob", ["!", "a\\", "[z-a]", "[", "a[b/*.py", "[a]["])
def test_a_pattern_that_is_none_is_refused_with_how_to_write_one(glob: str) -> None:
    with pytest.raises(QueryError, match="is no pattern of paths") as caught:
        filter_predicate(Filter(globs=("*.py", glob)))

    assert repr(glob) in str(caught.value)
    assert ".gitignore" in caught.value.hint


@pytest.mark.parametrize(
    ("course", "allowed"),
    [
        pytest.param("till/bread.txt", True, id="document"),
        pytest.param("till", True, id="folder"),
        pytest.param("other.txt", False, id="another"),
        pytest.param("", False, id="none"),
    ],
)
def test_a_document_must_belong_to_one_of_the_courses(course: str, allowed: bool) -> None:
    check = filter_predicate(
        Filter(courses=frozenset({("shop", "till/bread.txt"), ("shop", "till"), ("deli", course)}))
    )

    assert check is not None
    assert check("shop", "till/bread.txt", "course", course) is allowed
