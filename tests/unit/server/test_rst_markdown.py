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


def test_what_restructured_text_means_is_shown() -> None:
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


@pytest.mark.parametrize(
    "text",
    ["", "..", "====", "= =\na b", "+--+\n|a|", ".. ::", "`" * 5000, ":a:`" * 5000, "* " * 5000, "- x\n" * 5000, "|"],
)
def test_odd_texts_are_shown_somehow(text: str) -> None:
    assert isinstance(html_of(text), str)


def test_a_long_text_is_shown_as_its_lines() -> None:
    assert html_of("x\n" * 200_000) == ""
