"""Release files agree with the project: workflows, action, image, citation."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.main import get_command

from openbook.cli.app import app
from tests.repositories import write
from tools import check_release

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
YAML_FILES = [*WORKFLOWS, *sorted((ROOT / ".github").rglob("*.yml")), *ROOT.glob("*.yml"), ROOT / "CITATION.cff"]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
COMMANDS: dict[str, Any] = getattr(get_command(app), "commands", {})
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")


class _Loader(yaml.SafeLoader):  # type: ignore[misc]  # yaml has no types
    """Reads Python tags of other tools as plain text."""


_Loader.add_multi_constructor("tag:yaml.org,2002:python/", lambda loader, suffix, node: suffix)


def load(path: Path) -> dict[Any, Any]:
    content: dict[Any, Any] = yaml.load(path.read_text(encoding="utf-8"), Loader=_Loader)
    return content


def steps(path: Path) -> Iterator[dict[str, Any]]:
    content = load(path)
    if "runs" in content:
        yield from content["runs"]["steps"]
    for job in content.get("jobs", {}).values():
        yield from job.get("steps", [])


WITH_STEPS = pytest.mark.parametrize("path", [*WORKFLOWS, ROOT / "action.yml"], ids=lambda path: path.name)


@pytest.mark.parametrize("path", sorted(set(YAML_FILES)), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_yaml_file_parses(path: Path) -> None:
    assert load(path)


def test_tests_run_with_every_python_that_the_package_claims_and_no_other() -> None:
    claimed = [name.rpartition(" ")[2] for name in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", name)]
    (workflow,) = (path for path in WORKFLOWS if path.name == "test.yml")

    matrix = load(workflow)["jobs"]["test"]["strategy"]["matrix"]

    assert matrix["python"] == claimed
    assert PROJECT["requires-python"] == f">={claimed[0]}"


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_may_read_and_nothing_else_unless_a_job_says_so(path: Path) -> None:
    content = load(path)

    assert content["permissions"] == {"contents": "read"}
    assert "group" in content["concurrency"]
    assert "secrets." not in path.read_text(encoding="utf-8")


@WITH_STEPS
def test_every_action_is_pinned_to_a_commit_but_the_one_that_publishes(path: Path) -> None:
    used = re.findall(r"^\s*(?:- )?uses: (?!\./)(.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    pinned = re.compile(r"[\w.-]+/[\w.-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+")

    assert used
    assert {action for action in used if not pinned.fullmatch(action)} <= {"pypa/gh-action-pypi-publish@release/v1"}


def test_an_action_has_one_version_everywhere() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in [*WORKFLOWS, ROOT / "action.yml"])
    used = set(re.findall(r"uses: ([\w-]+/[\w-]+)@(\S+)", text))

    assert len({name for name, _ in used}) == len(used)


@WITH_STEPS
def test_no_text_of_an_event_becomes_part_of_a_script(path: Path) -> None:
    assert [step["run"] for step in steps(path) if "${{" in step.get("run", "")] == []


@pytest.mark.parametrize(
    ("files", "said", "code"),
    [
        pytest.param("docs/*.md", "2 citations in 2 files: ", 0, id="pattern"),
        pytest.param("docs/a *.md\n\nREADME.md\n", "2 citations in 2 files: ", 0, id="pattern-with-blank"),
        pytest.param("docs/**/*.md", "3 citations in 3 files: ", 0, id="at-any-depth"),
        pytest.param("docs", "3 citations in 3 files: ", 0, id="folder"),
        pytest.param("[id].md", "1 citation in 1 file: ", 0, id="name-that-looks-like-a-pattern"),
        pytest.param("guide/*.md", "cannot read 'guide/*.md': does not exist", 2, id="fits-nothing"),
        pytest.param("$(touch sprung)", "cannot read '$(touch sprung)': does not exist", 2, id="command"),
        pytest.param("-h", "cannot read '-h': does not exist", 2, id="option"),
        pytest.param("\n", "::error::the input 'files' is empty", 2, id="empty"),
    ],
)
def test_the_action_checks_files_folders_and_patterns(tmp_path: Path, files: str, said: str, code: int) -> None:
    script = next(step["run"] for step in steps(ROOT / "action.yml") if step.get("name") == "Check citations")
    names = ("README.md", "[id].md", "i.md", "docs/a page.md", "docs/b.md", "docs/deep/c.md")
    write(tmp_path, dict.fromkeys(names, "See code.py:1.\n") | {"code.py": "x = 1\n"})
    (tmp_path / "openbook").symlink_to(ROOT / "src")
    inputs = {"FILES": files, "EXCLUDE": "old/\n", "BASELINE": "", "ROOT": "."}

    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        cwd=tmp_path,
        env=os.environ | inputs | {"PYTHON": sys.executable, "RUNNER_TEMP": str(tmp_path)},
        capture_output=True,
        check=False,
        encoding="utf-8",
    )

    assert said in done.stdout + done.stderr
    assert done.returncode == code
    assert not (tmp_path / "sprung").exists()


@WITH_STEPS
def test_every_make_target_and_tool_that_is_called_exists(path: Path) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    scripts = "\n".join(step.get("run", "") for step in steps(path))

    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in re.findall(r"\bmake (\S+)", scripts))
    assert all((ROOT / name).is_file() for name in re.findall(r"\b(?:tools|requirements)/[\w.]+", scripts))


@WITH_STEPS
def test_every_command_of_openbook_that_is_called_exists(path: Path) -> None:
    scripts = "\n".join(step.get("run", "") for step in steps(path))
    for line in re.findall(r"(?<!/)\bopenbook ([a-z]+ .*)$", scripts, re.MULTILINE):
        name, *arguments = shlex.split(re.split(" [<>] ", line)[0])
        COMMANDS[name].make_context(name, [*arguments, "README.md"] if arguments[-1] == "--" else arguments)


def test_the_image_runs_a_command_that_exists() -> None:
    (command,) = re.findall(r"^CMD \[(.*)\]$", DOCKERFILE, re.MULTILINE)
    name, *arguments = (word.strip('" ') for word in command.split(","))

    COMMANDS[name].make_context(name, arguments)
    assert "USER 10001" in DOCKERFILE
    assert "/healthz" in DOCKERFILE


def test_what_the_image_is_built_from_is_let_through_and_exists() -> None:
    let_in = {line[1:] for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if line.startswith("!")}
    copied = {name for line in re.findall(r"^COPY (?!--)(.*) \S+$", DOCKERFILE, re.MULTILINE) for name in line.split()}
    copied.remove("requirements/${REQUIREMENTS}.txt")
    copied |= {f"requirements/{each}.txt" for each in ("cluster", "server")}  # docs/deploy.md builds both

    assert copied == let_in
    assert [name for name in copied if not (ROOT / name).exists()] == []


def test_the_citation_names_the_version_and_licence_of_the_package() -> None:
    citation = load(ROOT / "CITATION.cff")

    licence, _, fonts = PROJECT["license"].partition(" AND ")
    assert (citation["version"], citation["license"], fonts) == (PROJECT["version"], licence, "OFL-1.1")


def test_the_changelog_has_a_section_for_the_version() -> None:
    assert f"\n## {PROJECT['version']}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return the files of a checkout that can be released as `v0.1.0` of `ada/openbook`."""
    for name in check_release._NAMES_REPOSITORY:
        target = tmp_path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(re.sub(r"OWNER(?=[/.])", "ada", (ROOT / name).read_text("utf-8")), "utf-8")
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## 0.1.0 - 2026-12-01\n\n- It asks.\n\n## 0.0.1\n", "utf-8")
    return tmp_path


def test_a_tag_that_agrees_with_the_files_can_be_released(checkout: Path) -> None:
    assert check_release.problems("v0.1.0", "ada/openbook", checkout) == []
    assert check_release.changes((checkout / "CHANGELOG.md").read_text("utf-8"), "0.1.0") == "- It asks."


def test_everything_that_does_not_agree_is_named(checkout: Path) -> None:
    (checkout / "CHANGELOG.md").write_text("## 0.1.0 (not released yet)\n", "utf-8")
    (checkout / "SECURITY.md").write_text("https://github.com/eve/openbook/security", "utf-8")
    (checkout / "CITATION.cff").write_text("\nversion: 0.0.9\n", "utf-8")

    with (checkout / "mkdocs.yml").open("a", encoding="utf-8") as file:
        file.write("site_url: https://OWNER.github.io/openbook/\n")

    assert check_release.problems("v0.2.0", "ada/openbook", checkout) == [
        "the tag is v0.2.0, and pyproject.toml has version 0.1.0",
        "CITATION.cff has another version than 0.1.0",
        "CHANGELOG.md has no heading '## 0.1.0 - YYYY-MM-DD'",
        "SECURITY.md names eve/openbook in the place of ada/openbook",
        "mkdocs.yml still says OWNER",
    ]
