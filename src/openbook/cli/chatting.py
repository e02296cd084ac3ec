"""`openbook chat`: an interactive session, or one with questions from a pipe."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal

from openbook.answering.options import AnswerOptions
from openbook.answers import Exchange, GenerationResult
from openbook.cli import EXIT_FAILURE, EXIT_NOTHING, printing
from openbook.cli.answers import print_answer, print_sources
from openbook.cli.asking import follow, note_cost, open_writer
from openbook.costs import format_usd
from openbook.errors import OpenbookError
from openbook.library import Library
from openbook.llm.attachments import check_count, question_images
from openbook.text import counted
from openbook.types import Attachment, Filter

_PROMPT = "> "

# Words that end other programs of this kind. Nobody asks the sources for one of them alone.
_GOODBYES = frozenset({"exit", "quit", "q"})


@dataclass(slots=True)
class SessionCost:
    """The cost of a session so far."""

    answers: int = 0
    tokens: int = 0
    known_usd: Decimal = Decimal(0)
    unknown: int = 0
    """Number of answers with unknown price, including stopped ones."""

    def add(self, answer: GenerationResult) -> None:
        self.answers += 1
        self.tokens += answer.usage.input_tokens + answer.usage.output_tokens
        self.known_usd += answer.cost_usd or 0
        self.unknown += answer.cost_usd is None

    def __str__(self) -> str:
        more = f", and {self.unknown} of unknown price" if self.unknown else ""
        return f"{counted(self.answers, 'answer')}, {self.tokens:,} tokens, {format_usd(self.known_usd)}{more}"


@dataclass(slots=True)
class ChatSession:
    """One session. Its history is in memory only."""

    assistant: Library
    answer_options: AnswerOptions
    limit: int | None
    where: Filter
    history: list[Exchange] = field(default_factory=list)
    last: GenerationResult | None = None
    images: tuple[Attachment, ...] = ()
    """Images for the next question."""
    spending: SessionCost = field(default_factory=SessionCost)
    code: int = 0
    """Exit code of the last question."""

    def run(self) -> int:
        """Process questions and commands until the end of the input. Returns the exit code of the last question."""
        if _is_at_terminal():
            printing.note(f"{self._model_name}; type /help for commands, /quit to leave")
        for line in _lines():
            if line.lower() in _GOODBYES:
                break
            is_command = line.startswith("/")
            try:
                if is_command and not self._command(*line[1:].split(maxsplit=1)):
                    break
                if line and not is_command:
                    self._ask(line)
            except KeyboardInterrupt:
                self.spending.unknown += self.answer_options.writer is not None and not is_command
                printing.note("stopped")
        return self.code

    def _ask(self, question: str) -> None:
        try:
            answer_options = replace(self.answer_options, history=tuple(self.history), images=self.images)
            events = self.assistant.query_stream(question, limit=self.limit, where=self.where, options=answer_options)
            answer = follow(events)
        except OpenbookError as exc:
            printing.complain(str(exc), exc.hint)
            self.code = EXIT_FAILURE
            return
        self.history.append(Exchange.of(question, answer, self.images))
        self.images = ()
        self.last = answer
        self.spending.add(answer)
        self.code = EXIT_NOTHING if answer.refused else 0
        self._show(answer)

    def _show(self, answer: GenerationResult) -> None:
        print_answer(answer, printing.LocationFormatter(self.assistant.sources()), show=False)
        printing.say()
        if answer.refused:
            printing.note(f"no answer: {answer.reason}")
        note_cost(answer)

    def _command(self, name: str = "", argument: str = "") -> bool:
        """Run a slash command. Returns False to end the session."""
        commands: dict[str, Callable[[str], None]] = {
            "sources": self._sources,
            "reset": self._reset,
            "cost": lambda _: printing.say(str(self.spending)),
            "image": self._image,
            "model": self._model,
            "help": lambda _: printing.say(_HELP),
        }
        if name in ("quit", "exit"):
            return False
        command = commands.get(name)
        if command is None:
            printing.note(f"unknown command /{name}; type /help for a list")
        else:
            command(argument.strip())
        return True

    def _sources(self, _: str) -> None:
        if self.last is None:
            printing.note("no answer yet")
        else:
            print_sources(self.last, printing.LocationFormatter(self.assistant.sources()))

    def _image(self, path: str) -> None:
        if self.answer_options.writer is None:
            printing.complain("an image needs a model that reads it", "name one with /model")
            return
        try:
            images = (*self.images, *question_images([path])) if path else ()
            check_count(images)
        except OpenbookError as exc:
            printing.complain(str(exc), exc.hint)
            return
        self.images = images
        printing.note(f"{counted(len(self.images), 'image')} with the next question")

    def _reset(self, _: str) -> None:
        self.history.clear()
        self.images = ()
        self.last = None
        printing.note("history cleared")

    def _model(self, name: str) -> None:
        try:
            if name:
                model = open_writer(name)
                self.answer_options = replace(
                    self.answer_options, model=model, tools=self.answer_options.tools if model else False
                )
        except OpenbookError as exc:
            printing.complain(str(exc), exc.hint)
            return
        printing.say(self._model_name)

    @property
    def _model_name(self) -> str:
        if self.answer_options.writer is None:
            return "answers are quotes, no model writes them"
        return f"answers by {self.answer_options.writer.name}{', with tools' if self.answer_options.uses_tools else ''}"


_HELP = """\
/sources        list the sources of the last answer
/reset          forget the conversation
/cost           show the cost of the session
/image [FILE]   show an image or a PDF with the next question; without FILE, none
/model [NAME]   show the model, or switch to another
/help           this list
/quit           leave; so do `exit`, `quit`, `q` and the end of the input
Ctrl-C stops an answer, and nothing else."""


def _is_at_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()  # None: closed, by `<&-`


def _lines() -> Iterator[str]:
    """Yield lines from standard input, with a prompt on a terminal."""
    if not _is_at_terminal():
        if isinstance(sys.stdin, io.TextIOWrapper):
            sys.stdin.reconfigure(errors="replace")
        yield from (line.strip() for line in sys.stdin or ())
        return
    with contextlib.suppress(ImportError):  # Windows has no readline
        import readline  # noqa: F401 - gives `input` its keys and its memory

    while True:
        try:
            yield input(_PROMPT).strip()
        except KeyboardInterrupt:
            printing.note("")  # ends the prompt line
            printing.note("type /quit to leave")
        except EOFError:
            printing.say()
            return
