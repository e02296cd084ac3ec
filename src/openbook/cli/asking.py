"""Options for asking a model, and progress while it writes."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence

import typer

from openbook.agent.toolsets import installed_tools
from openbook.answering.options import AnswerOptions
from openbook.answering.verifiers import ModelJudge, open_verifier
from openbook.answers import POLICIES, Answered, AnswerEvent, GenerationResult, ToolUsed, Written
from openbook.cli import printing
from openbook.cli.opening import settings
from openbook.cli.options import one_of
from openbook.costs import Budget, format_usd
from openbook.errors import ModelError
from openbook.grounding.protocol import Judge
from openbook.llm.choose import open_model
from openbook.llm.protocol import Model
from openbook.llm.sampling import Sampling
from openbook.usage import Usage

# The last lines of an answer that are shown while it is written, as many as fit on any terminal.
_DRAFT_LINES = 12


def build_answer_options(
    model: str,
    *,
    agent: bool,
    limits: tuple[int, float | None],
    sampling: tuple[float | None, int | None] = (None, None),
    images: Sequence[str] = (),
    policy: str,
    verifier: str = "",
) -> AnswerOptions:
    """Build the options of an answer from those of a command. A local server is asked for its context size.

    `limits` are the maximum rounds of tools and US dollars. `sampling` is temperature and seed.
    """
    chosen = one_of(POLICIES, policy, "--policy")
    opened = open_writer(model)
    if agent and opened is None:
        raise typer.BadParameter("--agent needs a model; name one with --model", param_hint="--agent")
    if images and opened is None:
        raise typer.BadParameter("--image needs a model that reads images; name one with --model", param_hint="--image")
    for option, value in zip(("--temperature", "--seed"), sampling, strict=True):
        if value is not None and opened is None:
            raise typer.BadParameter(f"{option} needs a model; name one with --model", param_hint=option)
    return AnswerOptions(
        model=opened,
        tools=(installed_tools() or True) if agent else False,
        policy=chosen,
        verifier=open_verifier(verifier or settings().verifier, settings()),
        budget=Budget(max_rounds=limits[0], max_usd=limits[1]),
        context_tokens=None if opened is None else _fitting_context(model or settings().model),
        sampling=Sampling(temperature=sampling[0], seed=sampling[1]),
        images=images,
    )


def _fitting_context(name: str) -> int | None:
    from openbook.cli.model_trial import fitting_context

    tokens = fitting_context(name, settings()) if name else None
    if tokens is not None:
        printing.note(f"{name} has a short context: answers are written from {tokens} tokens of sources")
    return tokens


def open_writer(name: str) -> Model | None:
    """Open the model of the command or settings, with the reply cache if configured."""
    model = open_model(name or settings().model)
    if model is None:
        return None
    from openbook.llm.rate_limit import rate_limited

    model = rate_limited(model, settings())
    if not settings().reply_cache:
        return model
    from openbook.llm.reply_cache import CachedModel

    return CachedModel(model, settings().reply_cache)  # outermost: cached replies need no turn of the rate limit


def judge_of(verifier: str, max_usd: float | None) -> Judge | None:
    """Open the verifier for claims of other programs; None to decide by words alone."""
    if verifier == "model":
        raise typer.BadParameter(
            "`--verifier` needs a model here, because none wrote the claims", param_hint="--verifier"
        )
    opened = open_verifier(verifier or settings().verifier or "off", settings())
    if isinstance(opened, str):
        return None
    return (
        opened
        if isinstance(opened, Judge)
        else ModelJudge(opened, budget=Budget(max_usd=max_usd), deadline_s=settings().model_timeout_s)
    )


def follow(events: Iterator[AnswerEvent]) -> GenerationResult:
    """Show the progress of a question, and return the answer.

    On a terminal, unchecked text is shown on standard error, and then erased.
    """
    answer = None
    with contextlib.ExitStack() as stack:
        stack.callback(getattr(events, "close", lambda: None))
        draft = stack.enter_context(_draft())
        for event in events:
            if isinstance(event, Written) and not event.is_checked:  # checked text is printed in a moment
                draft.write(event.text)
            elif isinstance(event, ToolUsed):
                draft.note(f"{event.name} {event.arguments}: {event.outcome}")
            elif isinstance(event, Answered):
                answer = event.answer
    assert answer is not None
    return answer


def note_cost(answer: GenerationResult) -> None:
    """Print to standard error which model answered, its cost, and what stopped it."""
    if answer.model != "extractive":
        checked = f", checked by {answer.verifier}" if answer.verifier not in ("", answer.model) else ""
        printing.note(f"{answer.model}{checked}: {_spent(answer)}")
    if answer.searched:
        printing.note(f"searched for: {answer.searched}")
    if answer.searches:
        printing.note(f"searched also for: {', '.join(answer.searches)}")
    if answer.search_failure:
        printing.note(f"searched only for the question: {answer.search_failure}")
    if answer.stopped:
        printing.note(f"stopped early: {answer.stopped}")


def _spent(answer: GenerationResult) -> str:
    usage = answer.usage
    if usage == Usage():
        return "not asked"
    counted = f"{usage.input_tokens:,} tokens read, {usage.output_tokens:,} written"
    cost = "price unknown" if answer.cost_usd is None else format_usd(answer.cost_usd)
    return f"{counted if usage.known else f'at least {counted}'}, {cost}"


class _Draft:
    """Shows only tool calls: unchecked text must not reach a pipe."""

    def write(self, text: str) -> None:
        """Show nothing."""

    def note(self, line: str) -> None:
        printing.note(line)


@contextlib.contextmanager
def _draft() -> Iterator[_Draft]:
    if not sys.stderr.isatty():
        yield _Draft()
        return
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    console = Console(stderr=True, markup=False, highlight=False)
    live = Live(console=console, transient=True, auto_refresh=False, redirect_stdout=False, redirect_stderr=False)

    class OnTerminal(_Draft):
        """Shows the end of the text written so far, dimmed."""

        text = ""

        def write(self, text: str) -> None:
            self.text += text
            lines = Text(printing.printable(self.text), "dim").wrap(console, console.width)
            live.update(Text("\n").join(lines[-_DRAFT_LINES:]), refresh=True)

        def note(self, line: str) -> None:
            self.text = ""
            live.update(Text(""), refresh=True)
            console.print(Text(printing.one_line(line), "dim"))

    draft = OnTerminal()
    try:
        with live:
            yield draft
    except ModelError:
        if draft.text.strip():  # all that there is of the answer
            console.print(Text(printing.printable(draft.text), "dim"))
            console.print(Text("(unfinished, and not checked)", "dim"))
        raise
