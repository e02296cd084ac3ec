from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openbook.questions.question import read_question
from openbook.retrieval.paths import path_match, stem_of

WORDS = st.sampled_from([f"w{n}" for n in range(12)])


@pytest.mark.parametrize(
    ("stronger", "weaker"),
    [
        pytest.param("http/retry.py", "http/send.py", id="file"),
        pytest.param("http/retry.py", "retry/send.py", id="file-before-folder"),
        pytest.param("retry/send.py", "http/send.py", id="folder"),
        pytest.param("retry/a/b/send.py", "retry/a/b/c/send.py", id="last-three-folders"),
        pytest.param("retry/__init__.py", "http/__init__.py", id="module-file"),
        pytest.param("retry/mod.rs", "retry/all.rs", id="module-file-is-its-folder"),
        pytest.param("retry/main.go", "retry/all.go", id="main-file-is-its-folder"),
        pytest.param("retry/index.ts", "retry/all.ts", id="index-is-its-folder"),
        pytest.param("retry/transport.py", "retry/send.py", id="more-words"),
    ],
)
def test_a_path_matches_as_far_as_it_holds_words_of_the_question(stronger: str, weaker: str) -> None:
    query = read_question("retry transport")

    assert path_match(query, stronger) > path_match(query, weaker)


def test_a_word_that_begins_a_longer_one_matches_less_than_the_word_itself() -> None:
    query = read_question("cache")

    assert path_match(query, "cache.py") > path_match(query, "cachetools.py") > path_match(query, "tools.py")


def test_a_short_word_is_no_prefix_of_a_file_name() -> None:
    assert path_match(read_question("cat"), "category.py") == 0


def test_a_module_file_at_the_root_keeps_its_own_name() -> None:
    assert path_match(read_question("main"), "main.py") == 1


@given(st.lists(WORDS, min_size=1, max_size=5), st.lists(WORDS, min_size=1, max_size=5))
def test_the_match_of_a_path_lies_between_0_and_1(words: list[str], parts: list[str]) -> None:
    assert 0 <= path_match(read_question(" ".join(words)), "/".join(parts) + ".py") <= 1


def test_the_stem_of_a_file_whose_name_says_nothing_is_its_folder() -> None:
    assert [stem_of(path) for path in ("http/client.go", "http/client/mod.rs", "index.ts")] == ["client"] * 2 + [
        "index"
    ]
