"""Prometheus metrics. Questions, paths and key names never become labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from openbook.answers import GenerationResult

# From a cached search to a reasoning model that takes minutes.
_STAGE_BUCKETS_S = (0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.125, 0.15, 0.2, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)


class Metrics:
    """Prometheus metrics of one server, in their own registry."""

    def __init__(self) -> None:
        self.registry: CollectorRegistry = CollectorRegistry()
        kept = self.registry
        self._questions = Counter("openbook_questions", "Questions by how they ended.", ["outcome"], registry=kept)
        self._refusals = Counter("openbook_refusals", "Refusals by reason.", ["reason"], registry=kept)
        self._citations = Counter("openbook_citations", "Citations by verdict.", ["verdict"], registry=kept)
        self._tokens = Counter("openbook_tokens", "Tokens of models.", ["direction"], registry=kept)
        self._usd = Counter("openbook_cost_usd", "US dollars of answers whose price is known.", registry=kept)
        self._unpriced = Counter("openbook_unpriced_answers", "Answers whose price is not known.", registry=kept)
        self._requests = Counter(
            "openbook_requests", "Requests by route and status.", ["method", "route", "status"], registry=kept
        )
        self._stages = Histogram(
            "openbook_stage_seconds", "Seconds of stages.", ["stage"], buckets=_STAGE_BUCKETS_S, registry=kept
        )

        self._documents = Gauge("openbook_library_documents", "Documents of the library.", registry=kept)
        self._changed = Gauge(
            "openbook_library_changed_timestamp_seconds",
            "When an update last changed the library, in Unix seconds; 0 for never.",
            registry=kept,
        )
        self._unread = Gauge(
            "openbook_library_unread_files", "Files that were not indexed, by reason.", ["reason"], registry=kept
        )
        self._store: Gauge | None = None

    def follow(self, waiting: Callable[[], float], answered: Callable[[], float]) -> None:
        """Export how many questions are queued, and how many are being answered."""
        waits = Gauge("openbook_waiting_questions", "Questions that wait for their turn.", registry=self.registry)
        waits.set_function(waiting)
        runs = Gauge("openbook_open_questions", "Questions that are being answered.", registry=self.registry)
        runs.set_function(answered)

    def store(self, *, is_up: bool) -> None:
        """Export whether the shared store can be reached, if there is one."""
        if self._store is None:
            name, what = "openbook_shared_store_up", "Whether the store that servers share can be reached."
            self._store = Gauge(name, what, registry=self.registry)
        self._store.set(is_up)

    def library(self, documents: int, changed_at: float, unread: Mapping[str, int]) -> None:
        """Export what is in the library, when that last changed, and how many files are not in it, by reason."""
        self._documents.set(documents)
        self._changed.set(changed_at)
        self._unread.clear()
        for reason, count in unread.items():
            self._unread.labels(reason).set(count)

    def stage(self, name: str, seconds: float) -> None:
        self._stages.labels(name).observe(seconds)

    def answered(self, answer: GenerationResult) -> None:
        self._questions.labels("refused" if answer.refused else "answered").inc()
        if answer.refused:
            self._refusals.labels(answer.reason).inc()
        for citation in answer.citations:
            self._citations.labels(citation.verdict).inc()
        self._tokens.labels("input").inc(answer.usage.input_tokens)
        self._tokens.labels("output").inc(answer.usage.output_tokens)
        if answer.cost_usd is None:
            self._unpriced.inc()
        else:
            self._usd.inc(float(answer.cost_usd))

    def ended(self, outcome: str) -> None:
        """Count a question without an answer: `failed`, `cancelled` or `overloaded`."""
        self._questions.labels(outcome).inc()

    def request(self, method: str, route: str, status: int) -> None:
        self._requests.labels(method, route, str(status)).inc()

    def page(self) -> bytes:
        """Return all metrics in the text format of Prometheus."""
        return generate_latest(self.registry)
