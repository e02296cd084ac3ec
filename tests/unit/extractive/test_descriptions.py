"""Options and settings are quoted from what describes them."""

from __future__ import annotations

import pytest

from openbook.types import Chunk
from tests.unit.extractive.picking import picked, quotes
from tests.unit.retrieval.material import chunk_of

TIDES = "Tells the harbour which tables it reads, and how often."
QUIET = "- ``--quiet`` Print nothing but errors of the harbour"
MENTION = "With --quiet at low tide and with --quiet at hand, piers do what --quiet does."


def section(text: str, heading: str, path: str = "settings.md") -> Chunk:
    return chunk_of(f"## {heading}\n\n{text}\n", path, context=("Settings", heading))


@pytest.mark.parametrize(
    ("question", "mention", "told", "heading"),
    [
        pytest.param(
            "What does TIDE_MODE do?", "Set TIDE_MODE before each flood.", TIDES, "TIDE_MODE=<mode>", id="setting"
        ),
        pytest.param("What does --tides do?", MENTION.replace("quiet", "tides"), TIDES, "`--tides`", id="option"),
        pytest.param(
            "What does --tides do?",
            MENTION.replace("quiet", "tides"),
            TIDES,
            "`-t`, `--tides <file>`",
            id="option-behind-its-short-form",
        ),
        pytest.param("What does --quiet do?", MENTION, QUIET, "All options", id="entry-of-a-list"),
        pytest.param(
            "What does the tide-mode option do?",
            "Set tide-mode at each flood, since the tide-mode option does what piers do.",
            "- **tide-mode:** Tells the harbour which tables it reads.",
            "All options",
            id="setting-with-a-hyphen",
        ),
    ],
)
def test_an_option_is_quoted_from_what_describes_it(question: str, mention: str, told: str, heading: str) -> None:
    found = quotes(picked(question, section(mention, "Piers", "piers.md"), section(told, heading)))

    assert found[0].startswith(told)


CODE = chunk_of("tide_mode = 3\n", "tides.py", kind="code", language="python", defines=("tide_mode",))


def test_a_name_in_small_letters_is_quoted_from_the_section_under_it_rather_than_from_code() -> None:
    found = quotes(picked("What does tide_mode do?", CODE, section(TIDES, "tide_mode")))

    assert found[0].startswith(TIDES)


def test_of_several_short_sections_in_a_chunk_the_one_under_the_name_is_quoted() -> None:
    page = section("Piers that wait.", "pier_mode").text + section(TIDES, "tide_mode").text

    found = quotes(picked("What does tide_mode do?", chunk_of(page, "settings.md", context=("Settings",))))

    assert found[0].startswith(TIDES)


RING = "With a mooring, a ship keeps its place when the water falls."
RINGS = "Every mooring has a number, and a ship pays for its mooring once a year."


@pytest.mark.parametrize("heading", ["Moorings", "What is a mooring?", "The mooring"])
def test_what_a_thing_is_stands_below_the_heading_with_its_name(heading: str) -> None:
    found = quotes(picked("What is a mooring?", section(RINGS, "Piers", "piers.md"), section(RING, heading)))

    assert found[0].startswith(RING)


@pytest.mark.parametrize(
    ("text", "heading", "path"),
    [
        pytest.param(RING, "Moorings that broke", "settings.md", id="more-than-its-name"),
        pytest.param(f"- {RING}", "Moorings", "settings.md", id="an-item-of-a-list"),
        pytest.param(RING, "Moorings", "CHANGELOG.md", id="a-changelog"),
        pytest.param(f"```sh\nmoor --fast\n```\n\n{RING}", "Moorings", "settings.md", id="an-example-first"),
    ],
)
def test_what_else_stands_below_a_heading_does_not_say_what_a_thing_is(text: str, heading: str, path: str) -> None:
    found = quotes(picked("What is a mooring?", section(RINGS, "Piers", "piers.md"), section(text, heading, path)))

    assert found[0].startswith(RINGS)


def code(text: str, path: str = "moor.py") -> Chunk:
    name = text.partition("class ")[2].partition(":")[0]
    return chunk_of(text, path, kind="code", language="python", symbol=name, defines=(name,))


@pytest.mark.parametrize(
    ("text", "is_first"),
    [
        # Comments and docstrings of what has the name, before prose.
        ("# A mooring is a rope.\nclass Mooring:\n    rings = 2\n", True),
        ('class Mooring:\n    """A mooring is a rope."""\n\n    rings = 2\n', True),
        ("# A mooring is a rope.\nclass Pier:\n    rings = 2\n", False),
        # A name alone says nothing.
        ("class Mooring:\n\n    rings = 2\n", False),
    ],
)
def test_code_says_what_has_its_name(text: str, *, is_first: bool) -> None:
    told = "A mooring is the place of a ship when the water falls."

    found = quotes(picked("What is a mooring?", section(told, "Moorings"), code(text)))

    assert found[0].startswith(told) is not is_first


@pytest.mark.parametrize("comment", ["# Holds ships by ropes.\n", ""])
def test_a_comment_says_more_than_the_uses_of_a_name(comment: str) -> None:
    text = f"{comment}class Mooring:\n    rings = 2\n"

    found = quotes(picked("What is a mooring?", section(RINGS, "Piers", "piers.md"), code(text)))

    assert found[0].startswith(comment or RINGS)


def test_a_long_target_of_a_link_does_not_make_a_sentence_unreadable() -> None:
    told = f"No rope holds a ship at its mooring, it is [held by rings](https://harbour.example/{'rings-' * 20})."

    found = quotes(picked("Does a rope hold a ship at its mooring?", section(told, "Ropes"), section(RINGS, "Piers")))

    assert found[0].startswith(told)


def test_whoever_asks_where_a_name_is_gets_the_code() -> None:
    found = quotes(picked("Where is tide_mode set?", CODE, section(TIDES, "tide_mode")))

    assert found[0] == "tide_mode = 3"


USES = chunk_of(
    "def sail(tide_mode, tide_table):\n    moor(tide_mode)\n    wait(tide_mode, tide_table)\n",
    "sail.py",
    kind="code",
    language="python",
    defines=("sail",),
    signature="def sail(tide_mode, tide_table):",
)


@pytest.mark.parametrize(
    ("comment", "told"),
    [
        pytest.param(
            '    """Sail.\n\n    Args:\n        {}\n    """', "tide_mode (int): Which tables it reads.", id="typed"
        ),
        pytest.param('    """Sail.\n\n    {}\n    """', ":param int tide_mode: Which tables it reads.", id="field"),
        pytest.param("/**\n * {}\n */", "@param {number} tide_mode - Which tables it reads.", id="tag-with-type"),
        pytest.param("/**\n * {}\n */", "\\param[in] tide_mode Which tables it reads.", id="tag-with-direction"),
        pytest.param("// {}", "- `tide_mode`: Which tables it reads.", id="item"),
    ],
)
def test_a_parameter_is_quoted_from_the_comment_that_says_what_it_is_for(comment: str, told: str) -> None:
    described = chunk_of(comment.format(told), "tides.py", kind="code", language="python")
    tested = chunk_of(comment.format(told), "tests/test_tides.py", kind="code", language="python")

    assert told in quotes(picked("What does tide_mode do?", USES, described))[0]
    assert told not in quotes(picked("What does tide_mode do?", USES, tested))[0]
    assert told not in quotes(picked("Where is tide_mode used?", USES, described))[0]


def test_an_argument_with_a_type_describes_nothing_outside_of_comments() -> None:
    typed = chunk_of("def dock(\n    tide_mode: int = 3, pier=None, **more,\n): ...\n", "dock.py", kind="code")

    assert "sail" in quotes(picked("What does tide_mode do?", USES, typed))[0]


def defining(text: str, path: str) -> Chunk:
    return chunk_of(text, path, kind="code", language="python", defines=("tide_mode",), symbol="tide_mode")


def test_what_defines_a_name_comes_before_a_comment_on_a_parameter_of_that_name() -> None:
    defined = defining("def tide_mode(ship):\n    return ship.tide\n", "tides.py")
    told = "Ship\n\nArgs:\n    tide_mode (callable): Called at each flood."
    described = chunk_of(f'"""{told}\n"""\n', "ships.py", kind="code", language="python")

    assert quotes(picked("What does tide_mode do?", described, defined))[0].startswith("def tide_mode")
    found = quotes(picked("What does Ship.tide_mode do?", described, defined))
    assert found[0].strip() == "tide_mode (callable): Called at each flood."


@pytest.mark.parametrize(
    "line",
    [
        "int tide_mode = 3;",
        "self.tide_mode = tide_mode",
        "tide_mode: bool",
        '"""Tides\n\nArgs:\n    tide_mode (int): See ships.\n"""\ntide_mode = 3',
    ],
)
def test_a_comment_on_a_parameter_comes_before_the_field_that_keeps_it(line: str) -> None:
    told = '"""Ship\n\nArgs:\n    tide_mode (int): Which tables it reads.\n"""\n'
    described = chunk_of(told, "ships.py", kind="code", language="python")

    found = quotes(picked("What does tide_mode do?", defining(f"{line}\n", "tides.py"), described))

    assert "Which tables" in found[0]


@pytest.mark.parametrize(
    "head",
    [
        "const tide_mode = (ship) => {",
        "tide_mode: function (ship) {",
        "class tide_mode:",
        "int tide_mode(int x)",
        '@property\ndef tide_mode(self):\n    """Which tables it reads."""',
    ],
)
def test_a_function_of_any_form_comes_before_a_comment_on_a_parameter(head: str) -> None:
    told = '"""Ship\n\nArgs:\n    tide_mode (int): Which tables it reads.\n"""\n'
    described = chunk_of(told, "ships.py", kind="code", language="python")

    found = quotes(picked("What does tide_mode do?", described, defining(f"{head}\n", "tides.js")))

    assert found[0] == head


def test_a_docstring_describes_a_parameter_without_a_type() -> None:
    line = "tide_mode: low and then high"
    docstring = chunk_of(f'"""\n{line}\n"""\n', "tides.py", kind="code", language="python")

    assert line in quotes(picked("What does tide_mode do?", USES, docstring))[0]


def test_what_a_test_defines_is_its_definition_if_nothing_else_is() -> None:
    fixture = defining("def tide_mode(folder):\n    return folder\n", "tests/conftest.py")
    use = chunk_of(
        "def test_tide(tide_mode):\n    mode = tide_mode\n    assert tide_mode(mode)\n",
        "tests/test_tides.py",
        kind="code",
        language="python",
    )
    source = defining("class Pier:\n    def tide_mode(self):\n        return 3\n", "tides.py")

    assert quotes(picked("What does tide_mode do?", use, fixture))[0].startswith("def tide_mode")
    assert "def tide_mode(self)" in quotes(picked("What does tide_mode do?", fixture, source))[0]
    assert quotes(picked("What does the fixture tide_mode do?", use, fixture))[0].startswith("def tide_mode")


def test_what_a_module_of_tests_defines_is_its_definition_if_nothing_else_is() -> None:
    tested = chunk_of(
        "fn tide_mode() {\n    moor();\n}\n",
        "tides.rs",
        kind="code",
        language="rust",
        symbol="tests.tide_mode",
        defines=("tide_mode",),
    )
    source = chunk_of(
        "fn tide_mode() -> u8 {\n    3\n}\n",
        "mode.rs",
        kind="code",
        language="rust",
        symbol="tide_mode",
        defines=("tide_mode",),
    )

    assert quotes(picked("What does tide_mode do?", tested, source))[0].startswith("fn tide_mode() -> u8")


def test_a_comment_on_a_parameter_comes_before_a_test_with_its_name() -> None:
    told = '"""Ship\n\nArgs:\n    tide_mode (int): Which tables it reads.\n"""\n'
    described = chunk_of(told, "tides.py", kind="code", language="python")
    fixture = defining("def tide_mode(folder):\n    return folder\n", "tests/conftest.py")

    assert "Which tables" in quotes(picked("What does tide_mode do?", fixture, described))[0]
