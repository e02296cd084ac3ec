"""Builds the messages for models from prompt files, sources and questions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from openbook.answers import Claim, Exchange, RefusalReason
from openbook.extractive.context import Context, label_of
from openbook.grounding.marks import find_marks
from openbook.llm.messages import Message, Request, ShownSource, TextBlock
from openbook.llm.prompts import prompts_of
from openbook.retrieval.roles import is_aside
from openbook.types import Attachment, RetrievalResult

# Exchanges of a session that a model is shown, for requests such as "shorter, please". The standalone question already
# has what it needs of earlier ones.
_EXCHANGES = 3

# Characters of an earlier answer, which is a reference and no source.
_EARLIER_CHARS = 2_000

# Topics in a refusal, and characters of each: heading paths may be long, and so may a pasted key be.
_TOPICS, _TOPIC_CHARS = 3, 80

# Unread files in an answer.
_UNREAD = 3

_PROMPTS = prompts_of("openbook.answering.prompts")


def prompts_version() -> str:
    """Return a hash of the prompt files for answers, twelve hexadecimal digits."""
    return _PROMPTS.version


def fill_template(prompt: str, **holes: str) -> str:
    """Read a prompt file and replace its placeholders. Values are not searched for placeholders.

    Raises:
        KeyError: There is no such prompt, or a placeholder has no value.

    Example:
        >>> fill_template("question", question="Why {x}?").splitlines()[-1]
        'Why {x}?'
    """
    return _PROMPTS.fill(prompt, **holes)


def build_system_prompt(*, tools: bool = False) -> str:
    """Return the instructions for answers; with `tools`, also for their use."""
    return "\n\n".join((fill_template("rules"), *([fill_template("tools")] if tools else [])))


def build_messages(
    query: str,
    context: Context,
    history: Sequence[Exchange] = (),
    understood: str = "",
    images: Sequence[Attachment] = (),
) -> tuple[Message, ...]:
    """Build the messages that ask for an answer from sources: history, sources and question.

    `understood` is the standalone question if a model rewrote it; else empty.
    """
    shown = tuple(shown.source for shown in context.shown)
    question = fill_template("question", question=with_images_named(query, images))
    if understood:
        # In a fence: a model wrote it after reading text of sources.
        fenced = ShownSource(0, "", "the question as it was understood", (" ".join(understood.split()),))
        question = fill_template("follow_up", question=question, understood=str(fenced))
    return (*build_history(history), Message("user", (*shown, *images, TextBlock(question))))


def with_images_named(query: str, images: Sequence[Attachment]) -> str:
    """Return a question with a note that its images are no sources."""
    return fill_template("images", question=query) if images else query


def pictured(history: Sequence[Exchange]) -> Sequence[Exchange]:
    """Return the last exchange with images among those that a model is shown, if any."""
    return [exchange for exchange in history[-_EXCHANGES:] if exchange.images][-1:]


def build_history(history: Sequence[Exchange]) -> tuple[Message, ...]:
    """Return the messages of the last exchanges of a session, without marks, whose sources are not in the context.

    Only the last images are sent again: each costs as much as a page of text.
    """
    with_images = pictured(history)
    return tuple(
        message
        for exchange in history[-_EXCHANGES:]
        for message in (
            Message.user(*(exchange.images if exchange in with_images else ()), exchange.question),
            Message.assistant(without_marks(exchange.answer)[:_EARLIER_CHARS] or "(no answer)"),
        )
    )


def build_retry(request: Request, answer: str, failing: Iterable[Claim]) -> tuple[Message, ...]:
    """Build the messages that ask again after claims in conflict."""
    return (*request.messages, Message.assistant(answer), Message.user(retry_prompt(failing)))


def retry_prompt(failing: Iterable[Claim]) -> str:
    """Build the prompt that names the claims in conflict and why, and asks for the whole answer again."""
    return fill_template(
        "retry", claims="\n".join(f"- {claim.text} ({claim.verdict}: {claim.reason})" for claim in failing)
    )


def build_standalone_prompt(query: str, history: Sequence[Exchange], *, has_images: bool = False) -> str:
    """Build the prompt that asks for a standalone question. `has_images`: images precede the prompt."""
    told = (
        ShownSource(number, "", "question", (exchange.question, without_marks(exchange.answer)[:_EARLIER_CHARS]))
        for number, exchange in enumerate(history[-_EXCHANGES:], start=1)
    )
    name = "standalone_images" if has_images else "standalone"
    return fill_template(name, history="\n".join(map(str, told)) or "(there is none)", question=query)


def build_no_answer(reason: RefusalReason, detail: str = "") -> str:
    """Return why a model wrote nothing. `detail`: the message of the budget or the provider."""
    return fill_template("no_answer_" + reason.replace(" ", "_"), detail=f" ({detail})" if detail else "")


def build_uncited_note(*, has_quotes: bool, is_empty: bool = False) -> str:
    """Return the note on an answer that cites nothing; with `has_quotes`, that quotes follow; if it `is_empty`, why."""
    return fill_template(("nothing_left" if is_empty else "uncited") + ("_quotes" if has_quotes else ""))


def build_no_context_prompt(reason: str, missing: Sequence[str] = (), unread: Sequence[str] = ()) -> str:
    """Return the text of a refusal if nothing was found. No model is called.

    `missing` are words that the library lacks, `unread` files that may contain them.
    """
    return fill_template("no_context", reason=reason, missing=_missing(missing, unread))


def build_clarification_prompt(
    reason: str,
    nearest: Sequence[RetrievalResult],
    missing: Sequence[str] = (),
    unread: Sequence[str] = (),
    meant: Sequence[str] = (),
) -> str:
    """Return the text of a refusal that names the nearest topics. No model is called.

    `missing` are words that the library lacks, `meant` words of it that may have been meant by them. Without topics, it
    is the text of `build_no_context_prompt`.
    """
    topics = list(dict.fromkeys(_topic(result) for result in nearest))[:_TOPICS]
    if not topics:
        return build_no_context_prompt(reason, missing, unread)
    told = _missing(missing, unread) + (f" Did you mean {_listed(meant)}?" if meant else "")
    named = topics[0] if len(topics) == 1 else f"{', '.join(topics[:-1])} and {topics[-1]}"
    return fill_template("clarification", reason=reason, missing=told, topics=named)


def build_missing_note(words: Sequence[str], unread: Sequence[str] = ()) -> str:
    """Return a note on the words that no source contains, and on the files that could not be read.

    Those that are rarely asked for, such as data of tests, are left out.

    Example:
        >>> build_missing_note(["tides"], ["a.key", "b.pdf", "tests/c.pdf"])
        "No source mentions 'tides'. 2 files could not be read, and may: a.key, b.pdf."
    """
    note = f"No source mentions {_listed(words)}."
    unread = [path for path in unread if not is_aside(path)]
    if not unread:
        return note
    # File names are untrusted text: on one line, and short.
    named = ", ".join(_shortened(" ".join(path.split())) for path in unread[:_UNREAD])
    more = ", ..." if len(unread) > _UNREAD else ""
    count = "1 file" if len(unread) == 1 else f"{len(unread)} files"
    return f"{note} {count} could not be read, and may: {named}{more}."


def _missing(words: Sequence[str], unread: Sequence[str] = ()) -> str:
    return f" {build_missing_note(words, unread)}" if words else ""


def _listed(words: Sequence[str]) -> str:
    return ", ".join(map(repr, map(_shortened, words)))


def _shortened(word: str) -> str:
    return word if len(word) <= _TOPIC_CHARS else f"{word[:_TOPIC_CHARS]}..."


def _topic(result: RetrievalResult) -> str:
    # Names of sources are untrusted text: on one line, and short.
    told = " ".join((result.chunk.symbol or label_of(result) or result.chunk.span.path).split())
    return f"`{_shortened(told.replace('`', ''))}`"


def without_marks(answer: str) -> str:
    """Remove the marks, and the blanks before them.

    Example:
        >>> without_marks("It waits [1:2]. Then it ends. [1:3-4][2]")
        'It waits. Then it ends.'
    """
    parts, at = [], 0
    for mark in find_marks(answer):
        parts.append(answer[at : mark.start_char].rstrip(" \t"))
        at = mark.end_char
    return "".join((*parts, answer[at:]))


def format_prompt_for_display(messages: Sequence[Message], system_prompt: str = "") -> str:
    """Format the messages for a model as plain text for people, ending in a line feed."""
    parts = [("system", system_prompt)] if system_prompt else []
    parts += [(message.role, "\n".join(map(_printed, message.parts))) for message in messages]
    return "\n\n".join(f"--- {role}\n{text}" for role, text in parts) + "\n"


def _printed(part: object) -> str:
    return part.text if isinstance(part, TextBlock) else str(part)
