"""Lines that a template fills in are no sentences to quote."""

from __future__ import annotations

import pytest

from openbook.extractive.context import ContextItem
from openbook.extractive.passages import passages_of
from openbook.text import units
from tests.unit.retrieval.material import chunk_of, result_of


def quotable(text: str) -> list[str]:
    result = result_of(chunk_of(text, before="Words in front.\n\n"))
    return [passage.text for passage in passages_of(ContextItem(1, result, units(result.chunk)))]


@pytest.mark.parametrize(
    "line",
    [
        "{% assign lectures = site['2026'] | sort: 'date' %}",
        "{%- endcomment -%}",
        "{% comment %} They end after two hours. {% endcomment %}",
        "{/* They end after two hours. */}",
        "{# They end after two hours. #}",
        "{{ page.title | upcase }}",
        "{{content}}",
        "{{#each lectures}}",
        "{{> options-locked }}",
        '{{< figure src="oven.png" title="An oven" >}}',
        "<strong>{{ lecture.date | date: '%-m/%-d' }}</strong>: {% if lecture.ready %}",
        "{{ lecture.title }} [coming soon]",
        "{: .no_toc .text-delta }",
        "| <br/> | &nbsp; | &nbsp; |",
    ],
)
def test_what_a_template_fills_in_is_not_quoted(line: str) -> None:
    found = quotable(f"Sessions end after one hour.\n\n{line}\n\nThey can be renewed.")

    assert found == ["Sessions end after one hour.", "They can be renewed."]


@pytest.mark.parametrize("line", ["{:ok, session}", "{{ session }}", "{: .late }", "<hour>"])
def test_in_an_example_such_lines_are_code(line: str) -> None:
    example = f"    open(\n    {line}\n    )"

    (quote,) = [text for text in quotable(f"Sessions end after one hour:\n\n{example}\n") if "open" in text]

    assert line in quote


def test_a_tuple_is_no_attribute() -> None:
    assert "{:ok, session}" in "".join(quotable("Sessions end after one hour with\n{:ok, session}\n"))


@pytest.mark.parametrize(
    ("opening", "end"),
    [
        ("{% comment %}", "{% endcomment %}"),
        ("{{/*", "   */}}"),
        ("{{- /* too old", "*/ -}}"),
        ("{/*", "*/}"),
        ('{%- comment "too old" -%}', "{%- endcomment -%}"),
        ("{#", "#}"),
        ("{# They were longer.", "Longer still. #}"),
        ("<!--", "-->"),
        ("<!-- They were longer.", "Longer still. -->"),
    ],
)
def test_a_comment_of_a_page_is_not_quoted(opening: str, end: str) -> None:
    comment = f"{opening}\nThey end after two hours.\n\nOr after three hours.\n{end}"

    closed = quotable(f"Sessions end after one hour.\n\n{comment}\n\nThey can be renewed.")
    is_cut = quotable(f"Sessions end after one hour.\n\n{opening}\nThey end after two hours.\n\n")

    assert closed == ["Sessions end after one hour.", "They can be renewed."]
    assert is_cut == ["Sessions end after one hour."]


@pytest.mark.parametrize("example", ["```\n{}\n```", "{}"], ids=["fenced", "indented"])
def test_an_example_of_a_comment_is_quoted(example: str) -> None:
    indent = "    " if example == "{}" else ""
    code = "\n".join(indent + line for line in ("{% comment %}", "They end after two hours.", "{% endcomment %}"))

    assert any("two hours" in text for text in quotable(f"Hide text:\n\n{example.format(code)}\n"))


@pytest.mark.parametrize(
    "line",
    [
        "The tag `{% assign lectures %}` sets a variable.",
        "Between `{% comment %}` and `{% endcomment %}`, nothing is shown.",
        "An arrow --> leads to the next page.",
        "`{% endcomment %}`, `{{ page.title }}`, `{{ content }}`",
        "Each page shows {{ page.title }} at its top.",
        "{% note %} Sessions end after one hour. {% endnote %}",
        "{{\\large Sessions end after one hour}}",
    ],
)
def test_what_is_said_of_a_template_or_in_one_is_quoted(line: str) -> None:
    assert quotable(line) == [line]
