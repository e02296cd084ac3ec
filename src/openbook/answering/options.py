"""Options of an answer: model, verifier, budget, history and images."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

from openbook.answers import POLICIES, Exchange, Policy
from openbook.costs import Budget
from openbook.errors import InvalidArgumentError, check_positive
from openbook.grounding.protocol import Judge
from openbook.llm.messages import DEADLINE_S
from openbook.llm.protocol import Model
from openbook.llm.sampling import DEFAULT_SAMPLING, Sampling
from openbook.types import Attachment

if TYPE_CHECKING:
    from openbook.agent.toolsets import ToolLike, Tools
    from openbook.llm.attachments import ImageLike

# Two pages. Longer answers are hardly checked by people.
_ANSWER_TOKENS = 2048


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerOptions:
    """How an answer is written. Models and verifiers are given as objects or by name.

    Raises:
        SettingsError: A name means nothing.
        KeyMissingError, MissingExtraError: What it names lacks a key or a package.
        QueryError: An image cannot be read, is none, is too large, or there are too many.
        InvalidArgumentError: There is no such policy, a limit is not above 0, or there are tools or images and no model
            for them.
        TypeError: A tool, a model or another value is none.
    """

    model: Model | str | None = None
    """What writes: a model, or its name as `open_model` takes it. None quotes."""
    tools: bool | Tools = False
    """Whether the model looks for sources itself, with tools. Tools of your own join those of the library: functions,
    `Tool`s, objects that define themselves, sets such as `mcp("command")`, one or several."""
    policy: Policy = "flag"
    """What happens to claims in conflict."""
    verifier: Model | Judge | str = "model"
    """What checks whether cited lines say what claims say: `model`, the one that writes; another model, a judge, or
    the name of one; `off`: nothing. Quotes need no check."""
    budget: Budget = field(default_factory=Budget)
    """For one answer."""
    history: Sequence[Exchange] = ()
    """What was asked and answered before, in order. It is copied."""
    images: Iterable[ImageLike] = ()
    """Images that belong to the question, and PDF, whose pages are drawn: paths, bytes of files, or what `image` of
    `openbook.agent` returns; five at most. The model sees them, and they are no sources: they cannot be cited."""
    max_answer_tokens: int = _ANSWER_TOKENS
    """Most tokens that the model may write in one reply."""
    context_tokens: int | None = None
    """Estimated tokens of sources that it may be written from. None: `Settings.context_tokens`."""
    sampling: Sampling = DEFAULT_SAMPLING
    """How the model that writes chooses its words. What it does not take is an error before the call."""
    expands_query: bool = True
    """Whether the model first writes other searches for the question, in words that the sources probably use."""
    deadline_s: float | None = None
    """Seconds that one call of the model may take, retries included. None: `Settings.model_timeout_s`."""

    def __post_init__(self) -> None:
        """Open what is given by name, and validate the rest."""
        self._check_values()
        object.__setattr__(self, "history", tuple(self.history))
        if self.policy not in POLICIES:
            raise InvalidArgumentError(
                f"there is no policy {self.policy!r}", hint=f"policies are {', '.join(POLICIES)}"
            )
        if isinstance(self.model, str):
            from openbook.llm.choose import open_model  # quotes have no use for models

            object.__setattr__(self, "model", open_model(self.model))
        if isinstance(self.verifier, str) and self.verifier not in ("model", "off"):
            from openbook.answering.verifiers import open_verifier
            from openbook.settings import Settings

            object.__setattr__(self, "verifier", open_verifier(self.verifier, Settings.from_env()))
        if not isinstance(self.tools, bool):
            from openbook.agent.toolsets import flat_tools

            object.__setattr__(self, "tools", flat_tools(self.tools))
            if self.own_tools and self.model is None:
                raise InvalidArgumentError(
                    "tools need a model that calls them, and none is named", hint="give model as well"
                )
        if self.images:
            from openbook.llm.attachments import question_images

            object.__setattr__(self, "images", question_images(self.images))
            if self.model is None:
                raise InvalidArgumentError(
                    "images need a model that reads them, and none is named", hint="give model as well"
                )

    def _check_values(self) -> None:
        if not (self.model is None or isinstance(self.model, str) or hasattr(self.model, "stream")):
            raise TypeError(f"model is {self.model!r}; write its name, such as 'anthropic', or a Model")
        if not isinstance(self.verifier, str | Judge | Model):
            raise TypeError(f"verifier is {self.verifier!r}; write its name, such as 'off', or a Model or Judge")
        if not isinstance(self.budget, Budget):
            raise TypeError(f"budget is {self.budget!r}; write Budget(max_usd=0.05), or another limit")
        if not isinstance(self.sampling, Sampling):
            raise TypeError(f"sampling is {self.sampling!r}; write Sampling(temperature=0), or another setting")
        optional = {"context_tokens": self.context_tokens, "deadline_s": self.deadline_s}
        given = {name: value for name, value in optional.items() if value is not None}
        check_positive(max_answer_tokens=self.max_answer_tokens, **given)
        if any(not isinstance(exchange, Exchange) for exchange in self.history):
            raise TypeError("the history must contain exchanges only; write Exchange(question, answer)")

    @property
    def writer(self) -> Model | None:
        """The model that writes; None quotes."""
        return cast("Model | None", self.model)

    @property
    def attached(self) -> tuple[Attachment, ...]:
        """The images of the question, as they are sent."""
        return cast("tuple[Attachment, ...]", self.images)

    @property
    def shown_images(self) -> tuple[Attachment, ...]:
        """All images that the model is shown: the last of the history, then those of the question."""
        from openbook.answering.prompting import pictured

        return (*(image for exchange in pictured(self.history) for image in exchange.images), *self.attached)

    @property
    def uses_tools(self) -> bool:
        """Whether the model looks for sources itself."""
        return bool(self.tools)

    @property
    def own_tools(self) -> tuple[ToolLike, ...]:
        """Tools beside those of the library."""
        return () if isinstance(self.tools, bool) else cast("tuple[ToolLike, ...]", self.tools)

    def with_tools(self, tools: Tools) -> AnswerOptions:
        """Return options with more tools; the same ones if there are none.

        Raises:
            TypeError: Something is no tool.
            ValueError: No model is named that could call them.
        """
        from openbook.agent.toolsets import flat_tools

        more = flat_tools(tools)
        return replace(self, tools=(*self.own_tools, *more)) if more else self

    def with_images(self, images: Iterable[ImageLike]) -> AnswerOptions:
        """Return options with more images; the same ones if there are none.

        Raises:
            QueryError: One cannot be read, is none, is too large, or there are too many.
            ValueError: No model is named that could read them.
        """
        if isinstance(images, tuple) and not images:
            return self
        from openbook.llm.attachments import question_images

        return replace(self, images=(*self.attached, *question_images(images)))

    @property
    def other_verifier(self) -> Model | None:
        """The model that checks claims, where it is another one than the one that writes."""
        return self.verifier if isinstance(self.verifier, Model) else None

    @property
    def timeout_s(self) -> float:
        """Return the deadline of a call; without one and without settings, that of every request."""
        return DEADLINE_S if self.deadline_s is None else self.deadline_s
