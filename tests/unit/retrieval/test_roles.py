from __future__ import annotations

import pytest

from openbook.retrieval import ranking
from openbook.retrieval.names import read_query
from openbook.retrieval.ranking import Role, prior, role_of


@pytest.mark.parametrize(
    ("path", "role"),
    [
        ("src/client.py", "source"),
        ("src/testing.py", "source"),
        ("src/contest.py", "source"),
        ("src/latest.go", "source"),
        ("pkg/attestation.rs", "source"),
        ("docs/guide.md", "source"),
        ("README.md", "source"),
        ("tests/any/thing.py", "test"),
        ("test/a.c", "test"),
        ("spec/models/user.rb", "test"),
        ("src/__tests__/a.js", "test"),
        ("a/testdata/b.json", "test"),
        ("a/fixtures/b.yaml", "test"),
        ("test_client.py", "test"),
        ("conftest.py", "test"),
        ("client_test.go", "test"),
        ("client.test.ts", "test"),
        ("client.spec.js", "test"),
        ("client-test.js", "test"),
        ("user_spec.rb", "test"),
        ("src/ClientTest.java", "test"),
        ("src/ClientTests.cs", "test"),
        ("src/ClientSpec.scala", "test"),
        ("examples/a.py", "example"),
        ("example/a.py", "example"),
        ("samples/A.java", "example"),
        ("docs_src/a.py", "example"),
        ("demo/a.js", "example"),
        ("CHANGELOG.md", "changelog"),
        ("docs/changes.rst", "changelog"),
        ("HISTORY.rst", "changelog"),
        ("NEWS", "changelog"),
        ("docs/release-notes.md", "changelog"),
        ("docs/releases.md", "changelog"),
        ("LICENSE", "legal"),
        ("licence.txt", "legal"),
        ("LICENSE-MIT", "legal"),
        ("COPYING", "legal"),
        ("AUTHORS.md", "legal"),
        ("CODE_OF_CONDUCT.md", "legal"),
        ("tests/LICENSE", "legal"),
        ("examples/test_a.py", "test"),
        ("tests/examples/a.py", "test"),
    ],
)
def test_the_path_of_a_file_says_what_it_is_for(path: str, role: Role) -> None:
    assert role_of(path) == role


@pytest.mark.parametrize("path", ["tests/a.py", "examples/a.py", "CHANGELOG.md", "LICENSE"])
def test_what_is_no_source_counts_less_unless_asked_for(path: str) -> None:
    assert prior(read_query("how are retries counted"), path) < prior(read_query("how are retries counted"), "a.py")


def test_a_source_counts_in_full_whatever_is_asked() -> None:
    assert prior(read_query("how are retries counted"), "a.py") == 1
    assert prior(read_query("where are the tests and the license"), "a.py") == 1


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("where is retry tested", "tests/a.py"),
        ("unit test for retry", "tests/a.py"),
        ("test_retry", "tests/a.py"),
        ("the TestRetry class", "tests/a.py"),
        ("which test cases cover retry", "tests/a.py"),
        ("fixture for the database", "tests/a.py"),
        ("show me an example of retry", "examples/a.py"),
        ("a Demo of retry", "examples/a.py"),
        ("what changed in retry", "CHANGELOG.md"),
        ("is retry deprecated", "CHANGELOG.md"),
        ("retry since version 2", "CHANGELOG.md"),
        ("under which license is it", "LICENSE"),
        ("who are the authors", "AUTHORS.md"),
    ],
)
def test_the_role_that_a_question_asks_for_counts_in_full(question: str, path: str) -> None:
    assert prior(read_query(question), path) == 1


@pytest.mark.parametrize("question", ["how does the test client work", "start the test runner", "latest retry"])
def test_a_thing_called_test_is_no_question_for_tests(question: str) -> None:
    assert prior(read_query(question), "tests/a.py") < 1


@pytest.mark.parametrize("path", ["src/history.py", "app/authors_controller.rb", "lib/notice_board.ts", "news.go"])
def test_code_is_no_changelog_or_licence_whatever_its_name(path: str) -> None:
    assert ranking.role_of(path) == "source"
