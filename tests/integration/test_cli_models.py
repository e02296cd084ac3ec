"""Models of entailment and reranking on the command line."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from openbook.cli.entailment import _News
from openbook.grounding.installed_models import fetch_reranker
from openbook.settings import Settings
from tests.fakes.minilm_wheel import model_of, write_wheel
from tests.integration.support_cli import assert_fails_clearly, run, run_alone
from tests.model_server import ModelServer
from tools.tiny_nli import write

Captured = pytest.CaptureFixture[str]

NAME = "nli-deberta-v3-xsmall"


@pytest.fixture
def hub(model_server: ModelServer, tmp_path: Path) -> ModelServer:
    folder = write(tmp_path / "tiny")
    files = {name: (folder / name).read_bytes() for name in ("tokenizer.json", "config.json")}
    files["onnx/model.onnx"] = (folder / "model.onnx").read_bytes()
    model_server.add(f"cross-encoder/{NAME}", files)
    return model_server


@pytest.mark.slow
def test_models_are_added_listed_and_removed(hub: ModelServer, capsys: Captured) -> None:
    added = run(capsys, "models", "add", NAME)
    listed = run(capsys, "models", "list")
    removed = run(capsys, "models", "remove", NAME)
    after = run(capsys, "models", "list")

    folder = Path(os.environ["OPENBOOK_HOME"]).resolve() / "models" / NAME
    assert (added.code, added.out) == (0, f"{folder}\n")
    assert f"cross-encoder/{NAME}, 284 MB, licence Apache-2.0" in added.err
    assert f"use it as nli:{NAME}" in added.err
    assert listed.out.startswith(f"{NAME}  1 MB\n  {hub.url}/cross-encoder/{NAME}/resolve/")
    assert (removed.code, removed.err) == (0, f"removed {NAME}\n")
    assert after.err == "no models installed\n"
    assert f"  {NAME}  284 MB  Apache-2.0  English, three labels\n" in after.out


@pytest.mark.slow
def test_list_is_one_line_of_json(hub: ModelServer, capsys: Captured) -> None:
    run(capsys, "models", "add", NAME)

    listed = run(capsys, "models", "list", "--json").json

    assert [model["name"] for model in listed["installed"]] == [NAME]
    assert NAME not in [model["name"] for model in listed["known"]]
    assert {"repository", "licence", "size_bytes"} <= listed["known"][0].keys()
    assert {program["name"] for program in listed["programs"]} == {"cli:claude", "cli:codex", "cli:gemini", "cli:llm"}


def test_programs_that_can_answer_are_listed_with_where_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    program = tmp_path / "llm"
    program.write_text("#!/bin/sh\n", encoding="ascii")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    listed = run(capsys, "models", "list").out

    assert f"  cli:llm  {program}\n" in listed
    assert "  cli:claude  not installed\n" in listed


@pytest.mark.slow
def test_failures_are_one_line_and_a_hint(model_server: ModelServer, capsys: Captured) -> None:
    assert_fails_clearly(run(capsys, "models", "add", NAME), 3, "there is no tokenizer.json")
    assert_fails_clearly(run(capsys, "models", "add", "unknown"), 2, "unknown model 'unknown'")
    assert_fails_clearly(run(capsys, "models", "remove", NAME), 1, "there is no model", "models list")
    assert_fails_clearly(run(capsys, "models", "add", ""), 2, "is empty")
    assert_fails_clearly(run(capsys, "models", "add", NAME, "--wheel", "a.whl"), 2, "only minilm-reranker is made")


@pytest.mark.slow
def test_small_reranker_can_be_added_from_a_wheel(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = write_wheel(tmp_path)
    wrong = run(capsys, "models", "add", "minilm-reranker", "--wheel", wheel)
    listed = run(capsys, "models", "list")
    named = run(capsys, "doctor")

    folder = fetch_reranker(Settings.from_env(), wheel, model=model_of(wheel))
    added = run(capsys, "models", "add", "minilm-reranker")
    unused = run(capsys, "doctor")
    monkeypatch.setenv("OPENBOOK_RERANKER", "onnx:minilm-reranker")
    tried = run(capsys, "doctor")

    assert_fails_clearly(wrong, 3, "is wanted", "fetch it again")
    assert "  minilm-reranker  84 MB  Apache-2.0  reranker, English" in listed.out
    assert "no reranker; to rank better: openbook models add minilm-reranker\n" in named.out
    assert (added.code, added.out) == (0, f"{folder}\n")
    assert "no reranker; to rank better: OPENBOOK_RERANKER=onnx:minilm-reranker\n" in unused.out
    assert "use it with --reranker onnx:minilm-reranker, or set OPENBOOK_RERANKER=onnx:minilm-reranker" in added.err
    assert "reranker onnx:minilm-reranker: " in tried.out


@pytest.mark.slow
def test_full_disk_is_told_and_leaves_nothing(hub: ModelServer) -> None:
    hub.add(f"cross-encoder/{NAME}", {"onnx/model.onnx": bytes(1_000_000)})

    outcome = run_alone("models", "add", NAME, largest_file_bytes=500_000)

    assert_fails_clearly(outcome, 3, "cannot be written: File too large")
    assert "OPENBOOK_HOME" in outcome.err
    assert [path.name for path in (Path(os.environ["OPENBOOK_HOME"]) / "models").iterdir()] == [".lock"]


def test_large_file_is_told_at_every_tenth(capsys: Captured) -> None:
    news = _News()
    for size in (1, 3, 10, 11, 20, 100):
        news("model.onnx", size * 1_000_000, 100_000_000)
        news("config.json", size, 100)

    assert capsys.readouterr().err.splitlines() == [
        f"model.onnx: {percent} % of 100 MB" for percent in (0, 10, 20, 100)
    ]
