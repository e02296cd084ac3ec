"""What of an answer's time counts as ours."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from openbook.answering.options import AnswerOptions
from openbook.grounding.protocol import CitedClaim, Entailment
from openbook.llm.messages import Message, Request
from openbook.llm.protocol import acomplete
from openbook.server.answer_tracker import AnswerTracker
from openbook.server.metrics import Metrics
from openbook.testing import ScriptedModel


class Silent:
    """A judge in this process that says nothing."""

    name = "silent"

    def judge(self, claims: Sequence[CitedClaim]) -> Sequence[Entailment | None]:
        return [None] * len(claims)


@pytest.mark.parametrize(
    ("options", "is_ours"),
    [
        pytest.param(AnswerOptions(model=ScriptedModel()), False, id="the-model-that-writes"),
        pytest.param(AnswerOptions(model=ScriptedModel(), verifier=ScriptedModel()), False, id="another-model"),
        pytest.param(AnswerOptions(model=ScriptedModel(), verifier=Silent()), True, id="a-judge-of-this-process"),
    ],
)
def test_verifying_is_a_stage_of_ours_only_where_no_model_is_asked(options: AnswerOptions, is_ours: bool) -> None:
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))

    with AnswerTracker(Metrics(), provider.get_tracer("test"), "0" * 32, 0.0) as stages:
        stages.watched(options)
        stages.enter("verifying")

    assert ("verifying" in [span.name for span in exporter.get_finished_spans()]) is is_ours


def test_a_verifier_that_is_another_model_has_spans_of_its_calls() -> None:
    verifier = ScriptedModel(name="scripted:checker")
    provider = TracerProvider()

    with AnswerTracker(Metrics(), provider.get_tracer("test"), "0" * 32, 0.0) as stages:
        watched = stages.watched(AnswerOptions(model=ScriptedModel(), verifier=verifier))

    assert watched.other_verifier is not verifier
    assert watched.other_verifier is not None
    assert watched.other_verifier.name == "scripted:checker"


def test_between_the_words_of_a_model_and_their_check_an_answer_waits() -> None:
    waited: list[str] = []

    with AnswerTracker(Metrics(), None, "0" * 32, 0.0, waits=lambda: waited.append(stages.name)) as stages:
        writer = stages.watched(AnswerOptions(model=ScriptedModel("Sessions end."))).writer
        assert writer is not None
        stages.enter("writing")
        asyncio.run(acomplete(writer, Request((Message.user("When?"),))))

    assert waited == ["queued"]
    assert set(stages.took_s) == {"queued", "writing"}
