"""What each line does with a name, as the syntax trees of several languages say it."""

from __future__ import annotations

import pytest

from openbook.chunking.occurrences import find_occurrences

PYTHON = '''\
from queue import send
import send.later


def send(message):
    """Calls send( once."""
    return box.send(message, via=send)


class Post:
    @send
    def deliver(self):
        # send(now)
        return self.send("send(it)")(
            resend(1)
        )
'''

PLACES = {
    "javascript": ("import { send } from 'a';\nsend(1);\nbox?.send(2);\nlet a = send;\nfunction send() {}", "iccmd"),
    "typescript": ("import { send } from 'a';\nnew send<T>();\nclass A { send(): void {} }\n// send()", "icdm"),
    "tsx": ("export const A = () => <send a='1'/>;\nconst b = <p>{send(1)}</p>;", "cc"),
    "go": ("package a\nfunc send() {}\nfunc b() { c.send(1)\n go send() }\nvar e = send\n// send()", "dccmm"),
    "rust": (
        "use a::{b, send};\nfn send() {}\nfn c() { a::send(1);\n d.send::<T>();\n send!(x);\n e(send) }",
        "idcccm",
    ),
    "java": (
        "import a.send;\nclass A { void send() {}\n void b() { c.send(1);\n send(2);\n new send();\n send.d(); } }",
        "idcccm",
    ),
    "c": ("#include <a.h>\nvoid send(int a) {}\nint b() { return send(1) + c->send(2); }\nint *d = &send;", "dcm"),
    "cpp": ("void A::send() {}\nint b() { a::send(1);\n c.send<T>(2);\n d = send; }", "dccm"),
    "csharp": ("using send;\nclass A { void send() {}\n void B() { c.send(1);\n new send();\n D(send); } }", "idccm"),
    "ruby": ("def send(a)\n  box.send(1)\n  send 2\n  :send\nend", "dccm"),
    "php": (
        "<?php\nuse A\\send;\nfunction send() {}\nsend(1);\n$a->send(2);\nA::send(3);\nnew send();\n// send()",
        "idccccm",
    ),
    "kotlin": ("import a.send\nfun send() {}\nfun b() { c.send(1)\n send(2)\n d(::send) }", "idccm"),
    "swift": ("func send() {}\nfunc b() { c.send(1)\n send(2)\n d = send }", "dccm"),
    "lua": ("function send(a) end\nsend(1)\nbox.send(2)\nbox:send(3)\nlocal a = send", "dcccm"),
    "clojure": ("(defn send [a] a)\n(send 1)\n(box/send 2)\n(map send [3])", "dccm"),
    "solidity": (
        "import {send} from './a.sol';\ncontract A { function send(uint a) public send\n { emit send(a);\n "
        "revert send(a);\n new send(a);\n a.send{value: 1}(2);\n uint b = send; } }",
        "idccccm",
    ),
    "julia": (
        'using A: send\nsend(x) = 1\nsend(2)\nA.send.(x)\n@send x\nmap(send, x)\n"""\n    send(x)\n"""\nb(x) = 1',
        "idcccmm",
    ),
    "elisp": ("(defun send (a)\n  (box a))\n(send 1)\n(mapcar #'send (list 1))\n'(a send)", "dcmm"),
    "ocaml": ("open Box\nlet send x = x\nlet b = A.send 1\nlet c = map send [2]\nlet d = send", "dcmm"),
    "erlang": ("send(A) -> A.\nb() -> send(1),\n  box:send(2),\n  map(fun send/1).", "dccm"),
    "bash": ("send() { echo 1; }\nsend 2\necho send", "dcm"),
}

LETTERS = {"i": "import", "c": "call", "d": "definition", "m": "mention"}


def test_python_tells_imports_definitions_calls_and_mentions_apart() -> None:
    found = find_occurrences(PYTHON, "python", "send")

    assert [(each.line, each.use, each.within) for each in found] == [
        (1, "import", ""),
        (2, "import", ""),
        (5, "definition", "send"),
        (6, "mention", "send"),
        (7, "call", "send"),
        (11, "call", "Post"),
        (13, "mention", "Post.deliver"),
        (14, "call", "Post.deliver"),
    ]


@pytest.mark.parametrize("language", PLACES)
def test_other_languages_tell_them_apart_too(language: str) -> None:
    text, uses = PLACES[language]

    found = find_occurrences(text, language, "send")

    assert [each.use for each in found] == [LETTERS[letter] for letter in uses]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("python", 'hand(send)\n# send\nx = \'send\'\n"""send"""\n'),
        ("go", 'package a\n\nvar f = send\n// send\nvar x = "send"\nvar y = `send`\n'),
        ("javascript", "hand(send)\n// send\nx = 'send' + `send`\n"),
        ("rust", 'static F: fn() = send;\n// send\nstatic X: &str = "send";\n'),
        ("java", 'class A { Object f = send;\n// send\nString x = "send"; }\n'),
        ("ruby", "hand(1, send)\n# send\nx = 'send'\n"),
        ("bash", 'hand "$send"\n# send\nx=send\ngit send now\n'),
    ],
)
def test_what_code_hands_on_is_told_from_comments_and_strings(language: str, text: str) -> None:
    found = [each for each in find_occurrences(text, language, "send") if each.use == "mention"]

    assert len(found) > 2
    assert [each.line for each in found if each.is_code] == [found[0].line]


def test_a_letter_in_quotes_is_no_name() -> None:
    found = find_occurrences("int f(int g) {\n    if (f(0) == 'g')\n        return g;\n}\n", "c", "g")

    assert [(each.line, each.is_code) for each in found] == [(1, True), (2, False), (3, True)]


def test_text_without_a_grammar_mentions_names() -> None:
    found = find_occurrences("Über send().\n\nresend, send", "markdown", "send")

    assert [(each.line, each.use, each.is_code) for each in found] == [(1, "mention", False), (3, "mention", False)]


def test_a_word_that_only_contains_the_name_is_another_one() -> None:
    assert find_occurrences("resend(1)\nsend_all(2)\nsende\nésend(3)\n", "python", "send") == []


@pytest.mark.parametrize(
    ("language", "call"),
    [
        ("go", "send[*T](a, b)"),
        ("go", "send[int](a)"),
        ("go", "send[K, V](a, b)"),
        ("go", "p.send[int](a)"),
        ("go", "p.send[int](a, b)"),
        ("swift", "let a = send<Int>(x: 1)"),
    ],
)
def test_a_generic_function_with_its_types_is_called(language: str, call: str) -> None:
    text = f"package a\nfunc f() {{\n{call}\n}}" if language == "go" else call

    assert [each.use for each in find_occurrences(text, language, "send")] == ["call"]


@pytest.mark.parametrize("code", ["send[0](a, b)", 'send["a"](a, b)', "all[send](a, b)", "[]send(a)", "a[send]"])
def test_go_elements_and_types_of_elements_are_not_called(code: str) -> None:
    text = f"package a\nfunc f() {{\nx := {code}\n}}"

    assert [each.use for each in find_occurrences(text, "go", "send")] == ["mention"]


RUST_MACROS = """\
fn a() {
    assert_eq!(send([]), b::send::<u8>(1));
    vec![
        x.send(1),
        send,
        send::other(2),
        Send { send: 1 },
        send!(3),
        "send(4)", // send(5)
    ];
}
cfg_rt! {
    pub fn send(a: u8) { other(a) }
}
"""


def test_calls_among_the_tokens_of_a_macro_of_rust_are_calls() -> None:
    found = find_occurrences(RUST_MACROS, "rust", "send")

    uses = [(each.line, each.use) for each in found]
    assert uses == [
        (2, "call"),
        (4, "call"),
        (5, "mention"),
        (6, "mention"),
        (7, "mention"),
        (8, "call"),
        (9, "mention"),
        (13, "definition"),
    ]


RUST_ITEMS = """\
cfg_rt! {
    /// Sends.
    #[inline]
    pub(crate) fn send() {}

    impl Box {
        cfg_io! {
            fn post(&self) {
                send();
            }
        }
    }
}

bitflags! {
    struct Flags: u32 { const send = 1; }
}

cfg_rt! {
pub fn flat() { send(); }
}
"""


def test_macros_of_rust_that_hold_items_hide_no_definitions() -> None:
    found = [(each.line, each.use, each.within) for each in find_occurrences(RUST_ITEMS, "rust", "send")]

    assert found == [(4, "definition", "send"), (9, "call", "Box.post"), (16, "mention", ""), (20, "call", "")]
    uses = [each.use for each in find_occurrences(RUST_ITEMS, "rust", "cfg_io")]
    assert uses == ["call"]


C_MACROS = """\
#define wake(t) send(t, MK(1))
#define both(t) do { \\
    if (t) return send(t); \\
    log("send(%d)", 1); \\
    log('"', send(1)); \\
    hand(send); /* send(1) */ \\
} while (0)
#define declare() static void send (int a)
#define joined(x) x##send(1) // send(1)
#error call send(1)
"""


@pytest.mark.parametrize("language", ["c", "cpp"])
def test_calls_in_the_body_of_a_macro_of_c_are_calls(language: str) -> None:
    found = find_occurrences(C_MACROS, language, "send")

    assert [(each.line, each.use, each.is_code) for each in found] == [
        (1, "call", True),
        (3, "call", True),
        (4, "mention", False),
        (5, "call", True),
        (6, "mention", True),
        (8, "mention", True),
        (9, "mention", True),
        (10, "mention", False),
    ]


MEMBERS = {
    "typescript": (
        "interface A { readonly send?: number }\nenum B { other, send }\nenum C { send = 1 }\n"
        "class D { constructor(private send: string) {} }\ntype E = { send: string }",
        "A.send B.send C.send D.send E.send",
    ),
    "rust": ("struct A { pub send: u8 }\nenum B { Other { send: u8 } }\nenum C { send(u8) }", "A.send B.send C.send"),
    "csharp": ("enum A { Other, send = 1 }\nrecord B(int send);\nclass C { int send; }", "A.send B.send C.send"),
    "java": ("enum A { OTHER, send(1); }\nrecord B(int send) {}", "A.send B.send"),
    "c": ("enum a { other, send = 1 };\nstruct b { int *send; };\nstruct c { int send[3]; };", "a.send b.send c.send"),
    "go": ("package a\ntype B struct { other, send int }", "B.send"),
    "kotlin": ("enum class A { OTHER, send }\nclass B(val send: Int)", "A.send B.send"),
    "swift": ("enum A { case other, send }\nstruct B { var send: Int }", "A.send B.send"),
    "php": (
        "<?php enum A { case send; }\nclass B { public $send; }\n"
        "class C { function __construct(private int $send) {} }",
        "A.send B.send C.send",
    ),
    "scala": ("enum A { case Other, send }\ncase class B(send: Int)", "A.send B.send"),
    "haskell": ("data A = A { send :: Int, other :: Int }", "A.send"),
    "ocaml": ("type a = { send : int; other : int }", "a.send"),
    "zig": ("const A = struct { send: u8 };\nconst B = enum { other, send };", "A.send B.send"),
    "solidity": ("contract A {\nstruct B { uint send; }\nenum C { Other, send }\n}", "A.B.send A.C.send"),
    "sql": ("CREATE TABLE a (id int, send text);", "a.send"),
}


@pytest.mark.parametrize("language", MEMBERS)
def test_fields_properties_and_values_of_enumerations_are_members(language: str) -> None:
    text, named = MEMBERS[language]

    found = [each for each in find_occurrences(text, language, "send") if each.use == "definition"]

    assert [each.within for each in found] == named.split()
    assert {each.defined.rank for each in found if each.defined} == {"member"}


def test_what_uses_a_member_does_not_define_it() -> None:
    for language, text in {
        "rust": "fn f() {\n let a = A { send: 1 };\n a.send;\n B::send;\n}",
        "typescript": "f({ send: 1 })\na.send = 1\nfunction g(send: string) {}",
        "c": "int f(int send) {\n struct a b = { .send = 1 };\n b->send = 2;\n}",
    }.items():
        assert "definition" not in {each.use for each in find_occurrences(text, language, "send")}


def test_a_definition_says_its_kind_and_its_lines() -> None:
    text = (
        "enum A {\n  Other, // not of this\n  /// Sends.\n  #[default]\n  send,\n}\n"
        "\n/// Sends.\nfn send() {\n  f();\n}\nfn g() {\n  fn send() {}\n}\n"
    )

    found = [each for each in find_occurrences(text, "rust", "send") if each.use == "definition"]

    assert [(each.within, each.defined) for each in found] == [
        ("A.send", ("member", 3, 5)),
        ("send", ("outer", 8, 11)),
        ("g.send", ("local", 13, 13)),
    ]
