"""The example package, installed as a stranger's would be: each of its plugins does its work."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from datetime import date
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from openbook.answering.options import AnswerOptions
from openbook.library import Library
from openbook.llm.messages import ToolCall
from openbook.retrieval.search import EVERYTHING
from openbook.server.answer_pool import AnswerPool
from openbook.server.app import create_app
from openbook.settings import Secret, Settings
from openbook.testing import FakeServer, ScriptedModel, ScriptedReply
from tests.integration.support_cli import Outcome, run, run_alone
from tests.support import write_tree

EXAMPLE = Path(__file__).parents[2] / "examples" / "plugin"
SRCINFO = "pkgbase = heron\n\tpkgdesc = A bird that waits\n\tpkgver = 4.2\n\npkgname = heron-docs\n"

Run = Callable[..., Outcome]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*install, "--target", str(folder), str(EXAMPLE)], check=True, capture_output=True)
    return folder


@pytest.fixture
def openbook(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs a command with the package on the import path, and variables."""
    monkeypatch.syspath_prepend(str(site))
    return lambda *words, **variables: run(capsys, *words, cwd=tmp_path, env=variables)


@pytest.fixture
def birds(tmp_path: Path) -> str:
    tree = {"heron.SRCINFO": SRCINFO, "owls.md": "# Owls\n\nOwls hunt at night.\n\nOwls sleep by day.\n"}
    return str(write_tree(tmp_path / "birds", tree))


@pytest.mark.slow
def test_plugins_are_listed_with_their_packages(site: Path, openbook: Run) -> None:
    listed = run_alone("plugins", "--json", env={"PYTHONPATH": str(site)}).json

    assert {(plugin["kind"], plugin["name"]) for plugin in listed if plugin["package"] == "openbook-example 1.0"} == {
        *{("readers", "srcinfo"), ("embedders", "letters"), ("engines", "folder"), ("models", "parrot")},
        *{("judges", "verbatim"), ("rerankers", "shortest"), ("tools", "today")},
        *{("executors", "pool"), ("stores", "folder")},
    }
    assert {(plugin["kind"], plugin["name"]) for plugin in listed if plugin["package"].startswith("openbook ")} == {
        *{("engines", "lance"), ("executors", "ray"), ("stores", "redis"), ("stores", "rediss")},
    }
    assert "reader srcinfo, of openbook-example 1.0" in openbook("doctor").out


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_reader_makes_sections_of_its_format(openbook: Run, birds: str, workers: str) -> None:
    found = openbook("search", "heron docs", birds, "--json", OPENBOOK_WORKERS=workers).json

    top = found["results"][0]
    assert (top["path"], top["start_line"], top["language"]) == ("heron.SRCINFO", 5, "srcinfo")


@pytest.mark.slow
def test_a_new_reader_reads_files_that_were_skipped_before(
    openbook: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pictures = write_tree(tmp_path / "pictures", {"notes.md": "Herons.\n"})
    (pictures / "scan.tiff").write_bytes(b"II*\0 the owl of the harbour")
    assert "owl" not in openbook("search", "owl harbour", str(pictures)).out
    package = write_tree(tmp_path / "tiff", {"tiff_reader.py": "def read(raw, path):\n    return raw[4:].decode()\n"})
    write_tree(
        package / "tiff-1.0.dist-info",
        {
            "METADATA": "Metadata-Version: 2.1\nName: tiff\nVersion: 1.0\n",
            "entry_points.txt": "[openbook.readers]\ntiff = tiff_reader:read\n",
        },
    )

    monkeypatch.syspath_prepend(str(package))
    found = openbook("search", "owl harbour", str(pictures))

    assert "scan.tiff:1 " in found.out


@pytest.mark.slow
def test_a_library_opens_only_with_the_embedder_that_made_it(openbook: Run, birds: str) -> None:
    made = openbook("add", birds, "--library", "b", OPENBOOK_EMBEDDER="letters:2")
    refused = openbook("search", "owls", "--library", "b")

    assert made.code == 0, made.err
    assert openbook("search", "owls", "--library", "b", OPENBOOK_EMBEDDER="letters:2").out.startswith(" 1.")
    assert refused.code == 3
    assert "letters:2" in refused.err


@pytest.mark.slow
def test_a_reranker_orders_results(openbook: Run, birds: str) -> None:
    results = openbook("search", "owls heron waits", birds, "--json", "--reranker", "shortest").json

    lengths = [len(result["text"]) for result in results["results"]]
    assert len(lengths) > 1
    assert lengths == sorted(lengths)


@pytest.mark.slow
def test_a_judge_confirms_what_its_words_decide(openbook: Run, tmp_path: Path) -> None:
    claims = [
        {"claim": "the heron waits", "cited_text": "At dawn The Heron waits."},
        {"claim": "the heron sleeps all day", "cited_text": "At dawn the heron waits."},
    ]
    file = tmp_path / "claims.jsonl"
    file.write_text("\n".join(map(json.dumps, claims)), encoding="utf-8")

    judged = openbook("judge", str(file), "--json", "--verifier", "verbatim:any")

    verdicts = [line["verdict"] for line in judged.lines]
    assert verdicts == ["confirmed", "unverified"]


@pytest.mark.slow
def test_a_model_answers_by_its_name(openbook: Run, birds: str) -> None:
    answer = openbook("ask", "When do owls hunt?", birds, "--model", "parrot:green", "--json")

    assert answer.json["model"] == "parrot:green"


@pytest.mark.slow
def test_a_tool_is_offered_to_the_model_of_the_terminal(
    site: Path, birds: str, fake_server: Callable[..., FakeServer]
) -> None:
    server = fake_server(ScriptedReply(ToolCall("call_1", "today", '{"zone": "Europe/Paris"}')), "It is day.")
    model = f"{server.openai_url}#tiny"

    # In a process of its own: a process looks for tools once.
    options = ("--agent", "--verifier", "off", "--model", model)
    env = {"PYTHONPATH": str(site), "LLM_API_KEY": server.key}
    asked = run_alone("ask", "What day is it?", birds, *options, env=env)

    assert "today" in asked.err, asked.err
    assert date.today().isoformat()[:4] in server.requests[1].body["messages"][-1]["content"]  # noqa: DTZ011 - the year
    assert {"search", "today"} <= {tool["function"]["name"] for tool in server.requests[0].body["tools"]}


@pytest.mark.slow
def test_a_tool_is_offered_to_the_model_of_the_server(
    site: Path, birds: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(site))
    with Library.of(birds, settings=Settings(home=tmp_path / "home", workers=1)) as library:
        location, settings = library.location, library.settings

    async def ask(model: ScriptedModel) -> None:
        pool = AnswerPool(location, settings, 1)
        try:
            await pool.start()
            options = AnswerOptions(model=model, tools=True, verifier="off")
            assert [event async for event in pool.stream("When do owls hunt?", 10, EVERYTHING, options)]
        finally:
            await pool.close()

    with ScriptedModel("Owls hunt at night.") as model:
        asyncio.run(ask(model))

    assert {"search", "today"} <= {tool.name for tool in model.requests[0].tools}


@pytest.mark.slow
def test_an_engine_keeps_libraries_where_it_says(openbook: Run, birds: str, tmp_path: Path) -> None:
    at = {"OPENBOOK_STORAGE": f"folder:{tmp_path / 'team'}"}
    openbook("add", birds, "--library", "b", **at)

    answer = openbook("ask", "When do owls hunt?", "--library", "b", "--json", **at).json

    assert (tmp_path / "team" / "b.sqlite").exists()
    assert answer["citations"][0]["quote"] == "Owls hunt at night."
    assert openbook("sources", **at).out.startswith("b: 2 documents")


def test_an_unknown_engine_is_reported_with_the_available_ones(openbook: Run) -> None:
    refused = openbook("sources", OPENBOOK_STORAGE="nope:/x")

    assert refused.code == 2
    assert "there is no engine 'nope'" in refused.err
    assert "folder, lance" in refused.err


@pytest.mark.slow
def test_an_executor_prepares_files(openbook: Run, birds: str) -> None:
    answer = openbook("ask", "When do owls hunt?", birds, "--json", OPENBOOK_EXECUTOR="pool:2").json

    assert answer["citations"][0]["quote"] == "Owls hunt at night."


def test_an_unknown_or_failing_executor_is_reported(openbook: Run, birds: str) -> None:
    unknown = openbook("search", "owls", birds, OPENBOOK_EXECUTOR="nope:x")
    failing = openbook("search", "owls", birds, OPENBOOK_EXECUTOR="pool:many")

    assert unknown.code == 2
    assert "there is no executor 'nope'" in unknown.err
    assert "pool, ray" in unknown.err
    assert "executor 'pool' of openbook-example 1.0 failed: ValueError" in failing.err


@pytest.mark.slow
def test_a_store_is_shared_by_servers(site: Path, birds: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(site))
    (tmp_path / "shared").mkdir()
    asked: list[TestClient] = []
    with ExitStack() as stack:
        for home in ("one", "other"):
            settings = Settings(home=tmp_path / home, shared_store=Secret(f"folder:{tmp_path / 'shared'}"))
            app = create_app(Library.of(birds, settings=settings))
            client = stack.enter_context(TestClient(app, base_url="http://localhost", headers={"X-Openbook": "1"}))
            if asked:
                client.cookies.update(asked[0].cookies)
            assert client.post("/api/query", json={"query": "When do owls hunt?"}).status_code == 200
            asked.append(client)

        listed = [len(client.get("/api/sessions").json()["sessions"]) for client in asked]

        assert listed == [2, 2]
        assert asked[0].get("/readyz").json()["status"] == "ok"
        (tmp_path / "shared").rename(tmp_path / "away")
        assert asked[0].get("/readyz").json()["status"] == "degraded"


@pytest.mark.parametrize("value", ["nope:sesame", "sesame"])
def test_an_unknown_store_is_reported_without_its_password(openbook: Run, birds: str, value: str) -> None:
    refused = openbook("serve", birds, "--port", "0", OPENBOOK_SHARED_STORE=value)

    assert refused.code == 2
    assert "there is no store of that name" in refused.err
    assert "folder, redis, rediss" in refused.err
    assert "sesame" not in refused.out + refused.err


@pytest.mark.slow
def test_a_library_is_copied_to_the_engine_of_a_plugin(openbook: Run, birds: str, tmp_path: Path) -> None:
    openbook("add", birds, "--library", "team")
    there = f"folder:{tmp_path / 'disk'}"

    copied = openbook("migrate", "team", "--to", there)
    here, elsewhere = (
        openbook("ask", "When do owls sleep?", "--library", "team", OPENBOOK_STORAGE=storage) for storage in ("", there)
    )

    assert copied.err.startswith(f"copied team to {there}/team: 2 documents and ")
    assert "Owls sleep by day" in here.out
    assert elsewhere.out == here.out
