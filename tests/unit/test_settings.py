from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from openbook.errors import SettingsError
from openbook.settings import STRATEGIES, Secret, Settings, ignored_settings, read_addresses, read_secrets


def test_without_variables_every_setting_has_its_default() -> None:
    assert Settings.from_env({}) == Settings()


EACH: dict[str, tuple[str, Any]] = {
    "home": ("/srv/openbook", Path("/srv/openbook")),
    "max_file_bytes": ("2048", 2048),
    "max_document_bytes": ("4096", 4096),
    "max_pages": ("70", 70),
    "mask_secrets": ("off", False),
    "ocr": ("on", True),
    "audio": ("whisper-small", "whisper-small"),
    "file_timeout_s": ("2.5", 2.5),
    "file_memory_bytes": ("4000", 4000),
    "pdf_password": ("open sesame", Secret("open sesame")),
    "chunk_strategy": ("hybrid", "hybrid"),
    "chunk_words": ("200", 200),
    "chunk_overlap_words": ("0", 0),
    "course_chunk_chars": ("300", 300),
    "course_overlap_chars": ("0", 0),
    "context_tokens": ("800", 800),
    "workers": ("3", 3),
    "lock_timeout_s": ("0.5", 0.5),
    "fetch_timeout_s": ("7.5", 7.5),
    "max_repository_bytes": ("8192", 8192),
    "model_timeout_s": ("300", 300.0),
    "model": ("ollama:qwen3:8b", "ollama:qwen3:8b"),
    "query_expansion": ("off", False),
    "verifier": ("off", "off"),
    "storage": ("vespa:http://127.0.0.1:8080", "vespa:http://127.0.0.1:8080"),
    "storage_cache_bytes": ("1000", 1000),
    "embedder": ("ollama:nomic-embed-text", "ollama:nomic-embed-text"),
    "reranker": ("onnx:models/mine", "onnx:models/mine"),
    "model_requests_per_minute": ("50", 50),
    "model_tokens_per_minute": ("30000", 30000),
    "reply_cache": ("replies", "replies"),
    "executor": ("ray://head:10001", "ray://head:10001"),
    "session_days": ("0.5", 0.5),
    "session_history": ("0", 0),
    "shared_store": ("redis://:pw@cache.example/0", Secret("redis://:pw@cache.example/0")),
    "oidc_issuer": ("https://sso.example", "https://sso.example"),
    "oidc_client_id": ("openbook", "openbook"),
    "oidc_client_secret": ("sesame", Secret("sesame")),
    "oidc_redirect_url": ("https://books.example/api/oidc/callback", "https://books.example/api/oidc/callback"),
    "oidc_scopes": ("openid, groups", ("openid", "groups")),
    "oidc_owners": ("ada@example.org", ("ada@example.org",)),
    "oidc_editors": ("groups:authors", ("groups:authors",)),
    "oidc_readers": ("@example.org, *", ("@example.org", "*")),
    "oidc_hours": ("1.5", 1.5),
    "server_workers": ("0", 0),
    "key_upload_bytes": ("9", 9),
    "server_jobs": ("6", 6),
    "job_timeout_s": ("5.5", 5.5),
    "server_queue": ("7", 7),
    "server_wait_s": ("7.5", 7.5),
    "server_answers": ("8", 8),
    "server_results": ("5", 5),
    "server_images": ("2", 2),
    "server_shares": ("owner", "owner"),
    "server_hosts": ("books.example, tea.example", ("books.example", "tea.example")),
    "server_roots": ("/srv/courses", ("/srv/courses",)),
    "server_git_hosts": ("git.example", ("git.example",)),
    "server_models": ("groq:a,ollama:b", ("groq:a", "ollama:b")),
    "uploads": ("/mnt/uploads", "/mnt/uploads"),
    "upload_files": ("3", 3),
    "upload_bytes": ("1000", 1000),
    "key_questions_per_minute": ("6", 6),
    "key_usd_per_day": ("1.5", 1.5),
    "answer_usd": ("0.1", 0.1),
    "telemetry": ("console", "console"),
}
"""Settings, each as a variable says it and as it is then."""


def test_every_setting_can_be_set_by_a_variable_of_its_name() -> None:
    environ = {f"OPENBOOK_{name.upper()}": text for name, (text, _) in EACH.items()}

    settings = Settings.from_env(environ)

    assert settings == Settings(**{name: value for name, (_, value) in EACH.items()})
    assert {setting.name for setting in fields(Settings)} == set(EACH)


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
        ("OPENBOOK_OIDC_HOURS", "nan"),
        ("OPENBOOK_OIDC_HOURS", "-1"),
        ("OPENBOOK_SERVER_WORKERS", "-1"),
        ("OPENBOOK_SESSION_HISTORY", "-1"),
        ("OPENBOOK_MODEL_REQUESTS_PER_MINUTE", "-1"),
        ("OPENBOOK_SERVER_RESULTS", "-1"),
    ],
)
def test_a_number_out_of_range_is_refused_with_the_name_of_its_variable(variable: str, text: str) -> None:
    with pytest.raises(SettingsError, match=r"must (be a positive, finite number|not be negative)") as caught:
        Settings.from_env({variable: text})

    assert variable in caught.value.hint


@pytest.mark.parametrize("overlap", [-1, 10, 11])
def test_chunks_overlap_by_less_than_they_hold(overlap: int) -> None:
    with pytest.raises(SettingsError, match="must be below chunk_words, 10") as caught:
        Settings(chunk_words=10, chunk_overlap_words=overlap)

    assert "OPENBOOK_CHUNK_OVERLAP_WORDS" in caught.value.hint


def test_chunks_of_courses_overlap_by_less_than_they_hold() -> None:
    with pytest.raises(SettingsError, match="must be below course_chunk_chars, 100") as caught:
        Settings(course_chunk_chars=100)

    assert "OPENBOOK_COURSE_OVERLAP_CHARS" in caught.value.hint


def test_ranges_hold_for_settings_made_in_code() -> None:
    with pytest.raises(SettingsError, match="workers is 0"):
        Settings(workers=0)


def test_an_unknown_strategy_is_refused_with_those_there_are() -> None:
    with pytest.raises(SettingsError, match="chunk_strategy is 'clever'") as caught:
        Settings.from_env({"OPENBOOK_CHUNK_STRATEGY": "clever"})

    assert all(strategy in caught.value.hint for strategy in STRATEGIES)


def test_who_may_share_is_a_role_or_nobody() -> None:
    with pytest.raises(SettingsError, match="server_shares is 'everybody'") as caught:
        Settings.from_env({"OPENBOOK_SERVER_SHARES": "everybody"})

    assert "off, reader, editor, owner" in caught.value.hint


def test_origins_tell_for_every_setting_what_is_in_force_and_why() -> None:
    environ = {"OPENBOOK_WORKERS": "3", "OPENBOOK_HOME": ""}

    origins = Settings.from_env(environ).origins(environ)

    assert [name for name, _, _ in origins] == sorted(setting.name for setting in fields(Settings))
    assert ("workers", "3", "OPENBOOK_WORKERS") in origins
    assert ("context_tokens", "8000", "default") in origins
    assert [origin for name, _, origin in origins if name == "home"] == ["default"]


def test_no_list_of_settings_shows_a_password() -> None:
    environ = {"OPENBOOK_SHARED_STORE": "redis://:sesame@cache.example/0", "OPENBOOK_PDF_PASSWORD": "sesame"}

    settings = Settings.from_env(environ)

    assert ("shared_store", "Secret(***)", "OPENBOOK_SHARED_STORE") in settings.origins(environ)
    assert "sesame" not in f"{settings} {settings.origins(environ)}"


def test_a_secret_is_shown_by_nothing_that_prints_it() -> None:
    secret = Secret("sk-1")

    assert f"{secret} {secret!r} {[secret]}" == "Secret(***) Secret(***) [Secret(***)]"
    assert secret.reveal() == "sk-1"
    assert not Secret("")


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ("KEY=sk-1", "sk-1"),
        ("  export KEY = sk-1  ", "sk-1"),
        ('KEY="sk-1" # the new one', "sk-1"),
        ("KEY='sk-1'", "sk-1"),
        ("KEY=sk-1#2 # the new one", "sk-1#2"),
        ("\ufeffKEY=sk-1", "sk-1"),
        ("KEY=", ""),
        ('KEY=""', ""),
        ("KEY= # none", ""),
        ("# KEY=sk-1", ""),
        ("KEYS=sk-1", ""),
        ("KEY", ""),
    ],
)
def test_a_key_is_read_from_dotenv_as_shells_read_it(tmp_path: Path, line: str, key: str) -> None:
    (tmp_path / ".env").write_text(f"{line}\nOTHER=1\n", encoding="utf-8")

    secrets = read_secrets(["KEY"], {}, tmp_path)

    assert {name: secret.reveal() for name, secret in secrets.items()} == ({"KEY": key} if key else {})


def test_the_environment_comes_before_dotenv_unless_it_is_empty(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("A=file\nB=file\n", encoding="utf-8")

    secrets = read_secrets(["A", "B", "C"], {"A": " environment\n", "B": ""}, tmp_path)

    assert {name: secret.reveal() for name, secret in secrets.items()} == {"A": "environment", "B": "file"}


@pytest.mark.parametrize("text", ['"sk-1"', "'sk-1'", ' "sk-1 "\n'])
def test_a_key_is_read_without_the_quotation_marks_around_it(tmp_path: Path, text: str) -> None:
    secrets = read_secrets(["KEY", "MARK", "NONE"], {"KEY": text, "MARK": '"', "NONE": "''"}, tmp_path)

    assert {name: secret.reveal() for name, secret in secrets.items()} == {"KEY": "sk-1", "MARK": '"'}


def test_a_folder_without_dotenv_has_no_keys_and_one_of_that_name_is_none(tmp_path: Path) -> None:
    (tmp_path / "inner" / ".env").mkdir(parents=True)

    assert read_secrets(["A"], {}, tmp_path) == {}
    assert read_secrets(["A"], {}, tmp_path / "inner") == {}


@pytest.mark.parametrize("text", ["sk-1 sk-2", "sk-ü", "sk-\x07"])
def test_a_key_that_cannot_be_one_is_refused_without_being_shown(tmp_path: Path, text: str) -> None:
    with pytest.raises(SettingsError, match="KEY contains characters that are not valid in a key") as caught:
        read_secrets(["KEY"], {"KEY": text}, tmp_path)

    assert "sk-" not in str(caught.value) + caught.value.hint


def test_addresses_are_read_from_the_environment_alone() -> None:
    assert read_addresses(["A", "B", "C"], {"A": "http://here", "B": ""}) == {"A": "http://here"}


def test_keys_and_addresses_of_this_process_are_read_if_none_are_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("A", "sk-1")

    assert read_secrets(["A"])["A"].reveal() == "sk-1"
    assert read_addresses(["A"]) == {"A": "sk-1"}


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs a file that can be opened and not read")
def test_a_dotenv_that_cannot_be_read_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / ".env").symlink_to("/proc/self/mem")

    with pytest.raises(SettingsError, match="cannot read"):
        read_secrets(["A"], {}, tmp_path)


def test_settings_in_dotenv_are_told_unless_they_are_exported(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(
        "OPENBOOK_MODEL=groq\nexport OPENBOOK_HOME=/srv\nGROQ_API_KEY=gsk\n", encoding="utf-8"
    )

    assert ignored_settings(tmp_path, {"OPENBOOK_HOME": "/srv"}) == ["OPENBOOK_MODEL"]
    assert ignored_settings(tmp_path / "nowhere", {}) == []
