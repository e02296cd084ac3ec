from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from openbook.chunking.code import chunk_code
from openbook.chunking.rules import RULES
from openbook.types import Chunk, Document, Kind
from tests.unit.chunking.languages import CASES


def chunk(text: str, language: str = "python", *, kind: Kind = "code", path: str = "a") -> list[Chunk]:
    """Chunk a text, and check what holds for every text."""
    chunks = chunk_code(Document("s", path, kind, language, text, ""))
    end = 0
    for each in chunks:
        assert each.text == text[each.span.start_char : each.span.end_char]
        assert not text[end : each.span.start_char].strip(), "a line is in no chunk"
        assert len(each.text) <= 1500
        end = each.span.end_char
    assert not text[end:].strip(), "a line is in no chunk"
    return chunks


def statements(count: int, indent: str = "    ") -> str:
    return "".join(f"{indent}step_{number}(values, {number})\n" for number in range(count))


LINES = st.sampled_from(
    [
        *"def f():|    return 1|class A {|}||  |# note|/* note| */|// note|@x|end|func f() {|x = 1|<div>|((((".split(
            "|"
        ),
        *"impl A for B {|defmodule A do|f x = y|'''|é𝄞 = '你'|\f|\r|\x00|\x85\u2028|\ufeff".split("|"),
        *["x" * 1600, "a. " * 700, " " * 1600 + "x"],
    ]
)
# Of the files in `CASES`: an `impl` and a `defimpl` whose types are defined elsewhere.
ONLY_QUALIFYING = {"Baz", "P"}
ENDS = st.sampled_from(["\n", "\r\n", "\n\n", "\r"])
TEXTS = st.lists(st.tuples(LINES, ENDS), max_size=40).map(lambda pairs: "".join(a + b for a, b in pairs)) | st.text()


@pytest.mark.slow
@given(TEXTS, st.sampled_from([*RULES, "", "unknown", "json"]))
@example("x = '𝄞é'\ndef é():\n    pass\n" * 80, "python")
@example("\r".join(["def f():", "  pass"] * 200), "python")
def test_chunks_are_ordered_slices_that_hold_every_line(text: str, language: str) -> None:
    chunks = chunk(text, language)

    for each in chunks:
        lines = text.split("\n")[each.span.start_line - 1 : each.span.end_line]
        if len(lines) > 1 or len(lines[0]) <= 1500:
            assert "\n".join(lines).rstrip() == each.text


@pytest.mark.parametrize("language", list(CASES))
def test_chunks_of_every_language_carry_its_names(language: str) -> None:
    text, expected = CASES[language]

    chunks = chunk(text, language)

    names = {name.rpartition(".")[2] for name in expected.split()}
    defined = {name.replace(" ", "_") for each in chunks for name in each.defines}
    assert names - defined <= ONLY_QUALIFYING | (names if language == "css" else set())
    assert chunks[0].symbol.replace(" ", "_") in expected.split()
    assert {each.language for each in chunks} == {language}


def test_a_function_that_fits_is_one_chunk_with_its_comment_and_decorator() -> None:
    text = f"def start():\n{statements(40)}\n# Why.\n@cached\ndef run(values):\n{statements(40)}\n"

    first, second = chunk(text)

    assert first.text.startswith("def start")
    assert second.text.startswith("# Why.\n@cached\ndef run")
    assert (second.symbol, second.defines, second.context) == ("run", ("run",), ())
    assert (second.signature, second.docstring) == ("def run(values):", "Why.")


def test_a_definition_of_exactly_the_limit_stays_whole_and_one_more_character_is_cut() -> None:
    start = "def run():\n" + "    step()\n" * 130
    fits = start + "    return " + "1" * (1500 - len(start) - len("    return "))

    assert [len(each.text) for each in chunk(f"{fits}\n")] == [1500]
    assert len(chunk(f"{fits}1\n")) == 2


def test_a_large_class_gives_its_header_and_then_its_members() -> None:
    methods = "".join(f"\n    def m{number}(self):\n{statements(25, '        ')}" for number in range(3))
    text = f'class Client(Base):\n    """Talks.\n\n    More."""\n\n    retries = {"[" + "1," * 300 + "]"}\n{methods}'

    header, *members = chunk(text)

    assert header.text.startswith("class Client")
    assert (header.symbol, header.defines, header.docstring) == ("Client", ("Client", "retries"), "Talks.")
    assert [each.symbol for each in members] == ["Client.m0", "Client.m1", "Client.m2"]
    assert {each.context for each in members} == {("Client",)}


def test_parts_of_a_large_function_keep_its_name_and_its_header() -> None:
    text = f"class A:\n    def run(self):\n{statements(120, '        ')}"

    chunks = chunk(text)

    assert len(chunks) == 3
    assert [each.symbol for each in chunks] == ["A", "A.run", "A.run"]
    assert [each.defines for each in chunks] == [("A", "run"), (), ()]
    assert [each.context for each in chunks] == [(), ("A", "run"), ("A", "run")]
    assert chunks[2].signature == "def run(self):"
    assert max(len(each.text) for each in chunks) < 1.5 * min(len(each.text) for each in chunks)


def test_a_large_function_is_cut_at_its_blank_lines() -> None:
    text = f"def run():\n{statements(45)}\n{statements(45)}\n{statements(45)}"

    chunks = chunk(text)

    assert [each.text.splitlines()[0].strip() for each in chunks] == ["def run():", *["step_0(values, 0)"] * 2]


@pytest.mark.parametrize("width", [18, 22, 26, 30])
@pytest.mark.parametrize(
    ("language", "opening", "head"),
    [
        ("swift", "class A {", "@inlinable\n@b(c)\nfunc moor() {"),
        ("rust", "mod a {", "#[inline]\n#[b(c)]\nfn moor() {"),
        ("java", "class A {", "@A\n@B(c)\nvoid moor() {"),
    ],
)
def test_a_large_function_is_not_cut_from_its_comment_and_attributes(
    language: str, opening: str, head: str, width: int
) -> None:
    comment = "".join(f"/// {'x' * width}\n" for _ in range(30))

    chunks = chunk(f"{opening}\n{comment}{head}\n{statements(50, '  ')}}}\n}}\n", language)

    assert any(f"{'x' * width}\n{head}" in each.text for each in chunks)


def test_a_comment_that_is_longer_than_a_chunk_is_cut_above_its_last_lines() -> None:
    told = "".join(f"/// Line {number} of what there is to say of mooring.\n" for number in range(70))
    text = f"{told}#[inline]\nfn moor() {{\n{statements(40)}}}\n"

    chunks = chunk(text, "rust")

    assert {each.symbol for each in chunks} == {"moor"}
    [named] = [each for each in chunks if each.defines]
    assert "Line 69 of" in named.text


def test_closures_in_a_large_function_are_found() -> None:
    text = f"(function () {{\n  function inner() {{\n{statements(45)}  }}\n{statements(45)}}})();\n"

    chunks = chunk(text, "javascript")

    assert "inner" in [each.symbol for each in chunks]


def test_small_neighbours_share_a_chunk() -> None:
    text = "".join(f"def f{number}():\n    return {number}\n\n\n" for number in range(60))

    chunks = chunk(text)

    assert all(600 < len(each.text) <= 1000 for each in chunks[:-1])
    assert [name for each in chunks for name in each.defines] == [f"f{number}" for number in range(60)]


def test_neighbours_of_different_classes_share_no_chunk() -> None:
    methods = "".join(f"    def m{number}(self):\n{statements(10, '        ')}\n" for number in range(6))

    chunks = chunk(f"class A:\n{methods}\nclass B:\n{methods}")

    assert all("class B" not in each.text or each.text.startswith("class B") for each in chunks)


def test_a_constant_names_a_chunk_only_if_nothing_better_does() -> None:
    [both] = chunk("LIMIT = 3\n\ndef run(): ...\n")
    [alone] = chunk("import os\nLIMIT = 3\n")

    assert (both.symbol, both.defines) == ("run", ("LIMIT", "run"))
    assert (alone.symbol, alone.defines) == ("LIMIT", ("LIMIT",))


def test_a_chunk_is_named_by_what_it_defines_and_not_by_an_extension_in_it() -> None:
    text = "extension Ship: Sendable {}\n\n/// A part.\npublic enum Part { case hull }\n"
    methods = "impl<'a, T> Quay<'a, T> {\n    fn moor() {}\n    fn sail() {}\n}\n"

    [first], [second] = chunk(text, "swift"), chunk(methods, "rust")

    assert (first.symbol, first.context, first.docstring) == ("Part", (), "A part.")
    assert (second.symbol, second.context, second.defines) == ("Quay.moor", ("Quay",), ("moor", "sail"))


def test_the_comment_of_the_first_member_of_an_extension_is_named_by_that_member() -> None:
    told = "".join(f"    /// Line {number} of what there is to say of mooring.\n" for number in range(40))

    chunks = chunk(f"extension Quay {{\n{told}    func moor() {{\n{statements(20)}    }}\n}}\n", "swift")

    assert {each.symbol for each in chunks} == {"Quay.moor"}


def test_a_closing_line_is_no_chunk_of_its_own() -> None:
    methods = "".join(f"  void m{number}() {{\n{statements(25)}  }}\n\n" for number in range(3))

    chunks = chunk(f"class A {{\n{methods}}}\n", "java")

    assert chunks[-1].text.endswith("}\n\n}")
    assert chunks[-1].symbol == "A.m2"


def test_a_block_with_a_title_is_not_cut() -> None:
    blocks = "".join(f'test("{number}", () => {{\n{statements(18)}\n{statements(18)}}});\n' for number in range(3))

    chunks = chunk(blocks, "typescript")

    assert [each.text.count("test(") for each in chunks] == [1, 1, 1]


def test_a_header_of_cpp_is_read_as_cpp() -> None:
    [found] = chunk("namespace a {\nclass Client {\n public:\n  void run() {}\n};\n}\n", "c", path="client.h")

    assert found.defines == ("Client", "run")
    assert found.language == "c"


def test_kind_and_source_are_those_of_the_document() -> None:
    [found] = chunk("key: 1\n", "yaml", kind="config")

    assert (found.kind, found.source, found.language, found.anchor, found.lesson) == ("config", "s", "yaml", "", None)


def test_text_that_is_no_code_at_all_is_cut_by_lines() -> None:
    text = "Lorem ipsum, dolor sit amet: consectetur (adipiscing elit.\n\n" * 60

    chunks = chunk(text, "rust")

    assert len(chunks) > 1
    assert {each.defines for each in chunks} == {()}


def test_offsets_count_characters_where_the_parser_counts_bytes() -> None:
    text = f"s = '𝄞é你'\n\n\ndef größe():\n{statements(45)}\n\ndef ende():\n{statements(45)}"

    chunks = chunk(text)

    assert [each.symbol for each in chunks] == ["größe", "ende"]
    assert chunks[1].text.startswith("def ende")
    assert chunks[0].signature == "def größe():"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "opening", "closing"),
    [
        ("python", "(", ")"),
        ("python", "[", ""),
        ("javascript", "{\n", "}\n"),
        ("javascript", "function f(){", "}"),
        ("typescript", "namespace N {\n", "}\n"),
        ("java", "class A {\n", "}\n"),
        ("rust", "mod a {\n", "}\n"),
        ("c", "(", ")"),
        ("cpp", "template<", ""),
        ("elixir", "defmodule A do\n", "end\n"),
        ("haskell", "x = (", ")"),
    ],
)
def test_nesting_of_any_depth_is_survived(language: str, opening: str, closing: str) -> None:
    depth = 20_000

    chunks = chunk(opening * depth + closing * depth, language)

    assert chunks


@pytest.mark.slow
@pytest.mark.parametrize(("language", "piece"), [("javascript", "a=1;"), ("css", "a{b:c}")])
def test_a_megabyte_in_one_line_gives_bounded_chunks_without_names(language: str, piece: str) -> None:
    chunks = chunk(piece * (1_000_000 // len(piece)), language)

    assert {each.symbol for each in chunks} == {""}


def test_a_macro_that_opens_a_namespace_hides_no_names() -> None:
    text = """FMT_BEGIN_NAMESPACE
namespace detail {
int parse_width(int a) {
  return a;
}
}  // namespace detail
FMT_END_NAMESPACE
"""

    (only,) = chunk(text, "cpp")

    assert (only.symbol, only.defines) == ("parse_width", ("parse_width",))


def test_an_exported_class_of_cpp_has_its_own_name_and_its_members() -> None:
    text = """class MY_API Widget : public QObject {
    Q_OBJECT
    Q_PROPERTY(int width READ width)

public:
    explicit Widget(QObject *parent);
    void fit(int w) LOCKS_EXCLUDED(mutex_);
};
"""

    (only,) = chunk(text, "cpp")

    assert (only.symbol, only.defines) == ("Widget", ("Widget", "fit"))
    assert only.signature == "class MY_API Widget : public QObject"


@pytest.mark.parametrize("macro", ["TEST", "TEST_F", "TYPED_TEST", "BOOST_AUTO_TEST_CASE"])
def test_a_test_of_cpp_is_named_by_what_its_macro_is_given(macro: str) -> None:
    given = "GivesBack" if macro.startswith("BOOST") else "Pool, GivesBack"

    (only,) = chunk(f"{macro}({given}) {{\n    EXPECT_EQ(1, 1);\n}}\n", "cpp")

    assert only.symbol == given.replace(", ", ".")
    assert only.defines == ("GivesBack",)


def test_what_is_no_test_macro_with_names_keeps_its_own_name() -> None:
    (only,) = chunk("TEST(int count) {\n}\nLATEST(a, b) {\n}\n", "cpp")

    assert only.defines == ("TEST", "LATEST")


def test_one_line_of_kotlin_with_a_member_hides_nothing_of_its_file() -> None:
    text = """data class Clock(val zone: String) {
    companion object { fun utc() = Clock("UTC") }
    fun now(): Long = 1
}
object Registry { fun register(clock: Clock) { println(clock) } }
suspend fun waitFor(clock: Clock) { delay(1) }
"""

    (only,) = chunk(text, "kotlin")

    assert only.symbol == "Clock"
    assert only.defines == ("Clock", "utc", "now", "Registry", "register", "waitFor")


@pytest.mark.parametrize(
    "head",
    [
        "class Quay<T>\n@Given internal constructor(val x: T) {\nfun haul() {",
        "class Quay {\ncontext(log: Log)\nfun haul() {",
    ],
)
def test_what_the_grammar_of_kotlin_does_not_know_hides_nothing_below(head: str) -> None:
    text = f"{head}\n{statements(40)}}}\n}}\n\nfun moor() = 1\n\nclass Ship {{ fun sail() = 1 }}\n"

    names = {name for each in chunk(text, "kotlin") for name in each.defines}

    assert names == {"Quay", "haul", "moor", "Ship", "sail"}


def test_where_the_grammar_makes_an_error_of_a_file_its_lines_tell_the_names() -> None:
    text = """data class Clock(val zone: String) {
    companion object { fun utc() = Clock("UTC") } // of the world
    fun now(): Long = 1
}
object Registry { fun register(clock: Clock) { println(clock) } } // of clocks
"""

    (only,) = chunk(text, "kotlin")

    assert only.defines == ("Clock", "now", "Registry")


def test_the_rest_of_a_class_documentation_is_named_by_the_class_not_by_its_first_method() -> None:
    sentences = "\n\n".join(f"    Sentence {n} about the pool, what it does, and when it does it." for n in range(40))
    text = (
        f'class Pool:\n    """Pool of connections.\n\n{sentences}\n    """\n\n    def open(self):\n        return 1\n'
    )

    *_, last = chunk(text)

    assert "def open" in last.text
    assert (last.symbol, last.defines, last.context) == ("Pool", ("open",), ("Pool",))


def test_items_within_a_macro_of_rust_are_definitions_as_those_outside() -> None:
    text = "cfg_rt! {\n    impl Box {\n        pub fn post(&self) {}\n    }\n\n    fn send() {}\n}\n"

    chunks = chunk(text, "rust")

    assert [name for each in chunks for name in each.defines] == ["post", "send"]
