"""reStructuredText is shown as it is meant, and its lines are known again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from openbook.server.document_html import document_html
from openbook.server.rst_markdown import rst_as_markdown
from tests.support import document

PAGE = """.. _top:

=====
Tides
=====

High water is where :class:`~moon.Moon` pulls, see :ref:`the map <map>` and `NOAA <https://noaa.gov>`_.

.. note:: Tables differ
   by port.

   Ask the harbour::

       call(harbour)

.. code-block:: python
   :linenos:

   def f():
       return "<b>"

#. one
#. two

ebb
    The water falls.

===== ======
Port  Depth
===== ======
Bonn  two
      metres
Kiel  three
===== ======

+------+-------+
| Port | Depth |
+======+=======+
| Rhyl | 1     |
+------+-------+

>>> 1 + 1
2

.. function:: pull(a, b)

   Pulls <script>alert(1)</script>.

.. image:: x.png
   :alt: A pier

.. a comment that nobody sees
   and its second line

.. raw:: html

   <script>alert(2)</script>

Last
----
# no heading, `x <javascript:alert(3)>`_
"""


def html_of(text: str, words: str = "") -> str:
    start = text.index(words) if words else 0
    return document_html(replace(document("a.rst", text), language="rst"), start, start + len(words))


def test_restructured_text_becomes_markdown() -> None:
    html = html_of(PAGE)

    for shown in (
        "<h3>Tides</h3>",
        'pulls, see the map and <a href="https://noaa.gov"',
        "<code>Moon</code>",
        "<blockquote>\n<p><strong>Note</strong> Tables differ\nby port.</p>\n<p>Ask the harbour:</p>",
        "call(harbour)",
        "<ol>\n<li>one</li>\n<li>two</li>\n</ol>",
        "<li><strong>ebb</strong>",
        "<th>Port</th>\n<th>Depth</th>",
        "<td>Bonn</td>\n<td>two metres</td>",
        "<td>Rhyl</td>\n<td>1</td>",
        "&gt;&gt;&gt; 1 + 1\n2",
        "<strong>function</strong> <code>pull(a, b)</code>",
        "image: A pier",
        "<h4>Last</h4>",
        "<p># no heading",
    ):
        assert shown in html, shown
    for hidden in ("nobody sees", "second line", "_top", "linenos", ".. ", "====", "+--"):
        assert hidden not in html, hidden


def test_nothing_of_a_document_becomes_markup_or_a_link_that_runs() -> None:
    html = html_of(PAGE)

    assert "<script" not in html
    assert "<b>" not in html
    assert "javascript:" not in html
    assert "&lt;script&gt;alert(1)" in html


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("High water is where", '<p class="cited">High water'),
        ("call(harbour)", '<pre class="cited"'),
        ("Bonn  two", '<tr class="cited">\n<td>Bonn</td>'),
        ("Rhyl", '<tr class="cited">\n<td>Rhyl</td>'),
        ("The water falls", '<li class="cited">'),
        ("Last\n----", '<h4 class="cited">Last</h4>'),
    ],
)
def test_the_cited_lines_are_found_again(words: str, shown: str) -> None:
    html = html_of(PAGE, words)

    assert shown in html
    assert html.count('class="cited"') == 1


def test_each_line_has_its_place_in_order() -> None:
    made = rst_as_markdown(PAGE)

    assert len(made.starts) == PAGE.count("\n") + 1
    assert made.starts == sorted(made.starts)
    assert made.range_of(len(made.starts), len(made.starts) + 1) == (0, 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    ["", "..", "====", "= =\na b", "+--+\n|a|", ".. ::", "`" * 5000, ":a:`" * 5000, "* " * 5000, "- x\n" * 5000, "|"],
)
def test_odd_texts_are_shown_somehow(text: str) -> None:
    assert isinstance(html_of(text), str)


def test_a_long_text_is_shown_as_its_lines() -> None:
    assert html_of("x\n" * 200_000) == ""


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        pytest.param("== ==\na  b\n== ==\n1  two\n\n\nend\n", ["== ==", "a  b", "== =="], id="a table without an end"),
        pytest.param("==  ==\na   b\n==  ==\nxxxxxx\n==  ==\n", ["==  ==", "a   b"], id="a cell over two columns"),
        pytest.param("+--+--+\n| a| b|\n+-----+\n", ["+--+--+"], id="a rule over two columns"),
        pytest.param("+--+--+\n| a| b|\nwords\n", ["+--+--+"], id="a grid that is broken off"),
        pytest.param("+--+--+\n| a| b|\n+--+--+", ["", "| a | b |", "| --- | --- |"], id="a grid at the end"),
        pytest.param("| one line\n|\n| two\n", ["one line\\", "\\", "two\\"], id="a block of lines"),
        pytest.param(":port: 80\n:host: *any*\n", ["- **port** 80", "- **host** *any*"], id="fields"),
        pytest.param("So::\n\n   y\n", ["So:", "", "", "```", "y", "```"], id="an example behind a sentence"),
        pytest.param("Call `the list`_, :py:func:`~a.b.c`.\n", ["Call the list, `c`."], id="links and roles"),
        pytest.param(".. toctree::\n\n   one\n   two\n", ["", "-", "- one", "- two"], id="a table of contents"),
        pytest.param("# no title\n> no quote\n", ["\\# no title", "\\> no quote"], id="what Markdown would misread"),
        pytest.param(".. py:class:: Pier(a)\n\n   Waits.\n", ["**class** `Pier(a)`", "", "Waits."], id="a definition"),
        pytest.param(".. rubric:: Notes\n\nEnd.\n", ["", "> **Note** Notes"], id="a rubric"),
        pytest.param("..\n   A comment.\n\nEnd.\n", ["", "End."], id="a comment below its mark"),
        pytest.param(":ref:`a ``b`` c`\n", None, id="code within a role"),
    ],
)
def test_a_construct_becomes_what_it_means_or_stays_as_it_is(text: str, lines: list[str] | None) -> None:
    made = rst_as_markdown(text)

    assert lines is None or made.lines[: len(lines)] == lines
    assert len(made.starts) == text.count("\n") + 1
