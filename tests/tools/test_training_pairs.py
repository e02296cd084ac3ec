"""What the model is trained on: pairs of what people wrote and what it is about, and nothing that is measured with."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from tools.static_model.archives import texts
from tools.static_model.code_pairs import code_pairs
from tools.static_model.mine import is_named, is_near, long_lines, mine, parts
from tools.static_model.packages import LIST, REGISTRIES, command, read_list
from tools.static_model.prose_pairs import dictionary_pairs, factbook_pairs, prose_pairs

PYTHON = '''"""Reads settings from a file."""


class Settings:
    def load_from_file(self, path):
        """Read the settings that a file holds.

        Lines that start with a hash are skipped.
        """
        with open(path, encoding="utf-8") as file:
            return [line.strip() for line in file if not line.startswith("#")]
'''
GO = """package mail

// Send delivers a message to all its readers.
func Send(message Message) error {
\tfor _, reader := range message.Readers {
\t\tif err := deliver(reader, message); err != nil {
\t\t\treturn err
\t\t}
\t}
\treturn nil
}
"""
MANUAL = """# Harbour

## Opening hours

The harbour opens at sunrise, and it closes when the lighthouse is lit in the evening, at all times of the year.
Ships that come later have to wait outside until the pilot has had his breakfast and comes back to them.
"""


def test_a_docstring_is_paired_with_the_code_without_it() -> None:
    (pair,) = [pair for pair in code_pairs("app/settings.py", PYTHON) if pair.kind == "docstring"]

    assert pair.query == "Read the settings that a file holds."
    assert "with open(path" in pair.text
    assert "Read the settings" not in pair.text


def test_a_comment_is_paired_with_the_definition_below_it() -> None:
    (pair,) = [pair for pair in code_pairs("mail/send.go", GO) if pair.kind == "doc comment"]

    assert pair.query == "Send delivers a message to all its readers."
    assert pair.text.startswith("func Send(")
    assert pair.text.endswith("}")


def test_a_heading_is_paired_with_its_section() -> None:
    (pair,) = [pair for pair in prose_pairs("manual.md", MANUAL) if pair.kind == "heading"]

    assert pair.query.endswith("Opening hours")
    assert pair.text.startswith("The harbour opens at sunrise")


def test_an_entry_of_a_dictionary_is_paired_with_its_head_word() -> None:
    text = "lighthouse\n   A tower with a light that warns ships of rocks.\n"

    (pair,) = [pair for pair in dictionary_pairs("lighthouse\tA\t+", text) if pair.kind == "dictionary"]

    assert pair.query == "lighthouse"
    assert pair.text == "A tower with a light that warns ships of rocks."


def test_a_field_of_a_country_is_asked_for_by_its_name() -> None:
    climate = {"Climate": {"text": "mild and wet winters, and summers that are clear and dry"}}
    profile = {"Government": {"Country name": {"conventional short form": {"text": "Albania"}}}, "Geography": climate}

    (pair,) = factbook_pairs(json.dumps(profile))

    assert pair.query == "Climate of Albania"


@pytest.mark.parametrize(
    ("name", "refused"),
    [
        pytest.param("golang-github-spf13-cobra-dev_1.6.1-1_all.deb", True, id="with-a-prefix"),
        pytest.param("python3-Scikit_Learn-1.0.whl", True, id="spelled-otherwise"),
        pytest.param("cobrant-1.0.tgz", False, id="only-begins-like-it"),
    ],
)
def test_a_package_that_carries_the_name_of_a_project_is_refused(name: str, refused: bool) -> None:
    assert is_named(name, [parts("cobra"), parts("scikit-learn")]) is refused


def test_a_folder_that_is_called_like_a_project_is_passed_over_and_a_longer_name_is_not() -> None:
    never = [parts("requests")]

    assert is_named("pip/_vendor/requests/api.py", never, whole=True)
    assert not is_named("shop/list-requests/api.py", never, whole=True)


def test_a_copy_of_what_is_measured_with_is_near_and_another_text_is_not(tmp_path: Path) -> None:
    lines = [f"    value_{n} = compute_the_value_of_this_line(argument={n})" for n in range(10)]
    (tmp_path / "gold.py").write_text("\n".join(lines), encoding="utf-8")
    known = frozenset(long_lines([tmp_path]))

    assert is_near("\n".join(["import os", *lines[:5]]), known)
    assert not is_near(PYTHON, known)


def test_mining_an_archive_twice_gives_the_same_pairs(tmp_path: Path) -> None:
    archive = tmp_path / "app-1.0-py3-none-any.whl"
    with zipfile.ZipFile(archive, "w") as opened:
        opened.writestr("app/settings.py", PYTHON)
        opened.writestr("app/manual.md", MANUAL)
        opened.writestr("app/_vendor/copied.py", PYTHON)

    assert mine(archive) == mine(archive)
    assert [path for path, _ in texts(archive)] == ["app/settings.py", "app/manual.md"]


def test_the_list_names_each_archive_once_with_its_bytes() -> None:
    packages = read_list(LIST)

    assert len({(package.registry, package.archive) for package in packages}) == len(packages) > 600
    assert {package.registry for package in packages} == set(REGISTRIES)
    assert all(len(package.sha256) == 64 for package in packages)


def test_a_package_is_fetched_by_the_client_of_its_registry_in_the_listed_version() -> None:
    package = next(package for package in read_list(LIST) if package.registry == "npm")

    assert command("npm", [package]) == ["npm", "pack", "--silent", f"{package.name}@{package.version}"]
