"""Names of secrets, binaries and output are told from those that only look alike."""

from __future__ import annotations

import pytest

from openbook.sources.exclusions import is_binary_name, is_ignored_file, is_ignored_folder, is_secret


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(".env .env.local .ENV .envrc prod.env .env.example example.env", id="environment"),
        pytest.param("id_rsa id_ed25519 server.pem tls.KEY a.p12 a.pfx a.jks a.keystore a.ppk", id="keys"),
        pytest.param(".dockerconfigjson .dockercfg .vault_pass .vault_pass.txt .vault-token", id="containers"),
        pytest.param(".netrc .pgpass .npmrc .pypirc .git-credentials .htpasswd pass.kdbx", id="passwords"),
        pytest.param("credentials credentials.json service-account-prod.json", id="cloud"),
    ],
)
def test_keys_and_credentials_are_secret(names: str) -> None:
    assert [name for name in names.split() if not is_secret(name)] == []


@pytest.mark.parametrize(
    "names",
    [
        pytest.param("env.py credentials.py secrets.py keys.py service_account.py pem.py", id="code-about-secrets"),
        pytest.param("environment.yml id_rsa.pub key README.md", id="others"),
    ],
)
def test_code_about_secrets_is_not(names: str) -> None:
    assert [name for name in names.split() if is_secret(name)] == []


def test_a_name_is_binary_by_its_last_suffix_only() -> None:
    assert [name for name in ("a.PNG", "a.png.md", "png", "a.tar.gz") if is_binary_name(name)] == ["a.PNG", "a.tar.gz"]


def test_lock_files_and_minified_files_are_ignored() -> None:
    names = ["package-lock.json", "Cargo.lock", "go.sum", "a.min.js", "a.css.map", "a.js", "lock.py", "map"]

    assert [name for name in names if not is_ignored_file(name)] == ["a.js", "lock.py", "map"]


def test_what_has_a_source_map_beside_it_is_compiled_and_ignored() -> None:
    names = ["App.js", "app.cjs", "lib.js", "app.css", "world"]
    beside = {"app.js.map", "app.cjs.map", "lib.min.js", "lib.min.js.map", "app.css.map", "world.map"}

    assert [name for name in names if not is_ignored_file(name, beside)] == ["lib.js", "world"]


def test_settings_and_deleted_notes_of_programs_for_notes_are_ignored() -> None:
    assert [name for name in (".obsidian", ".trash", "obsidian", ".claude") if is_ignored_folder(name, set())] == [
        ".obsidian",
        ".trash",
    ]


@pytest.mark.parametrize(
    ("name", "sibling", "ignored"),
    [
        pytest.param("target", "cargo.toml", True, id="rust-output"),
        pytest.param("target", "package.json", False, id="target-beside-another-tool"),
        pytest.param("vendor", "go.mod", True, id="vendored-modules"),
        pytest.param("vendor", "main.py", False, id="a-folder-about-vendors"),
        pytest.param("Dist", "package.json", True, id="case-does-not-matter"),
    ],
)
def test_output_is_told_by_what_stands_beside_it(name: str, sibling: str, ignored: bool) -> None:
    assert is_ignored_folder(name, {sibling}) is ignored
