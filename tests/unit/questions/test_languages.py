"""Which language a text or a path is in."""

from __future__ import annotations

import pytest

from openbook.questions.languages import language_of, language_of_path
from openbook.questions.question import read_question


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Turn the log off with this option, which is on unless you set it.", "en"),
        ("Mit dieser Option wird das Protokoll abgeschaltet, wenn sie nicht gesetzt ist.", "de"),
        ("Cette option est utile pour les fichiers qui ne sont pas lus.", "fr"),
        ("Esta opción es útil para los archivos que no se leen.", "es"),
        ("Esta opção não é usada para os arquivos que você não lê.", "pt"),
        ("Questa opzione non è usata per i file che sono della stessa cartella.", "it"),
        ("Эта опция отключает журнал `log`.", "ru"),
        ("この設定で `log` を無効にします。", "ja"),
        ("此选项会关闭 `log`。", "zh"),
        ("이 옵션은 `log` 를 끕니다.", "ko"),
    ],
)
def test_a_paragraph_tells_its_language_by_letters_and_common_words(text: str, language: str) -> None:
    assert language_of(text) == language


@pytest.mark.parametrize(
    "text", ["", "log = off", "retry policy", "die casting", "os.path.join(a, b)", "SELECT * FROM t"]
)
def test_catchwords_and_code_are_in_no_language(text: str) -> None:
    assert language_of(text) == ""


def test_a_page_in_english_that_names_its_translations_is_in_english() -> None:
    page = (
        "Harbour keeps the logs of all ships. You can read this in [Deutsch](de.md), [中文](zh.md) and [日本語](ja.md)."
    )

    assert language_of(page) == "en"


def test_one_word_tells_the_language_of_a_question() -> None:
    assert read_question("Comment fonctionne la tokenisation WordPiece ?").language == "fr"
    assert read_question("retry policy").language == "en"


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("docs/pt-BR/install.md", "pt"),
        ("README_zh-cn.md", "zh"),
        ("README.zh-Hant.md", "zh"),
        ("web/locales/de_DE/main.json", "de"),
        ("ckb-IR/faq.md", "ckb"),
        ("docs/en_US/index.rst", "en"),
        ("lib/mk/rules.mk", ""),
        ("docs/graduate-to-GA/kep.yaml", ""),
        ("what-is-oo.md", ""),
    ],
)
def test_a_path_tells_a_language_that_stands_with_a_region_or_a_script(path: str, language: str) -> None:
    assert language_of_path(path) == language
