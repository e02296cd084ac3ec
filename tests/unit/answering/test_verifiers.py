"""Who checks claims for entailment, what that costs, and what a failure of it leaves."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from openbook.answering.generator import Generator
from openbook.answering.options import AnswerOptions
from openbook.answering.verifiers import ModelJudge, open_verifier
from openbook.answers import Answered, AnswerEvent, GenerationResult, Stage, Written
from openbook.costs import Budget
from openbook.errors import ModelError, OverloadedError, SettingsError
from openbook.grounding.protocol import CitedClaim, Entailment
from openbook.llm.messages import Request, ShownSource, ToolCall
from openbook.settings import Settings
from openbook.testing import ScriptedModel, ScriptedReply
from openbook.usage import Usage
from tests.unit.answering.checks import NOT_SAID, verdict_lines
from tests.unit.answering.driving import astream, stream
from tests.unit.retrieval.material import Library

QUESTION = "When do sessions end?"
OPEN = "A session is over after an hour [1:1]."
WRONG = "The retry policy waits 90 seconds [1:2]."
ENTAILED = verdict_lines(("entailed", "Sessions end after one hour"))


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    made = Library(tmp_path / "lib.db")
    made.put("a.md", "Sessions end after one hour.\nThe retry policy waits 30 seconds.")
    yield made
    made.close()


def generator_of(library: Library) -> Generator:
    return Generator(
        library.index,
        library.embedder,
        text_now=library.text_now,
        context_tokens=6_000,
        price=lambda _, usage: Decimal(usage.input_tokens + usage.output_tokens) / 1_000 if usage.known else None,
    )


def happen(library: Library, options: AnswerOptions) -> list[AnswerEvent]:
    return list(stream(generator_of(library), QUESTION, options=options))


async def collected(library: Library, options: AnswerOptions) -> list[AnswerEvent]:
    return [event async for event in astream(generator_of(library), QUESTION, options=options)]


def ask(library: Library, options: AnswerOptions) -> GenerationResult:
    last = happen(library, options)[-1]
    assert isinstance(last, Answered)
    return last.answer


def test_the_model_that_writes_checks_its_claims_in_one_more_call(library: Library) -> None:
    with ScriptedModel(
        ScriptedReply(OPEN, usage=Usage(900, 100)), ScriptedReply(ENTAILED, usage=Usage(300, 20))
    ) as model:
        answer = ask(library, AnswerOptions(model=model))

    assert [claim.verdict for claim in answer.claims] == ["confirmed"]
    assert (answer.model, answer.verifier) == (model.name, model.name)
    assert (answer.usage, answer.cost_usd) == (Usage(1_200, 120), Decimal("1.32"))


def test_a_verifier_sees_the_claims_and_what_they_cite_and_nothing_else(library: Library) -> None:
    library.put("b.md", "Roses need sun, and sessions of watering.")
    with ScriptedModel(f"{OPEN} {WRONG} It is over then [1:1].", NOT_SAID) as model:
        ask(library, AnswerOptions(model=model))

    written, asked = model.requests
    assert "Roses" in str(written)
    assert asked.tools == ()
    assert "You check claims against the lines that they cite." in asked.system
    told = asked.messages[0].text
    assert len(asked.messages) == 1
    assert QUESTION not in told
    assert "Roses" not in told
    assert told.count("1| Sessions end after one hour.") == 1
    assert "2| The retry policy waits 30 seconds." in told
    assert "1. (source 1, lines 1) A session is over after an hour." in told
    assert "2. (source 1, lines 2) The retry policy waits 90 seconds." in told
    assert "3. (source 1, lines 1) It is over then." in told


def test_a_verifier_is_told_the_very_line_that_is_cited(library: Library) -> None:
    library.put("b.py", "def sessions_end():\n    return None\n\ndef sessions_begin():\n    return None")

    def cites(request: Request) -> str:
        number = next(source.number for source in shown_in(request) if source.place.startswith("b.py"))
        return f"Sessions begin with nothing [{number}:4]."

    with ScriptedModel(cites, NOT_SAID) as model:
        ask(library, AnswerOptions(model=model))

    assert "1. (source 1, lines 4) Sessions begin with nothing." in model.requests[1].messages[0].text


def shown_in(request: Request) -> list[ShownSource]:
    return [part for message in request.messages for part in message.parts if isinstance(part, ShownSource)]


def test_another_model_can_check(library: Library) -> None:
    with (
        ScriptedModel(ScriptedReply(OPEN, usage=Usage(900, 100)), name="scripted:writes") as writes,
        ScriptedModel(ScriptedReply(ENTAILED, usage=Usage(300, 20)), name="scripted:checks") as checks,
    ):
        answer = ask(library, AnswerOptions(model=writes, verifier=checks))

    assert [claim.verdict for claim in answer.claims] == ["confirmed"]
    assert (answer.model, answer.verifier) == ("scripted:writes", "scripted:checks")
    assert (answer.usage, answer.cost_usd) == (Usage(1_200, 120), Decimal("1.32"))
    assert (len(writes.requests), len(checks.requests)) == (1, 1)


def test_without_a_verifier_nobody_is_asked(library: Library) -> None:
    with ScriptedModel(OPEN) as model:
        answer = ask(library, AnswerOptions(model=model, verifier="off"))

    assert answer.verifier == ""
    assert [(claim.verdict, claim.reason) for claim in answer.claims] == [
        ("unverified", "nothing checked whether the cited lines say it")
    ]


def test_quotes_are_not_verified(library: Library) -> None:
    with ScriptedModel() as checks:
        answer = ask(library, AnswerOptions(verifier=checks))

    assert {claim.verdict for claim in answer.claims} == {"exact"}
    assert answer.verifier == ""


def test_verdicts_come_behind_the_text(library: Library) -> None:
    with ScriptedModel(OPEN, ENTAILED) as model:
        events = happen(library, AnswerOptions(model=model))

    kinds = [event.name if isinstance(event, Stage) else type(event).__name__ for event in events]
    assert list(dict.fromkeys(kinds[:-3])) == ["searching", "writing", "Written", "checking"]
    assert kinds[-4:] == ["checking", "verifying", "checking", "Answered"]
    assert "".join(event.text for event in events if isinstance(event, Written)) == OPEN


SEARCH = ScriptedReply(ToolCall("call-1", "search", '{"query": "sessions end"}'))


@pytest.mark.parametrize(("steps", "tools"), [([], False), ([SEARCH], True)], ids=["direct", "agent"])
def test_a_check_that_does_not_fit_the_budget_is_not_made(
    library: Library, steps: Sequence[ScriptedReply], *, tools: bool
) -> None:
    with ScriptedModel(*steps, ScriptedReply(OPEN, usage=Usage(9_000, 100))) as model:
        answer = ask(library, AnswerOptions(model=model, budget=Budget(max_tokens=9_200), tools=tools))

    (claim,) = answer.claims
    assert (answer.answer, answer.refused, answer.stopped) == (OPEN, False, "")
    assert claim.verdict == "unverified"
    assert claim.reason.startswith("the budget left nothing for a check: ")
    assert answer.usage.output_tokens == 100 + 5 * len(steps)


def test_a_check_after_a_search_is_paid_like_one_without(library: Library) -> None:
    with ScriptedModel(SEARCH, OPEN, ENTAILED) as model:
        answer = ask(library, AnswerOptions(model=model, tools=True))

    assert [claim.verdict for claim in answer.claims] == ["confirmed"]
    assert (answer.verifier, answer.usage) == (model.name, Usage(30, 15))
    assert model.requests[2].tools == ()


def test_a_check_is_granted_no_more_than_the_budget_has_left(library: Library) -> None:
    with ScriptedModel(ScriptedReply(OPEN, usage=Usage(5_000, 100)), ENTAILED) as model:
        ask(library, AnswerOptions(model=model, budget=Budget(max_tokens=6_500)))

    rich = ScriptedModel(OPEN, ENTAILED)
    ask(library, AnswerOptions(model=rich))

    assert 128 <= model.requests[1].max_tokens < rich.requests[1].max_tokens


def test_a_check_by_a_model_without_a_price_is_not_made_within_a_limit_of_money(library: Library) -> None:
    generator = Generator(
        library.index,
        library.embedder,
        text_now=library.text_now,
        context_tokens=6_000,
        price=lambda name, usage: None if name == "scripted:free" else Decimal(usage.output_tokens) / 1_000,
    )
    with ScriptedModel(OPEN) as writes, ScriptedModel(name="scripted:free") as checks:
        options = AnswerOptions(model=writes, verifier=checks, budget=Budget(max_usd=100))
        answer = generator.generate_with_retrieval(QUESTION, options=options)

    assert [claim.verdict for claim in answer.claims] == ["unverified"]
    assert "the price of 'scripted:free' is not known" in answer.claims[0].reason


@pytest.mark.parametrize(("steps", "tools"), [([], False), ([SEARCH], True)], ids=["direct", "agent"])
def test_a_second_answer_has_only_what_the_check_has_left(
    library: Library, steps: Sequence[ScriptedReply], *, tools: bool
) -> None:
    first, check = (
        ScriptedReply(f"{OPEN} {WRONG}", usage=Usage(1_000, 100)),
        ScriptedReply(NOT_SAID, usage=Usage(28_000, 100)),
    )
    with ScriptedModel(*steps, first, check) as model:
        answer = ask(library, AnswerOptions(model=model, policy="retry", budget=Budget(max_tokens=29_400), tools=tools))

    assert answer.answer == f"{OPEN} {WRONG}"
    assert [repair.what for repair in answer.repairs] == ["retried"]


def test_a_second_answer_and_its_check_are_paid_as_well(library: Library) -> None:
    with ScriptedModel(f"{OPEN} {WRONG}", NOT_SAID, "It is over then [1:1].", ENTAILED) as model:
        answer = ask(library, AnswerOptions(model=model, policy="retry", budget=Budget(max_tokens=90_000)))

    assert (answer.answer, answer.usage) == ("It is over then [1:1].", Usage(40, 20))
    assert [claim.verdict for claim in answer.claims] == ["confirmed"]


@pytest.mark.parametrize(("steps", "tools"), [([], False), ([SEARCH], True)], ids=["direct", "agent"])
@pytest.mark.parametrize("is_async", [False, True], ids=["blocking", "async"])
def test_a_second_answer_that_fails_does_not_cost_the_first(
    library: Library, steps: Sequence[ScriptedReply], *, tools: bool, is_async: bool
) -> None:
    with ScriptedModel(*steps, f"{OPEN} {WRONG}", NOT_SAID, OverloadedError("busy")) as model:
        options = AnswerOptions(model=model, policy="retry", tools=tools)
        events = asyncio.run(collected(library, options)) if is_async else happen(library, options)

    last = events[-1]
    assert isinstance(last, Answered)
    assert [claim.verdict for claim in last.answer.claims] == ["unverified", "conflict"]
    assert last.answer.answer == f"{OPEN} {WRONG}"
    assert [repair.why for repair in last.answer.repairs] == ["1 claim in conflict; there is no second answer: busy"]
    assert last.answer.cost_usd is None


@pytest.mark.parametrize("failing", [OverloadedError("busy"), ScriptedReply("{", error=OverloadedError("busy"))])
def test_a_verifier_that_fails_leaves_claims_unverified(library: Library, failing: ModelError | ScriptedReply) -> None:
    with ScriptedModel(f"{OPEN} {WRONG} Sessions end after one hour [1:1].", failing) as model:
        answer = ask(library, AnswerOptions(model=model))

    assert [claim.verdict for claim in answer.claims] == ["unverified", "conflict", "exact"]
    assert answer.claims[0].reason == "the verifier failed: busy"
    assert answer.verifier_failures == {"the verifier failed: busy"}
    assert answer.cost_usd is None  # what it cost, nobody knows


@pytest.mark.parametrize(
    "reply", ["", "All is fine.", '{"claim": 7, "verdict": "entailed", "quote": "Sessions"}', "[]"]
)
def test_a_verifier_that_says_nothing_of_a_claim_leaves_it_unverified(library: Library, reply: str) -> None:
    with ScriptedModel(OPEN, reply) as model:
        answer = ask(library, AnswerOptions(model=model))

    assert [(claim.verdict, claim.reason) for claim in answer.claims] == [
        ("unverified", "the verifier gave no verdict on it")
    ]


Say = Callable[[Sequence[CitedClaim]], Any]


class SayingJudge:
    """A judge that does what a test wants."""

    name = "test:judge"

    def __init__(self, say: Say) -> None:
        self._say = say

    def judge(self, claims: Sequence[CitedClaim]) -> Sequence[Entailment | None]:
        """Say it."""
        found: Sequence[Entailment | None] = self._say(claims)
        return found


def test_a_judge_of_ones_own_can_check_and_costs_nothing(library: Library) -> None:
    judge = SayingJudge(lambda claims: [Entailment("entailed", "Sessions end after one hour") for _ in claims])
    with ScriptedModel(OPEN) as model:
        answer = ask(library, AnswerOptions(model=model, verifier=judge))

    assert [claim.verdict for claim in answer.claims] == ["confirmed"]
    assert (answer.verifier, answer.usage) == ("test:judge", Usage(10, 5))


def fails(error: Exception) -> Say:
    def say(_: Sequence[CitedClaim]) -> object:
        raise error

    return say


OTHER_NUMBER = "the verifier gave another number of verdicts than there are claims"


@pytest.mark.parametrize(
    ("say", "reason"),
    [
        pytest.param(fails(SettingsError("no weights")), "the verifier failed: no weights", id="an-error-of-ours"),
        pytest.param(fails(ZeroDivisionError("0")), "the verifier failed", id="an-error-of-a-stranger"),
        pytest.param(lambda _: None, "the verifier failed", id="nothing"),
        pytest.param(lambda _: [], OTHER_NUMBER, id="too-few"),
        pytest.param(lambda claims: [None] * (len(claims) + 1), OTHER_NUMBER, id="too-many"),
        pytest.param(lambda claims: [None for _ in claims], "the verifier gave no verdict on it", id="no-verdict"),
        pytest.param(lambda claims: ["yes" for _ in claims], "the verifier gave no verdict on it", id="other-things"),
    ],
)
def test_a_judge_that_fails_does_not_cost_the_answer(library: Library, say: Say, reason: str) -> None:
    with ScriptedModel(OPEN) as model:
        answer = ask(library, AnswerOptions(model=model, verifier=SayingJudge(say)))

    assert (answer.answer, answer.refused) == (OPEN, False)
    assert [(claim.verdict, claim.reason) for claim in answer.claims] == [("unverified", reason)]


def test_names_open_verifiers() -> None:
    assert (open_verifier("", Settings()), open_verifier("model", Settings()), open_verifier("off", Settings())) == (
        "model",
        "model",
        "off",
    )
    with pytest.raises(SettingsError, match="is not a verifier"):
        open_verifier("extractive", Settings())


CLAIM = CitedClaim("A session is over after an hour.", "Sessions end after one hour.")


def test_a_model_as_a_judge_is_asked_for_twenty_claims_at_a_time() -> None:
    said = verdict_lines(*[("entailed", "one hour")] * 20)
    with ScriptedModel(said, said, name="scripted:judge") as model:
        judge = ModelJudge(model)
        found = judge.judge([CLAIM] * 25)

    assert found == [Entailment("entailed", "one hour")] * 25
    assert (judge.name, judge.spent.usage, judge.failures) == ("scripted:judge", Usage(20, 10), [])


def test_a_batch_that_fails_spoils_no_other() -> None:
    said = verdict_lines(*[("not said", "")] * 20)
    with ScriptedModel(OverloadedError("busy"), said) as model:
        judge = ModelJudge(model)
        found = judge.judge([CLAIM] * 25)

    assert found == [None] * 20 + [Entailment("not said")] * 5
    assert judge.failures == ["busy"]


def test_a_model_judge_that_never_replies_raises() -> None:
    with ScriptedModel(OverloadedError("busy")) as model, pytest.raises(ModelError, match="busy"):
        ModelJudge(model).judge([CLAIM])


def test_a_model_judge_keeps_one_budget_for_all_batches() -> None:
    said = ScriptedReply(verdict_lines(*[("not said", "")] * 20), usage=Usage(9_000, 900))
    with ScriptedModel(said) as model:
        judge = ModelJudge(model, budget=Budget(max_tokens=10_000))
        found = judge.judge([CLAIM] * 25)

    assert found[20:] == [None] * 5
    assert judge.failures == ["the budget left nothing for a check: 100 of 100 tokens are left"]
