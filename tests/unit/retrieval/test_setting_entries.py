from __future__ import annotations

import textwrap

import pytest

from openbook.retrieval.setting_entries import SettingEntry, is_of_other_term, is_within, setting_entries
from openbook.types import Kind
from tests.unit.retrieval.material import chunk_of


def found(text: str, name: str, kind: Kind = "config", owners: tuple[str, ...] = ()) -> list[str]:
    text = textwrap.dedent(text)
    return [text[each.start : each.end] for each in setting_entries(text, name, owners, kind)]


def only(text: str, name: str, kind: Kind = "config", owners: tuple[str, ...] = ()) -> SettingEntry:
    (entry,) = setting_entries(textwrap.dedent(text), name, owners, kind)
    return entry


def test_a_key_has_the_comment_above_it_and_the_keys_that_it_stands_below() -> None:
    text = """
    harbour:
      # Boats that may moor at once.
      berths: 12
      crane:
        # Tonnes that it lifts.
        maxLoad: 4
    """

    assert found(text, "maxLoad") == ["    # Tonnes that it lifts.\n    maxLoad: 4"]
    assert only(text, "maxLoad").parents == ("harbour", "crane")


def test_a_key_that_is_commented_out_has_its_own_comment() -> None:
    text = """
    ## Boats that may moor at once.
    # berths = 12

    ## Tonnes that the crane lifts.
    # max-load = 4
    """

    assert found(text, "max-load") == ["## Tonnes that the crane lifts.\n# max-load = 4"]


_DIRECTIVES = """
# The largest number of boats that moor at once. One that is not
# let in waits. See also
# berths and quays
#
# The default is:
#
# berths 12

# tides 3600 1 300 100 60 10000 7

# Where the harbour listens.
#port 7
#crane 4

# Tonnes that the
# crane can lift
# in one go.

# fender none,
fender rope rubber
# fender is set by hand

# Stands at the end.
# quay is the last
# in the line.
"""


@pytest.mark.parametrize(
    ("name", "entries"),
    [
        # Not where it only ends a sentence.
        ("berths", ["# let in waits. See also\n# berths and quays\n#\n# The default is:\n#\n# berths 12"]),
        ("tides", []),  # too many values
        ("port", ["# Where the harbour listens.\n#port 7"]),
        ("crane", ["# Where the harbour listens.\n#port 7\n#crane 4"]),  # not where a sentence goes on
        ("quay", []),
        ("fender", ["# fender none,\nfender rope rubber", "# fender is set by hand"]),
    ],
)
def test_a_directive_has_its_values_behind_its_name(name: str, entries: list[str]) -> None:
    assert [each[-len(entry) :] for each, entry in zip(found(_DIRECTIVES, name), entries, strict=True)] == entries
    assert all(each.has_value for each in setting_entries(_DIRECTIVES, name, (), "config"))
    assert found(_DIRECTIVES, name, "data") == []


def test_a_comment_that_is_cut_begins_with_a_paragraph() -> None:
    above = [f"# Boats moor at berth {number}." for number in range(14)]
    above.insert(5, "#")

    assert found("\n".join(["# A first line.", *above, "berths 12"]), "berths") == [
        "\n".join([*above[6:], "berths 12"])
    ]


def test_a_key_of_a_section_stands_in_it() -> None:
    text = "[harbour.crane]\n; Tonnes that it lifts.\n; load=4\n\n[harbour.gate]\n; Seconds that it takes.\n; load=9\n"

    assert [each.parents for each in setting_entries(text, "load", kind="config")] == [
        ("harbour.crane",),
        ("harbour.gate",),
    ]


def test_a_comment_with_two_signs_is_no_heading_between_a_key_and_its_section() -> None:
    text = "[crane]\n## Metres that it reaches.\n# reach = 9\n\n## Tonnes that it lifts.\n# load = 4\n"

    assert only(text, "load").parents == ("crane",)


def test_a_value_that_goes_on_below_belongs_to_its_key() -> None:
    text = """
    # Colours of a flag.
    colours:
      - green
      - white
    size: 2
    """

    assert found(text, "colours") == ["# Colours of a flag.\ncolours:\n  - green\n  - white"]


def test_a_property_of_a_schema_is_described_by_what_it_holds() -> None:
    text = """
    "properties": {
      "maxLoad": {
        "type": "integer",
        "description": "Tonnes that the crane lifts.",
        "default": 4
      },
      "minLoad": {}
    }
    """
    entry = only(text, "maxLoad", "data")

    assert (entry.is_described, entry.has_default) == (True, True)
    assert found(text, "maxLoad", "data")[0].rstrip().endswith("},")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("type Crane struct {\n\t// Tonnes that it lifts.\n\tMaxLoad int\n}\n", "maxLoad"),
        ('type Crane struct {\n\tMaxLoad int `long:"max-load" description:"Tonnes that it lifts."`\n}\n', "max-load"),
        ("pub struct Crane {\n    /// Tonnes that it lifts.\n    pub max_load: u8,\n}\n", "max-load"),
        ("interface Crane {\n  /**\n   * Tonnes that it lifts.\n   */\n  maxLoad?: number;\n}\n", "maxLoad"),
        ("class Crane:\n    max_load: int = 4  # tonnes that it lifts\n", "max_load"),
        ("class Crane {\n  // Tonnes that it lifts.\n  private int maxLoad = 4;\n}\n", "maxLoad"),
        ("/**\n * @param {number} maxLoad Tonnes that it lifts.\n */\n", "maxLoad"),
        ('"""Lift.\n\n    :param int max_load: Tonnes that it lifts.\n"""\n', "max_load"),
        ('"""Lift.\n\n    Args:\n        max_load (int): Tonnes that it lifts.\n"""\n', "max_load"),
        ('flags.Int("max-load", 4, "Tonnes that it lifts.")\n', "max-load"),
        ('parser.add(\n    "max-load",\n    help="Tonnes that it lifts.",\n)\n', "max-load"),
    ],
    ids=[
        "go",
        "go description",
        "rust",
        "typescript",
        "python",
        "java",
        "jsdoc",
        "sphinx",
        "google",
        "flag",
        "flag of several lines",
    ],
)
def test_a_field_is_described_by_its_comment_its_tag_or_its_flag(text: str, name: str) -> None:
    entry = only(text, name, "code")

    assert entry.is_described
    assert "onnes that it lifts" in text[entry.start : entry.end]


@pytest.mark.parametrize(
    ("entry", "rest"),
    [
        ("    max_load : int, default=4\n        Tonnes that it lifts.", "    min_load : int\n        Its least.\n"),
        ("    max_load:\n        Tonnes that it lifts.\n\n        It stops above.", "    min_load:\n"),
        ("    max_load (int):\n        Tonnes that it lifts.", "    Returns:\n        A crane.\n"),
        ("    * **max_load** - Tonnes that it\n            lifts at once.", "    * **min_load** - Its least.\n"),
        ("    - max_load: tonnes that it lifts.", "    - min_load: its least.\n"),
    ],
    ids=["type", "colon", "type in parentheses", "bold item", "item"],
)
def test_a_docstring_describes_a_parameter_below_its_name_or_in_an_item(entry: str, rest: str) -> None:
    code = f'class Crane:\n    """Lift.\n\n{entry}\n{rest}    """\n'

    assert found(code, "max_load", "code") == [entry]
    assert only(code, "max_load", "code").is_described


@pytest.mark.parametrize(
    "code",
    ["max_load :\n    lift(3)\n", "let crane = {\n  max_load : [\n    the most of all\n"],
    ids=["without a description", "value"],
)
def test_what_stands_below_a_name_in_code_need_not_describe_it(code: str) -> None:
    assert not any(each.is_described for each in setting_entries(code, "max_load", kind="code"))


def test_a_field_is_described_by_the_comment_above_it_and_not_by_its_indented_keys() -> None:
    assert only("# Tonnes that the crane lifts.\nmax_load : int\n", "max_load", "code").is_described
    assert not only("max_load:\n  of_boats: 4\n  of_ships: more of them\n", "max_load").is_described


@pytest.mark.parametrize(
    "code",
    [
        "    # Never more than the limit.\n    max_load = config.get('load')\n",
        "    input(id='max-load', placeholder='Four by default')\n",
    ],
    ids=["what a function computes", "a widget"],
)
def test_what_only_uses_a_setting_is_no_entry(code: str) -> None:
    assert setting_entries(code, "max_load", kind="code") == []


@pytest.mark.parametrize(
    "text",
    [
        "| Key | What |\n|--|--|\n| `max-load` | Tonnes that the crane lifts |\n",
        "| max-load (tonnes)\f\n | int\n | What the crane lifts\n",
        "- `max-load`: tonnes that the crane lifts\n",
        "# - max-load is how many tonnes the crane lifts\n",
        "## `crane.max-load` {#load}\n\nTonnes that the crane lifts.\n",
        "``max-load``\n~~~~~~~~~~~~\n\nTonnes that the crane lifts.\n",
        ".. confval:: max-load\n   :default: 4\n\n   Tonnes that the crane lifts.\n",
    ],
    ids=["row", "marked row", "item", "item in a comment", "section", "section of rst", "directive"],
)
def test_prose_describes_a_setting_in_rows_items_sections_and_directives(text: str) -> None:
    entry = only(text, "max-load", "docs")

    assert entry.is_described
    assert "crane lifts" in text[entry.start : entry.end]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("| Name | What |\n|--|--|\n| `:moor` | Moors all of the ships |\n", "docs"),
        ("<table>\n<tr><th>:moor</th><td>Moors all of the ships</td></tr>\n</table>\n", "docs"),
        ("  <td class=a><code>:moor</code></td><td>Moors all of the ships</td>\n", "docs"),
        ("- `moor`: moors all of the ships\n", "docs"),
        ("  :moor <ship>   Moors all of the ships\n", "docs"),
        ('"""Commands.\n\n    :moor          Moors all of the ships\n"""\n', "code"),
        ("# :moor   Moors all of the ships\n", "config"),
    ],
    ids=["row", "row of HTML", "cell", "item without its sign", "column", "column in code", "column in a comment"],
)
def test_a_name_with_a_sign_is_described_in_rows_items_and_columns(text: str, kind: Kind) -> None:
    entry = only(text, ":moor", kind)

    assert entry.is_described
    assert "all of the ships" in textwrap.dedent(text)[entry.start : entry.end]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("| `T` | Title of the ship |\n", "%T"),
        ("| `sh` | Ships of the harbour |\n", ":sh"),
        ("| `ships` | Ships of the harbour |\n", "$ships"),
        ("  %T      Title\n", "%T"),
        ("  moor    Moors all of the ships\n", "moor"),
        ("  %T a b c  Title of the ship\n", "%T"),
        ("  &mo    LOWER and RAISE  &mo    UPPER of all\n", "&mo"),
        ("  &mo    &to all of the ships\n", "&mo"),
    ],
    ids=["another sign", "short", "a variable", "one word", "without a sign", "a sentence", "uses", "other names"],
)
def test_what_lacks_the_sign_or_a_description_is_another_name(text: str, name: str) -> None:
    assert not any(entry.is_described for entry in setting_entries(text, name, kind="docs"))


def test_the_last_line_of_an_example_is_no_title() -> None:
    text = "```\ncrane.max_load()\n```\n\nOr call the harbour.\n"

    assert setting_entries(text, "max_load", ("crane",), kind="docs") == []


def test_a_long_call_makes_a_flag_known_but_a_message_with_its_name_does_not() -> None:
    lines = "".join(f'    "Ships of kind {number} moor as well. "\n' for number in range(10))
    call = f'moor.add_argument(\n    "-t",\n    "--tides",\n    help="Which tides are read. "\n{lines})\n'
    message = 'warn(\n    "You gave \'--tides\', but no ship may sail "\n    "since the water falls"\n)\n'

    assert found(call, "--tides", "code") == [call.rstrip("\n")]
    assert found(message, "--tides", "code") == []


_CHAIN = """\
.arg(
    Arg::new("most")
        .short('m')
        .long("max-load")
        .help("Tonnes that it \\
               lifts.")
)
.arg(
    Arg::new("reach")
        .help("Metres that it reaches.")
)
"""


@pytest.mark.parametrize(
    "code",
    [
        _CHAIN,
        '.arg(Arg::new("reach").help("Metres that it has."))\n.arg(Arg::new("max-load").help("Tonnes it lifts."))\n',
        "    /// Tonnes that it lifts.\n    #[arg(long)]\n    max_load: u8,\n",
        '    #[arg(\n        long,\n        help = "Tonnes that it lifts."\n    )]\n    max_load: u8,\n',
        'flags.IntVarP(&most, "max-load", "m", 4, "Tonnes that it lifts.")\n',
        'Name: "max-load",\nUsage: "Tonnes that it lifts.",\n}\n',
        'yargs.option("max-load", { describe: "Tonnes that it lifts." })\n',
        'type Crane struct {\n\tMaxLoad int `help:"Tonnes that it lifts."`\n',
        'parser.add_argument("--max-load", help="Tonnes that it lifts.")\n',
    ],
    ids=["chain", "chain in a line", "attribute", "long attribute", "pflag", "struct", "yargs", "tag", "argparse"],
)
def test_code_defines_an_option_without_its_dashes(code: str) -> None:
    entry = only(code, "--max-load", "code")

    assert (entry.is_described, entry.is_exact) == (True, "MaxLoad" not in code)
    assert "Tonnes" in code[entry.start : entry.end]
    assert "Metres" not in code[entry.start : entry.end]


def test_code_defines_a_short_option_by_its_letter() -> None:
    code = 'flags.IntVarP(&m, "max-load", "m", 4, "Tonnes that it lifts.")\nflags.Int("M", 4, "How far it reaches.")\n'

    assert found(code, "-m", "code") == [code.partition("\n")[0]]


@pytest.mark.parametrize(
    "code",
    [
        "    /// Tonnes that it lifts.\n    max_load: u8,\n",
        'most = matches.get("max-load")\n',
        'fail("--no-max-load", "is not an option of cranes")\n',
        'let most = matches\n    .value_of("max-load")\n    .unwrap_or_default();\nfail("The crane is too weak.");\n',
    ],
    ids=["a field that is no option", "a use", "another option", "a chain without a description"],
)
def test_what_only_shares_its_name_defines_no_option(code: str) -> None:
    assert found(code, "--max-load", "code") == []


def test_a_field_has_the_comment_above_its_attributes() -> None:
    code = """\
    /// Metres that it reaches.
    reach: u8,
    /// Tonnes that it lifts.
    #[serde(default)]
    #[validate(
        range(min = 1)
    )]
    max_load: u8,
    """

    entry = only(code, "max_load", "code")
    assert entry.is_described
    assert textwrap.dedent(code)[entry.start :].startswith("/// Tonnes that it lifts.\n#[serde(default)]")
    other = "    fn moor() {\n        #[inline]\n        tie();\n    }\n    // Tonnes it lifts.\n    max_load: u8,\n"
    assert found(other, "max_load", "code") == ["// Tonnes it lifts.\nmax_load: u8,"]
    assert not only("#[serde(default, rename, skip, flatten)]\nmax_load: u8,\n", "max_load", "code").is_described


def test_a_long_section_is_opened_by_its_first_paragraph() -> None:
    text = "## max-load\n\nTonnes that the crane lifts.\n\n" + "It lifts slowly when it is cold outside. " * 20 + "\n"

    assert found(text, "max-load", "docs") == ["Tonnes that the crane lifts."]


def test_a_long_section_is_opened_by_what_stands_below_its_type_and_its_default() -> None:
    facts, said = "Type: `number | undefined`\n**Default:** a sensible number of tonnes", "Tonnes that the crane lifts."
    text = f"## max-load\n\n{facts}\n\n{said}\n\n" + "It lifts slowly when it is cold outside. " * 20 + "\n"

    assert found(text, "max-load", "docs") == [f"{facts}\n\n{said}"]


@pytest.mark.parametrize(
    "facts",
    [
        "- **Type:** `(tonnes: number, slowly?: boolean) => void`",
        "```ts\nfunction maxLoad(tonnes: number, slowly?: boolean): void\n```",
        "```md\n\n~~~ts\nlift(boats, ships, many tonnes)\n\n~~~\nIt lifts all of them.\n```",
    ],
    ids=["item", "fence", "fence in a fence"],
)
def test_a_long_section_is_opened_by_what_stands_below_its_signature(facts: str) -> None:
    said, rest = "Tonnes that the crane lifts.", "It lifts slowly when it is cold outside. " * 20

    assert found(f"## max-load\n\n{facts}\n\n{said}\n\n{rest}\n", "max-load", "docs") == [f"{facts}\n\n{said}"]


def test_a_long_section_is_opened_by_its_long_example_without_what_stands_below() -> None:
    example, rest = "```sh\n" + "lift --slowly\n" * 20 + "```", "It lifts slowly when it is cold outside. " * 20

    assert found(f"## max-load\n\n{example}\n\n{rest}\n", "max-load", "docs") == [example]


def test_a_comment_beside_a_setting_of_something_else_says_why_it_is_set_and_does_not_describe_it() -> None:
    of_other, own = (f"    {each}.max_load = 4  # the crane stands on soft soil" for each in ("crane", "self"))

    assert not only(of_other, "max_load", "code").is_described
    assert only(own, "max_load", "code").is_described


def test_a_row_describes_an_option_behind_its_short_form() -> None:
    row = "| `-m, --max-load` | Tonnes that the crane lifts |"
    marked = "| -m/--max-load\f\n | Tonnes that the crane lifts"

    assert found(f"{row}\n| `-q` | Nothing |\n", "--max-load", "docs") == [row]
    assert found(f"{marked}\n\f\n| -q\f\n | Nothing\n", "--max-load", "docs") == [marked]


def test_a_row_that_renames_a_value_and_a_comment_that_only_links_describe_nothing() -> None:
    assert (
        found("| Old | New |\n|--|--|\n| `max-load=4` | `max-load=9` since the second release |\n", "max-load", "docs")
        == []
    )
    assert not only("# https://example.com/docs/en/crane\nmax-load = 4\n", "max-load").is_described


def test_an_item_that_only_mentions_a_setting_first_does_not_describe_it() -> None:
    assert found("- max-load setting for cranes of all ports, #23\n", "max-load", "docs") == []


def test_other_names_that_hold_it_are_not_the_setting() -> None:
    assert found("# Tonnes of a second crane.\nmax-load-two = 4\nother-max-load = 4\n", "max-load") == []


def test_an_entry_stands_in_what_the_question_says_by_its_keys_its_type_or_its_path() -> None:
    of_crane = only("[crane]\n# Tonnes.\nload = 4\n", "load", owners=("crane",))
    of_gate = only("[gate]\n# Tonnes.\nload = 4\n", "load", owners=("crane",))
    cut = only("# Tonnes.\nload = 4\n", "load", owners=("crane",))

    config, crane = (chunk_of("text", path=path, kind="config") for path in ("port.toml", "crane.toml"))
    assert is_within(of_crane, ("crane",), config)
    assert not is_within(of_gate, ("crane",), config)
    assert is_within(of_gate, ("crane",), crane)
    assert is_within(cut, ("crane",), config)  # the section may begin above


def test_a_directive_without_a_body_describes_nothing() -> None:
    assert found(".. autofunction:: max_load\n\n.. autofunction:: min_load\n", "max_load", "docs") == []
    assert found(".. setting:: max_load\n\n   Tonnes.\n", "max_load", "docs") == [".. setting:: max_load\n\n   Tonnes."]


TERMS = """\
# OPTIONS

*retry_limit* <value>
\tHow often an upload is tried again.

\tDefault is _7_.

*wrapping* yes|no [<edge>]
\tSee retry_limit.

retry_limit is read at the start,
    and never again.
"""


@pytest.mark.parametrize(
    ("name", "entry"),
    [
        ("retry_limit", "*retry_limit* <value>\n\tHow often an upload is tried again.\n\n\tDefault is _7_."),
        ("wrapping", "*wrapping* yes|no [<edge>]\n\tSee retry_limit."),
    ],
)
def test_a_term_of_plain_text_has_what_is_indented_below_it(name: str, entry: str) -> None:
    assert [TERMS[each.start : each.end] for each in setting_entries(TERMS, name, language="text")] == [entry]
    assert setting_entries(TERMS, name, language="markdown") == []


def test_what_stands_below_another_term_is_of_another_setting() -> None:
    text = "folder <path>\n  Default is here.\nlimit <n>\n  soft <m>\n    Default is 7.\n  As folder.\nDefault is 9.\n"

    def is_of_other(part: str, name: str) -> bool:
        start = text.index(part)
        return is_of_other_term(text, start, start + len(part), [name])

    assert is_of_other("Default is here.", "limit")
    assert is_of_other("folder <path>\n  Default is here.", "limit")
    assert not is_of_other("Default is 7.", "limit")
    assert not is_of_other("As folder.", "folder")
    assert not is_of_other("Default is 9.", "limit")
