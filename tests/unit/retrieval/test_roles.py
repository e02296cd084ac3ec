from __future__ import annotations

import pytest

from openbook.retrieval.roles import Role, old_versions, prior, role_of
from openbook.types import KINDS, Kind

QUESTION = "how are retries counted"


@pytest.mark.parametrize(
    ("path", "kind", "role"),
    [
        ("src/client.py", "code", "source"),
        ("src/testing.py", "code", "source"),
        ("src/contest.py", "code", "source"),
        ("src/latest.go", "code", "source"),
        ("pkg/attestation.rs", "code", "source"),
        ("src/history.py", "code", "source"),
        ("app/authors_controller.rb", "code", "source"),
        ("lib/notice_board.ts", "code", "source"),
        ("news.go", "code", "source"),
        ("bin/install", "code", "source"),
        ("bin/release", "code", "source"),
        ("tests/any/thing.py", "code", "test"),
        ("test/a.c", "code", "test"),
        ("spec/models/user.rb", "code", "test"),
        ("src/__tests__/a.js", "code", "test"),
        ("a/testdata/b.json", "data", "test"),
        ("a/fixtures/b.yaml", "config", "test"),
        ("test_client.py", "code", "test"),
        ("conftest.py", "code", "test"),
        ("client_test.go", "code", "test"),
        ("client.test.ts", "code", "test"),
        ("client.spec.js", "code", "test"),
        ("client-test.js", "code", "test"),
        ("user_spec.rb", "code", "test"),
        ("src/ClientTest.java", "code", "test"),
        ("src/ClientTests.cs", "code", "test"),
        ("src/ClientSpec.scala", "code", "test"),
        ("examples/test_a.py", "code", "test"),
        ("tests/examples/a.py", "code", "test"),
        ("examples/a.py", "code", "example"),
        ("example/a.py", "code", "example"),
        ("samples/A.java", "code", "example"),
        ("docs_src/a.py", "code", "example"),
        ("demo/a.js", "code", "example"),
        ("docs/conf.py", "code", "example"),
        ("guide/first_steps.rs", "code", "example"),
        ("README.md", "docs", "documentation"),
        ("docs/guide.md", "docs", "documentation"),
        ("docs/theme.toml", "config", "documentation"),
        ("src/notes.rst", "docs", "documentation"),
        ("man/openbook.1", "docs", "documentation"),
        ("openbook.1", "docs", "documentation"),
        ("pyproject.toml", "config", "configuration"),
        ("src/locale/de.json", "data", "configuration"),
        (".github/workflows/check.yml", "config", "configuration"),
        ("release.toml", "config", "configuration"),
        ("CHANGELOG.md", "docs", "changelog"),
        ("docs/changes.rst", "docs", "changelog"),
        ("HISTORY.rst", "docs", "changelog"),
        ("NEWS", "docs", "changelog"),
        ("docs/release-notes.md", "docs", "changelog"),
        ("docs/releases.md", "docs", "changelog"),
        ("LICENSE", "docs", "legal"),
        ("licence.txt", "docs", "legal"),
        ("LICENSE-MIT", "docs", "legal"),
        ("COPYING", "docs", "legal"),
        ("AUTHORS.md", "docs", "legal"),
        ("CODE_OF_CONDUCT.md", "docs", "legal"),
        ("tests/LICENSE", "docs", "legal"),
    ],
)
def test_path_and_kind_say_what_a_file_is_for(path: str, kind: Kind, role: Role) -> None:
    assert role_of(path, kind) == role


@pytest.mark.parametrize(
    "path", ["talks.txt", "docs/course.md", "tests/lesson_1.txt", "scripts/lesson_1.txt", "v1/legacy_systems.md"]
)
def test_a_course_counts_in_full_wherever_it_lies(path: str) -> None:
    assert role_of(path, "course") == "source"
    assert prior(QUESTION, path, "course") == 1


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("tests/a.py", "code"),
        ("examples/a.py", "code"),
        ("docs/a.md", "docs"),
        ("setup.cfg", "config"),
        ("CHANGELOG.md", "docs"),
        ("LICENSE", "docs"),
    ],
)
def test_what_is_no_source_counts_less_unless_asked_for(path: str, kind: Kind) -> None:
    assert 0 < prior(QUESTION, path, kind) < prior(QUESTION, "src/a.py", "code")


def test_a_source_counts_in_full_whatever_is_asked() -> None:
    assert prior(QUESTION, "a.py", "code") == 1
    assert prior("where are the tests and the license", "a.py", "code") == 1


@pytest.mark.parametrize(
    ("question", "path", "kind"),
    [
        ("where is retry tested", "tests/a.py", "code"),
        ("unit test for retry", "tests/a.py", "code"),
        ("test_retry", "tests/a.py", "code"),
        ("the TestRetry class", "tests/a.py", "code"),
        ("which test cases cover retry", "tests/a.py", "code"),
        ("what does the test function for retries set up", "tests/a.py", "code"),
        ("the test classes of retry", "tests/a.py", "code"),
        ("fixture for the database", "tests/a.py", "code"),
        ("show me an example of retry", "examples/a.py", "code"),
        ("a Demo of retry", "examples/a.py", "code"),
        ("the guide to retries", "docs/retries.md", "docs"),
        ("how-to for retries", "docs/retries.md", "docs"),
        ("what does the README say", "README.md", "docs"),
        ("the config of retries", "retries.toml", "config"),
        ("which dependencies are there", "pyproject.toml", "config"),
        ("what changed in retry", "CHANGELOG.md", "docs"),
        ("is retry deprecated", "CHANGELOG.md", "docs"),
        ("retry since version 2", "CHANGELOG.md", "docs"),
        ("under which license is it", "LICENSE", "docs"),
        ("who are the authors", "AUTHORS.md", "docs"),
    ],
)
def test_the_role_that_a_question_asks_for_counts_in_full(question: str, path: str, kind: Kind) -> None:
    assert prior(question, path, kind) == 1
    assert prior(QUESTION, path, kind) < 1


def test_a_question_lifts_no_other_role_than_the_one_it_asks_for() -> None:
    assert prior("where is retry tested", "examples/a.py", "code") == prior(QUESTION, "examples/a.py", "code")


@pytest.mark.parametrize("question", ["how does the test client work", "start the test runner", "latest retry"])
def test_a_thing_called_test_is_no_question_for_tests(question: str) -> None:
    assert prior(question, "tests/a.py", "code") < 1


@pytest.mark.parametrize(
    "path", ["src/compat.py", "compat/a.py", "src/legacy_client.py", "vendor/x/a.go", "a/third_party/b.c", "_compat.py"]
)
def test_what_stands_in_for_something_else_counts_less(path: str) -> None:
    assert prior(QUESTION, path, "code") < 1


@pytest.mark.parametrize("path", ["src/compatible.py", "src/vendors.py", "src/decompat.py", "src/tooling/a.py"])
def test_a_name_that_only_resembles_a_stand_in_counts_in_full(path: str) -> None:
    assert prior(QUESTION, path, "code") == 1


def test_a_vendored_test_counts_less_than_one_of_our_own() -> None:
    assert prior(QUESTION, "vendor/tests/a.py", "code") < prior(QUESTION, "tests/a.py", "code")


@pytest.mark.parametrize("path", ["scripts/a.py", "tools/a.py", "a/tool/b.py", "ci/a.sh", "benchmarks/a.py"])
def test_what_helps_to_build_counts_less_as_code_and_no_less_as_anything_else(path: str) -> None:
    assert prior(QUESTION, path, "code") < 1
    assert prior(QUESTION, path, "docs") == prior(QUESTION, "a.md", "docs")


@pytest.mark.parametrize("kind", KINDS)
def test_a_factor_is_above_0_and_at_most_1(kind: Kind) -> None:
    for path in ("a.py", "vendor/tests/legacy.py", "scripts/LICENSE", "docs/CHANGELOG.md", "x"):
        for question in (QUESTION, "tests, examples, docs, config, release and license"):
            assert 0 < prior(question, path, kind) <= 1


def test_without_folders_of_versions_nothing_is_old() -> None:
    assert old_versions("parse", []) == {}
    assert old_versions("parse", ["a/parse.py", "v2.py", "av1/b.py", "vendor/v8x/a.c"]) == {}


def test_the_newest_of_versions_side_by_side_is_meant() -> None:
    old = old_versions("parse", ["lib/v3/parse.py", "lib/v10/parse.py", "lib/v4/sub/parse.py", "lib/core.py"])

    assert old.keys() == {"lib/v3/parse.py", "lib/v4/sub/parse.py"}
    assert all(0 < factor < 1 for factor in old.values())


def test_a_single_first_version_is_old_beside_what_has_none() -> None:
    assert old_versions("parse", ["lib/v1/parse.py", "lib/parse.py"]).keys() == {"lib/v1/parse.py"}
    assert old_versions("parse", ["v1/parse.py", "parse.py"]).keys() == {"v1/parse.py"}


@pytest.mark.parametrize(
    "paths",
    [
        pytest.param(["lib/v1/parse.py"], id="alone"),
        pytest.param(["lib/v1/parse.py", "other/parse.py"], id="elsewhere"),
        pytest.param(["lib/v2/parse.py", "lib/parse.py"], id="second-beside-what-has-none"),
        pytest.param(["a/v1/parse.py", "b/v2/parse.py"], id="of-different-things"),
    ],
)
def test_a_version_is_not_old_for_want_of_a_newer_one(paths: list[str]) -> None:
    assert old_versions("parse", paths) == {}


def test_the_version_that_is_asked_for_is_meant() -> None:
    paths = ["lib/v3/parse.py", "lib/v4/parse.py", "lib/core.py"]

    assert old_versions("parse in V3", paths).keys() == {"lib/v4/parse.py"}
    assert old_versions("from v3 to v4", paths) == {}
