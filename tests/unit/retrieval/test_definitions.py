from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openbook.index.protocol import Outline
from openbook.questions.question import read_question
from openbook.retrieval.definitions import definition_strengths
from tests.unit.retrieval.material import outline_of


def definition(
    name: str, path: str = "a.py", *, symbol: str | None = None, defines: Sequence[str] = (), signature: str = ""
) -> Outline:
    return outline_of(
        path,
        symbol=name if symbol is None else symbol,
        defines=tuple(defines) or (name,),
        signature=signature or f"def {name}()",
    )


def strength(question: str, *outlines: Outline) -> list[float]:
    return definition_strengths(read_question(question), outlines)


def alone(question: str, *outlines: Outline) -> list[float]:
    """Return the strength of each as if the others were not there."""
    return [strength(question, outline)[0] for outline in outlines]


def test_only_what_defines_the_name_asked_for_is_a_definition() -> None:
    found, mention, other = strength("send", definition("send"), outline_of("b.py"), definition("sender"))

    assert found > 0
    assert mention == other == 0


def test_a_question_without_names_asks_for_no_definition() -> None:
    assert strength("how do retries end", definition("retries"), definition("end")) == [0.0, 0.0]


def test_where_nothing_was_found_nothing_is_defined() -> None:
    assert strength("Client") == []


CLIENT = definition("Client", signature="class Client:")


@pytest.mark.parametrize(
    ("stronger", "weaker"),
    [
        pytest.param(CLIENT, definition("Client", signature="function Client()"), id="type-over-function"),
        pytest.param(
            definition("Client"), definition("Client", symbol="Session", defines=("Session", "Client")), id="inner"
        ),
        pytest.param(
            definition("Client", symbol="Session", signature="class Session:"),
            definition("Client", signature="impl Client {"),
            id="inner-over-impl",
        ),
        pytest.param(CLIENT, definition("Client", signature="extension Client: Sendable {"), id="extension"),
        pytest.param(CLIENT, CLIENT._replace(kind="docs", signature=""), id="code-over-heading"),
        pytest.param(CLIENT, definition("client", signature="class client:"), id="other-case"),
        pytest.param(definition("Client", "net/client.py"), definition("Client", "net/all.py"), id="file-named-so"),
        pytest.param(
            definition("Client", "client/__init__.py"), definition("Client", "net/__init__.py"), id="folder-named-so"
        ),
    ],
)
def test_a_definition_is_stronger(stronger: Outline, weaker: Outline) -> None:
    by_themselves = alone("Client", stronger, weaker)
    together = strength("Client", stronger, weaker)

    assert by_themselves[0] > by_themselves[1] > 0
    # Beside a better one, a definition loses some more.
    assert together[0] == by_themselves[0]
    assert 0 < together[1] < by_themselves[1]


@pytest.mark.parametrize(
    "signature",
    [
        "struct Client {",
        "pub trait Client",
        "abstract contract Client is",
        "library Client {",
        "export default interface Client {",
        "type Client struct",
        "data Client =",
    ],
)
def test_a_type_is_one_in_any_language(signature: str) -> None:
    assert alone("Client", definition("Client", signature=signature)) == alone("Client", CLIENT)


def test_a_function_whose_arguments_are_named_like_types_is_no_type() -> None:
    plain, named = alone(
        "send_all",
        definition("send_all", signature="def send_all(message)"),
        definition("send_all", signature="def send_all(data, type, object)"),
    )

    assert named == plain


def test_the_exact_name_counts_where_a_chunk_defines_it_in_two_cases() -> None:
    both = definition("Client", defines=("client", "Client"), signature="class Client:")

    assert alone("Client", both) == alone("Client", CLIENT)


def test_a_name_that_is_defined_everywhere_identifies_little_but_never_nothing() -> None:
    (one,) = strength("Client", CLIENT)
    few, many, crowd = (
        strength("Client", *[definition("Client", f"{n}.py", signature="class Client:") for n in range(size)])
        for size in (3, 20, 900)
    )

    assert few == [one] * 3
    assert one > many[0] > crowd[0] > 0


def test_a_crowd_of_weaker_definitions_does_not_weaken_the_strongest() -> None:
    crowd = [definition("Client", f"{n}.py", symbol="Other") for n in range(50)]

    assert strength("Client", CLIENT, *crowd)[0] == strength("Client", CLIENT)[0]


def test_a_definition_counts_most_for_a_symbol_and_least_inside_a_sentence() -> None:
    (symbol,) = strength("send_all", definition("send_all"))
    (word,) = strength("send", definition("send"))
    (sentence,) = strength("why does send_all block", definition("send_all"))

    assert symbol > word > sentence > 0


def test_each_name_of_a_question_adds_to_what_defines_it() -> None:
    both = definition("open_file", defines=("open_file", "close_file"))

    (one,) = strength("is open_file safe", both)
    (two,) = strength("is open_file before close_file", both)

    assert two > one


@given(st.permutations([CLIENT, definition("client"), definition("Client", "client.py"), outline_of("b.md")]))
def test_strengths_do_not_depend_on_the_order_of_chunks(outlines: list[Outline]) -> None:
    found = dict(zip(outlines, strength("Client", *outlines), strict=True))

    again = sorted(outlines, key=lambda outline: (outline.span, outline.defines))
    assert dict(zip(again, strength("Client", *again), strict=True)) == found


WEIGH = [
    outline_of("send.py", symbol=f"{owner}.weigh", defines=("weigh",), signature="def weigh(self)", context=(owner,))
    for owner in ("Parcel", "Letter")
]


@pytest.mark.parametrize("question", ["Letter.weigh", "Letter::weigh", "What does `Letter#weigh` do?"])
def test_a_definition_that_stands_where_the_question_says_outweighs_its_namesakes(question: str) -> None:
    parcel, letter = strength(question, *WEIGH)

    assert letter > parcel > 0


@pytest.mark.parametrize("question", ["weigh", "letter_1.weigh", "What does `Crate.weigh` do?"])
def test_where_no_definition_stands_in_what_was_named_all_count_alike(question: str) -> None:
    parcel, letter = strength(question, *WEIGH)

    assert parcel == letter > 0


def test_a_chunk_of_several_classes_belongs_to_each_of_them() -> None:
    both = outline_of("a.py", symbol="Parcel", defines=("Parcel", "weigh", "Letter"), signature="class Parcel:")
    other = outline_of("b.py", symbol="Crate.weigh", defines=("weigh",), context=("Crate",))

    assert strength("Letter.weigh", both, other)[0] > strength("Letter.weigh", both, other)[1]


def test_the_name_of_the_file_is_what_a_function_of_a_module_stands_in() -> None:
    here, there = (definition("dumps", path) for path in ("json.py", "pickle.py"))

    assert strength("json.dumps", here, there)[0] > strength("json.dumps", here, there)[1]


def page_of(path: str, *options: str) -> Outline:
    return outline_of(path, kind="docs", defines=options)


def test_the_entry_about_an_option_counts_as_its_definition_in_the_case_it_is_written_in() -> None:
    found, other_case, mention = strength(
        "What does the -l option do?", page_of("a.1", "-l", "--limit"), page_of("b.1", "-L"), page_of("c.1")
    )

    assert found > 0
    assert other_case == mention == 0


def test_the_entry_on_the_page_that_is_named_is_stronger() -> None:
    scp, ssh = strength("What does the -l option of scp do?", page_of("scp.1", "-l"), page_of("ssh.1", "-l"))

    assert scp > ssh > 0


def test_of_what_a_setting_does_the_entry_tells_more_than_code_and_of_where_it_is_less() -> None:
    code, page = definition("tide_mode"), page_of("a.1", "tide_mode")

    assert strength("What does tide_mode do?", code)[0] <= strength("What does tide_mode do?", page)[0]
    assert strength("Where is tide_mode set?", code)[0] > strength("Where is tide_mode set?", page)[0]


@pytest.mark.parametrize(
    "constructor",
    [
        definition("__init__", symbol="Crane.__init__"),
        definition("initialize", symbol="Harbour", defines=("Harbour", "Crane", "initialize")),
        definition("NewCrane"),
    ],
    ids=["of the class", "in a chunk of several", "of Go"],
)
def test_the_constructor_of_a_class_is_a_definition_for_who_asks_for_its_parameters(constructor: Outline) -> None:
    other = definition("__init__", symbol="Quay.__init__")

    asked = strength("Which arguments does the Crane constructor take?", constructor, other)

    assert asked == [strength("What is `Crane`?", definition("Crane", signature="class Crane:"))[0], 0.0]
    assert strength("Where is the Crane class?", constructor)[0] < asked[0]
