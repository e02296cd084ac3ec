"""What has the form of a citation is found, what has not is left alone, and no text is too strange."""

from __future__ import annotations

from typing import SupportsIndex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openbook.verify.mentions import cited_words, find_mentions, linked_revision, with_lines


@pytest.mark.parametrize(
    ("text", "path", "lines"),
    [
        pytest.param("see src/app.py:12.", "src/app.py", (12, 12), id="one-line"),
        pytest.param("(src/app.py:12-18)", "src/app.py", (12, 18), id="range"),
        pytest.param("`src/app.py:12–18`", "src/app.py", (12, 18), id="range-with-a-dash"),
        pytest.param("src/app.py#L12-L18", "src/app.py", (12, 18), id="hash"),
        pytest.param("src/app.py#L12–L18", "src/app.py", (12, 18), id="hash-with-a-dash"),
        pytest.param("src/app.py#L12", "src/app.py", (12, 12), id="hash-one-line"),
        pytest.param("src/app.py:L3-L5", "src/app.py", (3, 5), id="with-letters"),
        pytest.param("src/app.py:12:5: error", "src/app.py", (12, 12), id="column"),
        pytest.param("./app.py:1,", "./app.py", (1, 1), id="from-here"),
        pytest.param("../app.py:1", "../app.py", (1, 1), id="from-above"),
        pytest.param("Makefile:7", "Makefile", (7, 7), id="no-ending"),
        pytest.param("größe/mütze.md:3", "größe/mütze.md", (3, 3), id="umlauts"),
        pytest.param("[app](src/app.py#L12-L18)", "src/app.py", (12, 18), id="link"),
        pytest.param("[app](src/app.py#L12:L18)", "src/app.py", (12, 18), id="link-with-a-colon"),
        pytest.param("[app](<my src/app.py#L2>)", "my src/app.py", (2, 2), id="link-in-angles"),
        pytest.param("[app](my%20src/app.py#L2)", "my src/app.py", (2, 2), id="link-escaped"),
        pytest.param(r"[app](..\src\app.py#L2)", "../src/app.py", (2, 2), id="link-with-backslashes"),
        pytest.param(r"[app](src/my\_app\[1\].py#L2)", "src/my_app[1].py", (2, 2), id="link-escaped-in-markdown"),
        pytest.param("[app](src/app.py#L2C4-L3C9)", "src/app.py", (2, 3), id="link-with-columns"),
        pytest.param("[app](src/(shop)/[id]/page.ts#L2)", "src/(shop)/[id]/page.ts", (2, 2), id="link-to-a-route"),
        pytest.param("`src/(shop)/[id]/page.ts:2`", "src/(shop)/[id]/page.ts", (2, 2), id="route"),
        pytest.param("(src/[[...slug]].tsx:2)", "src/[[...slug]].tsx", (2, 2), id="route-of-a-file"),
        pytest.param("`[year]-[month]/page.ts:3`", "[year]-[month]/page.ts", (3, 3), id="route-of-two-parts"),
        pytest.param("routes/blog.$id.tsx:3", "routes/blog.$id.tsx", (3, 3), id="route-with-a-dollar"),
        pytest.param("{{cookiecutter.slug}}/a.py:3", "{{cookiecutter.slug}}/a.py", (3, 3), id="template"),
        pytest.param("docs/[app.py:2]", "app.py", (2, 2), id="in-brackets"),
        pytest.param('<a href="my%20src/app.py#L2">', "my src/app.py", (2, 2), id="link-of-html-escaped"),
        pytest.param("[app]: src/app.py#L2", "src/app.py", (2, 2), id="link-definition"),
        pytest.param("`text <src/app.py#L2>`_", "src/app.py", (2, 2), id="link-of-rst"),
        pytest.param("a.py:9-3", "a.py", (9, 3), id="backwards-is-for-the-check"),
        pytest.param("a.py:0", "a.py", (0, 0), id="zero-is-for-the-check"),
        pytest.param("src/a.py:3:def f():", "src/a.py", (3, 3), id="output-of-grep"),
        pytest.param("see `src/app.py` (lines 12-18).", "src/app.py", (12, 18), id="in-words"),
        pytest.param("`src/app.py` lines 12–18, then", "src/app.py", (12, 18), id="in-words-without-brackets"),
        pytest.param("`src/app.py`, line 12: it", "src/app.py", (12, 12), id="in-words-behind-a-comma"),
        pytest.param("src/app.py (line 12, column 4)", "src/app.py", (12, 12), id="in-words-without-code"),
        pytest.param("**src/app.py** (Lines 12-18)", "src/app.py", (12, 18), id="in-words-behind-bold"),
        pytest.param("`src/app.py` at line 12", "src/app.py", (12, 12), id="in-words-at"),
        pytest.param("src/app.py lines 12-18", "src/app.py", (12, 18), id="in-words-of-a-range"),
        pytest.param("[`app`](../src/app.py) line 12", "../src/app.py", (12, 12), id="in-words-behind-a-link"),
        pytest.param("`1a2b3c4:src/app.py:12-18`", "src/app.py", (12, 18), id="of-a-commit"),
        pytest.param("`git show 1a2b3c4:app.py` (lines 12-18)", "app.py", (12, 18), id="of-a-commit-in-words"),
        pytest.param("1a2b3c4:30:5", "1a2b3c4", (30, 30), id="a-file-that-is-called-like-a-commit"),
    ],
)
def test_a_citation_is_found_with_its_lines(text: str, path: str, lines: tuple[int, int]) -> None:
    (mention,) = find_mentions(text)

    assert (mention.path, (mention.first_line, mention.last_line)) == (path, lines)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("at 12:30 and 12:30:45", id="times"),
        pytest.param("a ratio of 16:9 or 1.5:2", id="ratios"),
        pytest.param("100%20b.py:3 in an address", id="escape-without-a-hash"),
        pytest.param("127.0.0.1:8080 and ::1:80", id="addresses"),
        pytest.param("https://example.com/a.py:12 and http://host/b.py#L3", id="urls"),
        pytest.param("https://example.com:8080/x", id="port-of-a-url"),
        pytest.param("std::vector<int> and a::b::3", id="cpp"),
        pytest.param(r"C:\src\app.py:12", id="windows"),
        pytest.param("C:/src/app.py:12", id="windows-with-slashes"),
        pytest.param("v1.2:3 and 3.11:12", id="versions"),
        pytest.param("~/notes.md:3", id="home"),
        pytest.param("a.py:12-18-2020", id="date-of-a-log"),
        pytest.param("a.py:1.5", id="decimal"),
        pytest.param("a.py:12px", id="unit"),
        pytest.param("a.py#section-2", id="anchor"),
        pytest.param("src/app.py:12 <!-- openbook: ignore -->", id="ignored-line"),
        pytest.param("died at app.pl line 12.", id="message-of-an-interpreter"),
        pytest.param('File "app.py", line 12, in main', id="traceback"),
        pytest.param("the example (lines 12-18)", id="lines-of-no-file"),
        pytest.param("`src/app.py` (~line 12)", id="about-a-line"),
        pytest.param("`app.py` lines 12 to 18", id="range-in-words"),
        pytest.param("`app.py` (line 12 or 18)", id="one-line-or-another"),
        pytest.param("`app.py` lines 12 and 18", id="two-lines-in-words"),
        pytest.param("20251129:src/app.py:3", id="behind-a-date"),
        pytest.param("defaced:src/app.py:3", id="behind-a-word-of-hexadecimal-letters"),
        pytest.param("a1b2c3:src/app.py:3", id="behind-what-is-too-short-for-a-commit"),
        pytest.param("shop@1a2b3c4:src/app.py:3", id="of-a-commit-of-another-repository"),
        pytest.param("sha256:1a2b3c4:src/app.py:3", id="behind-a-digest"),
    ],
)
def test_what_only_looks_like_a_citation_is_none(text: str) -> None:
    assert find_mentions(text) == []


@pytest.mark.parametrize(
    "text", ["https://github.com/acme/shop/blob/1a2b3c4/a.md?plain=1#L3", "](../docs/a.md?plain=1#L3-L4)"]
)
def test_a_citation_that_asks_for_another_view_is_printed_as_it_is_written(text: str) -> None:
    (mention,) = find_mentions(text)

    assert cited_words(text, mention) == text.removeprefix("](").rstrip(")")


def test_a_file_of_a_commit_is_cited_as_in_a_permalink_with_all_its_lines() -> None:
    text = "See `1a2b3c4:src/app.py:3,7-9`."

    found = [(mention.form, mention.revision, cited_words(text, mention)) for mention in find_mentions(text)]

    assert found == [
        ("permalink", "1a2b3c4", "1a2b3c4:src/app.py:3"),
        ("permalink", "1a2b3c4", "1a2b3c4:src/app.py:7-9"),
    ]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        pytest.param("See a.py:1,3-4.", [(1, 1), (3, 4)], id="comma"),
        pytest.param("See a.py:1, 3-4, 9-9.", [(1, 1), (3, 4), (9, 9)], id="comma-and-blank"),
        pytest.param("In a.py:1, 30 people met.", [(1, 1)], id="a-number-that-may-be-anything"),
        pytest.param("a.py:1, 10-05-2023", [(1, 1)], id="date"),
    ],
)
def test_further_lines_are_citations_of_the_same_file(text: str, lines: list[tuple[int, int]]) -> None:
    assert [(mention.first_line, mention.last_line) for mention in find_mentions(text)] == lines


def test_a_host_with_a_port_has_the_form_and_is_for_whoever_knows_the_files() -> None:
    assert [mention.path for mention in find_mentions("localhost:8080")] == ["localhost"]


@pytest.mark.parametrize("text", ["src/app.py:12..18", "src/app.py#L12...L18", "src/app.py:12—18"])
def test_one_end_of_a_range_in_another_notation_is_no_citation(text: str) -> None:
    assert find_mentions(text) == []


def test_several_ranges_in_words_are_several_citations() -> None:
    text = "`app.py` (lines 1-2, 7-9 and 20-30)"

    assert [(m.path, m.first_line, m.last_line) for m in find_mentions(text)] == [
        ("app.py", 1, 2),
        ("app.py", 7, 9),
        ("app.py", 20, 30),
    ]


def test_several_ranges_behind_one_path_are_several_citations() -> None:
    mentions = find_mentions("src/app.py:3,7-9")

    assert [(mention.path, mention.first_line, mention.last_line) for mention in mentions] == [
        ("src/app.py", 3, 3),
        ("src/app.py", 7, 9),
    ]


def test_a_permalink_names_its_repository_and_revision() -> None:
    (mention,) = find_mentions("https://github.com/Acme/Shop/blob/0123abc/src/my%20app.py?plain=1#L3-L4")

    assert (mention.form, mention.repository, mention.revision) == ("permalink", "github.com/acme/shop", "0123abc")
    assert (mention.path, mention.first_line, mention.last_line) == ("src/my app.py", 3, 4)


@pytest.mark.parametrize(
    ("url", "repository", "revision"),
    [
        pytest.param("https://gitlab.com/a/b/-/blob/v1/s/a.py#L3-4", "gitlab.com/a/b", "v1", id="gitlab"),
        pytest.param("https://gitlab.com/a/b/-/blob/v1/s/a.py?ref_type=tags#L3-4", "gitlab.com/a/b", "v1", id="asks"),
        pytest.param(
            "https://git.x.org:8443/a/src/b/-/blame/v1/s/a.py#L3-4", "git.x.org:8443/a/src/b", "v1", id="group"
        ),
        pytest.param("https://codeberg.org/a/b/src/branch/v1/s/a.py#L3-L4", "codeberg.org/a/b", "v1", id="gitea"),
        pytest.param(
            "https://codeberg.org/a/b/src/commit/0ab/s/a.py#L3-L4", "codeberg.org/a/b", "0ab", id="gitea-commit"
        ),
        pytest.param("https://codeberg.org/a/b/blame/tag/v1/s/a.py#L3-L4", "codeberg.org/a/b", "v1", id="gitea-tag"),
        pytest.param("https://bitbucket.org/a/b/src/v1/s/a.py#lines-3:4", "bitbucket.org/a/b", "v1", id="bitbucket"),
        pytest.param("https://git.sr.ht/~a/b/tree/v1/item/s/a.py#L3-4", "git.sr.ht/~a/b", "v1", id="sourcehut"),
        pytest.param("https://git.sr.ht/~a/b/tree/x/y/item/s/a.py#L3-4", "git.sr.ht/~a/b", "x/y", id="sourcehut-slash"),
        pytest.param("https://github.com/a/b/blob/v1/s/a.py#L3-L4", "github.com/a/b", "v1", id="github"),
        pytest.param("https://github.com/a/b/tree/v1/s/a.py#L3-L4", "github.com/a/b", "v1", id="github-tree"),
    ],
)
def test_a_permalink_may_be_in_the_form_of_any_host(url: str, repository: str, revision: str) -> None:
    (mention,) = find_mentions(f"[it]({url}).")

    assert (mention.repository, mention.revision, mention.path) == (repository, revision, "s/a.py")
    assert (mention.first_line, mention.last_line) == (3, 4)


@pytest.mark.parametrize("path", ["src/commit/a.py", "src/branch/x/a.py", "-/blame/x.py", "tree/x/item/a.py"])
def test_the_path_of_a_permalink_may_be_like_the_form_of_another_host(path: str) -> None:
    (mention,) = find_mentions(f"https://github.com/a/b/blob/main/{path}#L3")

    assert (mention.repository, mention.revision, mention.path) == ("github.com/a/b", "main", path)


def test_a_permalink_may_name_a_route() -> None:
    (mention,) = find_mentions("[it](https://github.com/a/b/blob/main/app/(shop)/[id]/page.tsx#L3)")

    assert (mention.revision, mention.path) == ("main", "app/(shop)/[id]/page.tsx")


def test_a_permalink_to_several_ranges_is_left_alone() -> None:
    assert find_mentions("https://bitbucket.org/a/b/src/main/a.py#lines-3:4,9") == []


def test_only_allowed_ranges_count() -> None:
    text = "a.py:1 b.py:2 c.py:3"

    assert [mention.path for mention in find_mentions(text, [(7, 13)])] == ["b.py"]


@pytest.mark.parametrize(
    ("written", "first", "last", "expected"),
    [
        pytest.param("12", 20, 20, "20", id="one"),
        pytest.param("12-18", 20, 26, "20-26", id="range"),
        pytest.param("12–18", 20, 26, "20–26", id="dash-stays"),
        pytest.param("L12-18", 20, 26, "L20-26", id="letters-stay"),
        pytest.param("12-12", 3, 3, "3-3", id="a-range-stays-one"),
        pytest.param("12", 3, 4, "3-4", id="one-line-became-two"),
        pytest.param("L1C2-L3C4", 5, 7, "L5-L7", id="columns-go"),
    ],
)
def test_lines_are_written_as_they_were(written: str, first: int, last: int, expected: str) -> None:
    assert with_lines(written, first, last) == expected


@given(st.text(alphabet=st.sampled_from("a.py/:#L12-,()[]<>`\\ \n~%é"), max_size=80) | st.text(max_size=80))
def test_every_text_gives_citations_that_stand_in_it(text: str) -> None:
    mentions = find_mentions(text)

    for mention in mentions:
        assert 0 <= mention.start_char < mention.end_char <= len(text)
        assert text[slice(*mention.lines_chars)].lstrip("L")[:1].isdigit()


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "a" * 1_000_000,
        "a.py:1 " * 20_000,
        "](" * 100_000,
        "a/" * 300_000 + ":1",
        "[" * 200_000,
        "a." * 500_000,
        "[a]" * 200_000,
        "/[a]" * 200_000,
        "/[[a]]" * 100_000,
        "[a].b" * 100_000,
        "{a}/b" * 100_000,
        "](a(b" * 100_000,
        "link:-" * 200_000,
        "https://host/owner/name/blob/main/a/" * 50_000,
        "https://host/owner/name/blob/main/a?" * 50_000,
        "https://host/" + "a/-/blob/" * 100_000,
        "a/(" * 200_000,
        "](a(" * 100_000,
        "a/[a" * 100_000,
        "https://host/owner/name/tree/" + "a/" * 300_000,
        "a.py` (lines " * 50_000,
        "a.py lines 1-2" + ", 3-4" * 100_000 + " or 5",
        "a.py" + "`" * 200_000,
        "1a2b3c4:" * 100_000,
        "1a2b3c4:a," * 100_000,
    ],
    ids=lambda text: text[:36],
)
def test_long_texts_are_read_through(text: str) -> None:
    assert len(find_mentions(text)) in {0, 1, 20_000}


def test_the_source_of_a_line_of_a_log_is_no_citation() -> None:
    text = "Look for `I0302 08:28:59 1 schedule_one.go:314] Bound pod`, and see [this, in app.go:3] or [app.go:4]."

    assert [(mention.path, mention.first_line) for mention in find_mentions(text)] == [("app.go", 3), ("app.go", 4)]


def test_a_frame_of_a_stack_trace_is_no_citation_and_a_line_that_begins_like_one_is() -> None:
    text = "    at shop.Cart.add(Cart.java:12)\nSee the lock\nat Cart.add (Cart.java:13), and at once (Cart.java:14)\n"

    lines = [mention.first_line for mention in find_mentions(text)]

    assert lines == [13, 14]


@pytest.mark.parametrize(
    "frame",
    [
        pytest.param("at java.base/java.lang.Thread.run(Thread.java:829)", id="module"),
        pytest.param("at java.base@17.0.1/java.util.ArrayList.get(ArrayList.java:427)", id="version-of-a-module"),
        pytest.param("at app//shop.Cart.<init>(Cart.java:12)", id="class-loader"),
        pytest.param("at shop.Cart$$Lambda$14/0x0800.add(Cart.java:12)", id="lambda"),
    ],
)
def test_a_frame_may_name_where_its_class_was_loaded_from(frame: str) -> None:
    assert find_mentions(f"\t{frame}\n") == []


class CountedText(str):
    """A text that counts how often it is searched."""

    searches = 0

    def find(self, sub: str, start: SupportsIndex | None = None, end: SupportsIndex | None = None, /) -> int:
        self.searches += 1
        return super().find(sub, start, end)

    def rfind(self, sub: str, start: SupportsIndex | None = None, end: SupportsIndex | None = None, /) -> int:
        self.searches += 1
        return super().rfind(sub, start, end)


def test_a_line_is_not_searched_again_for_each_of_its_citations() -> None:
    text = CountedText("a.py:1 " * 1_000)

    assert len(find_mentions(text)) == 1_000
    assert text.searches <= 1


class Counted(str):
    """A text that counts how many of its characters are read by slices."""

    read = 0

    def __getitem__(self, key: SupportsIndex | slice) -> str:
        part = super().__getitem__(key)
        self.read += len(part)
        return part


@pytest.mark.parametrize("words", ["src/app.py:3-9", "`src/app.py:3-9`", "`src/app.py` (lines 3-9)"])
def test_a_citation_that_is_the_text_of_a_permalink_is_of_its_revision(words: str) -> None:
    mentions = find_mentions(text := f"[{words}](https://github.com/acme/shop/blob/1a2b3c4/src/app.py#L3-L9)")

    assert linked_revision(text, mentions[0], mentions) == "1a2b3c4"


def test_the_link_of_a_citation_is_found_without_reading_all_others() -> None:
    link = "[`src/app.py:{0}`](https://github.com/acme/shop/blob/1a2b3c4/src/app.py#L{0})\n"
    text = Counted("".join(link.format(number) for number in range(1, 201)))
    mentions = find_mentions(text)
    text.read = 0

    revisions = [linked_revision(text, mention, mentions) for mention in mentions]

    assert revisions == ["1a2b3c4", ""] * 200
    assert text.read < len(text)
