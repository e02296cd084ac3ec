from __future__ import annotations

from typing import get_args

import pytest

from openbook.retrieval.roles import Role, asks_for, documented_share, explained_share, role_of, role_of_part
from openbook.types import Kind
from tests.unit.retrieval.material import chunk_of, outline_of

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
        (".changelog/v1.2/features/12-moor.md", "docs", "changelog"),
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
        ("server/testutils/ship.go", "code", "test"),
        ("server/quaytests/ship.go", "code", "test"),
        ("crates/quay/wire_tests/ship.rs", "code", "test"),
        *((f"src/{word}/ship.rs", "code", "source") for word in ("contests", "protests", "attests", "guests")),
        ("quay-test/src/ship.rs", "code", "source"),
        ("docs/quay-tests/index.md", "docs", "documentation"),
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
        (".github/ISSUE_TEMPLATE/bug_report.yml", "config", "contributing"),
        (".github/ISSUE_TEMPLATE/feature.md", "docs", "contributing"),
        (".github/PULL_REQUEST_TEMPLATE.md", "docs", "contributing"),
        ("locale/de/LC_MESSAGES/django.po", "data", "generated"),
        ("doc/ropes.info", "docs", "generated"),
        ("doc/MOCKUPS.md", "docs", "changelog"),
        ("rfcs/0007-ropes.md", "docs", "changelog"),
        ("doc/mockups/help.org", "docs", "changelog"),
        ("src/proposals/vote.py", "code", "source"),
        ("docs/locale/app.pot", "data", "generated"),
        ("docs/generated/commands.md", "docs", "documentation"),
        ("i18n/messages.fr.xlf", "config", "generated"),
        ("requirements.lock", "docs", "generated"),
        ("config/locales/de.yml", "config", "generated"),
        ("ui/i18n/pt-BR.json", "data", "generated"),
        ("config/locales/devise/en.yml", "config", "generated"),
        ("app/i18n/pt-br/sub.php", "code", "generated"),
        ("API/I18N/en.json", "data", "generated"),
        ("api/src/main/resources/messages.properties", "data", "generated"),
        ("api/src/main/resources/messages_pt_BR.properties", "data", "generated"),
        ("api/quay_de.properties", "data", "generated"),
        ("api/quay_prod.properties", "data", "configuration"),
        ("app/res/values/strings.xml", "data", "generated"),
        ("app/res/values-pt-rBR/strings.xml", "data", "generated"),
        ("db/migrate/20240101_add_rope.rb", "code", "migration"),
        ("quay/migrations/0001_initial.py", "code", "migration"),
        ("db/old_migrations/sqlite/3_ropes.sql", "code", "migration"),
        ("storage/upgraders/RopesTo94.kt", "code", "migration"),
        ("storage/StorageMigrationTo82.kt", "code", "migration"),
        ("db/migrations/autodetector.py", "code", "source"),
        ("docs/migrations/v2.md", "docs", "documentation"),
        ("src/Migration.cs", "code", "source"),
        ("public/v1/lib/fc/fullcalendar.js", "code", "vendored"),
        ("web/scripts/jquery/modal.js", "code", "vendored"),
        ("public/ropes.js", "code", "source"),
        ("src/lib/ropes.js", "code", "source"),
        ("public/lib/ropes.php", "code", "source"),
        ("resources/langs/de.php", "code", "generated"),
        ("src/snapshots/moor_ships.snap", "docs", "test"),
        ("man/test_moors.Rd", "docs", "documentation"),
        ("lang/de/ships.php", "code", "generated"),
        ("api/hoist.pb.go", "code", "generated"),
        ("api/hoist.pb.gw.go", "code", "generated"),
        ("api/hoist_pb.d.ts", "code", "generated"),
        ("api/hoist_pb2.py", "code", "generated"),
        ("api/hoist_pb2_grpc.pyi", "code", "generated"),
        ("web/schema.gen.ts", "code", "generated"),
        ("web/_options_gen.ts", "code", "generated"),
        ("web/hoist-generated.ts", "code", "generated"),
        ("lib/hoist.g.dart", "code", "generated"),
        ("Forms/Hoist.Designer.cs", "code", "generated"),
        ("api/v1/zz_generated.deepcopy.go", "code", "generated"),
        ("Migrations/HoistDbContextModelSnapshot.cs", "code", "generated"),
        ("src/generated/hoist.rs", "code", "generated"),
        ("docs/generated/hoist.md", "docs", "documentation"),
        ("src/codegen.py", "code", "source"),
        ("src/generated.py", "code", "source"),
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
        ("docs/releases/23/23.6.md", "docs", "changelog"),
        ("docs/version-4.0.md", "docs", "changelog"),
        ("docs/v4.0.1.rst", "docs", "changelog"),
        ("docs/section-4.0.md", "docs", "documentation"),
        ("docs/4.md", "docs", "documentation"),
        ("docs/release-notes/4.0.md", "docs", "changelog"),
        ("docs/release_notes/4.0.md", "docs", "changelog"),
        ("release notes/upcoming.md", "docs", "changelog"),
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
        ("ships_versioned_docs/version-1.2/hooks.md", "docs", "changelog"),
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
        ("CODE_OF_CONDUCT.md", "docs", "contributing"),
        ("CONTRIBUTING.md", "docs", "contributing"),
        (".github/SECURITY.md", "docs", "contributing"),
        ("tests/LICENSE", "docs", "legal"),
        ("AGENTS.md", "docs", "contributing"),
        ("docs/CLAUDE.md", "docs", "contributing"),
        ("src/ropes/GEMINI.md", "docs", "contributing"),
        ("docs/agents.md", "docs", "documentation"),
        ("vendor/ropes/AGENTS.md", "docs", "vendored"),
        ("HACKING", "docs", "contributing"),
        ("hacking.rst", "docs", "contributing"),
        ("doc/hacking.rst", "docs", "documentation"),
        ("hacking-guide.md", "docs", "documentation"),
        (".github/instructions/moor.md", "docs", "contributing"),
        (".github/README.md", "docs", "documentation"),
        (".github/workflows/README.md", "docs", "contributing"),
        (".github/CODEOWNERS", "config", "configuration"),
        ("packages/quay/.agents/skills/moor/SKILL.md", "docs", "contributing"),
        ("docs/.drafts/moor.md", "docs", "contributing"),
        ("tests/data/.hidden/moor.txt", "docs", "test"),
        ("skills/moor/SKILL.md", "docs", "documentation"),
        ("templates/index.md", "docs", "documentation"),
        ("templates/index.html.tmpl", "docs", "documentation"),
        ("docs/templates/index.md.tmpl", "docs", "documentation"),
        ("docs/index.md.tmpl", "docs", "documentation"),
        ("src/index.md.tmpl", "docs", "documentation"),
        ("docs/adr/0007-ropes.md", "docs", "changelog"),
        ("decisions/ropes.md", "docs", "changelog"),
        ("docs/architecture/decisions/ropes.md", "docs", "changelog"),
        ("news/146.bugfix.rst", "docs", "changelog"),
        ("src/decisions/vote.py", "code", "source"),
        ("app/audits/list.html", "docs", "documentation"),
        ("audits/2025-ropes.pdf", "docs", "changelog"),
        ("doc/changes/fixed/146.md", "docs", "changelog"),
        ("CHANGES/3559.doc", "docs", "changelog"),
        ("readme/news/20210104-131645.md", "docs", "changelog"),
        ("packages/quay/.changes/patch.ropes.md", "docs", "changelog"),
        ("RELNOTES", "docs", "changelog"),
        ("docs/releasenotes.rst", "docs", "changelog"),
        ("docs/CHANGELOG.4", "docs", "changelog"),
        ("etc/NEWS.28", "docs", "changelog"),
        ("history.3", "docs", "documentation"),
        ("LICENSE.LGPL-2.1", "docs", "legal"),
        ("pkg/quay/mocks/ship.go", "code", "test"),
        ("src/__mocks__/package.json", "config", "test"),
        ("fv/harnesses/ShipHarness.sol", "code", "test"),
        ("contracts/mocks/docs/Ship.sol", "code", "example"),
        ("playground/vite/app/root.tsx", "code", "example"),
        ("integration/helpers/ship.ts", "code", "test"),
        ("src/integration/ship.ts", "code", "source"),
        ("integrations/ship.ts", "code", "source"),
        ("src/Quay.Tests.Helpers/Ship.cs", "code", "test"),
        ("src/Quay.Benchmarks/Ship.cs", "code", "test"),
        ("metrics/ShipBenchmark.java", "code", "test"),
        ("src/archiver/benchmark_cmd.py", "code", "source"),
        ("conf/license/MIT License", "docs", "legal"),
        ("LICENSES/ropes.txt", "docs", "legal"),
        ("src/license/check.py", "code", "source"),
        ("docs/licenses/buy.md", "docs", "documentation"),
        ("conf/locale/locale_en-US.ini", "config", "generated"),
        ("conf/locale/rope.ini", "config", "configuration"),
        ("app/l10n/app_de.arb", "data", "generated"),
        ("public/plugins/rope-5.1/index.html", "docs", "vendored"),
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
        ("retry tests", "test"),
        ("Is there a test for the parser?", "test"),
        ("Where are the benchmarks?", "test"),
        ("show me an example of retry", "example"),
        ("a Demo of retry", "example"),
        ("what changed in retry", "changelog"),
        ("is retry deprecated", "changelog"),
        ("retry since version 2", "changelog"),
        ("what is on the roadmap", "changelog"),
        ("which proposal adds ropes", "changelog"),
        ("which design decisions were made for ropes", "changelog"),
        ("has it been audited", "changelog"),
        ("how are vendored packages patched", "vendored"),
        ("under which license may I sell ropes", "legal"),
        ("who holds the copyright", "legal"),
    ],
)
def test_a_question_asks_for_a_role_and_for_no_other(question: str, role: Role) -> None:
    assert [each for each in get_args(Role) if asks_for(each, question)] == [role]


@pytest.mark.parametrize(
    "question",
    [
        QUESTION,
        "how does the test client work",
        "start the test runner",
        "latest retry",
        "run the tests",
        "How do I run only one test of the suite?",
        "How do I write a test for my command?",
        "In which order are tests with different priority run?",
        "Which tests run first?",
        "How can I switch off all tests in a package?",
        "How do I start TestFX?",
        "which scopes can a fixture have?",
    ],
)
def test_a_thing_called_test_is_no_question_for_tests(question: str) -> None:
    assert not any(asks_for(role, question) for role in get_args(Role))


@pytest.mark.parametrize(
    ("path", "symbol", "is_generated", "role"),
    [
        ("src/moor.rs", "tests.moors", False, "test"),
        ("src/moor.rs", "Moor.tests", False, "source"),
        ("src/moor.rs", "Moor", True, "generated"),
        ("src/moor.rs", "tests.moors", True, "test"),
        ("vendor/moor.go", "Moor", True, "vendored"),
    ],
)
def test_a_part_has_the_role_of_its_file_unless_it_is_a_test_or_generated(
    path: str, symbol: str, is_generated: bool, role: Role
) -> None:
    assert role_of_part(outline_of(path, symbol=symbol, is_generated=is_generated)) == role


@pytest.mark.parametrize(
    "comment",
    [
        "/// Moor.\n//! All day.\n",
        "/**\n * Moor.\n *\n * @param rope\n */\n",
        "-- | Moor.\n",
        "## Moor.\n",
        ";;; Moor.\n",
        "#' Moor.\n",
        '@doc "Moor."\n',
    ],
)
def test_half_of_code_below_as_long_a_documentation_comment_documents_it(comment: str) -> None:
    code = "x" * sum(map(len, comment.split("\n")))

    assert documented_share(chunk_of(f"{comment}{code}", "src/ship.rs", kind="code")) == 0.5


def test_a_docstring_documents_code() -> None:
    chunk = chunk_of('def moor():\n    """Ropes."""', "src/ship.py", kind="code", docstring="Ropes.")

    assert documented_share(chunk) == pytest.approx(6 / 27)


@pytest.mark.parametrize("sign", ["#", ";", "//", "  # "])
def test_half_of_settings_with_as_long_comments_is_explained(sign: str) -> None:
    comment = f"{sign} Moor here."

    assert explained_share(chunk_of(f"{comment}\n{'x' * len(comment)}\n", "app.ini", kind="config")) == 0.5


@pytest.mark.parametrize(
    ("text", "path", "kind"),
    [
        ("# rope = 5\n#rope: 5\n#\n; rope=5", "app.ini", "config"),
        ("# Moor here.", "tests/app.ini", "config"),
        ("# Moor here.", "src/app.py", "code"),
    ],
)
def test_settings_that_are_commented_out_and_other_files_explain_nothing(text: str, path: str, kind: Kind) -> None:
    assert explained_share(chunk_of(text, path, kind=kind)) == 0.0


@pytest.mark.parametrize(
    ("text", "path", "kind"),
    [
        ("// moors\n# moors\n", "src/ship.c", "code"),
        ("*rope = 1;\n*(rope + 1) = 2;\n**rope;", "src/ship.c", "code"),
        ("/// Moors.", "tests/ship.rs", "code"),
        ("/// Moors.", "guide.md", "docs"),
        ("/// Moors.", "lesson_1.txt", "course"),
    ],
)
def test_other_comments_tests_and_pages_are_no_documented_code(text: str, path: str, kind: Kind) -> None:
    assert documented_share(chunk_of(text, path, kind=kind)) == 0.0


@pytest.mark.parametrize(
    ("question", "is_asked"),
    [("How do I add a column?", True), ("Which upgrade is first?", True), ("How is a rope cut?", False)],
)
def test_migrations_are_asked_for_by_what_they_change(question: str, is_asked: bool) -> None:
    assert asks_for("migration", question) == is_asked
