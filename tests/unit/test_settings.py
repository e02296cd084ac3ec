from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from openbook.errors import SettingsError
from openbook.settings import STRATEGIES, Settings


def test_without_variables_every_setting_has_its_default() -> None:
    assert Settings.from_env({}) == Settings()


def test_every_setting_can_be_set_by_a_variable_of_its_name() -> None:
    environ = {
        "OPENBOOK_HOME": "/srv/openbook",
        "OPENBOOK_MAX_FILE_BYTES": "2048",
        "OPENBOOK_CHUNK_STRATEGY": "hybrid",
        "OPENBOOK_CHUNK_WORDS": "200",
        "OPENBOOK_CHUNK_OVERLAP_WORDS": "0",
        "OPENBOOK_CONTEXT_TOKENS": "800",
        "OPENBOOK_WORKERS": "3",
        "OPENBOOK_LOCK_TIMEOUT_S": "0.5",
    }

    settings = Settings.from_env(environ)

    assert settings == Settings(
        home=Path("/srv/openbook"),
        max_file_bytes=2048,
        chunk_strategy="hybrid",
        chunk_words=200,
        chunk_overlap_words=0,
        context_tokens=800,
        workers=3,
        lock_timeout_s=0.5,
    )
    assert {f"OPENBOOK_{setting.name.upper()}" for setting in fields(Settings)} == set(environ)


def test_the_environment_of_this_process_is_read_if_none_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENBOOK_CONTEXT_TOKENS", "123")

    assert Settings.from_env().context_tokens == 123


def test_an_empty_variable_is_not_set_and_an_unknown_one_is_ignored() -> None:
    environ = {"OPENBOOK_WORKERS": "", "OPENBOOK_HOME": "", "OPENBOOK_COLOUR": "red", "WORKERS": "9"}

    assert Settings.from_env(environ) == Settings()


def test_a_tilde_is_the_home_folder_of_the_user() -> None:
    assert Settings.from_env({"OPENBOOK_HOME": "~/library"}).home == Path.home() / "library"


@pytest.mark.parametrize(
    ("variable", "text", "wanted"),
    [
        ("OPENBOOK_WORKERS", "two", "a whole number"),
        ("OPENBOOK_WORKERS", "1.5", "a whole number"),
        ("OPENBOOK_MAX_FILE_BYTES", "1 MiB", "a whole number"),
        ("OPENBOOK_CONTEXT_TOKENS", "9" * 5000, "a whole number"),
        ("OPENBOOK_LOCK_TIMEOUT_S", "1m", "a number"),
        ("OPENBOOK_HOME", "~nobody-of-that-name/library", "a path"),
    ],
)
def test_a_variable_that_does_not_parse_is_named_with_what_it_must_be(variable: str, text: str, wanted: str) -> None:
    with pytest.raises(SettingsError) as caught:
        Settings.from_env({variable: text})

    assert str(caught.value) == f"{variable} is {text!r}, and must be {wanted}"


@pytest.mark.parametrize(
    ("variable", "text"),
    [
        ("OPENBOOK_WORKERS", "0"),
        ("OPENBOOK_CONTEXT_TOKENS", "-1"),
        ("OPENBOOK_MAX_FILE_BYTES", "0"),
        ("OPENBOOK_CHUNK_WORDS", "0"),
        ("OPENBOOK_LOCK_TIMEOUT_S", "0"),
        ("OPENBOOK_LOCK_TIMEOUT_S", "-0.5"),
        ("OPENBOOK_LOCK_TIMEOUT_S", "nan"),
        ("OPENBOOK_LOCK_TIMEOUT_S", "inf"),
    ],
)
def test_a_number_out_of_range_is_refused_with_the_name_of_its_variable(variable: str, text: str) -> None:
    with pytest.raises(SettingsError, match="must be a positive number") as caught:
        Settings.from_env({variable: text})

    assert variable in caught.value.hint


@pytest.mark.parametrize("overlap", [-1, 10, 11])
def test_chunks_overlap_by_less_than_they_hold(overlap: int) -> None:
    with pytest.raises(SettingsError, match="must be below chunk_words, 10") as caught:
        Settings(chunk_words=10, chunk_overlap_words=overlap)

    assert "OPENBOOK_CHUNK_OVERLAP_WORDS" in caught.value.hint


def test_ranges_hold_for_settings_made_in_code() -> None:
    with pytest.raises(SettingsError, match="workers is 0"):
        Settings(workers=0)


def test_an_unknown_strategy_is_refused_with_those_there_are() -> None:
    with pytest.raises(SettingsError, match="chunk_strategy is 'clever'") as caught:
        Settings.from_env({"OPENBOOK_CHUNK_STRATEGY": "clever"})

    assert all(strategy in caught.value.hint for strategy in STRATEGIES)


def test_origins_tell_for_every_setting_what_is_in_force_and_why() -> None:
    environ = {"OPENBOOK_WORKERS": "3", "OPENBOOK_HOME": ""}

    origins = Settings.from_env(environ).origins(environ)

    assert [name for name, _, _ in origins] == sorted(setting.name for setting in fields(Settings))
    assert ("workers", "3", "OPENBOOK_WORKERS") in origins
    assert ("context_tokens", "6000", "default") in origins
    assert [origin for name, _, origin in origins if name == "home"] == ["default"]
