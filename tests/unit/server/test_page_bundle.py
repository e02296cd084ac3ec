"""Modules of the page are joined into one that does the same; what cannot be joined is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from openbook.server import page
from openbook.server.page import NotJoinableError, join_later, join_modules, joined_or_nothing
from tests.support import write_tree


def test_modules_run_once_each_in_the_order_of_their_imports(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            "main.js": (
                'import * as tools from "./tools.js";\nimport {\n  first as begin, Last,\n} from "./ends.js";\n'
                'import "./effects.js";\nimport { theme } from "./theme.js";\n\nbegin(tools, Last, theme);\n'
            ),
            "tools.js": 'import { first } from "./ends.js";\n\nexport const use = () => first;\n',
            "ends.js": "export function first() {}\nexport class Last {}\nexport async function* each() {}\n",
            "effects.js": 'document.title = "import";\n',
            "theme.js": "export const theme = 1;\n",
        },
    )

    joined = join_modules(tmp_path, "main.js", ["theme.js"])

    order = [line for line in joined.splitlines() if line.startswith("const module_")]
    assert [line.split()[1] for line in order] == ["module_ends", "module_tools", "module_effects", "module_main"]
    assert "const { first: begin, Last } = module_ends;" in joined
    assert "const tools = module_tools;" in joined
    assert "return { first, Last, each };" in joined
    assert 'import * as module_theme from "./theme.js";\n' in joined
    assert "const { theme } = module_theme;" in joined
    assert joined.count("export") == 1
    assert joined.endswith("\nexport { module_ends, module_tools, module_effects, module_theme, module_main };\n")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("export let count = 0;\n", "export let count"),
        ("export default 1;\n", "export default"),
        ('export * from "./a.js";\n', "export \\*"),
        ('import a from "./a.js";\n', "import a from"),
        ('import { a } from "https://elsewhere.example/a.js";\n', "import { a }"),
        ("console.log(import.meta.url);\n", "import.meta"),
        ("await start();\n", "await start"),
        ('import { a } from "./main.js";\n', "main.js imports main.js"),
    ],
)
def test_what_is_not_understood_is_an_error(tmp_path: Path, text: str, words: str) -> None:
    write_tree(tmp_path, {"main.js": text, "a.js": ""})

    with pytest.raises(NotJoinableError, match=words):
        join_modules(tmp_path, "main.js")

    assert joined_or_nothing(tmp_path, "main.js") == ""  # and the page is served as its modules


def test_the_pages_of_the_server_can_be_joined() -> None:
    web = Path(page.__file__).parent / "web"

    assert all(
        joined_or_nothing(web, entry, ["theme.js"])
        for entry in ("main.js", "admin.js", "join.js", "courses.js", "shared.js")
    )
    assert all(
        joined_or_nothing(web, "main.js", ["theme.js"], later=each)
        for each in ("images", "palette", "sharing", "viewer")
    )


def test_a_dynamic_import_becomes_a_bundle_without_the_modules_of_the_page(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            "main.js": (
                'import { see } from "./see.js";\n'
                'export const open = async () => (await import("./late.js")).show(see, await import("./late.js"));\n'
            ),
            "see.js": 'import { theme } from "./theme.js";\n\nexport const see = () => theme;\n',
            "late.js": (
                'import { see } from "./see.js";\nimport { theme } from "./theme.js";\n'
                'import { own } from "./own.js";\n\n'
                "export const show = () => [see, theme, own];\n"
            ),
            "own.js": "export const own = 1;\n",
            "theme.js": "export const theme = 1;\n",
        },
    )

    page, late = join_modules(tmp_path, "main.js", ["theme.js"]), join_later(tmp_path, "main.js", "late", ["theme.js"])

    assert page.count('import("./main.late.bundle.js")') == 2
    assert "export { module_theme, module_see, module_main };" in page
    assert late.startswith('import { module_theme, module_see, module_main } from "./main.bundle.js";\n')
    assert "const own = 1;" in late
    assert "const see =" not in late  # else it would be there twice
    assert late.endswith("export const { show } = module_late;\n")


def test_comments_with_lines_of_their_own_and_indents_are_left_out(tmp_path: Path) -> None:
    text = (
        '/**\n * Say *so*.\n */\n  // why\n  const at = "https://a.example"; // an address\n'
        "/* kept */\nuse(/** @type {Event} */ (at));\n"
    )
    write_tree(tmp_path, {"main.js": text})

    joined = join_modules(tmp_path, "main.js")

    assert "Say" not in joined
    assert "why" not in joined
    assert '\nconst at = "https://a.example";\n/* kept */\nuse((at));\n' in joined
