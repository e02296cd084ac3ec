from __future__ import annotations

import pytest

from openbook.chunking.code import smoothed
from openbook.chunking.definitions import DefinitionFinder
from openbook.chunking.grammars import parse
from openbook.chunking.outline import Definition, flatten
from openbook.chunking.rules import RULES
from openbook.text import LineIndex
from tests.unit.chunking.languages import CASES


def find(language: str, text: str) -> list[Definition]:
    source = text.encode("utf-8")
    tree = parse(language, smoothed(language, source))
    assert tree is not None
    return list(flatten(DefinitionFinder(text, source, LineIndex(text), RULES[language]).find(tree)))


@pytest.mark.parametrize("language", list(CASES))
def test_definitions_are_found_under_their_qualified_names(language: str) -> None:
    text, expected = CASES[language]

    found = find(language, text)

    assert [".".join(each.path).replace(" ", "_") for each in found] == expected.split()


@pytest.mark.parametrize(
    ("language", "text", "names"),
    [
        pytest.param("python", "low, high = 1, 9\n", ("low", "high"), id="python-tuple"),
        pytest.param("go", "package a\nvar v, w int\n", ("v", "w"), id="go-variables"),
        pytest.param("go", "package a\nvar _, w = f()\n", ("w",), id="go-blank-beside-a-name"),
        pytest.param("go", "package a\nvar _ = Describe(func() {\n\tf()\n})\n", (), id="go-blank"),
        pytest.param("rust", "const _: () = {\n  f()\n};\n", (), id="rust-blank"),
        pytest.param("c", "#define _(x) gettext(x)\n", ("_",), id="c-underscore-is-a-name"),
        pytest.param("c", "typedef struct node { int a; } node_t, *link;\n", ("node_t", "link", "node"), id="c-tag"),
        pytest.param("c", "API struct node *next(int a);\n", ("next",), id="c-keyword-after-a-macro"),
        pytest.param("cpp", "class Quay {\n} if (LIKELY(a)) { b(); }\n", ("Quay",), id="c-keyword-after-a-class"),
        pytest.param("haskell", "a, b :: Int\n", ("a", "b"), id="haskell-signature"),
        pytest.param("rust", "impl Foo {}\n", (), id="impl-defines-nothing"),
        pytest.param("swift", "extension Foo {}\n", (), id="extension-defines-nothing"),
        pytest.param("elixir", "defimpl P, for: X do\nend\n", (), id="defimpl-defines-nothing"),
        pytest.param("clojure", "(extend-type Foo)\n", (), id="extend-type-defines-nothing"),
        pytest.param("clojure", "^:x (defn ; how\n  #_old moor [] 1)\n", ("moor",), id="clojure-asides"),
    ],
)
def test_one_definition_can_define_several_names_or_none(language: str, text: str, names: tuple[str, ...]) -> None:
    found = find(language, text)

    assert [each.names for each in found] == [names]


@pytest.mark.parametrize(
    ("language", "text", "lines"),
    [
        pytest.param("python", "x = 1\n\n# Why.\n@a\n@b(\n  1)\ndef f():\n  pass\n", (3, 7, 8), id="decorators"),
        pytest.param("python", "class A:\n  # Why.\n  def f(self): ...\n", (2, 3, 3), id="first-in-a-class"),
        pytest.param("python", "x = 1  # trailing\ndef f(): ...\n", (2, 2, 2), id="trailing-comment"),
        pytest.param("python", "# far\n\ndef f(): ...\n", (3, 3, 3), id="blank-line-between"),
        pytest.param("rust", "use a;\n/// Why.\n#[inline]\n#[cold]\nfn f() {}\n", (2, 5, 5), id="attributes"),
        pytest.param("java", "class A {}\n/**\n * Why.\n */\n@X\nclass B {}\n", (2, 6, 6), id="block-comment"),
        pytest.param("csharp", "// Why.\n[X(1)]\n// And.\n[Y]\npublic class B {}\n", (1, 5, 5), id="csharp-attributes"),
        pytest.param("swift", "// Why.\n@a(*, b)\n@c\npublic func f() {}\n", (1, 4, 4), id="swift-attributes"),
        pytest.param("kotlin", "/** Why. */\n@A\n@B(1)\nfun f() = 1\n", (1, 4, 4), id="annotations"),
        pytest.param(
            "kotlin",
            "fun T.f(): T =\n  f(a.g())\n/** Why. */\n@A\n@B(1)\n@C\npublic fun <T> T.f(a: (T) -> B): T =\n  h()\n",
            (3, 7, 8),
            id="annotations-taken-for-an-expression",
        ),
        pytest.param("typescript", "class A {\n  @x()\n  m() {}\n}\n", (2, 3, 3), id="class-decorator"),
        pytest.param("javascript", "/** Why. */\nexport const f = () => {\n};\n", (1, 2, 3), id="export"),
        pytest.param("cpp", "// Why.\ntemplate<class T>\nT f() {\n}\n", (1, 2, 4), id="template"),
        pytest.param("haskell", "import A\n-- | Why.\nf :: Int\nf = 1\n", (2, 3, 4), id="equations"),
        pytest.param("julia", 'a = 1\n"""\nWhy.\n"""\n@inline function f()\nend\n', (2, 5, 6), id="docstring-above"),
        pytest.param("elixir", 'use X\n@doc "Why."\n@spec f :: 1\ndef f, do: 1\n', (2, 4, 4), id="module-attributes"),
        pytest.param("elixir", 'use X\n@doc "Why."\n@callback f ::\n  1\n', (2, 3, 4), id="callback"),
        pytest.param("elixir", "@type t :: 1\n@a 1\n@spec f :: t\ndef f, do: 1\n", (2, 4, 4), id="below-a-type"),
        pytest.param("erlang", "-module(a).\n%% Why.\n-callback f() ->\n  ok.\n", (2, 3, 4), id="erlang-callback"),
    ],
)
def test_what_leads_up_to_a_definition_belongs_to_it(language: str, text: str, lines: tuple[int, int, int]) -> None:
    last = find(language, text)[-1]

    assert (last.first_line, last.line, last.last_line) == lines


@pytest.mark.parametrize(
    ("language", "text", "signature", "docstring"),
    [
        pytest.param(
            "python", 'def f(a,\n      b):\n    """One.\n\n    Two."""\n', "def f(a,\n      b):", "One.", id="py"
        ),
        pytest.param("python", '@x\nclass A(B):\n    r"Raw."\n', "class A(B):", "Raw.", id="py-raw"),
        pytest.param(
            "rust",
            "/// One.\n///\n/// Two.\npub fn f<T>(a: T) -> u8 { 1 }\n",
            "pub fn f<T>(a: T) -> u8",
            "One.",
            id="rust",
        ),
        pytest.param(
            "java",
            "class A { }\n/**\n * One\n * two.\n * @since 3\n */\nclass B<T> { }\n",
            "class B<T>",
            "One\ntwo.",
            id="javadoc",
        ),
        pytest.param(
            "csharp", "/// <summary>\n/// One.\n/// </summary>\nclass A { }\n", "class A", "One.", id="csharp"
        ),
        pytest.param(
            "javascript",
            "// One.\nexport const f = async (a) => {\n}\n",
            "export const f = async (a) =>",
            "One.",
            id="js",
        ),
        pytest.param(
            "go",
            "package a\n// F does.\nfunc F(a int) error { return nil }\n",
            "func F(a int) error",
            "F does.",
            id="go",
        ),
        pytest.param(
            "elixir", 'defmodule A do\n  @moduledoc """\n  One.\n  """\nend\n', "defmodule A", "One.", id="ex"
        ),
        pytest.param("elixir", '@doc """\nOne.\n"""\ndef f(x) do\n  1\nend\n', "def f(x)", "One.", id="ex-doc"),
        pytest.param(
            "elixir", '@doc "One."\n@doc a: 1\n@callback f :: a\n', "@callback f :: a", "One.", id="ex-callback"
        ),
        pytest.param("elixir", '@typedoc "One."\n@type t :: a\n', "@type t :: a", "One.", id="ex-type"),
        pytest.param("haskell", "import A\n-- | One.\nf :: Int -> Int\nf 0 = 1\n", "f :: Int -> Int", "One.", id="hs"),
        pytest.param("ruby", "module A\n  # One.\n  class B\n    def c; end\n  end\nend\n", "class B", "One.", id="rb"),
        pytest.param("sql", "-- One.\nCREATE TABLE t (\n  id INT\n);\n", "CREATE TABLE t (", "One.", id="sql"),
        pytest.param(
            "solidity",
            "contract A {\n/**\n * @title One\n * @dev Two.\n */\nevent B();\n}\n",
            "event B();",
            "One\nTwo.",
            id="sol",
        ),
        pytest.param("julia", '"""\n    f(x)\n\nOne.\n"""\nf(x) = 1\n', "f(x) =", "One.", id="jl-short"),
        pytest.param("julia", '"""\n    f(x)\n"""\nfunction f(x)\n 1\nend\n', "function f(x)", "f(x)", id="jl-head"),
        pytest.param("julia", '"One."\n@inline function f(x)\n 1\nend\n', "@inline function f(x)", "One.", id="jl-1"),
        pytest.param("julia", 'a("One.")\n"""Two."""\n\nf(x) = 1\n', "f(x) =", "", id="jl-apart"),
        pytest.param("clojure", '(defn f\n  "One.\n\n  Two."\n  [a] a)\n', "(defn f", "One.", id="clj"),
        pytest.param("clojure", '(defn f [a]\n  "Value.")\n', "(defn f [a]", "", id="clj-value"),
        pytest.param("clojure", '(def f "One." 1)\n', "(def f", "One.", id="clj-constant"),
        pytest.param("clojure", '(def f "Value.")\n', '(def f "Value.")', "", id="clj-constant-value"),
        pytest.param("clojure", '(defprotocol P "One.")\n', "(defprotocol P", "One.", id="clj-type"),
        pytest.param("clojure", '(defprotocol P\n  (f [a] "One."))\n', "(f [a]", "One.", id="clj-method"),
        pytest.param("elisp", '(defun f (a)\n  "One two."\n  a)\n', "(defun f (a)", "One two.", id="el"),
        pytest.param(
            "elisp", '(defcustom f "a value"\n  "One two.")\n', '(defcustom f "a value"', "One two.", id="el-var"
        ),
        pytest.param("elisp", '(defvar f "a value")\n', '(defvar f "a value")', "", id="el-value"),
        pytest.param(
            "elisp",
            '(define-derived-mode f g "G x"\n  "One two.")\n',
            "(define-derived-mode f g",
            "One two.",
            id="el-mode",
        ),
        pytest.param("elisp", ";; One.\n;;;###autoload\n(defun f () 1)\n", "(defun f ()", "One.", id="el-comment"),
        pytest.param("ocaml", "open A\n(** One. *)\nlet f x =\n  x\n", "let f x =", "One.", id="ml"),
        pytest.param("ocaml", "(** One\n    two. *)\nval f : int\n", "val f : int", "One\ntwo.", id="mli"),
        pytest.param("erlang", "% One.\n-spec f(a()) ->\n    b().\nf(A) -> A.\n", "f(A)", "One.", id="erl"),
        pytest.param("scheme", "; One.\n(define (f a) a)\n", "(define (f a)", "One.", id="scm"),
        pytest.param("python", "def f(): ...\n", "def f():", "", id="none"),
    ],
)
def test_a_definition_carries_its_header_and_what_it_says_of_itself(
    language: str, text: str, signature: str, docstring: str
) -> None:
    found = {each.signature: each.docstring for each in find(language, text)}

    assert signature in found
    assert found[signature] == docstring


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("clojure", "(let [a 1]\n  (defn moor [] a))\n(call\n  (defn cast-off [] 1))\n"),
        ("elisp", "(with-eval-after-load 'a\n  (defun moor () 1))\n(call\n  (defun cast-off () 1))\n"),
    ],
)
def test_what_a_form_of_several_lines_around_it_defines_is_found(language: str, text: str) -> None:
    found = find(language, text)

    assert [each.names for each in found] == [(), ("moor",)]


def test_a_long_header_is_cut_after_300_characters() -> None:
    text = f"def f({', '.join(f'argument_{number}' for number in range(90))}):\n    pass\n"

    [definition] = find("python", text)

    assert definition.signature == text[:300].rstrip()


def test_variables_of_a_function_are_no_constants() -> None:
    body = "".join(f"    local_{number} = {number}\n" for number in range(120))

    found = find("python", f"def f():\n{body}    def inner(): ...\n")

    assert [".".join(each.path) for each in found] == ["f", "f.inner"]


def test_a_broken_stretch_hides_no_whole_definition() -> None:
    found = find("python", "def f(): ...\n\nclass ???\n\ndef g(): ...\n")

    assert [each.path for each in found] == [("f",), ("g",)]


def test_deeper_than_thirty_levels_belongs_to_the_thirty_first() -> None:
    text = "class A {\n" * 40 + "}\n" * 40

    found = find("java", text)

    assert max(len(each.path) for each in found) == 31


@pytest.mark.parametrize(
    ("language", "text", "role"),
    [
        ("elisp", "(defvar a 1)", "constant"),
        ("elisp", "(defcustom a 1)", "constant"),
        ("elisp", "(defalias 'a 'b)", "constant"),
        ("elisp", "(evil-define-local-var a 1)", "constant"),
        ("elisp", "(define-minor-mode a)", "function"),
        ("elisp", "(defclass a ())", "type"),
        ("elisp", "(cl-defstruct a)", "type"),
        ("lisp", "(deftype a ())", "type"),
        ("scheme", "(define a 1)", "constant"),
        ("scheme", "(define (a) 1)", "function"),
        ("scheme", "(define a (lambda (b) b))", "function"),
        ("scheme", "(define-record-type a)", "type"),
        ("ocaml", "module A = B", "constant"),
        ("ocaml", "let a = 1", "constant"),
        ("ocaml", "let a b = 1", "function"),
        ("ocaml", "let a = function b -> 1", "function"),
        ("ocaml", "let a = fun b -> 1", "function"),
        ("ocaml", "module A : sig val b : int end", "type"),
        ("julia", "@enum A b c", "type"),
        ("julia", "const a = 1", "constant"),
        ("julia", "a(b) = 1", "function"),
        ("solidity", "contract A { event B(); }", "type"),
        ("erlang", "-record(a, {b}).", "type"),
    ],
)
def test_a_definition_has_the_role_that_its_form_has(language: str, text: str, role: str) -> None:
    assert find(language, text)[0].role == role
