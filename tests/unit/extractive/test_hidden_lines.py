"""What a page of reStructuredText or MyST does not show is not quoted: comments, its menu, and targets of links."""

from __future__ import annotations

import pytest

from openbook.chunking.fixed import ChunkOptions
from openbook.chunking.prose import chunk_prose
from openbook.extractive.context import ContextItem
from openbook.extractive.passages import Passage, passages_of
from openbook.extractive.quoting import quoted
from openbook.sources.documents import read_document
from openbook.text import units
from tests.unit.retrieval.material import chunk_of, result_of

SAID = "A berth is moored at by the quay."


def _said(page: str, path: str = "a.rst") -> list[str]:
    chunks = chunk_prose(read_document(page.encode(), source="s", path=path), ChunkOptions())
    shown = (ContextItem(1, result_of(chunk), units(chunk)) for chunk in chunks)
    return [passage.text for each in shown for passage in passages_of(each)]


@pytest.mark.parametrize(
    "hidden",
    [
        ".. toctree::\n   :maxdepth: 2\n\n   The berth is moored at by the quay <berth>\n   quay\n",
        ".. Nobody moors at a berth by the quay\n   or at another berth by night.\n",
        "..\n   Nobody moors at a berth by the quay.\n   Nor at another.\n",
        "__ `How a berth is moored at by the new quay`_\n",
        ".. autoclass:: berth.moored.at.by.the.quay\n",
        ".. versionadded:: 0.6\n",
        ".. autoclass:: Berth\n   :members: moored, at_the_quay, by_night\n   :inherited-members: the quay\n",
        '.. harbour-command-usage:: berth "moored at by the quay"\n',
        ".. |berth| image:: https://x.example/the/berth/by/the/quay.svg\n   :target: https://quay.example\n",
    ],
)
def test_what_a_page_does_not_show_is_not_quoted(hidden: str) -> None:
    page = f"Ropes\n=====\n\n{SAID}\n\n{hidden}\nThe rope is sold by the yard.\n"

    assert _said(page) == [SAID, "The rope is sold by the yard."]


@pytest.mark.parametrize(
    "hidden",
    [
        "<Berths\n  moored={[\n    {at: 'a quay', by: (x) => 'the sea'},\n    'or at a berth by night',\n  ]}>\n",
        "<berth\n  moored='at a berth by the quay'\n/>\n",
        "<!--\n# A berth is moored at\nby another quay.\n-->\n",
        "<style>\n.berth { a: by the quay at night; }\n\n  .rope { b: moored at by the quay; }\n</style>\n",
        "<style>.berth { a: moored at by the quay; }</style>\n",
        "<script setup>\nconst berth = moored.at.by(the.quay)\n</script>\n",
        "```{toctree}\nThe berth is moored at by the quay <berth>\nquay\n```\n",
        "```{contents} A berth is moored at\n---\ndepth: 2\nlocal: true\n---\n```\n",
        "```{index} berth moored at by the quay\n```\n",
        "(how-a-berth-is-moored-at)=\n",
    ],
)
def test_what_a_page_of_myst_does_not_show_is_not_quoted(hidden: str) -> None:
    page = f"# Ropes\n\n{SAID}\n\n{hidden}\nThe rope is sold by the yard.\n"

    assert _said(page, "a.md") == [SAID, "The rope is sold by the yard."]


@pytest.mark.parametrize(
    "shown",
    [
        ".. note:: A berth is moored at by the quay at night.",
        "..\n\n   A berth is moored at by the quay at night.",
        ".. [1] A berth is moored at by the quay at night.",
        "... a berth is moored at by the quay at night.",
        ".. toctree::\n\nA berth is moored at by the quay at night.",
        ".. versionadded:: 0.6\n   A berth is moored at by the quay at night.",
    ],
)
def test_what_only_looks_like_it_is_quoted(shown: str) -> None:
    page = f"Ropes\n=====\n\nThe rope is sold by the yard.\n\n{shown}\n"

    assert any("berth is moored" in each for each in _said(page))


def test_the_rules_of_a_simple_table_are_not_quoted() -> None:
    table = "============ ====\n**Length**   30 m\n**Price**    Four\n============ ====\n"

    said = " ".join(_said(f"Berths\n======\n\n{SAID}\n\n{table}"))

    assert "**Price**    Four" in said
    assert "====" not in said


@pytest.mark.parametrize(
    "page",
    [
        "<Berth\n  quay='new'\n>A berth is moored at by night.</Berth>\n",
        "<Berth\n\nA berth is moored at by night>\n",
        "<script>moor(it)</script>\n\nA berth is moored at by night.\n",
        "A berth <Berth\nis moored at by > night.\n",
        "```html\n<Berth\n  quay='A berth is moored at by night'>\n```\n",
    ],
)
def test_a_tag_ends_at_its_sign_and_at_a_blank_line(page: str) -> None:
    assert any("moored at by" in each for each in _said(f"# Ropes\n\n{page}\n", "a.md"))


def test_an_indented_tag_is_one_unless_it_is_code() -> None:
    page = "Text.\n\n{}<Berth\n{}  quay='A berth is moored at by night'\n{}/>\n"

    assert not any("moored at by" in each for each in _said(page.replace("{}", "  \t"), "a.mdx"))
    assert any("moored at by" in each for each in _said(page.replace("{}", "    "), "a.md"))


def test_pages_of_components_have_no_indented_code() -> None:
    text = "<Tabs>\n    <Tab>\n        ```sh\n        moor it\n        ```\n\n    </Tab>\n</Tabs>"
    chunk = chunk_of(text, "a.mdx", language="markdown")

    said = quoted(Passage(ContextItem(1, result_of(chunk), units(chunk)), units(chunk)[0], units(chunk)[-1]))

    assert said == "```sh\nmoor it\n```\n[1:1-7]"


def test_text_has_no_tags() -> None:
    assert any("moored at by" in each for each in _said("It is\n\n<berth\nthat is moored at by night>\n", "a.txt"))


def test_a_note_of_a_version_is_quoted_with_its_number() -> None:
    (said,) = [each for each in _said(f"{SAID}\n\n.. versionchanged:: 0.6\n   It is by the sea.\n") if "sea" in each]

    assert "versionchanged:: 0.6" in said


def test_a_quote_leaves_out_what_the_page_does_not_show() -> None:
    text = f"{SAID}\n\n<Berths\n  moored='at'\n/>\n\n```html\n<Berth\n  by='the sea'/>\n```\n\nThe rope is sold.\n"
    chunk = chunk_of(text, "a.md", before="# Ropes\n\n", language="markdown")
    every = units(chunk)

    said = quoted(Passage(ContextItem(1, result_of(chunk), every), every[0], every[-1]))

    assert said.count("<Berth") == 1
    assert "by='the sea'" in said
    assert "moored='at'" not in said


def test_a_style_sheet_below_an_introduction_is_not_shown() -> None:
    page = (
        "Berths are:\n\n<style>\n    .berth {\n        color: red;\n    }\n\n    .quay {}\n</style>\n\nThey are low.\n"
    )
    chunk = chunk_of(page, language="markdown")

    said = quoted(Passage(ContextItem(1, result_of(chunk), units(chunk)), units(chunk)[0], units(chunk)[-1]))

    assert "They are low" in said
    assert not any(each in said for each in ("berth", "color", "quay", "```"))
