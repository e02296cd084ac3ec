"""`openbook doctor --model`: one question on a short text, answered and checked by the model."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from openbook.answering.options import AnswerOptions
from openbook.answering.prompting import build_system_prompt
from openbook.answering.verifiers import ModelJudge
from openbook.costs import Budget, estimate_tokens, format_usd
from openbook.errors import OpenbookError
from openbook.grounding.protocol import CitedClaim
from openbook.library import Library
from openbook.llm.choose import find_provider, split_names
from openbook.llm.context_size import context_size
from openbook.settings import Settings

if TYPE_CHECKING:
    from openbook.answers import GenerationResult
    from openbook.llm.protocol import Model

_QUESTION = "When does a parcel count as lost?"

# The first claim rephrases the text; nothing in the text supports the second.
_TEXT = "Parcels wait in the shed for fourteen days. After that, they count as lost."
_TRUE = CitedClaim("A parcel is regarded as lost once two weeks have passed.", _TEXT)
_FALSE = CitedClaim("A parcel is regarded as lost once it has been opened.", _TEXT)

# Expected tokens of an answer, about a page. `AnswerOptions.max_answer_tokens` allows more, which few answers use.
_REPLY_TOKENS = 1024

# Fewer input tokens say nothing about reading speed; text and rules have more.
_MIN_INPUT_TOKENS = 300

# Fewer source tokens than three short passages are hardly enough for an answer.
_MIN_CONTEXT_TOKENS = 300

# The actual number of tokens may exceed the estimate by this factor: `openbook.llm.request_tokens.MARGIN`.
_MARGIN = 1.3


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One line of the diagnosis."""

    text: str
    healthy: bool = True


def context_findings(name: str, settings: Settings) -> Iterator[Diagnostic]:
    """Compare the server's context size, if it reports one, with what answers send."""
    size = _size_of(name)
    if size is None:
        return
    rules = estimate_tokens(build_system_prompt())
    wanted = int((rules + settings.context_tokens) * _MARGIN) + _REPLY_TOKENS
    if wanted <= size:
        yield Diagnostic(f"context of the server: {size} tokens; answers need up to {wanted}")
        return
    left = _room_in(size)
    uses = settings.is_default("context_tokens")
    advice = (
        f"commands use {left} tokens of sources; for more, start"
        if uses
        else f"set OPENBOOK_CONTEXT_TOKENS={left}, or start"
    )
    advice = advice if left >= _MIN_CONTEXT_TOKENS else "start"
    yield Diagnostic(
        f"context of the server: {size} tokens, and answers need up to {wanted}; {advice} the server with more",
        healthy=False,
    )


def fitting_context(name: str, settings: Settings) -> int | None:
    """Return the source tokens that fit into a server's context, if it reports one and they are fewer.

    None: use the settings. Also if the settings set a number, or if too few fit for an answer.
    """
    if not settings.is_default("context_tokens") or (size := _size_of(name)) is None:
        return None
    left = _room_in(size)
    return left if _MIN_CONTEXT_TOKENS <= left < settings.context_tokens else None


def _size_of(name: str) -> int | None:
    if name.startswith("cli:") or len(split_names(name)) > 1:
        return None
    try:
        return context_size(*find_provider(name))
    except OpenbookError:  # a plugin, which has no server that reports it
        return None


def _room_in(size: int) -> int:
    """Return the source tokens that a context leaves beside the rules and the reply, in hundreds."""
    left = int((size - _REPLY_TOKENS) / _MARGIN) - estimate_tokens(build_system_prompt())
    return left // 100 * 100


def trial_findings(model: Model, settings: Settings) -> Iterator[Diagnostic]:
    """Ask the model one question on a short text, and let it judge a true and a false claim."""
    try:
        answer = _answered(model, settings)
        yield from _of_answer(answer)
        yield from _of_deadline(answer, settings)
        yield _of_judge(model, settings.model_timeout_s)
    except OpenbookError as exc:
        yield Diagnostic(f"model trial: {'; '.join(filter(None, (str(exc), exc.hint)))}", healthy=False)


def _answered(model: Model, settings: Settings) -> GenerationResult:
    with tempfile.TemporaryDirectory(prefix="openbook-") as folder:
        page = Path(folder, "page", "harbour.md")
        page.parent.mkdir()
        page.write_text((files("openbook.cli") / "trial.md").read_text(encoding="utf-8"), encoding="utf-8")
        own = Settings(home=Path(folder, "home"), workers=1)
        own = replace(own, context_tokens=settings.context_tokens, model_timeout_s=settings.model_timeout_s)
        with Library.open("trial", settings=own) as library:
            library.add(page.parent)
            options = AnswerOptions(model=model, verifier="off", budget=Budget(), max_answer_tokens=_REPLY_TOKENS)
            return library.query(_QUESTION, options=options)


def _of_answer(answer: GenerationResult) -> Iterator[Diagnostic]:
    took_s = answer.took_ms / 1000
    tokens = answer.usage.output_tokens
    speed = f", {tokens / took_s:.0f} tokens written a second" if answer.usage.known and took_s > 0 else ""
    yield Diagnostic(f"trial question answered in {took_s:.1f} s{speed}; price: {format_usd(answer.cost_usd)}")
    by_model = [claim for claim in answer.claims if answer.own_chars is None or claim.start_char < answer.own_chars]
    cited = [claim for claim in by_model if claim.marks]
    wrong = [claim for claim in cited if claim.is_wrong]
    kept = len(cited) - len(wrong)
    is_well = bool(cited) and not wrong
    advice = "" if is_well else "; it will be followed by quotes or flagged: a larger model cites better"
    yield Diagnostic(f"trial citations: {kept} of {len(by_model)} claims cite lines that hold{advice}", is_well)


def _of_deadline(answer: GenerationResult, settings: Settings) -> Iterator[Diagnostic]:
    """Compare the deadline with the expected time of an answer from a full context, at the measured speed."""
    if not answer.usage.known or answer.usage.input_tokens < _MIN_INPUT_TOKENS:
        return
    full_s = answer.took_ms / 1000 * settings.context_tokens / answer.usage.input_tokens
    if full_s > settings.model_timeout_s:
        yield Diagnostic(
            f"deadline: an answer from {settings.context_tokens} tokens may take {full_s:.0f} s, and"
            f" {settings.model_timeout_s:g} s are allowed; set OPENBOOK_MODEL_TIMEOUT_S higher, or"
            " OPENBOOK_CONTEXT_TOKENS lower",
            healthy=False,
        )


def _of_judge(model: Model, timeout_s: float) -> Diagnostic:
    true, false = ModelJudge(model, deadline_s=timeout_s).judge([_TRUE, _FALSE])
    if true is not None and false is not None and true.label == "entailed" and false.label != "entailed":
        return Diagnostic("trial verifier: usable; it tells a true claim from a false one")
    return Diagnostic(
        "trial verifier: not usable; it does not tell a true claim from a false one; name another in OPENBOOK_VERIFIER",
        healthy=False,
    )
