"""Entailment models are fetched from a server that keeps them as the hub does, and opened from the home."""

from __future__ import annotations

import json
import sqlite3
import stat
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from openbook.errors import FetchError, MissingExtraError, OpenbookError, SettingsError
from openbook.grounding.installed_models import (
    KNOWN,
    fetch_model,
    find_model,
    installed,
    open_entailment_model,
    remove_model,
)
from openbook.grounding.protocol import CitedClaim
from openbook.settings import Settings
from tests.model_server import COMMIT, ModelServer, Response
from tools.tiny_nli import TinyModel, write

NAME = "nli-deberta-v3-xsmall"
REPOSITORY = "cross-encoder/nli-deberta-v3-xsmall"


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = write(tmp_path_factory.mktemp("made") / "tiny")
    names = {"model.onnx": "onnx/model.onnx", "tokenizer.json": "tokenizer.json", "config.json": "config.json"}
    return {path: (folder / name).read_bytes() for name, path in names.items()}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home", lock_timeout_s=0.2)


def refused(wanted: str, settings: Settings) -> FetchError:
    with pytest.raises(FetchError) as caught:
        fetch_model(wanted, settings)
    assert caught.value.hint
    assert leftovers(settings) == []
    return caught.value


def leftovers(settings: Settings) -> list[str]:
    folder = settings.models_folder
    return (
        sorted(path.name for path in folder.iterdir() if not path.name.startswith(".lock")) if folder.exists() else []
    )


def test_known_model_is_fetched_and_judges(
    model_server: ModelServer, files: dict[str, bytes], settings: Settings
) -> None:
    model_server.add(REPOSITORY, files)

    folder = fetch_model(NAME, settings)
    judge = open_entailment_model(NAME, settings)

    assert folder == settings.home.resolve() / "models" / NAME
    assert judge.name == f"nli:{NAME}"
    assert judge.judge([CitedClaim("The key is lost.", "The key is lost.")])[0].label == "entailed"


def test_what_was_fetched_is_recorded_with_its_hashes(
    model_server: ModelServer, files: dict[str, bytes], settings: Settings
) -> None:
    model_server.add(REPOSITORY, files)

    record = json.loads((fetch_model(NAME, settings) / "fetched.json").read_text(encoding="utf-8"))

    assert record["from"] == f"{model_server.url}/{REPOSITORY}/resolve/{COMMIT}"
    assert record["files"]["model.onnx"] == {
        "from": "onnx/model.onnx",
        "bytes": len(files["onnx/model.onnx"]),
        "sha256": sha256(files["onnx/model.onnx"]).hexdigest(),
    }


def test_all_files_are_of_one_commit(model_server: ModelServer, files: dict[str, bytes], settings: Settings) -> None:
    model_server.add(REPOSITORY, files)

    fetch_model(NAME, settings)

    assert model_server.requests[0] == f"/{REPOSITORY}/resolve/main/config.json"
    assert model_server.requests[1] == f"/{REPOSITORY}/resolve/{COMMIT}/tokenizer.json"


def test_no_key_is_sent(
    model_server: ModelServer, files: dict[str, bytes], settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    model_server.add(REPOSITORY, files)

    fetch_model(NAME, settings)

    assert all("authorization" not in headers and "cookie" not in headers for headers in model_server.headers)


def test_files_are_for_their_owner_alone(
    model_server: ModelServer, files: dict[str, bytes], settings: Settings
) -> None:
    model_server.add(REPOSITORY, files)

    folder = fetch_model(NAME, settings)

    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()} == {0o600}


def test_model_that_is_here_is_not_fetched_again(
    model_server: ModelServer, files: dict[str, bytes], settings: Settings
) -> None:
    model_server.add(REPOSITORY, files)
    folder = fetch_model(NAME, settings)
    model_server.requests.clear()

    assert fetch_model(NAME, settings) == folder
    assert model_server.requests == []


def test_any_repository_of_the_hub_can_be_named(
    model_server: ModelServer, files: dict[str, bytes], settings: Settings
) -> None:
    model_server.add("ada/my.model", {**files, "openbook.json": b'{"max_tokens": 48}'}, revision="v1")
    model_server.add(
        "ada/flat",
        {
            "model.onnx": files["onnx/model.onnx"],
            "tokenizer.json": files["tokenizer.json"],
            "config.json": files["config.json"],
        },
    )

    assert fetch_model("ada/my.model@v1", settings).name == "my.model"
    assert fetch_model(f"{model_server.url}/ada/flat/", settings).name == "flat"
    assert (settings.models_folder / "my.model" / "openbook.json").is_file()


def test_folder_of_another_host_can_be_named(model_server: ModelServer, settings: Settings, tmp_path: Path) -> None:
    model_server.add_folder("/files/nli/score", write(tmp_path / "made", TinyModel(labels=("LABEL_0",))))
    address = f"{model_server.url.replace('127.0.0.1', 'localhost')}/files/nli/score"

    assert fetch_model(address, settings, hub_url="https://hub.example.org").name == "score"


@pytest.mark.parametrize("known", KNOWN, ids=lambda model: model.name)
def test_known_models_have_what_is_needed_to_fetch_them(known: object) -> None:
    model = next(each for each in KNOWN if each is known)

    assert model.repository.count("/") == 1
    assert model.file.endswith(".bin" if model.is_speech else ".onnx")
    assert model.licence
    assert 0 < model.size_bytes < 2**31


def test_news_tells_how_far_a_file_is(model_server: ModelServer, files: dict[str, bytes], settings: Settings) -> None:
    model_server.add(REPOSITORY, files)
    told: list[tuple[str, int, int]] = []

    fetch_model(NAME, settings, progress=lambda *news: told.append(news))

    size = len(files["onnx/model.onnx"])
    assert told[-1] == ("model.onnx", size, size)


def test_model_that_the_hub_does_not_have_is_told(model_server: ModelServer, settings: Settings) -> None:
    assert "there is no tokenizer.json" in str(refused("ada/nothing", settings))


def test_model_without_an_onnx_file_is_told(
    model_server: ModelServer, files: dict[str, bytes], settings: Settings
) -> None:
    model_server.add("ada/torch", {name: body for name, body in files.items() if not name.endswith(".onnx")})

    assert "there is no onnx/model.onnx or model.onnx" in str(refused("ada/torch", settings))


def test_fetch_that_broke_off_begins_anew(
    model_server: ModelServer, files: dict[str, bytes], settings: Settings
) -> None:
    model_server.add(REPOSITORY, files)
    storage = next(path for path in model_server.responses if path.startswith("/storage/"))
    whole = model_server.responses[storage]
    model_server.responses[storage] = Response(status=500)
    refused(NAME, settings)
    killed = settings.models_folder / ".incoming" / NAME
    killed.mkdir(parents=True)
    (killed / "model.onnx").write_bytes(b"half of a model that another fetch left when it was killed")

    model_server.responses[storage] = whole

    assert (fetch_model(NAME, settings) / "model.onnx").read_bytes() == files["onnx/model.onnx"]
    assert leftovers(settings) == [NAME]


def test_model_that_cannot_be_used_is_not_kept(
    model_server: ModelServer, files: dict[str, bytes], settings: Settings
) -> None:
    model_server.add("ada/labels", {**files, "config.json": b'{"id2label": {"0": "LABEL_0", "1": "LABEL_1"}}'})
    model_server.add("ada/graph", {**files, "onnx/model.onnx": b"no model"})

    for name, words in (("ada/labels", "'LABEL_0' is not a label of entailment"), ("ada/graph", "cannot be loaded")):
        with pytest.raises(SettingsError, match=f"{name} was not installed") as caught:
            fetch_model(name, settings)
        assert words in str(caught.value)
    assert leftovers(settings) == []


def test_labels_are_checked_before_the_large_file_is_fetched(
    model_server: ModelServer, files: dict[str, bytes], settings: Settings
) -> None:
    model_server.add("ada/labels", {**files, "config.json": b"{}"})

    with pytest.raises(SettingsError):
        fetch_model("ada/labels", settings)

    assert not any(path.endswith(".onnx") for path in model_server.requests)


@pytest.mark.parametrize(
    "wanted",
    [
        "",
        "unknown",
        "../up",
        "a/b/c",
        "a/..",
        ".hidden/x",
        "a/b@../x",
        "http://models.example.org/a",
        "https://u:secret@x.org/a",
        "https://x.org/a?key=secret",
        "https://x.org/",
        "ftp://x.org/a",
        "https://[/a",
    ],
)
def test_what_is_no_model_is_refused_without_a_network(settings: Settings, wanted: str) -> None:
    with pytest.raises(SettingsError) as caught:
        fetch_model(wanted, settings)

    assert caught.value.hint
    assert "secret" not in str(caught.value)
    assert not settings.models_folder.exists()


@pytest.mark.parametrize("endpoint", ["http://hub.example.org", "https://u:secret@hub.example.org", "hub"])
def test_hub_without_encryption_is_refused(settings: Settings, endpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", endpoint)

    with pytest.raises(SettingsError, match="HF_ENDPOINT is not an https address") as caught:
        fetch_model(NAME, settings)

    assert "secret" not in str(caught.value)


def test_second_fetch_waits_for_the_first(
    model_server: ModelServer, files: dict[str, bytes], settings: Settings
) -> None:
    model_server.add(REPOSITORY, files)
    settings.models_folder.mkdir(parents=True)
    other = sqlite3.connect(settings.models_folder / ".lock", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")

    assert "cannot be locked" in str(refused(NAME, settings))

    other.close()
    assert fetch_model(NAME, settings).is_dir()


def test_folder_that_cannot_be_written_is_told(model_server: ModelServer, tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file", encoding="utf-8")

    with pytest.raises(FetchError, match="cannot be written") as caught:
        fetch_model(NAME, Settings(home=tmp_path / "home"))

    assert "OPENBOOK_HOME" in caught.value.hint


@pytest.mark.parametrize("package", ["httpx2", "onnxruntime"])
def test_missing_package_is_told_before_anything_is_fetched(
    model_server: ModelServer, settings: Settings, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)

    with pytest.raises(MissingExtraError, match=f"'{package}' is not installed") as caught:
        fetch_model(NAME, settings)

    assert caught.value.hint == "pip install 'openbook[nli]'"
    assert model_server.requests == []


def test_models_are_listed_by_name_with_where_they_are_from(
    model_server: ModelServer, files: dict[str, bytes], settings: Settings
) -> None:
    assert installed(settings) == []
    model_server.add(REPOSITORY, files)
    fetch_model(NAME, settings)
    by_hand = write(settings.models_folder / "by-hand")

    first, second = installed(settings)

    assert (first.name, first.origin, first.folder) == ("by-hand", "", by_hand)
    assert second.origin.startswith(model_server.url)
    assert second.size_bytes >= sum(map(len, files.values()))


def test_removed_model_is_gone(settings: Settings) -> None:
    write(settings.models_folder / "mine")

    assert remove_model("mine", settings)
    assert not remove_model("mine", settings)
    assert installed(settings) == []


@pytest.mark.parametrize("name", ["", ".", "..", "../home", ".lock", "a/b"])
def test_only_models_can_be_removed(settings: Settings, name: str) -> None:
    write(settings.models_folder / "mine")

    assert not remove_model(name, settings)
    assert leftovers(settings) == ["mine"]


def test_path_names_a_folder(settings: Settings, tmp_path: Path) -> None:
    folder = write(tmp_path / "elsewhere")

    assert find_model(str(folder), settings) == folder
    assert open_entailment_model(str(folder), settings).name == "nli:elsewhere"


def test_model_of_the_home_comes_before_a_path(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "mine")
    at_home = write(settings.models_folder / "mine")

    assert find_model("mine", settings) == at_home
    assert find_model("./mine", settings) == Path("mine")


@pytest.mark.parametrize(
    ("name", "hint"), [(NAME, f"models add {NAME}"), ("unknown", "models list"), ("", "models list")]
)
def test_model_that_is_not_here_is_told_with_the_command_that_fetches_it(
    settings: Settings, name: str, hint: str
) -> None:
    with pytest.raises(SettingsError, match="there is no model") as caught:
        open_entailment_model(name, settings)

    assert hint in caught.value.hint
    assert isinstance(caught.value, OpenbookError)
