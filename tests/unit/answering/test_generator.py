from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from decimal import Decimal

import pytest

from openbook.answering.generator import Generator
from openbook.answering.options import AnswerOptions
from openbook.answering.refusals import DOUBT_NOTE
from openbook.answers import GenerationResult
from openbook.errors import QueryError
from openbook.extractive.context import build_context
from openbook.grounding.marks import find_marks
from openbook.types import Filter, Kind, Lesson
from openbook.usage import Usage
from tests.unit.retrieval.material import Library, chunk_of, result_of

PLENTY = 6_000


def generator_of(
    library: Library, *, context_tokens: int = PLENTY, clock: Callable[[], float] = lambda: 0.0
) -> Generator:
    return Generator(
        library.index, library.embedder, text_now=library.text_now, context_tokens=context_tokens, clock=clock
    )


def ask(library: Library, question: str) -> GenerationResult:
    return generator_of(library).generate_with_retrieval(question)


def assert_exact(answer: GenerationResult, library: Library) -> None:
    """Every citation quotes the very characters and lines that it names, and its mark is in the answer."""
    assert answer.citations
    for citation in answer.citations:
        text, span = library.texts[citation.source, citation.span.path], citation.span
        assert text[span.start_char : span.end_char] == citation.quote
        assert text.count("\n", 0, span.start_char) + 1 == span.start_line
        assert text.count("\n", 0, span.end_char - 1) + 1 == span.end_line
        assert citation.verdict == "exact"
        assert citation.mark in answer.answer


PROSE = "# Größe 🎉\r\n\r\nÜber die Größe:\r\nthe retry policy waits\r\none minute. Then it ends.\r\n"
CODE = "import sys\n\n\nclass Retry:\n    def wait(self, policy):\n        return policy[1] + sys.argv[2]\n"
SENTENCES = [f"Sentence {number} says that number {number * 7} is fine." for number in range(250)]
TRANSCRIPT = "Lesson 1: Talk\n" + " ".join([*SENTENCES[:150], "The retry policy waits one minute.", *SENTENCES[150:]])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "kind", "quote"),
    [
        pytest.param(
            PROSE, "docs", "Über die Größe:\r\nthe retry policy waits\r\none minute. Then it ends.", id="prose"
        ),
        pytest.param(TRANSCRIPT, "course", "The retry policy waits one minute.", id="line-of-10000-characters"),
        pytest.param(CODE, "code", CODE.partition("\n\n\n")[2].rstrip(), id="code"),
    ],
)
def test_a_quote_is_an_exact_slice_of_its_document(library: Library, text: str, kind: Kind, quote: str) -> None:
    before = "\n\nSome words in front.\r\n"
    library.put_chunks(before + text, [chunk_of(text.rstrip(), "a.txt", before=before, kind=kind)])

    answer = ask(library, "when does the retry policy wait")

    assert_exact(answer, library)
    assert answer.citations[0].quote == quote


def test_the_answer_says_that_it_quotes_and_marks_each_quote(library: Library) -> None:
    library.put("a.md", "The retry policy waits.")

    answer = ask(library, "how does the retry policy wait")

    assert answer.answer == "Quoted from the sources; no model wrote this.\n\na.md\n\n> The retry policy waits. [1:1]"
    assert [citation.mark for citation in answer.citations] == ["[1:1]"]
    assert (answer.model, answer.usage, answer.cost_usd) == ("extractive", Usage(), Decimal(0))


def test_brackets_in_a_quote_make_no_citation(library: Library) -> None:
    library.put("a.md", "The retry policy [1] waits as [2] says in argv[1:1].")
    library.put("b.md", "The house has another rule.")

    answer = ask(library, "how does the retry policy wait")

    assert len(find_marks(answer.answer)) > 1
    assert [citation.mark for citation in answer.citations] == ["[1:1]"]


def test_nothing_relevant_is_refused_with_the_nearest_places_and_the_missing_words(library: Library) -> None:
    library.put("a.md", *(f"The retry policy number {number}." for number in range(9)))

    answer = ask(library, "Who painted the Mona Lisa for the policy?")

    assert (answer.refused, answer.reason) == (True, "nothing relevant")
    assert answer.answer == (
        "The sources do not answer this: nothing relevant. No source mentions 'painted', 'Mona', 'Lisa'.\n\n"
        "The closest matches are about `a.md`. Ask about one of them, or use words that the sources use."
    )
    assert 0 < len(answer.results) < 9
    assert answer.results == tuple(library.search("Who painted the Mona Lisa for the policy?"))[: len(answer.results)]
    assert answer.citations == ()
    assert answer.cost_usd == 0


def test_words_that_some_source_mentions_are_not_called_missing(library: Library) -> None:
    library.put("a.md", "Roses.", "Clay.", *(f"Words upon words {number}." for number in range(30)))

    answer = generator_of(library).generate_answer("roses clay", [result_of(chunk_of("x"))])

    assert answer.answer.startswith("The sources do not answer this: nothing relevant.\n\n")


def test_a_deciding_word_that_no_source_mentions_is_named_above_the_quotes(library: Library) -> None:
    library.put("a.md", "The retry policy waits.", *(f"Pier {number} has a crane." for number in range(40)))

    answer = ask(library, "how does the retry policy websocket websocket wait")

    assert not answer.refused
    assert answer.answer.startswith("No source mentions 'websocket'.\n\nQuoted from the sources;")
    assert [answer.answer[claim.start_char : claim.end_char] for claim in answer.claims] == [
        f"> {claim.text} {claim.marks[0]}" for claim in answer.claims
    ]


def test_a_quoted_text_that_a_source_has_is_not_refused(library: Library) -> None:
    piers = (f"Pier {number} has a crane for heavy ships." for number in range(40))
    library.put("a.md", "Printed: the quay is full.", *piers)
    asked = "{} elsewhere misspelled zeppelin giraffe trombone"

    assert ask(library, asked.format("the quay is full")).refused
    assert "Printed: the quay is full." in ask(library, asked.format('"the quay is full"')).answer


def test_a_section_on_the_release_that_is_asked_for_is_neither_refused_nor_doubted(library: Library) -> None:
    piers = (f"Pier {number} has a crane for heavy ships." for number in range(40))
    library.put("a.md", "## 4.0.0\n\nThe quay is full.", *piers)
    asked = "which zeppelin giraffe trombone was {} in {}"

    assert ask(library, asked.format("misspelled", "4.0.0")).refused
    assert ask(library, asked.format("changed", "5.0.0")).refused
    answer = ask(library, asked.format("changed", "4.0.0"))
    assert "The quay is full." in answer.answer
    assert DOUBT_NOTE not in answer.answer


def test_quotes_that_may_not_answer_say_so_above_the_first_one(library: Library) -> None:
    piers = (f"Pier {number} has a crane for heavy ships." for number in range(40))
    library.put("a.md", "The retry policy waits for a second before each attempt.", *piers)

    doubtful = ask(library, "how do I change how long the retry policy waits on weekends")
    sure = ask(library, "how does the retry policy wait")

    assert doubtful.answer.startswith(f"{DOUBT_NOTE}\n\nQuoted from the sources;")
    assert [doubtful.answer[claim.start_char : claim.end_char] for claim in doubtful.claims] == [
        f"> {claim.text} {claim.marks[0]}" for claim in doubtful.claims
    ]
    assert DOUBT_NOTE not in sure.answer


def test_a_long_word_that_no_source_has_is_shortened(library: Library) -> None:
    library.put("a.md", *(f"The retry policy number {number}." for number in range(9)))

    answer = ask(library, f"Why is {'x' * 11_900} refused?")

    assert answer.refused
    assert f"No source mentions '{'x' * 80}...'" in answer.answer
    assert len(answer.answer) < 500


def test_an_empty_library_says_what_to_do(library: Library) -> None:
    answer = ask(library, "what is the retry policy")

    assert (answer.refused, answer.reason, answer.results) == (True, "empty library", ())
    assert answer.answer.startswith("The library is empty. Add a folder")


def test_a_filter_that_leaves_nothing_finds_nothing(library: Library) -> None:
    library.put("a.md", "The retry policy waits.")

    answer = generator_of(library).generate_with_retrieval("retry policy", where=Filter(globs=("*.txt",)))

    assert (answer.reason, answer.answer) == (
        "nothing found",
        "The sources do not answer this: the filters leave no document to search. Use fewer of them.",
    )


def test_a_filter_decides_what_an_answer_may_quote(library: Library) -> None:
    library.put("a.md", "The retry policy waits.")
    library.put("b.txt", "The retry policy ends.")

    answer = generator_of(library).generate_with_retrieval("retry policy", where=Filter(globs=("*.txt",)))

    assert [citation.quote for citation in answer.citations] == ["The retry policy ends."]


def test_results_below_the_least_score_are_not_used(library: Library) -> None:
    library.put("a.md", "The retry policy waits.", "Roses need sun and policy.")
    best, worse = library.search("retry policy", view="passages")
    least = (best.score + worse.score) / 2

    answer = generator_of(library).generate_with_retrieval("retry policy", min_score=least)
    at_the_limit = generator_of(library).generate_with_retrieval("retry policy", min_score=best.score)
    beyond = generator_of(library).generate_with_retrieval("retry policy", min_score=best.score + 1)

    assert answer.results == at_the_limit.results == (best,)
    assert beyond.reason == "nothing found"


def test_at_most_top_k_results_are_written_from(library: Library) -> None:
    library.put("a.md", *(f"The retry policy number {number}." for number in range(9)))

    answer = generator_of(library).generate_with_retrieval("retry policy", top_k=2)

    assert len(answer.results) == 2


def lessons(library: Library) -> None:
    """Store a course of five lessons with two chunks each, all about retries."""
    text, chunks = "", []
    for number in range(5):
        for half in ("first", "second"):
            part = f"The retry policy in the {half} half of {number}."
            lesson = Lesson("Networks", number, f"Part {number}")
            chunks.append(chunk_of(part, "course.txt", before=text, kind="course", lesson=lesson))
            text += part + "\n"
    library.put_chunks(text, chunks)


def test_a_question_for_lessons_gets_one_quote_per_lesson_under_its_name(library: Library) -> None:
    lessons(library)

    answer = ask(library, "Which lessons talk about the retry policy?")

    assert sorted(citation.label for citation in answer.citations) == [
        f"Networks · Lesson {number}: Part {number}" for number in range(5)
    ]
    for citation in answer.citations:
        assert f"\n\n{citation.label}\n\n> {citation.quote} {citation.mark}" in answer.answer
    assert_exact(answer, library)


def test_a_question_for_places_looks_further_than_top_k(library: Library) -> None:
    lessons(library)

    wide = generator_of(library).generate_with_retrieval("Which lessons talk about the retry policy?", top_k=3)
    narrow = generator_of(library).generate_with_retrieval("How do lessons talk about the retry policy?", top_k=3)

    assert len(narrow.results) == 3
    assert len(wide.results) > 3


def test_a_question_for_files_gets_one_quote_per_file(library: Library) -> None:
    for number in range(5):
        library.put(f"{number}.md", f"The retry policy {number}.", f"More on the retry policy {number}.")

    answer = ask(library, "List all files about the retry policy")

    assert sorted(citation.span.path for citation in answer.citations) == [f"{number}.md" for number in range(5)]


def test_a_sentence_in_two_overlapping_chunks_is_quoted_once(library: Library) -> None:
    line = " ".join([*SENTENCES[:12], "The retry policy waits one minute.", *SENTENCES[12:24]])
    middle = line.index("The retry")
    lesson = Lesson("Networks", 1)
    first = chunk_of(line[: middle + 34], "c.txt", kind="course", lesson=lesson)
    second = chunk_of(line[middle:], "c.txt", before=line[:middle], kind="course", lesson=lesson)
    library.put_chunks(line, [first, second])

    answer = ask(library, "when does the retry policy wait")

    assert answer.answer.count("The retry policy waits one minute.") == 1
    assert len(answer.results) == 2
    assert_exact(answer, library)


@pytest.mark.parametrize("tokens", [-1, 0, 1, 7])
def test_a_context_without_room_for_a_quote_is_refused(library: Library, tokens: int) -> None:
    library.put("a.md", *(f"The retry policy number {number}." for number in range(9)))
    results = library.search("retry policy")

    answer = generator_of(library).generate_answer("retry policy", results, max_context_tokens=tokens)

    assert (answer.refused, answer.reason) == (True, "nothing that could be quoted")
    assert 0 < len(answer.results) < 9
    assert answer.results == tuple(results[: len(answer.results)])


def test_only_results_that_fit_the_context_are_sources_of_the_answer(library: Library) -> None:
    library.put("a.md", *(f"The retry policy number {number}. " + "word " * 50 for number in range(5)))
    results = library.search("retry policy", view="passages")

    by_default = generator_of(library, context_tokens=200).generate_answer("retry policy", results)
    overruled = generator_of(library, context_tokens=200).generate_answer(
        "retry policy", results, max_context_tokens=PLENTY
    )

    assert by_default.results == tuple(entry.result for entry in build_context(results, 200).shown)
    assert len(by_default.results) < len(overruled.results) == 5


def test_one_answer_can_be_written_from_less_than_the_others(library: Library) -> None:
    library.put("a.md", *(f"The retry policy number {number}. " + "word " * 50 for number in range(5)))
    results = library.search("retry policy", view="passages")
    generator, less = generator_of(library), AnswerOptions(context_tokens=200)

    of_results = generator.generate_answer("retry policy", results, options=less)
    of_search = generator.generate_with_retrieval("retry policy", options=less)

    assert 0 < len(of_results.results) < 5
    assert 0 < len(of_search.results) < len(generator.generate_with_retrieval("retry policy").results)
    assert len(str(generator.request("retry policy", results, less))) < len(
        str(generator.request("retry policy", results))
    )


def test_results_at_hand_are_numbered_in_their_order_and_need_not_be_in_the_library(library: Library) -> None:
    poor = result_of(chunk_of("Roses need sun and clay.", "a.md"), score=0.1)
    good = result_of(chunk_of("The retry policy waits.", "b.md"), score=0.9)
    library.texts["src", "b.md"] = good.chunk.text

    answer = generator_of(library).generate_answer("retry policy", [poor, good])

    assert answer.results == (poor, good)
    assert [(citation.mark, citation.quote) for citation in answer.citations] == [("[2:1]", "The retry policy waits.")]
    assert_exact(answer, library)


def test_no_results_at_hand_are_refused(library: Library) -> None:
    library.put("a.md", "Roses need sun.")

    answer = generator_of(library).generate_answer("retry policy", [])

    assert (answer.refused, answer.reason) == (True, "nothing found")


@pytest.mark.parametrize("now", ["The retry policy is gone.", None], ids=["changed", "gone"])
def test_what_changed_since_it_was_found_is_cited_as_stale(library: Library, now: str | None) -> None:
    library.put("a.md", "The retry policy waits.")
    results = library.search("retry policy")
    if now is None:
        del library.texts["src", "a.md"]
    else:
        library.texts["src", "a.md"] = now

    answer = generator_of(library).generate_answer("retry policy", results)

    assert [(citation.quote, citation.verdict) for citation in answer.citations] == [
        ("The retry policy waits.", "stale")
    ]
    assert not answer.refused
    assert answer.quality_score == 0
    assert answer.sources_cited == ()


@pytest.mark.parametrize("question", ["", "  ", "?!", "x" * 20_001], ids=["empty", "blank", "wordless", "too-long"])
def test_what_cannot_be_asked_raises_and_is_not_counted(library: Library, question: str) -> None:
    generator = generator_of(library)

    with pytest.raises(QueryError):
        generator.generate_with_retrieval(question)
    with pytest.raises(QueryError):
        generator.generate_answer(question, [])

    assert generator.get_generation_stats()["total_generations"] == 0


def test_the_time_of_an_answer_includes_its_retrieval_and_is_in_milliseconds(library: Library) -> None:
    times = iter([10.0, 10.25, 20.0, 21.0])
    generator = generator_of(library, clock=lambda: next(times))

    assert generator.generate_with_retrieval("retry policy").took_ms == 250.0
    assert generator.generate_answer("retry policy", []).took_ms == 1_000.0
    assert next(times, None) is None


def test_statistics_count_answers_refusals_and_time(library: Library) -> None:
    library.put("a.md", "The retry policy waits.")
    ticks = iter(range(100))
    generator = generator_of(library, clock=lambda: next(ticks) / 1_000)

    generator.generate_with_retrieval("retry policy")
    generator.generate_with_retrieval("Mona Lisa")
    generator.generate_answer("retry policy", [])

    assert generator.get_generation_stats() == {
        "total_generations": 3,
        "refused": 2,
        "with_citations": 1,
        "total_tokens": 0,
        "total_ms": pytest.approx(3.0),
        "total_usd": 0.0,
        "unknown_costs": 0,
    }


def test_statistics_begin_anew_after_a_reset(library: Library) -> None:
    generator = generator_of(library)
    fresh = generator.get_generation_stats()
    generator.generate_answer("retry policy", [])

    generator.reset_generation_stats()

    assert set(fresh.values()) == {0}
    assert generator.get_generation_stats() == fresh


@pytest.fixture
def _impatient_threads() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.slow
@pytest.mark.usefixtures("_impatient_threads")
def test_threads_share_a_generator_without_mixing_answers_or_losing_counts(library: Library) -> None:
    library.put("a.md", "The retry policy waits.")
    library.put("b.md", "Sessions end after an hour.")
    generator = generator_of(library)
    found: dict[str, set[str]] = {"how does the retry policy wait": set(), "when do sessions end": set()}

    def work(question: str) -> None:
        for _ in range(40):
            found[question].add(generator.generate_with_retrieval(question).citations[0].quote)

    threads = [threading.Thread(target=work, args=(question,)) for question in found for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert list(found.values()) == [{"The retry policy waits."}, {"Sessions end after an hour."}]
    assert generator.get_generation_stats()["total_generations"] == 160
    assert generator.get_generation_stats()["with_citations"] == 160


def test_results_that_came_from_elsewhere_are_measured_before_they_are_refused(library: Library) -> None:
    library.put("a.md", "The retry policy waits.")
    generator, found = generator_of(library), chunk_of("The retry policy waits.", path="a.md")

    related = generator.generate_answer("how does the retry policy wait", [result_of(found)])
    foreign = generator.generate_answer("who painted the Mona Lisa", [result_of(found)])

    assert (related.refused, foreign.refused) == (False, True)
