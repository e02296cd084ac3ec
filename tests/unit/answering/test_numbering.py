from __future__ import annotations

from openbook.answering.numbering import ResultNumbering
from openbook.llm.messages import ToolCall, ToolResult
from openbook.types import RetrievalResult
from tests.unit.retrieval.material import chunk_of, result_of

CALL = ToolCall("1", "search", "{}")


def page(path: str, text: str = "One.\nTwo.") -> RetrievalResult:
    return result_of(chunk_of(text, path))


def shown(numbering: ResultNumbering, *results: RetrievalResult, note: str = "") -> str:
    return numbering.after_tool(CALL, ToolResult("1", numbering.keep(results, note))).text


def test_sources_are_numbered_through_over_all_calls() -> None:
    numbering = ResultNumbering()

    first, second = shown(numbering, page("a.md"), page("b.md")), shown(numbering, page("c.md"))

    assert first.startswith('<source number="1" place="a.md:1-2"')
    assert '<source number="2" place="b.md:1-2"' in first
    assert second == '<source number="3" place="c.md:1-2" title="">\n1| One.\n2| Two.\n</source>'
    assert [entry.number for entry in numbering.context.shown] == [1, 2, 3]


def test_numbers_follow_the_order_of_the_calls_whichever_tool_ends_first() -> None:
    numbering = ResultNumbering()
    late, early = numbering.keep([page("late.md")]), numbering.keep([page("early.md")])

    texts = [numbering.after_tool(CALL, ToolResult("1", key)).text for key in (early, late)]

    assert 'number="1" place="early.md' in texts[0]
    assert 'number="2" place="late.md' in texts[1]


def test_what_was_shown_is_named_by_its_number_and_not_shown_again() -> None:
    numbering = ResultNumbering()
    shown(numbering, page("a.md"))

    again = shown(numbering, page("a.md"), page("b.md"))

    assert "[1] was found again; it is shown above." in again
    assert again.count("<source ") == 1
    assert len(numbering.context.shown) == 2


def test_what_does_not_fit_one_call_is_cut_visibly_and_can_be_shown_later() -> None:
    numbering = ResultNumbering()
    long = page("long.md", "\n".join(f"word {number} " * 20 for number in range(200)))

    told = shown(numbering, long, page("b.md"))

    assert told.endswith("\n(cut here; goes on to line 200)\n</source>\n\n1 more did not fit.")
    assert 'place="b.md' in shown(numbering, page("b.md"))


def test_sentences_that_chunks_of_a_course_share_are_shown_once() -> None:
    numbering = ResultNumbering()
    first = chunk_of("One. Two.\nThree.", "a.txt", kind="course")
    second = chunk_of("Three.\nFour.", "a.txt", before="One. Two.\n", kind="course")
    shown(numbering, result_of(first))

    again = shown(numbering, result_of(second))

    assert again == '<source number="2" place="a.txt:3-3" title="">\n1| Four.\n</source>'
    assert shown(numbering, result_of(second)) == "[2] was found again; it is shown above."


def test_notes_come_last_and_nothing_is_said_to_be_nothing() -> None:
    assert shown(ResultNumbering(), page("a.md"), note="Two in all.").endswith("</source>\n\nTwo in all.")
    assert shown(ResultNumbering()) == "Nothing was found."


def test_errors_and_what_others_return_stay_as_they_are() -> None:
    numbering = ResultNumbering()
    key = numbering.keep([page("a.md")])
    error, foreign = ToolResult("1", key, is_error=True), ToolResult("1", "found-99")

    assert numbering.after_tool(CALL, error) == error
    assert numbering.after_tool(CALL, foreign) == foreign
    assert numbering.context.shown == ()
