"""What a parser is given in the place of a text that its grammar stumbles over."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tree_sitter import Tree

from openbook.chunking import code
from openbook.chunking.code import smoothed
from openbook.chunking.grammars import parse

PIECES = st.sampled_from(
    """class ,struct,MY_API, Widget, : public B, {,},;,),Q_OBJECT,\n,\r\n,    ,//x,LOCKS(a),const,fun ,val x = 1"""
    """,END_DECLS,object {, },é,public:,final""".split(",")
)


@pytest.mark.slow
@given(st.lists(PIECES, max_size=30).map("".join), st.sampled_from(["c", "cpp", "kotlin", "go"]))
def test_every_byte_keeps_its_place_and_every_line_its_number(text: str, language: str) -> None:
    source = text.encode()

    given_to_parser = smoothed(language, source)

    assert len(given_to_parser) == len(source)
    assert [at for at, byte in enumerate(given_to_parser) if byte == 10] == [
        at for at, byte in enumerate(source) if byte == 10
    ]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        pytest.param("class MY_API Widget : B {", "class        Widget : B {", id="export"),
        pytest.param("class MY_API ALIGNED(8) Widget {", "class                   Widget {", id="two-macros"),
        pytest.param("struct MY_API a::Box<int> final {", "struct        a::Box<int> final {", id="qualified"),
        pytest.param("class WIDGET {", None, id="a-name-in-capitals"),
        pytest.param("class WIDGET final : B {", None, id="final-is-no-name"),
        pytest.param("struct FLAGS flags = read();", None, id="variable"),
        pytest.param("class MY_API Widget;", None, id="announced"),
        pytest.param("A() {}\n  Q_GADGET\n  int x;", "A() {}\n          \n  int x;", id="lone-word"),
        pytest.param("class A { Q_OBJECT\n};", "class A {         \n};", id="lone-word-behind-brace"),
        pytest.param("int x =\n    LIMIT\n;", None, id="value"),
        pytest.param("};\nBOOL\nRun() {}", None, id="type-of-a-function"),
        pytest.param("void f() const LOCKED(a);", "void f() const          ;", id="trailing"),
        pytest.param("TEST(A, B)\nTEST(C, D) {}", None, id="tests"),
        pytest.param("QT_BEGIN_NAMESPACE\n\nclass A {", "                  \n\nclass A {", id="namespace"),
        pytest.param("}\nNAMESPACE_END(a)", "}\n                ", id="namespace-with-its-name"),
        pytest.param("MY_API\ntemplate <class T>", "      \ntemplate <class T>", id="before-a-keyword"),
        pytest.param("APPENDIX\nrun() {}", None, id="type-in-capitals"),
        pytest.param("BEGIN_MAP {\n", None, id="more-on-the-line"),
    ],
)
def test_only_macros_that_mislead_the_grammar_are_blanked(text: str, wanted: str | None) -> None:
    assert smoothed("cpp", text.encode()).decode() == (text if wanted is None else wanted)


def test_macros_around_declarations_of_c_are_blanked() -> None:
    text = b"G_BEGIN_DECLS\r\ntypedef int A;\nLIMIT\nrun(void) {}\n__END_DECLS"

    assert smoothed("c", text) == b"             \r\ntypedef int A;\nLIMIT\nrun(void) {}\n           "


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        pytest.param("object A { fun f() = 1 }", "object A { fun f() = 1;}", id="expression"),
        pytest.param(
            "object A { private fun f() { g() } }\r\n", "object A { private fun f() { g();};}\r\n", id="block"
        ),
        pytest.param("fun f() { g() }", None, id="no-member"),
        pytest.param("object A { val x = 1; }", None, id="closed-already"),
        pytest.param(
            "class A<out T : B>\n  @C(1) internal constructor(",
            "class A<out T : B>\n        internal constructor(",
            id="constructor-with-two-modifiers",
        ),
        pytest.param(
            "class A\r\n@B\r\nprivate constructor(",
            "class A\r\n  \r\nprivate constructor(",
            id="constructor-on-two-lines",
        ),
        pytest.param("class A\nprivate constructor(", None, id="constructor-with-one-modifier"),
        pytest.param("class A {\n  @B private constructor(", None, id="further-constructor"),
        pytest.param("context(a: A, b: B)\ninternal fun f()", "                   \ninternal fun f()", id="context"),
        pytest.param("context(a)\nprint(b)", None, id="call-of-a-function"),
    ],
)
def test_what_the_grammar_of_kotlin_does_not_know_is_closed_or_blanked(text: str, wanted: str | None) -> None:
    assert smoothed("kotlin", text.encode()).decode() == (text if wanted is None else wanted)


@pytest.mark.slow
@pytest.mark.parametrize("piece", ["class A<", "class A\n@B ", "context(", "class A\n", "@B private "])
def test_what_is_never_closed_takes_no_long_time(piece: str) -> None:
    source = (piece * (200_000 // len(piece))).encode()

    assert smoothed("kotlin", source) == source


def test_a_long_line_takes_no_long_time() -> None:
    text = b"class A {" + b" { fun AB_C" * 200_000 + b"}\n" + b"class MY_API " * 50_000 + b"\n; " * 50_000
    text += b"\n" + b"_BEGIN" * 50_000

    assert len(smoothed("kotlin", text)) == len(smoothed("cpp", text)) == len(text)


def test_macros_that_are_never_closed_are_not_all_parsed_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    source = b"m! {\n    fn f() { let x = 1; g(x); }\n" * 100 + b"}\n"
    parsed: list[int] = []

    def counted(language: str, piece: bytes) -> Tree | None:
        parsed.append(len(piece))
        return parse(language, piece)

    monkeypatch.setattr(code, "parse", counted)
    smoothed("rust", source)

    assert 0 < sum(parsed) <= 4 * len(source)


def test_macros_of_rust_that_are_never_closed_take_no_square_of_their_number() -> None:
    source = b"a! {\n fn x;\n" * 80_000

    assert smoothed("rust", source) == source
