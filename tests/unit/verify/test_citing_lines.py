"""A citation is told from others on its page, also where page and paths have been renamed."""

from __future__ import annotations

from pathlib import Path

import pytest

from openbook.verify.verify import FileVerifier
from tests.repositories import Repository, write
from tests.unit.verify.checks import CODE, PUSHED, checked, only, told


def fixed(repository: Repository) -> tuple[list[str], int]:
    """Fix the page; return what its citations are now, and how many were rewritten."""
    page = repository.folder / "docs/a.md"
    report = FileVerifier(repository.folder).verify(str(page), fix=True)
    return page.read_text(encoding="utf-8").split(), len(report.fixed)


def test_a_citation_that_takes_the_numbers_of_another_is_rewritten_and_stays(repository: Repository) -> None:
    repository.commit({"src/app.py": CODE, "docs/a.md": "[send](../src/app.py#L8)\n\n[head](../src/app.py#L10)\n"})
    repository.commit({"src/app.py": PUSHED})

    first = fixed(repository)
    second = fixed(repository)
    repository.commit()
    third = fixed(repository)

    now = ["[send](../src/app.py#L10)", "[head](../src/app.py#L12)"]
    assert (first, second, third) == ((now, 2), (now, 0), (now, 0))


def test_a_citation_that_cannot_be_rewritten_does_not_keep_others_from_it(repository: Repository) -> None:
    page = "Two are called so: app.py:8\n\n[head](../src/app.py#L10)\n"
    repository.commit({"src/app.py": CODE, "docs/a.md": page})
    write(repository.folder, {"src/app.py": PUSHED, "lib/app.py": "x = 1\n" * 20})

    words, count = fixed(repository)

    assert (words[-2:], count) == (["app.py:8", "[head](../src/app.py#L12)"], 1)
    left = FileVerifier(repository.folder).verify(str(repository.folder / "docs/a.md")).findings[0]
    assert (*told(left), left.reason) == (
        "moved",
        "history",
        "src/app.py:10",
        "not rewritten: the check would not find it there again",
    )


def test_a_link_is_relative_to_where_its_page_was_when_it_was_written(repository: Repository) -> None:
    link = "[it]({}src/app.py#L14-L16)\n"
    repository.commit({"src/app.py": CODE, "docs/a.md": link.format("../")})
    repository.commit({"src/app.py": PUSHED})
    repository.git("rm", "-q", "docs/a.md")
    repository.commit({"docs/deep/a.md": link.format("../")})
    repository.commit({"docs/deep/a.md": link.format("../../")})

    finding = only_at(repository, "docs/deep/a.md")

    assert finding == ("moved", "history", "src/app.py:16-18")


def only_at(repository: Repository, path: str) -> tuple[str, str, str]:
    (finding,) = FileVerifier(repository.folder).verify(str(repository.folder / path)).findings
    return told(finding)


def test_a_permalink_to_a_commit_that_is_not_here_is_not_judged_by_when_it_was_written(repository: Repository) -> None:
    page = f"https://github.com/acme/shop/blob/{'0123456789' * 4}/src/gone.py#L14-L16\n"
    repository.commit({"src/gone.py": CODE, "docs/a.md": page})
    repository.git("rm", "-q", "src/gone.py")
    repository.commit()

    assert told(only(repository.folder, page)) == ("unknown", "", "")


def test_another_name_in_the_lines_outweighs_the_one_right_before_a_citation(repository: Repository) -> None:
    page = "| `send` | `retry` | src/app.py:8 |\n"
    repository.commit({"src/app.py": CODE, "docs/a.md": page})
    write(repository.folder, {"src/app.py": PUSHED.replace("def retry", "def again")})

    assert told(only(repository.folder, page)) == ("moved", "history", "src/app.py:10")


def test_the_tick_behind_a_citation_does_not_open_code(repository: Repository) -> None:
    page = "As `src/app.py:5` and `src/app.py:14-16` do.\n"
    code = CODE.replace("yield each", "yield each  # this and that, one after the other")
    repository.commit({"src/app.py": code, "docs/a.md": page})
    write(repository.folder, {"src/app.py": code.replace("this and that", "this, that")})

    report = FileVerifier(repository.folder).verify(str(repository.folder / "docs/a.md"))

    assert [finding.verdict for finding in report.findings] == ["ok", "ok"]


def test_the_end_of_a_path_that_several_files_have_is_unknown_and_names_them(repository: Repository) -> None:
    folders = "abcde"
    page = "See src/app.py:8.\n"
    repository.commit({"docs/a.md": page, **{f"{folder}/src/app.py": CODE for folder in folders}})

    finding = only(repository.folder, page)

    assert (finding.verdict, finding.is_wrong) == ("unknown", False)
    assert finding.reason == "several files have that name: a/src/app.py, b/src/app.py, c/src/app.py and 2 more"


def test_a_link_that_leads_nowhere_is_wrong_and_names_the_files_that_it_may_mean(repository: Repository) -> None:
    page = "See [it](src/app.py#L8).\n"
    repository.commit({"docs/a.md": page, "a/src/app.py": CODE, "b/src/app.py": CODE})

    finding = only(repository.folder, page)

    assert (finding.verdict, finding.reason) == ("missing file", "perhaps a/src/app.py, b/src/app.py")


def test_of_files_that_are_called_so_the_only_one_with_such_lines_is_meant(repository: Repository) -> None:
    page = "See `app.py:8`.\n"
    repository.commit({"src/app.py": CODE, "lib/app.py": "x = 1\n", "docs/a.md": page})
    assert told(only(repository.folder, page)) == ("ok", "history", "")
    repository.commit({"src/app.py": PUSHED})

    finding = only(repository.folder, page)

    assert told(finding) == ("moved", "history", "src/app.py:10")


def test_without_history_too_the_only_file_with_such_lines_is_meant(tmp_path: Path) -> None:
    write(tmp_path, {"src/app.py": CODE, "lib/app.py": "x = 1\n", "docs/a.md": "`retry` (app.py:14-16)\n"})

    finding = only(tmp_path, "`retry` (app.py:14-16)\n")

    assert (finding.verdict, str(finding.place)) == ("ok", "src/app.py:14-16")


def test_a_name_in_code_that_several_files_have_is_told_and_no_error(repository: Repository) -> None:
    page = "See `app.py:8`.\n"
    repository.commit({"src/app.py": CODE, "lib/app.py": CODE, "docs/a.md": page})

    finding = only(repository.folder, page)

    assert (finding.verdict, finding.reason) == ("unknown", "several files have that name: lib/app.py, src/app.py")


def test_a_link_is_relative_to_the_folder_that_its_page_was_written_in(repository: Repository) -> None:
    page = "See [how it retries](./app.py#L14-L16).\n"
    repository.commit({"old/app.py": CODE, "old/README.md": page})
    (repository.folder / "new").mkdir()
    repository.git("mv", "old/app.py", "old/README.md", "new")
    repository.commit({"new/app.py": PUSHED})

    (finding,) = checked(repository.folder, page, "new/README.md")

    assert told(finding) == ("moved", "history", "new/app.py:16-18")


@pytest.mark.parametrize(
    "target",
    ["../src/app.py?plain=1#L14-L16", "../src/app.py?raw=true#L14-L16", "<../src/app.py?plain=1#L14-L16>"],
)
def test_a_link_may_ask_for_another_view_of_the_file(repository: Repository, target: str) -> None:
    page = f"See [it]({target}).\n"
    repository.commit({"src/app.py": CODE, "docs/a.md": page})
    write(repository.folder, {"src/app.py": PUSHED})

    FileVerifier(repository.folder).verify(str(repository.folder / "docs/a.md"), fix=True)

    assert (repository.folder / "docs/a.md").read_text(encoding="utf-8") == page.replace("#L14-L16", "#L16-L18")


def test_a_link_that_asks_for_another_view_later_is_as_old_as_its_lines(repository: Repository) -> None:
    page = "See [it](../src/app.py#L14-L16).\n"
    repository.commit({"src/app.py": CODE, "docs/a.md": page})
    repository.commit({"src/app.py": PUSHED})
    viewed = page.replace("#", "?plain=1#")
    repository.commit({"docs/a.md": viewed})

    assert told(only(repository.folder, viewed)) == ("moved", "history", "src/app.py:16-18")


def test_a_link_that_names_the_bytes_too_is_not_rewritten_by_half(repository: Repository) -> None:
    page = "See [it](../src/app.py?s=10:20#L14-L16).\n"
    repository.commit({"src/app.py": CODE, "docs/a.md": page})
    write(repository.folder, {"src/app.py": PUSHED})

    FileVerifier(repository.folder).verify(str(repository.folder / "docs/a.md"), fix=True)

    assert (repository.folder / "docs/a.md").read_text(encoding="utf-8") == page


def test_a_quote_that_the_file_got_later_does_not_say_where_the_cited_lines_are(repository: Repository) -> None:
    page = "The `kube-system` id goes into [it](../src/app.py#L8).\n"
    repository.commit({"src/app.py": CODE, "docs/a.md": page})
    repository.commit({"src/app.py": PUSHED + "# from kube-system\n"})

    assert told(only(repository.folder, page)) == ("moved", "history", "src/app.py:10")


def test_one_line_that_another_file_has_by_chance_is_not_the_line_of_a_file_that_is_gone(
    repository: Repository,
) -> None:
    line = "    def run(self, log: Logger, *arguments: str) -> None:\n"
    page = "See src/unpack.py:2.\n"
    unpack = f"class Unpack:\n{line}        self.unpack()\n        self.check_the_archive()\n        self.say_so()\n"
    repository.commit({"src/unpack.py": unpack, "docs/a.md": page})
    repository.git("rm", "-q", "src/unpack.py")
    repository.commit({"src/render.py": f"class Render:\n{line}        self.render()\n"})

    assert only(repository.folder, page).verdict == "missing file"


def test_the_line_that_begins_a_type_is_found_in_another_file(repository: Repository) -> None:
    line = "class ConnectionDetailsFetcher(Protocol):\n"
    page = "See src/reconciler.py:1.\n"
    repository.commit(
        {"src/reconciler.py": f'{line}    """Fetches."""\n\n    def fetch(self): ...\n', "docs/a.md": page}
    )
    repository.commit({"src/reconciler.py": "x = 1\n", "src/functions.py": f"import abc\n\n{line}    name: str\n"})

    assert told(only(repository.folder, page)) == ("moved", "history", "src/functions.py:3")


def test_a_type_is_found_in_another_file_though_its_own_keeps_the_name(repository: Repository) -> None:
    commit = repository.commit({"src/a.go": "package a\n\ntype GatewayClassStatus struct {\n\tAge int\n}\n"})
    alias = "package a\n\ntype GatewayClassStatus = v1.GatewayClassStatus\n"
    repository.commit(
        {"src/a.go": alias, "src/v1/a.go": "package v1\n\ntype GatewayClassStatus struct {\n\tAge int\n}\n"}
    )

    finding = only(repository.folder, f"https://github.com/acme/shop/blob/{commit}/src/a.go#L3\n")

    assert told(finding) == ("moved", "history", "src/v1/a.go:3")


def test_a_link_that_names_another_file_since_its_page_has_moved_is_moved_to_the_file_that_it_named(
    repository: Repository,
) -> None:
    page = "See [it](app.py#L14-L16).\n"
    repository.commit({"docs/app.py": CODE, "src/app.py": "x = 1\n" * 20, "docs/a.md": page})
    repository.git("mv", "docs/a.md", "src/a.md")
    repository.commit()

    (finding,) = checked(repository.folder, page, "src/a.md")

    assert told(finding) == ("moved", "history", "docs/app.py:14-16")


def test_a_link_whose_page_was_copied_with_the_file_that_it_names_is_to_the_copy(repository: Repository) -> None:
    page = "See [it](app.py#L14-L16).\n"
    repository.commit({"v1/app.py": CODE, "v1/a.md": page})
    repository.commit({"v2/app.py": CODE, "v2/a.md": page})

    (finding,) = checked(repository.folder, page, "v2/a.md")

    assert finding.verdict == "ok"


def test_lines_of_another_file_of_that_name_are_not_those_of_one_that_came_later(repository: Repository) -> None:
    page = "Mended at app.py:14-16.\n"
    repository.commit({"src/app.py": CODE, "docs/a.md": page})
    repository.commit({"src/app.py": PUSHED, "docs/app.py": CODE.replace("each", "one")})

    finding = only(repository.folder, page)

    assert (finding.verdict, str(finding.place or "")) == ("unknown", "docs/app.py:14-16")


def test_in_a_generated_page_a_line_that_gets_the_numbers_of_another_is_new(repository: Repository) -> None:
    entry = "### {}\n\nIt does what {} is for.\n\n[app](../src/app.py#L{})\n\n"
    repository.commit(
        {"src/app.py": CODE, "docs/a.md": entry.format("get", "get", 7) + entry.format("post", "post", 10)}
    )
    repository.commit(
        {
            "src/app.py": PUSHED.replace("get(", "put("),
            "docs/a.md": entry.format("put", "put", 9) + entry.format("post", "post", 12),
        }
    )
    now = "import one\n" + PUSHED
    repository.commit(
        {"src/app.py": now, "docs/a.md": entry.format("get", "get", 10) + entry.format("post", "post", 13)}
    )

    found = checked(repository.folder, (repository.folder / "docs/a.md").read_text(encoding="utf-8"))

    assert [finding.verdict for finding in found] == ["ok", "ok"]


def test_a_line_between_sentences_that_are_reworded_is_as_old_as_before(repository: Repository) -> None:
    page = (
        "`timeout_s` (src/app.py:5) is what callers use.\n\n`Client` (src/app.py:4-5) is what callers use.{0}\n\n"
        "The details are in src/app.py:7-8.\n\nThe details are in src/app.py:10-11.{0}\n"
    )
    repository.commit({"src/app.py": CODE, "docs/a.md": page.format("")})
    now = page.format(" Read them.")
    repository.commit({"src/app.py": PUSHED, "docs/a.md": now})

    found = checked(repository.folder, now)

    assert [str(finding.now) for finding in found] == [f"src/app.py:{lines}" for lines in ("7", "6-7", "9-10", "12-13")]


def test_a_citation_of_another_file_with_the_same_numbers_is_no_earlier_form(repository: Repository) -> None:
    entry = "[source](../src/{}#L14-L16)\n\n"
    repository.commit({"src/app.py": CODE, "src/more.py": CODE, "docs/a.md": entry.format("app.py")})
    repository.commit(
        {
            "src/app.py": PUSHED,
            "src/more.py": CODE.replace("each", "one"),
            "docs/a.md": entry.format("more.py") + "[source](../src/app.py#L16-L18)\n",
        }
    )

    found = checked(repository.folder, (repository.folder / "docs/a.md").read_text(encoding="utf-8"))

    assert [finding.verdict for finding in found] == ["ok", "ok"]


def test_a_function_whose_head_was_wrapped_is_found(repository: Repository) -> None:
    body = "".join(f"    total += times * {number} + first\n" for number in range(9))
    head = "def retry_often(times, first):\n"
    page = "See src/a.py:3-12.\n"
    repository.commit({"src/a.py": f"import os\n\n{head}{body}", "docs/a.md": page})
    wrapped = "def retry_often(\n    times,\n    first,\n):\n"
    repository.commit({"src/a.py": f"import os\nimport re\n\nLIMIT = 3\n\n{wrapped}{body}"})

    assert told(only(repository.folder, page)) == ("moved", "history", "src/a.py:6-18")


def test_a_function_that_moved_and_is_still_called_by_its_name_is_found_where_it_is(repository: Repository) -> None:
    body = "".join(f"    total += times * {number} + first\n" for number in range(9))
    function = f"def retry_often(times, first):\n{body}    return total\n"
    page = "Requests are sent again, see src/a.py:3-13.\n"
    repository.commit({"src/a.py": f"import os\n\n{function}", "docs/a.md": page})
    left = "from src import b\n\ndef retry_often(times, first):\n    return b.retry_often(times, first)\n"
    repository.commit({"src/a.py": left, "src/b.py": f"import re\n\n\n{function}"})

    assert told(only(repository.folder, page)) == ("moved", "history", "src/b.py:4-14")


def test_source_code_with_the_suffix_of_a_binary_format_is_read(repository: Repository) -> None:
    page = "See [it](../src/app.mo#L14-L16), /src/app.py:14-16.\n"
    repository.commit({"src/app.mo": CODE, "src/app.py": CODE, "docs/a.md": page})
    repository.commit({"src/app.mo": PUSHED, "src/app.py": PUSHED})

    found = checked(repository.folder, page)

    assert [str(finding.now) for finding in found] == ["src/app.mo:16-18", "src/app.py:16-18"]


def test_lines_in_words_are_as_old_as_they_were_before_their_file_got_another_folder(repository: Repository) -> None:
    page = "See `{}/app.py` (lines 14-16).\n"
    repository.commit({"src/app.py": CODE, "docs/a.md": page.format("src")})
    repository.commit({"src/app.py": PUSHED})
    repository.git("mv", "src", "lib")
    repository.commit({"docs/a.md": page.format("lib")})

    assert told(only(repository.folder, page.format("lib"))) == ("moved", "history", "lib/app.py:16-18")


def test_a_link_to_a_file_on_a_machine_is_as_old_as_it_was_before_it_became_relative(repository: Repository) -> None:
    page = "See [this]({}src/app.py#L14-L16).\n"
    repository.commit({"src/app.py": CODE, "docs/a.md": page.format("file:///home/me/shop/")})
    repository.commit({"src/app.py": PUSHED})
    repository.commit({"docs/a.md": page.format("../")})

    assert told(only(repository.folder, page.format("../"))) == ("moved", "history", "src/app.py:16-18")


@pytest.mark.parametrize(
    ("before", "now"),
    [
        pytest.param("/docs/../{}", "https://github.com/acme/shop/blob/main/{}", id="absolute"),
        pytest.param(
            "https://github.com/old/shop-py/blob/main/{}", "https://github.com/acme/shop/blob/main/{}", id="name"
        ),
        pytest.param(
            "https://github.com/acme/shop/blob/master/{}", "https://github.com/acme/shop/blob/main/{}", id="branch"
        ),
        pytest.param("https://github.com/acme/shop/blob/main/{}", "../{}", id="relative"),
    ],
)
def test_a_link_is_as_old_as_it_was_before_the_repository_or_its_branch_was_renamed(
    repository: Repository, before: str, now: str
) -> None:
    page = "See [this]({}#L14-L16).\n"
    repository.commit({"src/app.py": CODE, "docs/a.md": page.format(before.format("src/app.py"))})
    repository.commit({"src/app.py": PUSHED})
    page = page.format(now.format("src/app.py"))
    repository.commit({"docs/a.md": page})

    assert told(only(repository.folder, page)) == ("moved", "history", "src/app.py:16-18")
