"""What a sentence says belongs to the citation it stands next to."""

from __future__ import annotations

import pytest

from openbook.verify.mentions import find_mentions
from openbook.verify.nearby import Nearby, nearby, without_margins


def near(text: str, position: int = 0) -> Nearby:
    return nearby(text, find_mentions(text), position)


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        pytest.param("`retry` (a.py:3)", "retry", id="in-brackets"),
        pytest.param("`Client.get()` (a.py:3)", "get", id="qualified-call"),
        pytest.param("[`retry`](a.py#L3)", "retry", id="text-of-a-link"),
        pytest.param("retry_policy, a.py:3", "retry_policy", id="bare"),
        pytest.param("It calls `retry` (a.py:3)", "", id="a-use-is-no-definition"),
        pytest.param("`retry` sleeps before it tries again (a.py:3)", "", id="not-adjacent"),
        pytest.param("the loop (a.py:3)", "", id="no-name"),
    ],
)
def test_the_subject_is_the_name_right_before_a_citation(text: str, subject: str) -> None:
    assert near(text).subject == subject


def test_names_belong_to_the_citation_behind_them() -> None:
    text = "`one` is in a.py:1, and `two` is in b.py:2."

    assert [near(text, position).names for position in range(2)] == [("one",), ("two",)]


def test_names_behind_the_last_citation_count_where_none_stand_before() -> None:
    assert near("In a.py:1 the function `one` begins.").names == ("one",)


def test_another_sentence_or_item_says_nothing() -> None:
    assert near("- `one` is first\n- see a.py:1\n").names == ()


def test_code_of_several_words_and_quoted_words_are_quotes() -> None:
    assert near('It says `limit = 3` and "no more than three" at a.py:1').quotes == ("limit=3", "nomorethanthree")


def test_numbers_are_kept_and_line_numbers_are_not_among_them() -> None:
    assert near("It waits 30 seconds (a.py:12-18).").numbers == ("30",)


@pytest.mark.parametrize(
    ("is_code", "text", "names"),
    [
        pytest.param(False, "> The class `Retry`\n> is at a.py:4.\n", ("Retry",), id="quote"),
        pytest.param(False, "> The class `Retry` is it.\n>\n> More is at a.py:4.\n", (), id="paragraphs-of-a-quote"),
        pytest.param(False, "> - the class `Retry`\n> - see a.py:4\n", (), id="items-of-a-quote"),
        pytest.param(False, "The class `Retry` is it:\n> see a.py:4\n", (), id="quote-below-a-paragraph"),
        pytest.param(True, "/**\n * The class `Retry`\n * is at a.py:4.\n */\n", ("Retry",), id="block-comment"),
        pytest.param(True, "# The class `Retry`\n# is at a.py:4.\nx = 1\n", ("Retry",), id="comments"),
        pytest.param(True, '"""Two.\n\n* the class `Retry`\n* see a.py:4\n"""\n', (), id="items-of-a-docstring"),
    ],
)
def test_a_sentence_goes_on_in_the_next_line_of_a_block_quote_or_a_comment(
    is_code: bool, text: str, names: tuple[str, ...]
) -> None:
    assert near(without_margins(text, is_code=is_code)).names == names
