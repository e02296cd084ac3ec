from __future__ import annotations

import pytest

from openbook.extractive.answerer import pick
from openbook.extractive.composing import compose
from openbook.extractive.context import build_context
from openbook.questions.question import read_question
from openbook.testing import HashEmbedder
from openbook.types import Chunk, Kind
from tests.unit.extractive.picking import picked, quotes
from tests.unit.retrieval.material import chunk_of, result_of


def config(text: str, path: str = "port.toml", kind: Kind = "config", before: str = "") -> Chunk:
    return chunk_of(text, path, kind=kind, before=before)


CRANE = "[crane]\n# Tonnes that it lifts.\nmax_load = 4\n\n# Metres that it reaches.\nreach = 30"
USES = "def lift(crane):\n    if crane.max_load < 4:\n        print('the crane lifts a max_load of', crane.max_load)"


def test_the_key_with_its_comment_is_quoted_before_code_that_uses_it() -> None:
    found = picked("What does crane.max_load do?", config(USES, "lift.py", "code"), config(CRANE))

    assert quotes(found)[0] == "# Tonnes that it lifts.\nmax_load = 4"


def test_the_setting_of_what_the_question_names_is_quoted() -> None:
    gate = "[gate]\n# Tonnes that it holds.\nmax_load = 9"

    found = picked("What does crane.max_load do?", config(gate, "gate.toml"), config(CRANE))

    assert quotes(found)[0] == "# Tonnes that it lifts.\nmax_load = 4"


def test_a_default_is_answered_by_the_place_that_has_one() -> None:
    field = "pub struct Crane {\n    /// Tonnes that it lifts.\n    pub max_load: u8,\n}"

    found = picked("What is the default of crane.max_load?", config(field, "crane.rs", "code"), config(CRANE))

    assert quotes(found)[0] == "# Tonnes that it lifts.\nmax_load = 4"


def test_a_setting_without_a_known_default_is_described_instead() -> None:
    code = 'flags.IntVar(&most, "max-load", tonnes, "Weight that it lifts.")'
    uses = "# The default max-load is that of most cranes\ncrane.start()"

    found = picked("What is the default of --max-load?", config(uses, "moor.py", "code"), config(code, "a.go", "code"))

    assert quotes(found)[0] == code


def test_the_entry_of_an_option_is_quoted_though_it_has_no_other_word_of_the_question() -> None:
    page = chunk_of("-i\f\nTonnes that it lifts.", "crane.1", language="man", context=("CRANE(1)",))
    code = 'flags.IntVarP(&most, "max-load", "i", 4, "Tonnes that it lifts.")'

    assert quotes(picked("what is -i in crane", page, config(USES, "crane.py", "code")))[0] == page.text
    assert quotes(picked("what is -i in crane", config(code, "a.go", "code"))) == [code]


def test_what_describes_a_parameter_without_its_default_does_not_answer_what_the_default_is() -> None:
    parameters = "max_load: int = 4,\n    speed: int = 2,"
    code = (
        f'def lift(\n    {parameters}\n) -> None:\n    """Lifts.\n\n    :param max_load: tonnes that it lifts.\n    """'
    )
    function = chunk_of(code, "lift.py", kind="code", signature="def lift(", symbol="lift", defines=("lift",))

    assert "max_load: int = 4" in quotes(picked("What is the default of max_load?", function))[0]


def test_values_are_answered_by_the_place_that_lists_them() -> None:
    field = 'type Crane struct {\n\t// How the crane turns.\n\tTurns string `yaml:"turns"`\n}'
    listed = "crane:\n  # One of 'slow' | 'fast'.\n  turns: slow"

    found = picked(
        "Which values can crane.turns take?", config(field, "crane.go", "code"), config(listed, "crane.yaml")
    )

    assert quotes(found)[0] == "  # One of 'slow' | 'fast'.\n  turns: slow"


def test_a_copy_of_a_configuration_is_quoted_from_the_top_alone() -> None:
    found = picked("What does crane.max_load do?", config(CRANE, "ci/tests-e2e/port.toml"), config(CRANE))

    assert [each.passage.first.span.path for each in found if not each.is_pointer] == ["port.toml"]


def test_documentation_is_quoted_before_the_field_that_keeps_a_setting() -> None:
    field = "pub struct Crane {\n    /// Tonnes that the crane lifts at most.\n    pub max_load: u8,\n}"
    page = "## max_load\n\nTonnes that it lifts."

    found = picked("What does max_load do?", config(field, "crane.rs", "code"), config(page, "docs/crane.md", "docs"))

    assert quotes(found)[0] == "Tonnes that it lifts."


def test_an_entry_of_a_manual_page_counts_as_much_as_an_example() -> None:
    text = "max_load tonnes\f\nTonnes that it lifts.\f\n"
    manual = chunk_of(text, "crane.1", language="man", defines=("max_load",))
    page = "Before the tide:\n\n    # Never lift more than that\n    max_load = 3"
    use = "The max_load of a crane, and what max_load does, is what the harbour asks for: max_load."

    found = quotes(picked("What does max_load do?", config(page, "a.md", "docs"), config(use, "b.md", "docs"), manual))

    assert {text.strip("\f\n") for text in found[:2]} == {page[18:], "max_load tonnes\f\nTonnes that it lifts."}


def test_a_page_in_another_language_is_not_quoted_beside_one_to_read() -> None:
    pages = [config("## max_load\n\n- Type: `int`, in tonnes", f"docs/{tag}/crane.md", "docs") for tag in ("pt", "en")]

    found = picked("What does max_load do?", *pages)

    assert [each.passage.first.span.path for each in found if not each.is_pointer] == ["docs/en/crane.md"]


def test_the_keys_that_a_setting_stands_below_are_shown_though_its_result_begins_behind_them() -> None:
    before = "harbour:\n  crane:\n"
    text = "    # Tonnes that it lifts.\n    maxLoad: 4"
    chunk = config(text, "port.yaml", before=before)
    query = read_question("What does crane.maxLoad do?")
    context = build_context([result_of(chunk)], 10_000)

    found = pick(query, context, HashEmbedder(), dict.fromkeys(query.tokens, 1.0), lambda *_: before + text)

    assert "`harbour.crane`\n\n```\n    # Tonnes that it lifts.\n    maxLoad: 4\n```" in compose(found)


def test_an_example_that_a_page_shows_is_quoted_as_code() -> None:
    page = "  # Tonnes that it lifts.\n  maxLoad: 4\n  # Metres that it reaches.\n  reach: 30"

    found = picked("What does crane.maxLoad do?", config(page, "docs/port.md", "docs"))

    assert "```\n# Tonnes that it lifts.\nmaxLoad: 4\n```" in compose(found)


def test_a_function_of_that_name_is_what_is_asked_for() -> None:
    function = 'def max_load(crane):\n    """Return how many tonnes a crane lifts."""\n    return crane.limit'
    chunk = chunk_of(
        function, "crane.py", kind="code", symbol="max_load", defines=("max_load",), signature="def max_load(crane):"
    )

    page = config("    # Tonnes that it lifts.\n    max_load = 4", "crane.md", "docs")
    found = picked("What does max_load do?", page, chunk)

    assert quotes(found)[0].startswith("def max_load")


def test_a_note_of_a_changelog_is_not_where_a_setting_is_described() -> None:
    note = config("- `max_load`: the default is 5 tonnes where cranes are new.", "CHANGELOG.md", "docs")

    found = picked("What is the default of max_load?", note, config(CRANE))

    assert quotes(found)[0] == "# Tonnes that it lifts.\nmax_load = 4"


def test_a_name_that_nothing_describes_is_answered_by_the_list_that_has_it() -> None:
    page = "These are slots of the crane:\n\n- `hook-top`\n- `hook-bottom`"
    template = '<template #hook-bottom><slot name="hook-bottom" /></template>'

    found = picked("What does hook-bottom do?", config(template, "crane.vue", "code"), config(page, "a.md", "docs"))

    assert quotes(found)[0] == "- `hook-bottom`"


def test_the_default_of_another_term_of_plain_text_is_no_answer() -> None:
    entries = [
        "*max_load* <tonnes>\n\tTonnes that the crane lifts, whatever the wind, on the quay.\n\tDefault is _4_.",
        "*crane_log* <path>\n\tWhere the crane writes what it has lifted.\n\tDefault is _/var/log/crane_.",
    ]
    page = chunk_of("\n\n".join(entries), "crane.5.scd", language="text")

    assert quotes(picked("What is the default of max_load?", page)) == [entries[0]]


def test_a_flag_is_quoted_behind_its_documentation_however_much_better_that_is() -> None:
    said = "- `--tides <file>` - Which tides are read before a ship leaves."
    flag = 'moor.option(\n    "--tides",\n    help="Which file is read.",\n)'
    chunks = (chunk_of(said, "ships.md"), chunk_of(flag, "moor.py", kind="code", language="python"))

    assert quotes(picked("What does --tides do?", *chunks, scores=(20.0, 1.0))) == [said, flag]


def test_the_default_of_a_long_section_is_quoted_with_what_opens_it() -> None:
    body = "It is a crane of the harbour, which lifts boats for whoever asks for that.\n" * 7
    page = chunk_of(f"## max_load\n\nTonnes that it lifts.\n\n{body}\nThe default is 7.\n\nIt is red.", "a.md")

    assert quotes(picked("What is the default of max_load?", page))[0].endswith("The default is 7.")
    assert quotes(picked("What does max_load do?", page))[0] == "Tonnes that it lifts."


def test_what_a_setting_belongs_to_is_not_asked_for() -> None:
    manual = chunk_of(
        "harbour_crane\f\nWhat the harbour_crane does: it lifts.\f\n", "a.1", language="man", defines=("harbour_crane",)
    )
    option = config("harbour_crane:\n  # Metres that it reaches.\n  reach: 30", "harbour_crane.yaml")

    found = picked("What does the reach option of harbour_crane do?", manual, option, scores=(20.0, 1.0))

    assert quotes(found)[0] == "  # Metres that it reaches.\n  reach: 30"


def test_what_a_manifest_describes_is_quoted_before_what_uses_it() -> None:
    use = config("def run():\n    harbour_crane = start('harbour_crane')  # harbour_crane is", "a.py", "code")
    manifest = config("name: harbour_crane\ndescription: Lifts ships.", "crane.yaml", "data")

    assert quotes(picked("What is harbour_crane for?", use, manifest))[0] == manifest.text


BLOCK = "crane:\n  # Tonnes that it lifts.\n  max_load:\n" + "    - 7\n" * 12


def test_a_list_of_prose_says_itself_that_it_goes_on() -> None:
    item = "- `max_load`: tonnes that it lifts.\n" + "  And more.\n" * 12

    assert picked("What does max_load do?", config(item, "a.md", "docs"))[0].passage.goes_on == ""


@pytest.mark.parametrize(
    ("text", "note"),
    [
        (BLOCK + "  reach: 30", "(goes on to line 15)"),
        (BLOCK + "\n    - 8\n\n  reach: 30", "(goes on to line 17)"),
        (BLOCK.rstrip(), "(goes on)"),
        (BLOCK.replace("    - 7\n" * 8, ""), ""),
    ],
    ids=["up to the next key", "over a blank line", "beyond the chunk", "short"],
)
def test_a_long_block_of_a_setting_is_said_to_go_on(text: str, note: str) -> None:
    (quote,) = picked("What does crane.max_load do?", config(text, "crane.yaml"))

    assert (quote.passage.first.number, quote.passage.goes_on) == (2, note)
