"""Verifiers of claims: the model that wrote them, another model, or a custom judge."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, cast

from openbook.agent.driving import drive
from openbook.answering.options import AnswerOptions
from openbook.answering.steps import ModelCaller, Steps
from openbook.costs import Budget, Price, Spent, price_of
from openbook.errors import ModelError, SettingsError
from openbook.grounding.entailment import VERIFIER_FAILED, ask_judge
from openbook.grounding.model_prompt import VerificationPrompt
from openbook.grounding.protocol import CitedClaim, Entailment, Judge
from openbook.llm.choose import open_model
from openbook.llm.messages import DEADLINE_S
from openbook.llm.protocol import Model
from openbook.plugins import having, open_plugin
from openbook.settings import Settings

# Limit of claims per call; an answer of two pages has fewer. Further claims stay unverified.
_MAX_CLAIMS = 100

# Batch size for the claims of a file: about as many as a long answer has.
_CLAIMS_PER_CALL = 20

_NLI = "nli:"


@dataclass(frozen=True, slots=True)
class VerifierReport:
    """The verdicts of a verifier, or why there are none."""

    entailments: Sequence[Entailment | None] = ()
    """Of each claim, in order; None where it says nothing."""
    failure: str = ""
    """Why it says nothing at all, for people."""


class ClaimVerifier(Protocol):
    """Checks the claims of one answer."""

    @property
    def name(self) -> str:
        """Name for people."""
        ...

    @property
    def spent(self) -> Spent:
        """What it has cost so far."""
        ...

    @property
    def left(self) -> Budget | None:
        """What its last check has left of the budget; None if it costs nothing, or has not checked yet."""
        ...

    def verify(self, claims: Sequence[CitedClaim]) -> Steps[VerifierReport]:
        """Check claims. A failure is part of the result, never an error."""
        ...


class ModelVerifier:
    """Check the claims of an answer by one model call."""

    def __init__(
        self,
        name: str,
        budget: Callable[[], Budget],
        *,
        deadline_s: float = DEADLINE_S,
        price: Price = price_of,
    ) -> None:
        """Prepare. `budget` returns what is left to spend when the claims are to be checked."""
        self.name = name
        self.spent = Spent()
        self.left: Budget | None = None
        self._budget = budget
        self._deadline_s = deadline_s
        self._price = price

    def verify(self, claims: Sequence[CitedClaim]) -> Steps[VerifierReport]:
        """Call the model once, if the budget allows it."""
        claims = claims[:_MAX_CLAIMS]
        calls = ModelCaller(self.name, self._budget(), price=self._price)
        prompt = VerificationPrompt(claims)
        try:
            reply = yield from calls.ask(prompt.request(deadline_s=self._deadline_s), by="verifier")
        finally:
            self.spent += calls.ledger.spent
            self.left = calls.ledger.left
        if reply.stopped:
            return VerifierReport(failure=f"the budget left nothing for a check: {reply.reason}")
        if reply.reason:
            return VerifierReport(failure=f"{VERIFIER_FAILED}: {reply.reason}")
        return VerifierReport(prompt.read(reply.text))


class JudgeVerifier:
    """Check the claims of an answer with a `Judge`, in the thread that runs the steps."""

    spent: Spent = Spent()
    left = None

    def __init__(self, judge: Judge) -> None:
        """Take the judge."""
        self.name: str = judge.name
        self._judge = judge

    def verify(self, claims: Sequence[CitedClaim]) -> Steps[VerifierReport]:
        """Call the judge. Whatever it raises leaves the claims unverified: it may be a stranger's."""
        yield from ()
        return VerifierReport(*ask_judge(self._judge, claims))


def open_verifier(name: str, settings: Settings) -> Model | Judge | Literal["model", "off"]:
    """Open what a name means as a verifier. Sends nothing.

    Args:
        name: `off`, `nli:` and a folder or the name of an entailment model that was added, or a model as
            `openbook.llm.choose.open_model` takes it, or a plugin that judges. Empty or `model`: the model that writes.
        settings: Say where added models are.

    Raises:
        SettingsError: The name means nothing.
        KeyMissingError: The provider needs a key.
        MissingExtraError: A package for it is not installed.
    """
    if name in ("", "model"):
        return "model"
    if name == "off":
        return "off"
    if name.startswith(_NLI):
        from openbook.grounding import installed_models  # which only those pay for who have one

        return installed_models.open_entailment_model(name.removeprefix(_NLI), settings)
    judge = open_plugin("judges", name, having("name", "judge"))
    if judge is not None:
        return cast("Judge", judge)
    model = open_model(name, what="verifier")
    if model is None:
        raise SettingsError(f"{name!r} is not a verifier", hint="use a model, `nli:FOLDER`, or `off`")
    return model


def verifier_for(
    options: AnswerOptions, budget: Callable[[], Budget], *, price: Price = price_of
) -> ModelVerifier | JudgeVerifier | None:
    """Return the verifier for the claims of an answer, if any.

    `budget` returns what is left to spend when the claims are to be checked.
    """
    chosen = options.writer if options.verifier == "model" else options.verifier
    if chosen is None or isinstance(chosen, str):
        return None
    if isinstance(chosen, Judge):
        return JudgeVerifier(chosen)
    return ModelVerifier(chosen.name, budget, deadline_s=options.timeout_s, price=price)


class ModelJudge:
    """A model as a `Judge`, for claims of any program.

    Claims are sent in batches, so that one that cannot be read spoils few. An answer that Openbook writes has
    its claims checked in one call instead.
    """

    def __init__(
        self, model: Model, *, budget: Budget | None = None, deadline_s: float = DEADLINE_S, price: Price = price_of
    ) -> None:
        """Take the model, what all calls together may cost, and the seconds that one may take."""
        self._model = model
        self._price = price
        self._left = budget or Budget()
        self._deadline_s = deadline_s
        self.spent = Spent()
        """What the calls have cost so far."""
        self.failures: list[str] = []
        """Why batches were not judged, for people, in order."""

    @property
    def name(self) -> str:
        """Name of the model."""
        return self._model.name

    def judge(self, claims: Sequence[CitedClaim]) -> list[Entailment | None]:
        """Judge claims. Where the model gives no verdict, the result is None.

        Raises:
            ModelError: No batch could be judged.
        """
        found: list[Entailment | None] = []
        for start in range(0, len(claims), _CLAIMS_PER_CALL):
            batch = claims[start : start + _CLAIMS_PER_CALL]
            calls = ModelCaller(self.name, self._left, price=self._price)
            replies: list[Entailment | None] = []
            try:
                replies = list(self._asked(calls, batch))
            except ModelError as exc:
                self.failures.append(str(exc))
            self.spent += calls.ledger.spent
            self._left = calls.ledger.left
            found += replies or [None] * len(batch)
        if self.failures and not any(found):
            raise ModelError(self.failures[0])
        return found

    def _asked(self, calls: ModelCaller, claims: Sequence[CitedClaim]) -> Iterator[Entailment | None]:
        prompt = VerificationPrompt(claims)
        texts: list[str] = []

        def steps() -> Steps[None]:
            reply = yield from calls.ask(prompt.request(deadline_s=self._deadline_s))
            if reply.stopped:
                raise ModelError(f"the budget left nothing for a check: {reply.reason}")
            texts.append(reply.text)

        for _ in drive(steps(), self._model):
            pass
        return iter(prompt.read(texts[0]))
