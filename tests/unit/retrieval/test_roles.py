from __future__ import annotations

from typing import get_args

import pytest

from openbook.retrieval.roles import Role, asks_for, role_of
from openbook.types import Kind

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
        ("web/e2e/login.ts", "code", "test"),
        ("changelog/0.15.0/issue-3029", "docs", "changelog"),
        (".changeset/brave-otters.md", "docs", "changelog"),
        ("src/changelog/writer.py", "code", "source"),
        ("test/a.c", "code", "test"),
        ("tests2/make.ts", "code", "test"),
        ("testcases/t/101-focus.t", "code", "test"),
        ("lib/FOCUS.T", "code", "test"),
        ("doc/focus.t", "docs", "documentation"),
        ("t/focus.t", "code", "test"),
        ("core/src/commonTest/kotlin/Tides.kt", "code", "test"),
        ("core/src/commonMain/kotlin/Tides.kt", "code", "source"),
        ("test-d/pipe.ts", "code", "test"),
        ("testing/python/collect.py", "code", "test"),
        ("pkg/testing/collect.py", "code", "source"),
        ("testimony/a.py", "code", "source"),
        ("testing/guide.md", "docs", "documentation"),
        ("test_moor_expected/page.md", "docs", "test"),
        ("pkg/test_moor_expected/page.md", "docs", "documentation"),
        ("crates/quay-test-support/src/git.rs", "code", "test"),
        ("src/common/test_utils/ship.rs", "code", "test"),
        ("src/latest_utils/ship.rs", "code", "source"),
        ("docs/test-utils/index.md", "docs", "documentation"),
        ("src/quay/_vendor/ropes/hold.py", "code", "vendored"),
        ("third_party/ropes/README.md", "docs", "vendored"),
        ("vendor/ropes/tests/hold.go", "code", "vendored"),
        ("src/vendors/list.py", "code", "source"),
        ("benchmarks/dirty_run.py", "code", "test"),
        ("crates/tide/benches/moor.rs", "code", "test"),
        ("benchmarks/README.md", "docs", "documentation"),
        ("src/benchmark/executor.rs", "code", "source"),
        ("benchmarking/run.py", "code", "source"),
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
        (".github/ISSUE_TEMPLATE/bug_report.yml", "config", "legal"),
        (".github/ISSUE_TEMPLATE/feature.md", "docs", "legal"),
        (".github/PULL_REQUEST_TEMPLATE.md", "docs", "legal"),
        ("locale/de/LC_MESSAGES/django.po", "data", "generated"),
        ("docs/locale/app.pot", "data", "generated"),
        ("i18n/messages.fr.xlf", "config", "generated"),
        ("requirements.lock", "docs", "generated"),
        ("config/locales/de.yml", "config", "generated"),
        ("ui/i18n/pt-BR.json", "data", "generated"),
        ("config/locales/devise/en.yml", "config", "generated"),
        ("app/i18n/pt-br/sub.php", "code", "generated"),
        ("resources/langs/de.php", "code", "generated"),
        ("src/snapshots/moor_ships.snap", "docs", "test"),
        ("lang/de/ships.php", "code", "generated"),
        ("framework/i18n/Formatter.php", "code", "source"),
        ("locales/settings.json", "data", "configuration"),
        ("docs/languages/go.md", "docs", "documentation"),
        ("src/lock.py", "code", "source"),
        ("README.md", "docs", "documentation"),
        ("docs/guide.md", "docs", "documentation"),
        ("docs/theme.toml", "config", "documentation"),
        ("src/notes.rst", "docs", "documentation"),
        ("man/openbook.1", "docs", "documentation"),
        ("openbook.1", "docs", "documentation"),
        ("pyproject.toml", "config", "configuration"),
        ("src/locale/de.json", "data", "generated"),
        (".github/workflows/check.yml", "config", "configuration"),
        ("release.toml", "config", "configuration"),
        ("CHANGELOG.md", "docs", "changelog"),
        ("docs/changes.rst", "docs", "changelog"),
        ("HISTORY.rst", "docs", "changelog"),
        ("NEWS", "docs", "changelog"),
        ("docs/release-notes.md", "docs", "changelog"),
        ("docs/releases.md", "docs", "changelog"),
        ("ROADMAP.md", "docs", "changelog"),
        ("CHANGELOG-2021.md", "docs", "changelog"),
        ("docs/2021-news.md", "docs", "changelog"),
        ("docs/release-notes/4.0.md", "docs", "changelog"),
        ("docs/release_notes/4.0.md", "docs", "changelog"),
        ("site/pages/changelog-rc.mdx", "docs", "changelog"),
        ("docs/history/whatsnew-4.4.rst", "docs", "changelog"),
        ("docs/release-1.2.md", "docs", "changelog"),
        ("docs/releasing.md", "docs", "documentation"),
        ("docs/changes-in-place.md", "docs", "documentation"),
        ("docs/history2vec.md", "docs", "documentation"),
        ("docs/release-2phase-commit.md", "docs", "documentation"),
        ("docs/changelog-generator.md", "docs", "documentation"),
        ("lectures/2023-09-12-intro.md", "docs", "documentation"),
        ("website/blog/2022-05-24-version-0.63.md", "docs", "changelog"),
        ("tutorial/blog/README.md", "docs", "documentation"),
        ("blog/introducing-hooks.md", "docs", "changelog"),
        ("website/versioned_docs/version-1.2/hooks.md", "docs", "changelog"),
        ("website/versioned_sidebars/version-1.2-sidebars.json", "config", "changelog"),
        ("examples/blog/index.html", "docs", "example"),
        ("src/blog/views.py", "code", "source"),
        ("roadmap.py", "code", "source"),
        ("LICENSE", "docs", "legal"),
        ("licence.txt", "docs", "legal"),
        ("LICENSE-MIT", "docs", "legal"),
        ("COPYING", "docs", "legal"),
        ("fonts/QUAY-SANS-LICENSE.txt", "docs", "legal"),
        ("sales/create-new-license.md", "docs", "documentation"),
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


@pytest.mark.parametrize(
    ("question", "role"),
    [
        ("where is retry tested", "test"),
        ("unit test for retry", "test"),
        ("test_retry", "test"),
        ("how do the benchmarks start workers", "test"),
        ("the TestRetry class", "test"),
        ("which test cases cover retry", "test"),
        ("what does the test function for retries set up", "test"),
        ("the test classes of retry", "test"),
        ("fixture for the database", "test"),
        ("show me an example of retry", "example"),
        ("a Demo of retry", "example"),
        ("what changed in retry", "changelog"),
        ("is retry deprecated", "changelog"),
        ("retry since version 2", "changelog"),
        ("what is on the roadmap", "changelog"),
        ("how are vendored packages patched", "vendored"),
    ],
)
def test_a_question_asks_for_a_role_and_for_no_other(question: str, role: Role) -> None:
    assert [each for each in get_args(Role) if asks_for(each, question)] == [role]


@pytest.mark.parametrize(
    "question", [QUESTION, "how does the test client work", "start the test runner", "latest retry"]
)
def test_a_thing_called_test_is_no_question_for_tests(question: str) -> None:
    assert not any(asks_for(role, question) for role in get_args(Role))
