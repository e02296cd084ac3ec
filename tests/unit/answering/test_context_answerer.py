"""Answers by a model that is shown what was found: one call, checked words, and no call where it could only guess."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest

from openbook.answering.generator import Generator
from openbook.answering.options import AnswerOptions
from openbook.answering.prompting import build_system_prompt, format_prompt_for_display, prompts_version
from openbook.answers import Answered, AnswerEvent, Exchange, GenerationResult, Policy, Written
from openbook.costs import Budget
from openbook.errors import OverloadedError
from openbook.extractive.context import build_context
from openbook.llm.messages import ProviderCitation, Request, Sampling, ShownSource, StopReason
from openbook.testing import ScriptedModel, ScriptedReply
from openbook.usage import Usage
from tests.unit.answering.driving import stream
from tests.unit.retrieval.material import Library

QUESTION = "When do sessions end?"
ANSWER = "Sessions end after one hour [1:1]."
WRONG = "The retry policy waits 90 seconds [1:2]."
PLENTY = 6_000


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    made = Library(tmp_path / "lib.db")
    made.put("a.md", "Sessions end after one hour.\nThe retry policy waits 30 seconds.", "Roses need sun.")
    yield made
    made.close()


def generator_of(library: Library, *, context_tokens: int = PLENTY) -> Generator:
    return Generator(
        library.index,
        library.embedder,
        text_now=library.text_now,
        context_tokens=context_tokens,
        price=lambda _, usage: Decimal(usage.input_tokens + usage.output_tokens) / 1_000 if usage.known else None,
    )


def ask(library: Library, model: ScriptedModel, question: str = QUESTION, **options: object) -> GenerationResult:
    return generator_of(library).generate_with_retrieval(
        question,
        options=AnswerOptions(model=model, **{"verifier": "off", **options}),  # type: ignore[arg-type]
    )


def shown_to(request: Request) -> list[ShownSource]:
    return [part for message in request.messages for part in message.parts if isinstance(part, ShownSource)]


def test_one_call_shows_numbered_sources_and_asks_the_question(library: Library) -> None:
    with ScriptedModel(ANSWER) as model:
        answer = ask(library, model)

    (request,) = model.requests
    assert request.system == build_system_prompt()
    assert request.tools == ()
    (source,) = shown_to(request)
    assert source.units == ("Sessions end after one hour.", "The retry policy waits 30 seconds.", "Roses need sun.")
    assert request.messages[-1].text.endswith(QUESTION)
    assert [source.number for source in shown_to(request)] == list(range(1, len(answer.results) + 1))


def test_the_answer_is_checked_priced_and_says_who_wrote_it_after_which_prompts(library: Library) -> None:
    with ScriptedModel(ScriptedReply(ANSWER, usage=Usage(900, 100)), name="scripted:one") as model:
        answer = ask(library, model)

    assert (answer.answer, answer.refused, answer.model) == (ANSWER, False, "scripted:one")
    assert answer.sources_cited == ("a.md:1",)
    assert answer.quality_score == 1.0
    assert (answer.usage, answer.cost_usd) == (Usage(900, 100), Decimal(1))
    assert (answer.prompts, answer.searched, answer.stopped) == (prompts_version(), "", "")


def test_words_are_streamed_before_the_checked_answer_comes(library: Library) -> None:
    with ScriptedModel(f"{ANSWER} {WRONG}") as model:
        options = AnswerOptions(model=model, verifier="off")
        events: list[AnswerEvent] = list(stream(generator_of(library), QUESTION, options=options))

    *words, last = events
    assert "".join(event.text for event in words if isinstance(event, Written)) == f"{ANSWER} {WRONG}"
    assert len(words) > 3
    assert isinstance(last, Answered)
    assert [claim.verdict for claim in last.answer.claims] == ["exact", "conflict"]


def test_citations_of_the_provider_pass_the_same_verdicts(library: Library) -> None:
    right, wrong = ProviderCitation(1, 1, 1), ProviderCitation(1, 7, 9)
    with ScriptedModel(
        ScriptedReply("Sessions end after one hour.", right, " Roses are red and heavy.", wrong)
    ) as model:
        answer = ask(library, model)

    assert answer.answer == "Sessions end after one hour. [1:1] Roses are red and heavy. [1:7-9]"
    assert [(citation.mark, citation.verdict) for citation in answer.citations] == [
        ("[1:1]", "exact"),
        ("[1:7-9]", "unknown"),
    ]


def test_what_the_sources_do_not_speak_of_no_model_is_asked(library: Library) -> None:
    with ScriptedModel() as model:
        answer = ask(library, model, "Who painted the Mona Lisa?")

    assert (answer.refused, answer.reason, answer.model) == (True, "nothing relevant", model.name)
    assert "The closest matches are about `a.md`" in answer.answer
    assert (answer.usage, answer.cost_usd) == (Usage(), Decimal(0))


def test_without_results_the_answer_is_the_no_context_prompt(library: Library) -> None:
    with ScriptedModel() as model:
        answer = generator_of(library).generate_answer(QUESTION, [], options=AnswerOptions(model=model))

    assert answer.answer == "The sources do not answer this: nothing found."


def test_an_empty_library_says_what_to_do(tmp_path: Path) -> None:
    with ScriptedModel() as model:
        answer = ask(Library(tmp_path / "empty.db"), model)

    assert (answer.refused, answer.reason) == (True, "empty library")
    assert answer.answer == ("The library is empty. Add a folder, a file or a repository, and ask again.")


def test_a_context_without_room_for_a_source_is_refused_without_a_call(library: Library) -> None:
    with ScriptedModel() as model:
        answer = generator_of(library, context_tokens=5).generate_with_retrieval(
            QUESTION, options=AnswerOptions(model=model)
        )

    assert (answer.refused, answer.reason) == (True, "no source fits into the context")


def test_the_model_is_shown_no_more_than_the_budget_of_the_context(library: Library) -> None:
    library.put("b.md", *(f"Sessions end after {number} hours. " + "word " * 50 for number in range(2, 9)))
    results = library.search(QUESTION, view="passages")
    with ScriptedModel(ANSWER, ANSWER) as model:
        generator = generator_of(library, context_tokens=200)
        generator.generate_answer(QUESTION, results, options=AnswerOptions(model=model))
        generator.generate_answer(QUESTION, results, max_context_tokens=PLENTY, options=AnswerOptions(model=model))

    few, all_of_them = map(shown_to, model.requests)
    assert len(few) < len(all_of_them) == len(results)
    assert [str(source) for source in few] == str(build_context(results, 200)).split("\n\n")


@pytest.mark.parametrize(
    ("policy", "verdicts"),
    [("flag", ["exact", "conflict"]), ("drop", ["exact"])],
)
def test_a_policy_decides_what_happens_to_conflicts(library: Library, policy: Policy, verdicts: list[str]) -> None:
    with ScriptedModel(f"{ANSWER}\n\n{WRONG}") as model:
        answer = ask(library, model, policy=policy)

    assert [claim.verdict for claim in answer.claims] == verdicts


def test_a_retry_names_the_conflicts_and_both_calls_are_paid(library: Library) -> None:
    with ScriptedModel(f"{ANSWER} {WRONG}", ANSWER) as model:
        answer = ask(library, model, policy="retry")

    first, second = model.requests
    assert second.messages[: len(first.messages)] == first.messages
    assert "- The retry policy waits 90 seconds. (conflict:" in second.messages[-1].text
    assert (answer.answer, answer.usage) == (ANSWER, Usage(20, 10))
    assert [repair.what for repair in answer.repairs] == ["retried"]


def test_a_retry_beyond_the_budget_is_not_made(library: Library) -> None:
    with ScriptedModel(ScriptedReply(f"{ANSWER} {WRONG}", usage=Usage(5_000, 100))) as model:
        answer = ask(library, model, policy="retry", budget=Budget(max_tokens=5_200))

    assert [claim.verdict for claim in answer.claims] == ["exact", "conflict"]


def test_a_budget_that_forbids_the_call_is_named(library: Library) -> None:
    with ScriptedModel() as model:
        answer = ask(library, model, budget=Budget(max_usd=0.0001))

    assert (answer.refused, answer.reason, answer.stopped) == (True, "budget", "max_usd")
    assert answer.answer.startswith(
        "The budget does not cover an answer of the model ($0.0001 of $0.0001 are left). Raise"
    )
    assert answer.results


@pytest.mark.parametrize(
    ("reply", "reason", "told"),
    [
        pytest.param(
            ScriptedReply(stop="refused"), "withheld", "The model or its provider declined to answer.", id="declined"
        ),
        pytest.param(ScriptedReply(" "), "nothing written", "The model returned an empty answer.", id="empty"),
        pytest.param(
            ScriptedReply(stop="length"), "length", "The model ran out of tokens before it wrote", id="only-thought"
        ),
        pytest.param(ScriptedReply("I do not know."), "nothing claimed", "I do not know.", id="own-words"),
    ],
)
def test_no_answer_says_why_and_lists_the_nearest(
    library: Library, reply: ScriptedReply, reason: str, told: str
) -> None:
    with ScriptedModel(reply) as model:
        answer = ask(library, model)

    assert (answer.refused, answer.reason) == (True, reason)
    assert answer.answer.startswith(told)
    assert answer.results
    assert answer.usage == Usage(10, 5)


@pytest.mark.parametrize(
    ("text", "verdicts"),
    [
        pytest.param("Bananas are sweet and yellow [1:1].", ["unverified"], id="invented"),
        pytest.param("The retry policy waits 90 seconds [1:2].", ["conflict"], id="in-conflict"),
        pytest.param("Sessions end after one hour [9].", ["unknown"], id="never-shown"),
    ],
)
def test_an_answer_that_cites_is_shown_whatever_its_verdicts(library: Library, text: str, verdicts: list[str]) -> None:
    with ScriptedModel(text) as model:
        answer = ask(library, model)

    assert (answer.answer, answer.refused, answer.reason) == (text, False, "")
    assert [claim.verdict for claim in answer.claims] == verdicts


def test_an_answer_without_marks_is_shown_above_quotes(library: Library) -> None:
    with ScriptedModel("A session is over after an hour.") as model:
        answer = ask(library, model)

    told, note, quotes = answer.answer.split("\n\n", 2)
    assert (told, answer.refused) == ("A session is over after an hour.", False)
    assert note == "*The answer above cites no source, so it could not be checked. The sources say:*"
    assert "\n\n> Sessions end after one hour. [1:1]" in quotes
    assert [claim.verdict for claim in answer.claims][:2] == ["uncited", "exact"]
    assert all(answer.claims[citation.claim or 0].verdict == "exact" for citation in answer.citations)
    quoted = answer.claims[1]
    assert answer.answer[quoted.start_char : quoted.end_char] == "> Sessions end after one hour. [1:1]"


def test_an_answer_of_which_all_was_dropped_says_so_above_quotes(library: Library) -> None:
    with ScriptedModel(WRONG) as model:
        answer = ask(library, model, "How long does the retry policy wait?", policy="drop")

    note = "*Every statement of the answer conflicted with the lines it cites and was removed. The sources"
    assert answer.answer.startswith(note)
    assert "> The retry policy waits 30 seconds. [1:2]" in answer.answer
    assert (answer.refused, [repair.what for repair in answer.repairs]) == (False, ["dropped"])


@pytest.mark.parametrize("stop", ["length", "refused", "filtered"])
def test_an_answer_that_was_cut_off_says_so(library: Library, stop: StopReason) -> None:
    with ScriptedModel(ScriptedReply(ANSWER, stop=stop)) as model:
        answer = ask(library, model)

    assert (answer.refused, answer.stopped) == (False, stop)


def test_a_model_that_fails_raises_and_is_not_counted(library: Library) -> None:
    generator = generator_of(library)

    with pytest.raises(OverloadedError), ScriptedModel(OverloadedError("busy")) as model:
        generator.generate_with_retrieval(QUESTION, options=AnswerOptions(model=model))

    assert generator.get_generation_stats()["total_generations"] == 0


def test_leaving_an_answer_ends_the_call_and_counts_nothing(library: Library) -> None:
    generator = generator_of(library)
    with ScriptedModel(ANSWER) as model:
        events = stream(generator, QUESTION, options=AnswerOptions(model=model))
        next(event for event in events if isinstance(event, Written))
        events.close()  # type: ignore[attr-defined]

    assert model.cancelled == 1
    assert generator.get_generation_stats()["total_generations"] == 0


HISTORY = (Exchange("How long does the retry policy wait?", "30 seconds [1:2]."),)


def test_a_follow_up_is_made_standalone_by_the_model(library: Library) -> None:
    with ScriptedModel("When do sessions end?", ANSWER) as model:
        answer = ask(library, model, "and those sessions, when do they end?", history=HISTORY)

    rewriting, answering = model.requests
    assert rewriting.messages[-1].text.endswith("The last question: and those sessions, when do they end?")
    assert [message.text for message in answering.messages[:2]] == [HISTORY[0].question, "30 seconds."]
    assert answering.messages[-1].text.endswith("\n1| When do sessions end?\n</source>")
    assert "\n\nand those sessions, when do they end?\n\n" in answering.messages[-1].text
    assert (answer.query, answer.searched) == ("and those sessions, when do they end?", "When do sessions end?")
    assert answer.usage == Usage(20, 10)


def test_a_question_that_the_model_leaves_as_it_is_is_asked_as_it_is(library: Library) -> None:
    with ScriptedModel(QUESTION, ANSWER) as model:
        answer = ask(library, model, history=HISTORY)

    assert answer.searched == ""
    assert model.requests[1].messages[-1].text.endswith(f"The question:\n\n{QUESTION}")


@pytest.mark.parametrize("written", ["Yes, 30 seconds.", "", ScriptedReply("What is the retry", stop="length")])
def test_rules_make_a_question_standalone_where_the_model_writes_none(
    library: Library, written: str | ScriptedReply
) -> None:
    with ScriptedModel(written, "The retry policy waits 30 seconds [1:2].") as model:
        answer = ask(library, model, "Is that configurable?", history=HISTORY)

    assert answer.searched == f"{HISTORY[0].question} Is that configurable?"
    assert model.requests[1].messages[-1].text.endswith("The question:\n\nIs that configurable?")


@pytest.mark.parametrize("said", ["Thanks, that helped!", "great", "Got it."])
def test_thanks_in_a_conversation_are_neither_rewritten_nor_searched_for(library: Library, said: str) -> None:
    with ScriptedModel() as model:
        answer = ask(library, model, said, history=HISTORY)

    assert (answer.reason, answer.searched, answer.results) == ("nothing was asked", "", ())


def test_a_call_ends_when_the_writing_says_or_else_the_generator(library: Library) -> None:
    with ScriptedModel(QUESTION, ANSWER, ANSWER) as model:
        ask(library, model, history=HISTORY, deadline_s=7.0)
        slow = Generator(
            library.index, library.embedder, text_now=library.text_now, context_tokens=PLENTY, model_timeout_s=300.0
        )
        slow.generate_with_retrieval(QUESTION, options=AnswerOptions(model=model))

    assert [request.deadline_s for request in model.requests] == [7.0, 7.0, 300.0]


def test_a_follow_up_is_made_standalone_by_rules_where_no_model_answers(library: Library) -> None:
    answer = generator_of(library).generate_with_retrieval(
        "and what policy is it?", options=AnswerOptions(history=HISTORY)
    )

    assert answer.searched == "How long does the retry policy wait? and what policy is it?"
    assert "The retry policy waits 30 seconds." in answer.answer


def test_statistics_count_tokens_and_money(library: Library) -> None:
    generator = generator_of(library)
    with ScriptedModel(ScriptedReply(ANSWER, usage=Usage(900, 100)), ScriptedReply(ANSWER, usage=None)) as model:
        for _ in range(2):
            generator.generate_with_retrieval(QUESTION, options=AnswerOptions(model=model))
    generator.generate_with_retrieval("Who painted the Mona Lisa?")

    counted = generator.get_generation_stats()
    assert (counted["total_generations"], counted["refused"], counted["with_citations"]) == (3, 1, 2)
    assert (counted["total_tokens"], counted["total_usd"], counted["unknown_costs"]) == (1_000, 1.0, 1)


def test_a_planned_answer_can_be_looked_at_and_priced(library: Library) -> None:
    generator, results = generator_of(library), library.search(QUESTION, view="passages")
    with ScriptedModel(ANSWER) as model:
        options = AnswerOptions(model=model, max_answer_tokens=300)
        planned = generator.request(QUESTION, results, options)
        estimate = generator.estimate_cost(QUESTION, results, options)
        generator.generate_answer(QUESTION, results, options=options)

    assert model.requests == [planned]
    assert "1| Sessions end after one hour." in format_prompt_for_display(planned.messages, planned.system)
    assert estimate is not None
    assert Decimal("0.3") < estimate < 3
    assert generator.estimate_cost(QUESTION, results, AnswerOptions()) == 0


def test_sampling_is_of_the_model_that_writes_and_not_of_the_check(library: Library) -> None:
    sampling = Sampling(temperature=0)
    judging = ScriptedModel(lambda _: OverloadedError("busy"), name="scripted:verifier")
    with ScriptedModel("Sessions are over after sixty minutes [1:1].") as model:
        ask(library, model, sampling=sampling, verifier=judging)

    assert model.requests[0].sampling == sampling
    assert [request.sampling for request in judging.requests] == [Sampling()]


@pytest.fixture
def large(tmp_path: Path) -> Iterator[Library]:
    """Yield a library in which the question finds other pages than the one that answers it."""
    made = Library(tmp_path / "large.db")
    for number in range(25):
        made.put(f"page{number:02}.md", f"Sessions of workshop {number} end with tea in room {number}.")
    made.put("logins.md", "A login expires after one hour without a request.")
    yield made
    made.close()


def test_the_model_first_writes_other_searches_and_answers_from_what_all_of_them_find(large: Library) -> None:
    def cite(request: Request) -> str:
        (login,) = (source.number for source in shown_to(request) if source.units[0].startswith("A login"))
        return f"A login expires after one hour [{login}:1]."

    with ScriptedModel("login expires\nhour without request\n", cite) as model:
        answer = ask(large, model)

    expanding, answering = model.requests
    assert "The question: When do sessions end?\n" in expanding.messages[-1].text
    assert len(shown_to(answering)) == 20
    assert answer.searches == ("login expires", "hour without request")
    assert answer.usage == Usage(20, 10)
    assert answer.citations[0].span.path == "logins.md"


@pytest.mark.parametrize("reply", ["", "...", "word " * 100, ScriptedReply("", stop="refused")])
def test_an_answer_comes_from_the_first_search_if_the_model_writes_no_other(
    large: Library, reply: str | ScriptedReply
) -> None:
    with ScriptedModel(reply, "They end with tea [1:1].") as model:
        answer = ask(large, model)

    assert answer.searches == ()
    assert "logins.md" not in {result.chunk.span.path for result in answer.results}


def test_an_answer_comes_from_the_first_search_if_the_call_for_others_fails(large: Library) -> None:
    with ScriptedModel(ScriptedReply("login", error=OverloadedError("busy")), "They end with tea [1:1].") as model:
        answer = ask(large, model)

    assert (answer.answer, answer.searches, answer.search_failure) == ("They end with tea [1:1].", (), "busy")
    assert answer.usage == Usage(10, 5, known=False)


def test_a_follow_up_is_searched_for_by_rules_if_the_call_that_rewrites_it_fails(library: Library) -> None:
    before = Exchange(QUESTION, ANSWER)
    with ScriptedModel(OverloadedError("busy"), "After one hour [1:1].") as model:
        answer = ask(library, model, "When exactly?", history=(before,))

    assert answer.searched == f"{QUESTION} When exactly?"
    assert (answer.answer, answer.search_failure) == ("After one hour [1:1].", "busy")


def test_a_model_that_fails_at_every_call_is_an_error(large: Library) -> None:
    with ScriptedModel(OverloadedError("busy"), OverloadedError("busy")) as model, pytest.raises(OverloadedError):
        ask(large, model)


def test_nobody_is_asked_for_searches_that_are_switched_off_or_could_find_no_more(large: Library) -> None:
    with ScriptedModel(*["They end with tea [1:1]."] * 3) as model:
        ask(large, model, expands_query=False)
        off = Generator(
            large.index, large.embedder, text_now=large.text_now, context_tokens=PLENTY, expands_queries=False
        )
        off.generate_with_retrieval(QUESTION, options=AnswerOptions(model=model, verifier="off"))
        generator_of(large).generate_answer(
            QUESTION, off.retrieve(QUESTION, 20), options=AnswerOptions(model=model, verifier="off")
        )


def test_other_searches_are_never_paid_for_with_what_the_answer_needs(large: Library) -> None:
    with ScriptedModel("They end with tea [1:1].") as model:
        answer = ask(large, model, budget=Budget(max_tokens=PLENTY))

    assert (answer.searches, answer.stopped) == ((), "")


def test_a_question_in_another_language_is_searched_for_in_that_of_the_sources(large: Library) -> None:
    question = "Wann läuft denn eine Anmeldung bei euch ab?"
    with ScriptedModel("login expires after", "Nach einer Stunde [1:1].") as model:
        answer = ask(large, model, question)

    assert (answer.refused, answer.searches) == (False, ("login expires after",))
    assert answer.citations[0].span.path == "logins.md"


def test_a_question_in_another_language_is_refused_if_no_search_finds_anything(large: Library) -> None:
    with ScriptedModel("") as model:
        answer = ask(large, model, "Wann läuft denn eine Anmeldung bei euch ab?")

    assert (answer.refused, answer.searches) == (True, ())
