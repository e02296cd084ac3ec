"""Evaluates the answers of a library on question sets."""

from __future__ import annotations

from openbook.evals.metrics import ExpectedSpan
from openbook.evals.questions import EvalQuestion, read_questions
from openbook.evals.running import run_questions
from openbook.evals.runs import EvalRun, QuestionOutcome

__all__ = ["EvalQuestion", "EvalRun", "ExpectedSpan", "QuestionOutcome", "read_questions", "run_questions"]
