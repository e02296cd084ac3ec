"""The room of a context is filled with what helps to understand results, and nothing of it is there twice."""

from __future__ import annotations

from dataclasses import replace

import pytest

from openbook.answering.filling import (
    fill_context,
    with_comments,
    with_docstrings,
    with_ends,
    with_entries,
    with_parameter_sections,
)
from openbook.chunking.dispatch import chunk_document
from openbook.chunking.fixed import ChunkOptions
from openbook.extractive.context import build_context
from openbook.index.sqlite import SqliteIndex
from openbook.questions.settings_asked import AskedSetting
from openbook.sources.readers import read_text
from openbook.types import Chunk, Document, Filter, Kind, RetrievalResult
from tests.unit.answering.courses import put_course
from tests.unit.retrieval.material import Library, chunk_of, result_of

PLENTY = 6_000
EVERYTHING = Filter()

BODY = "\n".join(f'    print("line {number} of a long function")' for number in range(120))
LONG = f"def compute(total):\n{BODY}\n    return total\n"
SHORT = 'def rounded(total):\n    """Round it."""\n    return round(total)\n'
CLASS = "class Store:\n" + "\n\n".join(
    f"    def step_{number}(self):\n" + "\n".join(f'        print("step {number} {line}")' for line in range(20))
    for number in range(4)
)


def put(library: Library, path: str, text: str, kind: Kind = "code", language: str = "python") -> list[Chunk]:
    reading = read_text(text, path, kind, language)
    document = Document("src", path, reading.kind, reading.language, reading.text, "", reading.blocks)
    chunks = chunk_document(document, ChunkOptions())
    library.put_chunks(reading.text, chunks)
    return chunks


def filled(library: Library, chunks: list[Chunk], where: Filter = EVERYTHING) -> list[RetrievalResult]:
    return fill_context([result_of(chunk) for chunk in chunks], library.index, where, PLENTY)


def are_slices(library: Library, results: list[RetrievalResult]) -> bool:
    return all(
        library.texts[one.chunk.source, one.chunk.span.path][one.chunk.span.start_char : one.chunk.span.end_char]
        == one.chunk.text
        for one in results
    )


def test_a_cut_function_is_completed(library: Library) -> None:
    chunks = put(library, "a.py", LONG)
    assert len(chunks) > 2

    for chunk in chunks:
        (result,) = filled(library, [chunk])

        assert result.chunk.text == LONG.rstrip()
        assert (str(result.chunk.span), result.goes_on_to) == ("a.py:1-122", 0)
        assert (result.chunk.symbol, result.chunk.defines) == ("compute", ("compute",))


def test_a_completed_function_stands_where_its_best_chunk_stood(library: Library) -> None:
    chunks = put(library, "a.py", LONG)
    other = put(library, "b.py", SHORT)

    results = filled(library, [chunks[1], *other, chunks[0]])

    assert [result.chunk.span.path for result in results] == ["a.py", "b.py"]
    assert are_slices(library, results)


def test_a_cut_section_is_completed_and_the_next_one_is_another(library: Library) -> None:
    paragraphs = "\n\n".join(f"Paragraph {number}. {'Words about waiting. ' * 20}" for number in range(6))
    text = f"# Guide\n\n## Waiting\n\n{paragraphs}\n\n## Ending\n\n{'All is over now. ' * 60}\n"
    chunks = put(library, "a.md", text, "docs", "markdown")
    waiting = [chunk for chunk in chunks if chunk.context == ("Guide", "Waiting")]

    marked = with_ends([result_of(chunk) for chunk in chunks], library.index, EVERYTHING)

    assert len(waiting) > 1
    end = waiting[-1].span.end_line
    assert [result.goes_on_to for result in marked] == [end] * (len(waiting) - 1) + [0] * (
        len(chunks) - len(waiting) + 1
    )
    (whole,) = filled(library, waiting[:1])
    assert whole.chunk.text.startswith("# Guide")
    assert whole.chunk.span.end_line >= end


def test_nothing_is_added_where_there_is_no_room(library: Library) -> None:
    chunks = put(library, "a.py", LONG)
    needed = build_context([result_of(chunks[0])], PLENTY).tokens

    (result,) = fill_context([result_of(chunks[0])], library.index, EVERYTHING, needed + 30)

    assert result.chunk == chunks[0]
    assert result.goes_on_to == 122


def test_what_is_filled_fits(library: Library) -> None:
    chunks = put(library, "a.py", LONG)

    for room in range(0, 3_000, 150):
        results = fill_context([result_of(chunks[1])], library.index, EVERYTHING, room)
        context = build_context(results, room)

        assert context.tokens <= room
        assert are_slices(library, results)
        assert all(shown.is_whole for shown in context.shown) or len(results) == 1


def test_results_that_do_not_fit_stay_in_their_order(library: Library) -> None:
    pages = [library.put(f"{letter}.md", "word " * 200)[0] for letter in "abcd"]

    results = fill_context([result_of(page) for page in pages], library.index, EVERYTHING, 500)

    assert [result.chunk for result in results] == pages


def test_a_lesson_that_is_left_out_is_never_a_neighbour(library: Library) -> None:
    lessons = "".join(
        f"Lesson {number}: Part {number}\n" + f"Something is said in part {number}. " * 60 + "\n\n"
        for number in range(3)
    )
    put_course(library, "a.txt", f"Course Title: Parts\n\n{lessons}")
    second = [chunk for chunk in library.index.chunks("src", "a.txt") if chunk.lesson and chunk.lesson.number == 1]

    for where in (Filter(lesson=1), EVERYTHING):
        results = filled(library, second[:1], where)

        assert results
        assert all("part 0" not in result.chunk.text and "part 2" not in result.chunk.text for result in results)


def test_sentences_that_chunks_of_a_course_share_are_shown_once(library: Library) -> None:
    spoken = " ".join(f"Sentence number {number} says something new about harbours." for number in range(60))
    put_course(library, "a.txt", f"Course Title: Harbours\n\nLesson 1: Quays\n{spoken}\n")
    chunks = library.index.chunks("src", "a.txt")
    assert chunks[2].span.start_char < chunks[1].span.end_char

    roomy = filled(library, chunks[1:4])
    narrow = fill_context([result_of(each) for each in chunks[1:4]], library.index, EVERYTHING, 350)

    for results in (roomy, narrow):
        shown = " ".join(result.chunk.text for result in results)
        for number in range(60):
            assert shown.count(f"Sentence number {number} says") <= 1
    assert len(roomy) == 1
    assert are_slices(library, roomy + narrow)


def test_slices_that_are_no_chunks_stay_as_they_are(library: Library) -> None:
    library.put("a.md", "One.\nTwo.", "Three.")
    heading = result_of(chunk_of("One.", "a.md"))

    assert fill_context([heading], library.index, EVERYTHING, PLENTY) == [heading]


def test_the_same_results_give_the_same_numbers_again(library: Library) -> None:
    chunks = put(library, "a.py", LONG) + put(library, "b.py", SHORT)

    results = filled(library, [chunks[-1], chunks[1]])

    assert str(build_context(results, PLENTY)) == str(build_context(filled(library, [chunks[-1], chunks[1]]), PLENTY))
    assert [shown.result for shown in build_context(results, PLENTY).shown] == results


def test_a_class_that_breaks_off_goes_on_to_its_last_member(library: Library) -> None:
    chunks = put(library, "a.py", CLASS)
    assert len(chunks) > 2

    marked = with_ends([result_of(chunk) for chunk in chunks], library.index, EVERYTHING)

    assert marked[0].chunk.symbol == "Store"
    assert marked[0].goes_on_to == chunks[-1].span.end_line
    assert [result.goes_on_to for result in marked[1:]] == [0] * (len(chunks) - 1)


def test_a_selector_that_is_cut_behind_a_dot_opens_no_type(library: Library) -> None:
    rules = "\n".join(f".step-{n} {{\n  color: red;\n  margin: {n}px;\n}}\n" for n in range(60))
    chunks = put(library, "a.css", f"#{'a' * 77} .b {{\n  color: red;\n}}\n\n{rules}", language="css")
    assert chunks[0].symbol.endswith(".")
    assert len(chunks) > 1

    marked = with_ends([result_of(chunks[0])], library.index, EVERYTHING)

    assert marked[0].goes_on_to == 0


def test_no_results_stay_none(library: Library) -> None:
    assert isinstance(library.index, SqliteIndex)
    assert filled(library, []) == []


def test_a_docstring_that_a_result_breaks_off_is_joined_once(library: Library) -> None:
    told = "\n".join(f"        load_{number} (int): Tonnes of the ship with number {number}." for number in range(40))
    text = f'def lift(loads):\n    """Lifts them.\n\n    Args:\n{told}\n    """\n{BODY}\n'
    chunks = put(library, "crane.py", text)
    other = put(library, "short.py", SHORT)

    found = with_docstrings([result_of(chunk) for chunk in (*chunks, *other)], library.index, EVERYTHING)

    assert chunks[0].text.count('"""') == 1
    assert found[0].chunk.text.startswith("def lift")
    assert told in found[0].chunk.text
    assert not any("load_39 (int)" in each.chunk.text for each in found[1:])
    assert found[-1].chunk is other[0]


def test_a_very_long_docstring_is_cut(library: Library) -> None:
    told = "\n".join(f"        load_{number} (int): Tonnes of the ship with number {number}." for number in range(200))
    chunks = put(library, "crane.py", f'def lift(loads):\n    """Lifts them.\n\n    Args:\n{told}\n    """\n')

    (whole, *_) = with_docstrings([result_of(chunks[0])], library.index, EVERYTHING)

    assert chunks[0].span.end_line < whole.chunk.span.end_line <= 80


def test_another_definition_is_no_rest_of_a_docstring(library: Library) -> None:
    sign = 'def sign():\n    return \'"""\'\n\n'
    chunks = [
        chunk_of(sign, "sign.py", kind="code", symbol="sign", defines=("sign",)),
        chunk_of(SHORT, "sign.py", before=sign, kind="code", symbol="rounded", defines=("rounded",)),
    ]
    library.put_chunks(sign + SHORT, chunks)

    assert with_docstrings([result_of(chunks[0])], library.index, EVERYTHING)[0].chunk is chunks[0]


def test_an_entry_that_a_result_breaks_off_is_joined_once(library: Library) -> None:
    entry = "  max_load:\n    description:\n      - Tonnes that it lifts.\n    type: int\n    default: 7\n"
    opening = 'OPTIONS = """\noptions:\n'
    text = f'{opening}{entry}  reach:\n    description: Metres that it reaches.\n"""\n'
    cut = text.index("    type: int")
    chunks = [
        chunk_of(text[:cut], "crane.py", kind="code", language="python"),
        chunk_of(text[cut:], "crane.py", before=text[:cut], kind="code", language="python"),
    ]
    library.put_chunks(text, chunks)
    results = [result_of(chunk) for chunk in chunks]
    apart = [replace(chunk, span=replace(chunk.span, path="a.py"), anchor=chunk.text[:3]) for chunk in chunks]
    library.put_chunks(text, apart)

    found = with_entries(results, library.index, EVERYTHING, [AskedSetting("max_load", ())])
    assert [each.chunk.text for each in found] == [text]
    others = [result_of(chunk) for chunk in apart]
    assert with_entries(others, library.index, EVERYTHING, [AskedSetting("max_load", ())]) == others
    library.close()
    assert with_entries(results, library.index, EVERYTHING, [AskedSetting("reach", ())]) == results


def commented(lines: int) -> str:
    told = "".join(f"    /// assert!(quay.moor({number}).is_ok()); // the ship is moored\n" for number in range(lines))
    body = "    pub fn moor(&self) -> Mooring {\n        tie()\n    }\n}\n"
    return f"impl Quay {{\n    /// Moors a ship.\n    ///\n{told}{body}"


def completed(library: Library, chunks: list[Chunk], name: str = "moor") -> list[RetrievalResult]:
    results = [result_of(chunk, score=9.0 - number) for number, chunk in enumerate(chunks)]
    return with_comments(results, library.index, EVERYTHING, lambda chunk: name in chunk.defines)


def test_a_comment_that_a_result_begins_within_is_joined_once_in_place_of_its_best_part(library: Library) -> None:
    first, *rest = put(library, "quay.rs", commented(60), language="rust")
    (other,) = put(library, "short.py", SHORT)

    found = completed(library, [first, other, *rest])

    assert "Moors a ship" not in rest[-1].text
    assert [each.chunk.span.path for each in found] == ["quay.rs", "short.py"]
    assert found[0].chunk.text == commented(60).strip()
    assert (found[0].chunk.symbol, found[0].chunk.signature) == ("Quay.moor", "pub fn moor(&self) -> Mooring")
    assert found[0].score == 9.0


def test_a_comment_is_joined_only_for_what_is_asked_for(library: Library) -> None:
    chunks = put(library, "quay.rs", commented(60), language="rust")

    assert [each.chunk for each in completed(library, chunks, "tie")] == chunks


def test_a_very_long_comment_is_not_joined(library: Library) -> None:
    chunks = put(library, "quay.rs", commented(220), language="rust")

    assert [each.chunk for each in completed(library, chunks)] == chunks


def test_the_same_words_in_the_definition_before_begin_no_comment(library: Library) -> None:
    before = "    /// Moors a ship.\n    fn tie() {}\n"
    rest = "    /// For example.\n    fn moor() {}\n"
    chunks = [
        chunk_of(before, "quay.rs", kind="code", symbol="Quay.tie", defines=("tie",)),
        chunk_of(
            rest,
            "quay.rs",
            before=before,
            kind="code",
            symbol="Quay.moor",
            defines=("moor",),
            docstring="Moors a ship.",
        ),
    ]
    library.put_chunks(before + rest, chunks)

    assert [each.chunk for each in completed(library, chunks)] == chunks


@pytest.mark.parametrize(("docstring", "is_joined"), [("Ties it.", True), ("For example.", False)])
def test_the_first_comment_of_a_class_may_begin_below_its_header(
    library: Library, docstring: str, is_joined: bool
) -> None:
    header, rest = "class Quay {\n  // Ties it. For example.\n", "  // For example.\n  moor() {}\n"
    whole = chunk_of(header, "quay.ts", kind="code", symbol="Quay", defines=("Quay",))
    method = chunk_of(
        rest, "quay.ts", before=header, kind="code", symbol="Quay.moor", defines=("moor",), docstring=docstring
    )
    library.put_chunks(header + rest, [whole, method])

    (found,) = completed(library, [method])

    assert found.chunk.text.startswith("class Quay") is is_joined


def test_the_sections_on_the_parameters_of_a_thing_come_first_in_the_results_of_its_pages(library: Library) -> None:
    parts = ["# harbour_crane\n\nIt lifts.\n", "## Uses\n\nShips.\n", "## Parameters\n\n- `load`: Tonnes.\n"]
    contexts = [("harbour_crane",), ("harbour_crane", "Uses"), ("harbour_crane", "Parameters")]
    chunks = [
        chunk_of(part, "a.md", before="".join(parts[:at]), language="markdown", context=contexts[at])
        for at, part in enumerate(parts)
    ]
    library.put_chunks("".join(parts), chunks)
    results = [result_of(chunk) for chunk in chunks]

    for known in (results[:2], results):
        found = with_parameter_sections(known, library.index, EVERYTHING, "harbour_crane")
        assert [each.chunk.text for each in found] == [parts[2], parts[0], parts[1]]
    pages = []
    for path in ("b.md", "c.md"):
        copies = [replace(chunk, span=replace(chunk.span, path=path)) for chunk in chunks]
        library.put_chunks("".join(parts), copies)
        pages += [result_of(chunk) for chunk in copies]
    found = with_parameter_sections([*results, *pages], library.index, EVERYTHING, "harbour_crane")
    assert [each.chunk.span.path for each in found[:4]] == ["a.md", "b.md", "a.md", "a.md"]
    library.close()
    assert with_parameter_sections(results, library.index, EVERYTHING, "harbour_quay") == results


def test_a_section_on_the_parameters_of_another_thing_stays_where_it_is(library: Library) -> None:
    parts = ["## Parameters\n\n- `rope`: Metres.\n", "# harbour_crane\n\nIt lifts.\n"]
    chunks = [
        chunk_of(parts[0], "a.md", language="markdown", context=("harbour_quay", "Parameters")),
        chunk_of(parts[1], "a.md", before=parts[0], language="markdown", context=("harbour_crane",)),
    ]
    library.put_chunks("".join(parts), chunks)
    code = chunk_of("# Parameters\nrope = 7\n", "harbour_crane.sh", kind="code")
    library.put_chunks(code.text, [code])
    results = [result_of(chunk) for chunk in (chunks[1], chunks[0], code)]

    assert with_parameter_sections(results, library.index, EVERYTHING, "harbour_crane") == results
