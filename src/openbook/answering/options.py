"""How an answer is written: by which model, within what, in the light of what."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from openbook.answers import Exchange, Policy
from openbook.costs import Budget
from openbook.grounding.protocol import Judge
from openbook.llm.messages import DEADLINE_S
from openbook.llm.protocol import Model

# Two pages. What is longer nobody checks.
_ANSWER_TOKENS = 2048


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerOptions:
    """How an answer is written."""

    model: Model | None = None
    """None quotes."""
    tools: bool = False
    """Whether the model looks for sources itself, with tools. Else it is shown what was found for the question."""
    policy: Policy = "flag"
    """What happens to claims in conflict."""
    verifier: Model | Judge | Literal["model", "off"] = "model"
    """Who checks whether cited lines say what claims say: the model that writes, another one, a judge, or nobody.
    Quotes need no check."""
    budget: Budget = field(default_factory=Budget)
    """For one answer."""
    history: tuple[Exchange, ...] = ()
    """What was asked and answered before, in order."""
    max_answer_tokens: int = _ANSWER_TOKENS
    """Most tokens that the model may write in one reply."""
    deadline_s: float | None = None
    """Seconds that one call of the model may take, retries included. None: `Settings.model_timeout_s`."""

    @property
    def other_verifier(self) -> Model | None:
        """The model that checks claims, where it is another one than the one that writes."""
        return self.verifier if isinstance(self.verifier, Model) else None

    @property
    def timeout_s(self) -> float:
        """Return the deadline of a call; without one and without settings, that of every request."""
        return DEADLINE_S if self.deadline_s is None else self.deadline_s
