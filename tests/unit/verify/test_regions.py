"""Citations count where people are spoken to."""

from __future__ import annotations

import pytest

from openbook.verify.regions import regions


def spoken(path: str, text: str) -> str:
    parts = regions(path, text)
    return text if parts is None else "|".join(text[start:end] for start, end in parts)


@pytest.mark.parametrize("name", ["a.md", "a.rst"])
def test_prose_counts_but_for_its_code(name: str) -> None:
    block = "```\nin code\n```" if name == "a.md" else "::\n\n    in code"
    text = f"before\n\n{block}\n\nbehind\n"

    assert "before" in spoken(name, text)
    assert "behind" in spoken(name, text)
    assert "in code" not in spoken(name, text)


def test_indented_code_does_not_count() -> None:
    assert "in code" not in spoken("a.md", "text\n\n    in code\n")


@pytest.mark.parametrize(
    "opened", ['=== "Tab"', "!!! note", '??? tip "Title"', "???+ warning", '- item\n\n    === "Tab"'], ids=str.strip
)
def test_what_a_box_or_a_tab_shows_counts_but_for_its_code(opened: str) -> None:
    margin = "        " if opened.startswith("-") else "    "
    shown = "first\n\n| a | b |\n|---|---|\n| in table | c |\n\n```sh\nin code\n```\n\n!!! note\n\n    deep\n\nlast"
    body = "\n".join(f"{margin}{line}" if line else "" for line in shown.split("\n"))
    heard = spoken("a.md", f"{opened}\n\n{body}\n\nbehind\n\n    other code\n")

    assert all(words in heard for words in ("first", "in table", "deep", "last", "behind"))
    assert "code" not in heard


def test_a_directive_in_a_fence_counts_but_for_its_code() -> None:
    heard = spoken("a.md", "````{note}\nsee this\n\n```sh\nin code\n```\n````\n")

    assert "see this" in heard
    assert "in code" not in heard


def test_inline_code_counts() -> None:
    assert "`a.py:3`" in spoken("a.md", "see `a.py:3` there\n")


def test_the_line_that_opens_a_fence_counts() -> None:
    assert spoken("a.md", "```python src/a.py:3-5\nx = 1\n```\n").startswith("```python src/a.py:3-5")


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        pytest.param("a.py", "x = 'b'  # see c\n", "# see c", id="python"),
        pytest.param("a.py", 'def f():\n    """Does."""\n    return "b"\n', '"""Does."""', id="docstring"),
        pytest.param("a.js", "// one\nlet x = 'b' /* two */\n", "// one|/* two */", id="javascript"),
        pytest.param("a.yml", "a: b # see\n", "# see", id="yaml"),
        pytest.param("a.py", "é = 'ß'  # ñ sœ\n", "# ñ sœ", id="beyond-ascii"),
        pytest.param("a.unknownconf", "all of it", "all of it", id="unknown-is-prose"),
        pytest.param("a.service", "[Unit]\n; one\nExec=b\n", "; one", id="no-grammar"),
        pytest.param("a.txt", "all", "all", id="plain"),
    ],
)
def test_of_code_the_comments_count(path: str, text: str, expected: str) -> None:
    assert spoken(path, text).strip() == expected


def test_examples_in_docstrings_do_not_count() -> None:
    text = 'def f():\n    """Give.\n\n    Example:\n        >>> f()\n        \'a.txt:2\'\n    """\n'

    assert "a.txt" not in spoken("a.py", text)
    assert "Give." in spoken("a.py", text)


def test_blocks_of_asciidoc_are_left_out() -> None:
    text = "a.py:1\n----\nb.py:2\n----\nc.py:3\n....\n----\nd.py:4\n....\ne.py:5\n```rust\nf.py:6\n"

    shown = "".join(text[start:end] for start, end in regions("a.adoc", text) or ())

    assert shown.split() == ["a.py:1", "c.py:3", "e.py:5"]
