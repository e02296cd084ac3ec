"""Runs the questions of a set against a library, and scores the answers."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from openbook.answering.options import AnswerOptions
from openbook.answers import GenerationResult
from openbook.errors import SourceError
from openbook.evals.metrics import (
    ExpectedSpan,
    facts_found,
    line_precision,
    line_recall,
    ndcg,
    place_ndcg,
    place_recall,
    recall,
)
from openbook.evals.questions import EvalQuestion
from openbook.evals.runs import EvalRun, QuestionOutcome
from openbook.library import Library
from openbook.types import RetrievalResult, Span

# Places to show when the expected ones were not found: enough to see what outranked them.
_PLACES_SHOWN = 3

# An answer that cites less of the expected lines leaves most of them out.
_MIN_CITED_SHARE = 0.5


class LibraryFiles:
    """The files of a library, to resolve the paths of question sets."""

    def __init__(self, assistant: Library) -> None:
        sources = assistant.sources()
        self._prefix = f"{sources[0].name}/" if len(sources) == 1 else ""
        self._places: dict[str, str] = {}
        for source, path in indexed_files(assistant):
            self._places.setdefault(path, document_key(source, path))
            self._places[document_key(source, path)] = document_key(source, path)

    def __contains__(self, path: str) -> bool:
        return path in self._places

    def locate(self, question: EvalQuestion) -> EvalQuestion:
        """Add the source to each path. If several sources have the path, the first by name is used."""
        return replace(
            question,
            files=tuple(self._places.get(path, path) for path in question.files),
            lines=tuple(replace(place, path=self._places.get(place.path, place.path)) for place in question.lines),
        )

    def shown(self, outcome: QuestionOutcome) -> QuestionOutcome:
        """Leave out the source where there is only one, as question sets and answers do."""
        expected, found = (
            tuple(place.removeprefix(self._prefix) for place in places) for places in (outcome.expected, outcome.found)
        )
        return replace(outcome, expected=expected, found=found)

    def unknown(self, questions: Sequence[EvalQuestion]) -> list[str]:
        """List the expected paths that the library does not have, each once, in order."""
        expected = (path for one in questions for path in (*one.files, *(place.path for place in one.lines)))
        return [path for path in dict.fromkeys(expected) if path not in self]


def indexed_files(assistant: Library) -> Iterator[tuple[str, str]]:
    """Yield the source and path of each indexed file, in order."""
    for source, difference in assistant.pending().items():
        if not isinstance(difference, SourceError):
            yield from ((source, path) for path, record in sorted(difference.known.items()) if not record.skipped)


def document_key(source: str, path: str) -> str:
    """Return a unique key of a file: source and path."""
    return f"{source}/{path}"


def run_questions(
    assistant: Library,
    questions: Sequence[EvalQuestion],
    *,
    limit: int = 10,
    options: AnswerOptions | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> EvalRun:
    """Ask each question like `openbook ask`, and score the results and the answer.

    `limit` is the maximum number of results per answer, and the depth of recall and NDCG. Paths that are not in the
    library count as not found.
    """
    files, outcomes, model = LibraryFiles(assistant), [], ""
    for question in questions:
        started = clock()
        answer = assistant.query(question.text, limit=limit, options=options)
        seconds = clock() - started
        # Retrieve separately: an answer may show fewer results than were found, and a refusal only the nearest.
        results = assistant.retrieve(question.text, limit=limit)
        outcomes.append(files.shown(score(files.locate(question), results, answer, seconds, limit)))
        model = answer.model
    return EvalRun(model, limit, tuple(outcomes))


def score(
    question: EvalQuestion, results: Sequence[RetrievalResult], answer: GenerationResult, seconds: float, limit: int
) -> QuestionOutcome:
    """Return the metrics of a question, the expected places with their sources, and how it failed, if it did."""
    figures: dict[str, float | None] = {}
    if question.unanswerable:
        figures["right_refusals"] = float(answer.refused)
    else:
        figures |= _of_results(question, results, limit) | _of_answer(question, answer)
    figures["tokens"] = float(answer.usage.input_tokens + answer.usage.output_tokens)
    figures["cost_usd"] = None if answer.cost_usd is None else float(answer.cost_usd)
    figures["seconds"] = seconds
    expected = tuple(map(str, _expected_spans(question)))
    found = tuple(map(str, _places(results[:_PLACES_SHOWN])))
    return QuestionOutcome(
        question.text, answer.refused, figures, _fault(question, results, answer, limit), expected, found
    )


def _fault(question: EvalQuestion, results: Sequence[RetrievalResult], answer: GenerationResult, limit: int) -> str:
    """Return the first failure in pipeline order; empty if there is none."""
    if question.unanswerable:
        return "" if answer.refused else "answered, though it should be refused"
    wanted = _expected_spans(question)
    ranks = [rank for rank, place in enumerate(_places(results[:limit]), start=1) if any(map(place.overlaps, wanted))]
    if wanted and not ranks:
        return f"not among the first {limit} results"
    if answer.refused:
        return f"refused: {answer.reason}"
    cited = [_place(citation.source, citation.span) for citation in answer.citations]
    if wanted and not any(place.overlaps(each) for place in cited for each in wanted):
        return f"found at {ranks[0]}, not cited"
    missing = [fact for fact in question.facts if not facts_found(answer.answer, [fact])]
    if missing:
        return f"does not say {missing[0]!r}"
    # Whoever says the facts need not cite all lines around them.
    cited_share = 1.0 if question.facts or not question.lines else line_recall(cited, question.lines)
    return f"cites {cited_share:.0%} of the expected lines" if cited_share < _MIN_CITED_SHARE else ""


def _expected_spans(question: EvalQuestion) -> list[ExpectedSpan]:
    """List the expected places. A file with expected lines is not expected as a whole."""
    narrowed = {place.path for place in question.lines}
    return [*question.lines, *(ExpectedSpan(path) for path in question.files if path not in narrowed)]


def _places(results: Sequence[RetrievalResult]) -> list[ExpectedSpan]:
    return [_place(result.chunk.source, result.chunk.span) for result in results]


def _of_results(question: EvalQuestion, results: Sequence[RetrievalResult], limit: int) -> dict[str, float]:
    figures: dict[str, float] = {}
    found = _places(results)
    files = {*question.files, *(place.path for place in question.lines)}
    if files:
        paths = list(dict.fromkeys(place.path for place in found))
        figures |= {"file_recall": recall(paths, files, limit), "file_ndcg": ndcg(paths, files, limit)}
    if question.lines:
        figures["line_recall"] = place_recall(found, question.lines, limit)
        figures["line_ndcg"] = place_ndcg(found, question.lines, limit)
    return figures


def _of_answer(question: EvalQuestion, answer: GenerationResult) -> dict[str, float]:
    """Score an answer. A wrong refusal has no citations and no facts; precision and verdicts do not apply to it."""
    figures = {"wrong_refusals": float(answer.refused)}
    cited = [_place(citation.source, citation.span) for citation in answer.citations]
    wanted = _expected_spans(question)
    if wanted and cited:
        figures["citation_precision"] = line_precision(cited, wanted)
    if question.lines:
        figures["citation_recall"] = line_recall(cited, question.lines)
    if question.facts:
        figures["facts"] = 0.0 if answer.refused else facts_found(answer.answer, question.facts)
    stated = [claim for claim in answer.claims if claim.verdict]
    if not answer.refused and stated:
        figures["conflicts"] = sum(claim.verdict == "conflict" for claim in stated) / len(stated)
    if not answer.refused and answer.quality_score is not None:
        figures["confirmed"] = answer.quality_score
    return figures


def _place(source: str, span: Span) -> ExpectedSpan:
    return ExpectedSpan(document_key(source, span.path), span.start_line, span.end_line)
