"""Directives of pages are read as the tools read them that build these pages."""

from __future__ import annotations

import pytest

from openbook.extractive.include_directives import Directive, directives_in
from tests.unit.retrieval.material import chunk_of


def found(text: str, language: str = "markdown") -> list[Directive]:
    return list(directives_in(chunk_of(text, "docs/page", language=language)))


def lines_of(directive: str, file: str, language: str = "markdown") -> str | None:
    (read,) = found(directive, language)
    lines = file.split("\n")
    place = read.lines_in(lines)
    assert place is None or 1 <= place[0] <= place[1] <= len(lines)
    return None if place is None else "\n".join(lines[place[0] - 1 : place[1]])


@pytest.mark.parametrize(
    ("line", "path", "part"),
    [
        ('--8<-- "ex/moor.py"', "ex/moor.py", ""),
        ("-8<- 'ex/moor.py'", "ex/moor.py", ""),
        ('--8<-- "ex/moor.py:3:9"', "ex/moor.py", "3:9"),
        ('--8<-- "ex/moor.py:ropes"', "ex/moor.py", "ropes"),
        ("{{#include ../moor.rs}}", "../moor.rs", ""),
        ("{{ #include moor.rs:2:10 }}", "moor.rs", "2:10"),
        ("{{#rustdoc_include moor.rs:ropes}}", "moor.rs", "ropes"),
        ("{{#playground moor.rs editable}}", "moor.rs", ""),
        ("include::{ex}/Moor.java[]", "{ex}/Moor.java", ""),
        ("include::Moor.java[tag=ropes,indent=0]", "Moor.java", "ropes"),
        ("include::Moor.java[indent=0,tags=ropes;knots]", "Moor.java", "ropes;knots"),
        ('include::Moor.java[lines="1..10,15..20"]', "Moor.java", "1..10,15..20"),
        ("<<< @/ex/moor.js", "@/ex/moor.js", ""),
        ("<<< ../moor.js#ropes{1,2 ts:line-numbers} [Ropes]", "../moor.js", "ropes"),
        ("{!ex/moor.py!}", "ex/moor.py", ""),
        ("{!> ../../ex/moor.py !}", "../../ex/moor.py", ""),
        ("{! ex/moor.py [ln:3-5] !}", "ex/moor.py", "3-5"),
        ("{!ex/moor.py!lines=1 8-10}", "ex/moor.py", "1 8-10"),
        ("{* ../ex/moor.py *}", "../ex/moor.py", ""),
        ("{* ../ex/moor.py ln[3:6,8] hl[3,5:6] *}", "../ex/moor.py", "3:6,8"),
    ],
)
def test_each_form_names_its_file_and_the_part_of_it(line: str, path: str, part: str) -> None:
    assert [(each.path, each.part) for each in found(f"Moor it:\n\n{line}\n\nThen leave.")] == [(path, part)]


@pytest.mark.parametrize(
    "line",
    [
        ';--8<-- "ex/moor.py"',
        '--8<-- "ex/moor.py:-3:"',
        "\\{{#include moor.rs}}",
        "\\include::Moor.java[]",
        "hermes {{#include version.md}} --all",
        "Write `{!moor.py!}` to include it.",
        "{! moor.py [ln:1.2-3.4] !}",
        '--8<-- "' + "x" * 300 + '"',
    ],
)
def test_what_is_escaped_or_only_part_of_a_line_is_no_directive(line: str) -> None:
    assert found(f"Moor it:\n\n{line}") == []


def test_code_is_no_page() -> None:
    assert list(directives_in(chunk_of('--8<-- "moor.py"', "a.py", kind="code", language="python"))) == []


def test_options_of_sphinx_belong_to_their_directive() -> None:
    text = "Moor it:\n\n.. literalinclude:: ../moor.c\n    :language: c\n    :linenos:\n    :lines: 5-8, 17-"
    text += "\n\nThen leave:\n\n    :lines: 1-2"

    (read,) = found(text, "rst")

    assert (read.path, read.options) == ("../moor.c", {"language": "c", "linenos": "", "lines": "5-8, 17-"})
    assert (read.first.text.strip(), read.last.text.strip()) == (".. literalinclude:: ../moor.c", ":lines: 5-8, 17-")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("In reStructuredText:\n\n.. code-block:: rst\n\n   .. literalinclude:: moor.py\n", "rst"),
        ("In Markdown:\n\n```md\n<<< @/moor.js\n```\n", "markdown"),
        ("In Markdown:\n\n    {* moor.py *}\n", "markdown"),
    ],
)
def test_a_directive_that_tools_leave_alone_in_an_example_is_the_example(text: str, language: str) -> None:
    assert found(text, language) == []


def test_preprocessors_replace_directives_in_examples_which_always_show_code() -> None:
    example, prose = found("```py\n{{#include moor.py}}\n```\n\n{{#include moor.md}}")
    (sphinx,) = found(".. literalinclude:: moor.txt", "rst")

    assert [example.includes_code, prose.includes_code, sphinx.includes_code] == [True, False, True]


NUMBERS = "1\n2\n3\n4\n5\n6"


@pytest.mark.parametrize(
    ("directive", "lines"),
    [
        ('--8<-- "n:2:3"', "2\n3"),
        ('--8<-- "n:5"', "5\n6"),
        ('--8<-- "n::2"', "1\n2"),
        ('--8<-- "n:1:2,4:4"', "1\n2\n3\n4"),
        ("{{#include n:5}}", "5"),
        ("{{#include n:5:}}", "5\n6"),
        ("{{#include n:4:99}}", "4\n5\n6"),
        ("include::n[lines=5..-1]", "5\n6"),
        ("include::n[lines=1;3..4]", "1\n2\n3\n4"),
        ("{!n!lines=2 4-5}", "2\n3\n4\n5"),
        ("{* n ln[5:6] *}", "5\n6"),
        ("{{#include n:7:9}}", None),
        ("{{#include n:1.5}}", None),
    ],
)
def test_lines_are_counted_as_each_tool_counts_them(directive: str, lines: str | None) -> None:
    assert lines_of(directive, NUMBERS) == lines


@pytest.mark.parametrize(
    ("directive", "file", "lines"),
    [
        ('--8<-- "n:rope"', "a\n# --8<-- [start:rope]\nb\n# --8<-- [end:rope]\nc", "b"),
        ("{{#include n:rope}}", "// ANCHOR: ropes\na\n// ANCHOR: rope\nb\n// ANCHOR_END: rope\nc", "b"),
        ("include::n[tag=rope]", "a\n// tag::rope[]\nb\n// end::rope[]", "b"),
        (
            "include::n[tags=a;b]",
            "// tag::a[]\n1\n// end::a[]\n2\n// tag::b[]\n3\n// end::b[]",
            "1\n// end::a[]\n2\n// tag::b[]\n3",
        ),
        ("include::n[tags=a;c]", "// tag::a[]\n1\n// end::a[]", None),
        ("<<< n#rope", "a\n// #region rope\nb\n// #endregion rope\nc", "b"),
        ("<<< n#rope", "a\n<!-- #region rope -->\nb\n<!-- #endregion -->\nc", "b"),
        ('--8<-- "n:rope"', "# --8<-- [start:rope]\nb", None),
        ('--8<-- "n:rope"', "# --8<-- [start:rope]\n# --8<-- [end:rope]", None),
        ("{!n!}", "a\nb", "a\nb"),
    ],
)
def test_a_named_part_is_what_its_marks_enclose(directive: str, file: str, lines: str | None) -> None:
    assert lines_of(directive, file) == lines


CODE = (
    "import os\n\n# begin\nclass Quay(\n    object,\n):\n"
    "    def moor(self):\n        pass\n\n    def leave(self):\n        pass\n# end"
)


@pytest.mark.parametrize(
    ("options", "lines"),
    [
        (":pyobject: Quay.moor", "    def moor(self):\n        pass\n"),
        (":pyobject: Quay", CODE[CODE.index("class") : CODE.index("\n# end")]),
        (":pyobject: Pier", None),
        (":start-after: begin\n   :end-before: def", "class Quay(\n    object,\n):"),
        (":start-at: def leave\n   :end-at: pass", "    def leave(self):\n        pass"),
        (":start-after: leave", "        pass\n# end"),
        (":end-before: begin", "import os\n"),
        (":start-after: pier", None),
        (":end-before: pier", None),
    ],
)
def test_options_of_sphinx_select_a_part(options: str, lines: str | None) -> None:
    assert lines_of(f".. literalinclude:: n.py\n   {options}", CODE, "rst") == lines
