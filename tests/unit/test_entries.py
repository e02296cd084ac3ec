"""Where entries of definition lists begin, and what they are called."""

from __future__ import annotations

import pytest

from openbook.entries import SECTION, entry_heads, names_of


@pytest.mark.parametrize(
    ("text", "heads"),
    [
        pytest.param("pier\n  A place to moor.\nbuoy\n  Floats.\n", ["pier", "buoy"], id="terms"),
        pytest.param("list\n  - one\n\n  pier\n    Inside.\n", ["list", "pier"], id="nested"),
        pytest.param("Ships wait.\n  Then they sail.\n", [], id="a-sentence"),
        pytest.param("Such as::\n\n  class Pier\n    more\n\npier\n  Inside.\n", ["pier"], id="literal-blocks"),
        pytest.param(
            ".. code-block:: sql\n   :name: x\n\n   SELECT a\n     FROM b\n\n   a\n     b\npier\n  Here.\n",
            ["pier"],
            id="code",
        ),
        pytest.param(
            ".. glossary::\n\n   pier\n     A place::\n\n       x\n         y\n\n   buoy\n     Floats.\n",
            ["pier", "buoy"],
            id="other-directives",
        ),
        pytest.param(
            "- So::\n\n    x\n      y\n\n  pier\n    A place.\n",
            ["pier"],
            id="behind-the-code-of-an-item",
        ),
        pytest.param("- one\n  goes on\n- two\n", [], id="items"),
        pytest.param(".. note::\n   Mind the tide.\n\n:name: pier\n  x\n", [], id="directives-and-fields"),
        pytest.param("One line\nand its next\n  are no term\n", [], id="a-paragraph"),
    ],
)
def test_terms_of_restructuredtext_have_something_indented_right_below(text: str, heads: list[str]) -> None:
    assert [text[start:end].strip() for start, end in entry_heads(text, "rst")] == heads


@pytest.mark.parametrize("language", ["man", "pod", "asciidoc"])
def test_a_long_line_is_read_once_for_a_mark(language: str) -> None:
    line = "pier and buoy " * 100_000  # for hours, if it were read anew from each of its characters

    assert entry_heads(line, language) == []
    assert entry_heads(f"{line}\f\n  -k\f\n", language) == [(0, len(line)), (len(line) + 2, len(line) + 6)]


@pytest.mark.parametrize(
    ("head", "names"),
    [
        ("-L, --dereference", ("-L", "--dereference")),
        ("BORG_REPO (and BORG_OTHER_REPO)", ("BORG_REPO",)),
        ("author, committer", ("author", "committer")),
        ("ignore-space (mixed) [no|all]", ("ignore-space",)),
        ("cd [path]", ("cd",)),
        ("archive_read_new(void)", ("archive_read_new",)),
        ("``keys/``", ("keys/",)),
        ("Valid mixed values", ()),
        ("How to moor a ship", ()),
    ],
)
def test_an_entry_is_called_by_what_a_question_spells(head: str, names: tuple[str, ...]) -> None:
    assert names_of(head) == names


def test_sections_of_settings_are_found_by_their_headers() -> None:
    text = '[mirror]\n[[bin]]\n[remote "origin"]\n[program:web] ; old\n# [rope]\n[ tide ]\r\n[1,2]\n[]\nx = [y]\n'

    assert [found["name"] for found in SECTION.finditer(text)] == [
        "mirror",
        "bin",
        'remote "origin"',
        "program:web",
        "rope",
        "tide",
    ]


@pytest.mark.parametrize("text", ["[a" + " " * 20_000, "# " * 10_000 + "[a", " " * 20_000 + "[", "[a\n" * 7_000])
def test_lines_without_a_header_cost_no_more_time_than_their_length(text: str) -> None:
    assert SECTION.search(text) is None
