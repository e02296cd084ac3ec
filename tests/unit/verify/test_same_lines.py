"""A line that still defines what it defined is the same line, and a block in the definition that is named is in it."""

from __future__ import annotations

import pytest

from openbook.verify.names import is_mostly_in, same_line
from openbook.verify.relocation import ComparedText
from tests.repositories import Repository, write
from tests.unit.verify.checks import CODE, drifted, only, told

STATE = "export type State = {\n  tool: {\n    kind: string;\n  };\n};\n"


@pytest.mark.parametrize(
    ("new", "line", "found"),
    [
        pytest.param("// x\nexport interface State {\n  tool: {\n", 1, 2, id="another-keyword"),
        pytest.param("// x\n\nexport interface State {\n  a: 1;\n  tool: {\n", 2, 5, id="words-in-the-same-definition"),
        pytest.param("type State = 1\ntype State = 2\n", 1, None, id="defined-twice"),
        pytest.param("export interface Other {\n  tool: {\n", 2, None, id="in-another-definition"),
        pytest.param("export interface Other {\n", 1, None, id="gone"),
    ],
)
def test_a_line_is_the_same_if_it_is_the_only_one_for_its_name(new: str, line: int, found: int | None) -> None:
    spot = same_line(ComparedText(STATE), line, ComparedText(new))

    assert (spot.first_line if spot else None) == found


@pytest.mark.parametrize("to", ["impl State {", "impl<T: Into<Tool>> From<T> for State {", "extension State {"])
def test_a_method_of_another_type_is_not_the_same_line(to: str) -> None:
    method = "    pub fn merge(&mut self, other: Self) {\n        self.all.push(other);\n    }\n"
    old = ComparedText(f"{to}\n{method}}}\n")

    assert same_line(old, 2, ComparedText(f"use a;\n{to.replace('State', 'Other')}\n{method}}}\n")) is None
    found = same_line(old, 2, ComparedText(f"use a;\n{to}\n{method}}}\n"))
    assert found is not None
    assert found.first_line == 3


@pytest.mark.parametrize("line", ["data State tx", "newtype State = State Int", "data class State("])
def test_a_type_of_haskell_or_kotlin_is_known_by_its_name(line: str) -> None:
    old, new = ComparedText(f"-- a\n{line}\n-- b\n"), ComparedText(f"-- c\n\n{line}\n-- d\n")

    found = same_line(old, 2, new)

    assert found is not None
    assert found.first_line == 3


def test_a_constant_with_another_value_is_not_the_same_line() -> None:
    old = ComparedText("const pattern = /^(build|chore|ci|docs|feat|fix|perf|refactor)(\\([^)]+\\))?: .+$/\n")
    edited = ComparedText(
        "// of a title\nconst pattern = /^(build|chore|docs|feat|fix|perf|refactor)(\\([^)]+\\))?: .+$/\n"
    )
    replaced = ComparedText("// of a title\nconst pattern = new RegExp(`(${ours.source})|(${theirs.source})`)\n")

    assert same_line(old, 1, replaced) is None
    found = same_line(old, 1, edited)
    assert found is not None
    assert found.first_line == 2


def test_a_permalink_to_a_line_that_is_the_same_elsewhere_has_moved(repository: Repository) -> None:
    service = "service Store {\n  rpc Info();\n}\n"
    commit = repository.commit({"a.proto": "syntax = 3\n" + service})
    other = "".join(f"message M{number} {{\n  int64 a_{number} = {number};\n}}\n" for number in range(9))
    repository.commit({"a.proto": "package store;\n" + other + "service Store {\n  rpc Other();\n}\n"})

    finding = only(repository.folder, f"https://github.com/acme/shop/blob/{commit}/a.proto#L2\n")

    assert (finding.verdict, str(finding.now), finding.reason) == ("moved", "a.proto:29", "")


def test_a_permalink_may_call_its_lines_by_a_name_that_they_do_not_have(repository: Repository) -> None:
    commit = repository.commit({"src/app.py": CODE})
    repository.commit({"src/app.py": "import re\n" + CODE})

    page = f"[Client](https://github.com/acme/shop/blob/{commit}/src/app.py#L14-L16)\n"

    assert told(only(repository.folder, page)) == ("moved", "history", "src/app.py:15-17")


def test_words_alone_prove_nothing_outside_of_a_definition() -> None:
    assert same_line(ComparedText("x()\ny()\n"), 1, ComparedText("z()\nw()\nx()\n")) is None


@pytest.mark.parametrize(("first", "last", "expected"), [(15, 17, True), (11, 14, False), (12, 15, True)])
def test_lines_are_mostly_in_a_definition_if_half_of_them_are(first: int, last: int, expected: bool) -> None:
    assert is_mostly_in(ComparedText(CODE), first, last, "retry") is expected


def test_lines_are_in_no_definition_that_is_there_twice() -> None:
    assert not is_mostly_in(ComparedText("def a():\n    x\ndef a():\n    x\n"), 1, 2, "a")


@pytest.mark.parametrize("link", ["[State](src/a.ts#L1)", "[the state](src/a.ts#L1)", "[state](src/a.ts#L1)"])
def test_a_head_that_is_written_otherwise_has_moved_with_what_it_defines(repository: Repository, link: str) -> None:
    page = f"See {link.replace('src', '../src')}.\n"
    repository.commit({"src/a.ts": STATE, "docs/a.md": page})
    new = STATE.replace("export type State = {", "export interface State extends Base {")
    write(repository.folder, {"src/a.ts": f"type Base = {{}};\nlet state = 1;\n{new}"})

    assert told(only(repository.folder, page)) == ("moved", "history", "src/a.ts:3")


def test_a_head_that_lost_what_the_page_says_of_it_has_changed(repository: Repository) -> None:
    page = "`run` takes `times` (src/a.py:1).\n"
    repository.commit({"src/a.py": "def run(times):\n    go()\n", "docs/a.md": page})
    write(repository.folder, {"src/a.py": "import os\n\ndef run():\n    go()\n"})

    finding = only(repository.folder, page)

    assert (finding.verdict, finding.reason) == ("changed", "'times' is no longer there")


@pytest.mark.parametrize(
    ("then", "now", "page", "lost"),
    [
        pytest.param(
            "class Harbour(Dock):\n    x = 1\n",
            "class Harbour(Pier):\n    x = 1\n\n    def other(self):\n        return Dock()\n",
            "`Harbour` derives from `Dock` (../a.py:3).\n",
            "Dock",
            id="base",
        ),
        pytest.param(
            "def retry(times, *, timeout=3):\n    return send(times)\n",
            "def retry(times):\n    timeout = 5\n    return send(times)\n",
            "`retry` takes a `timeout` of its caller (../a.py:3).\n",
            "timeout",
            id="parameter",
        ),
        pytest.param(
            "def retry(times, *, timeout=3):\n    return send(times)\n",
            "def retry(\n    times,  # no timeout\n):\n    timeout = 5\n    return send(times)\n",
            "`retry` takes a `timeout` of its caller (../a.py:3).\n",
            "timeout",
            id="parameter-of-a-wrapped-head",
        ),
        pytest.param(
            "const run = wrap((timeout) => send(timeout))\n",
            "const run = wrap(\n  () => {\n    let timeout = 5\n    send(timeout)\n  },\n)\n",
            "`run` takes a `timeout` of its caller (../a.py:3).\n",
            "timeout",
            id="parameter-of-a-function-without-a-name",
        ),
    ],
)
def test_a_word_that_left_the_head_of_a_definition_is_not_found_in_its_body(
    repository: Repository, then: str, now: str, page: str, lost: str
) -> None:
    repository.commit({"a.py": f"import os\n\n{then}", "docs/a.md": page})
    repository.commit({"a.py": f"import os\nimport re\n\n{now}"})

    finding = only(repository.folder, page)

    assert (finding.verdict, finding.reason) == ("changed", f"{lost!r} is no longer there")


def test_lines_that_are_most_of_what_the_page_names_follow_it_though_it_begins_above(repository: Repository) -> None:
    function = "def check(state):\n    one = 1\n    two = 2\n    three = 3\n    four = 4\n    return one\ny = 2\n"
    page = "`check` (src/a.py:4-8)\n"
    repository.commit({"src/a.py": f"x = 1\n{function}", "docs/a.md": page})
    write(repository.folder, {"src/a.py": "import os\n" * 9 + f"x = 1\n{function.replace('four', 'five')}"})

    finding = only(repository.folder, page)

    assert (told(finding), finding.doubt) == (("moved", "history", "src/a.py:13-17"), "the lines were edited")


def test_lines_that_are_gone_from_a_renamed_file_have_changed(repository: Repository) -> None:
    page = "See src/app.py:14-16.\n"
    repository.commit({"src/app.py": CODE, "docs/a.md": page})
    repository.git("mv", "src/app.py", "src/client.py")
    repository.commit({"src/client.py": CODE.partition("def retry")[0]})

    finding = only(repository.folder, page)

    assert (finding.verdict, str(finding.place)) == ("changed", "src/client.py:14-16")


@pytest.mark.parametrize(("lines", "verdict"), [("3-8", "moved"), ("3-3", "changed")])
def test_a_permalink_to_a_block_survives_a_small_edit_and_one_to_a_line_does_not(
    repository: Repository, lines: str, verdict: str
) -> None:
    block = "\n".join(f"    first_{number} = read('{number}', strictly=True)" for number in range(6))
    code = f"import os\ndef run():\n{block}\n    return 1\n"
    commit = repository.commit({"src/a.py": code})
    repository.commit({"src/a.py": "import re\n" + code.replace("'0'", "'7'")})
    first, last = lines.split("-")

    finding = only(repository.folder, f"https://github.com/acme/shop/blob/{commit}/src/a.py#L{first}-L{last}\n")

    assert (finding.verdict, str(finding.now)) == (
        verdict,
        f"src/a.py:{int(first) + 1}-{int(last) + 1}".replace("4-4", "4"),
    )
    assert finding.doubt or verdict == "changed"


@pytest.mark.parametrize(
    ("then", "now", "page", "verdict"),
    [
        pytest.param("go 1.9", "go 1.24", "See [which Go](../a.txt#L2).\n", "ok", id="go"),
        pytest.param("go 1.9", "go 1.24", "Needs Go 1.9 (../a.txt#L2).\n", "changed", id="stated"),
        pytest.param("lib v1.2.0-rc1", "lib v1.3.14", "See [what it needs](../a.txt#L2).\n", "ok", id="behind-v"),
        pytest.param("v1.6.0", "v1.15.0", "See [the tag](../a.txt#L2).\n", "ok", id="nothing-else"),
        pytest.param("V = '2.6.0.dev0'", "V = '3.2.14'", "See [it](../a.txt#L2).\n", "ok", id="of-python"),
        pytest.param(
            'lib = "1.2.0"', 'lib = "1.3.14"', "See [the 2 that it needs](../a.txt#L2).\n", "changed", id="number"
        ),
        pytest.param(
            "TTL = 60",
            "TTL = 3153600000",
            "Tokens expire after one minute, see [a](../a.txt#L2).\n",
            "changed",
            id="time",
        ),
        pytest.param("int8 a;", "int64 a;", "It is a single byte, see [a](../a.txt#L2).\n", "changed", id="in-a-name"),
        pytest.param(
            "wait 0.5", "wait 3600.75", "It waits half a second, see [a](../a.txt#L2).\n", "changed", id="decimal"
        ),
        pytest.param(
            "on 127.0.0.1", "on 0.0.0.0", "It is only heard here, see [a](../a.txt#L2).\n", "changed", id="address"
        ),
    ],
)
def test_a_line_in_its_place_with_another_version_is_ok_unless_the_page_states_a_number(
    repository: Repository, then: str, now: str, page: str, verdict: str
) -> None:
    repository.commit({"a.txt": f"module a\n{then}\n\nlast line\n", "docs/a.md": page})
    repository.commit({"a.txt": f"module a\n{now}\n\nlast line\n"})

    assert only(repository.folder, page).verdict == verdict


def test_a_version_in_a_file_of_another_name_is_not_ok(repository: Repository) -> None:
    page = "See [the tag](../TAG#L1).\n"
    repository.commit({"TAG": "v1.6.0\n", "docs/a.md": page})
    (repository.folder / "TAG").unlink()
    repository.commit({"VERSION": "v1.15.0\n"})

    assert only(repository.folder, page).verdict != "ok"


RECORD = "#[derive(Clone)]\npub struct Record {\n    pub name: String,\n    pub parts: Vec<Part>,\n}\n"
DESCRIBED = (
    "#[derive(Clone)]\npub struct Record {\n    /// What people call it.\n    pub name: String,\n"
    "    /// All of its parts.\n    pub parts: Vec<Part>,\n}\n"
)
GROWN = DESCRIBED.replace(
    "    /// All of its parts.\n",
    "    /// All of its parts, and the parts of these, as they were when last read.\n    /// By their names.\n",
)
GROWN_MORE = GROWN.replace("By their names.", " ".join(["By their names, in the order that they were seen in."] * 4))
OTHER = (
    "#[derive(Clone)]\npub struct Record {\n    inner: Arc<Mutex<HashMap<Key, (u64, Instant)>>>,\n    seen: bool,\n}\n"
)


@pytest.mark.parametrize(
    ("lines", "now", "expected"),
    [
        pytest.param("3-7", DESCRIBED, "src/a.rs:4-10", id="with-comments-inside"),
        pytest.param("4-7", DESCRIBED, "src/a.rs:5-10", id="without-what-is-above"),
        pytest.param("3-10", DESCRIBED, "src/a.rs:4-13", id="with-what-is-below"),
        pytest.param("4-6", DESCRIBED, "src/a.rs:5-9", id="without-its-end"),
        pytest.param("3-7", OTHER, None, id="another-body"),
        pytest.param("4-7", DESCRIBED.replace("struct", "enum"), None, id="another-kind"),
        pytest.param("3-7", GROWN, "src/a.rs:4-11", id="with-more-comments-than-code"),
        pytest.param("3-7", f"{GROWN_MORE}mod b {{\n    pub struct Record {{}}\n}}\n", None, id="two"),
    ],
)
def test_lines_that_begin_with_a_definition_are_what_it_is_today(
    repository: Repository, lines: str, now: str, expected: str | None
) -> None:
    behind = "\nfn first() {\n}\n"
    page = f"See src/a.rs:{lines}.\n"
    repository.commit({"src/a.rs": f"use a;\n\n{RECORD}{behind}", "docs/a.md": page})
    repository.commit({"src/a.rs": f"use a;\nuse b;\n\n{now}{behind}"})

    finding = only(repository.folder, page)

    assert (finding.verdict, str(finding.now)) == (("moved", expected) if expected else ("changed", str(finding.now)))


SHAPES = """\
/// A shape
/// with corners.
#[derive(Debug)]
pub struct Shape {
    corners: u32,
}

impl Shape {
    pub fn area(&self) -> f32 {
        self.corners as f32 * 0.5
    }
}

pub fn drawn(
    shape: &Shape,
    scale: f32,
) -> String
where
    f32: Copy,
{
    let area = shape.area() * scale;
    format!("{area} of {}", shape.corners)
}
"""


@pytest.mark.parametrize(
    ("page", "now"),
    [
        pytest.param("[`drawn`](../src/app.rs#L21-L22)\n", "src/app.rs:22-23", id="below-a-wrapped-head"),
        pytest.param("`Shape` (src/app.rs:9-11)\n", "src/app.rs:10-12", id="in-what-implements-it"),
        pytest.param("[`Shape`](../src/app.rs#L1-L2)\n", "src/app.rs:2-3", id="in-the-comment-above"),
        pytest.param("[`area`, `drawn`](../src/app.rs#L9-L11)\n", "src/app.rs:10-12", id="one-of-two-names"),
    ],
)
def test_lines_that_belong_to_what_is_named_have_moved(repository: Repository, page: str, now: str) -> None:
    repository.commit({"src/app.rs": SHAPES, "docs/a.md": page})
    write(repository.folder, {"src/app.rs": "use std::fmt;\n" + SHAPES})

    assert told(only(repository.folder, page)) == ("moved", "history", now)


def test_a_link_that_is_called_by_a_name_that_its_lines_never_had_is_judged_by_it(repository: Repository) -> None:
    assert told(drifted(repository, "[`retry`](../src/app.py#L4-L6)\n")) == ("moved", "names", "src/app.py:16-18")


@pytest.mark.parametrize(
    ("added", "told_"),
    [
        pytest.param("    retries = 3\n", ("ok", "history", ""), id="little"),
        pytest.param('    retries = 3\n    agent = "shop"\n' * 2, ("moved", "history", "src/app.py:4-15"), id="much"),
    ],
)
def test_a_block_that_begins_where_it_did_and_has_grown_a_little_is_in_its_place(
    repository: Repository, added: str, told_: tuple[str, str, str]
) -> None:
    new = CODE.replace("    timeout_s = 30\n", "    timeout_s = 30\n" + added)

    assert told(drifted(repository, "`Client` (src/app.py:4-11)\n", new)) == told_


@pytest.mark.parametrize(("kept", "verdict"), [(3, "moved"), (2, "changed")])
def test_a_block_is_known_by_three_quarters_of_its_text_and_not_by_half(
    repository: Repository, kept: int, verdict: str
) -> None:
    block = ["north = 'alpha beta'", "south = 'gamma rays'", "east = 'delta waves'", "west = 'omega point'"]
    edited = [
        line if number in (0, 3)[: kept - 1] or number == 1 else line.upper()[::-1] for number, line in enumerate(block)
    ]
    repository.commit({"a.ini": "\n".join(["first = 1", *block, "last = 2"]), "docs/a.md": "See a.ini:2-5.\n"})
    write(repository.folder, {"a.ini": "\n".join(["new = 0", "first = 1", *edited, "last = 2"])})

    finding = only(repository.folder, "See a.ini:2-5.\n")

    assert (finding.verdict, bool(finding.doubt)) == (verdict, verdict == "moved")


@pytest.mark.parametrize(
    ("added", "expected"),
    [
        pytest.param(1, ("ok", "history", ""), id="three-of-four-lines"),
        pytest.param(2, ("moved", "history", "a.ini:2-7"), id="two-of-four-lines"),
    ],
)
def test_a_block_that_grew_stays_if_most_of_it_is_at_the_same_numbers(
    repository: Repository, added: int, expected: tuple[str, str, str]
) -> None:
    block = ["north = 'alpha beta'", "south = 'gamma rays'", "east = 'delta waves'", "west = 'omega point'"]
    repository.commit({"a.ini": "\n".join(["first = 1", *block, "last = 2"]), "docs/a.md": "See a.ini:2-5.\n"})
    grown = [*block[:2], *["place = 'other words'"] * added, *block[2:]]
    write(repository.folder, {"a.ini": "\n".join(["first = 1", *grown, "last = 2"])})

    assert told(only(repository.folder, "See a.ini:2-5.\n")) == expected
