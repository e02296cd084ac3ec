"""Which languages a question may be in, and which one a path names."""

from __future__ import annotations

import pytest

from openbook.questions.languages import language_and_page, languages_of


@pytest.mark.parametrize(
    ("question", "languages"),
    [
        ("How do I authenticate?", {"en"}),
        ("How do I plot cos(ω)?", {"en"}),
        ("Wie kann ich das Protokoll abschalten?", {"de"}),
        ("Was kann man in VS Code einstellen?", {"de"}),
        ("Comment fonctionne la tokenisation WordPiece ?", {"fr"}),
        ("¿Qué es el aprendizaje por transferencia?", {"es"}),
        ("Onde fica o arquivo de log?", {"pt"}),
        ("Hvordan kan jeg ændre adgangskoden?", {"da", "nb", "nn", "no"}),
        ("Как подключить CMS?", {"be", "bg", "kk", "mk", "mn", "ru", "sr", "uk"}),
        ("ログを無効にするには", {"ja"}),
        ("クエリ・パラメータ", {"ja"}),
        ("环境变量", {"ja", "zh"}),
        ("로그는 어떻게 끄나요?", {"ko"}),
    ],
)
def test_letters_and_two_common_words_tell_the_languages_of_a_question(question: str, languages: set[str]) -> None:
    assert languages_of(question) == languages


@pytest.mark.parametrize(
    "question",
    [
        *("", "retry policy", "JWT", "SELECT * FROM t", "a・b"),
        *("DES encryption", "du command", "est timezone", "del statement", "para method"),
        *("Liegeplatz reservieren", "Passwort ändern", "Installation mit Docker", "variables de entorno"),
    ],
)
def test_one_common_word_or_none_tells_nothing_of_a_question(question: str) -> None:
    assert languages_of(question) == frozenset()


@pytest.mark.parametrize(
    ("path", "language", "page"),
    [
        ("docs/pt-BR/install.md", "pt", "docs/install.md"),
        ("docs/de/install.md", "de", "docs/install.md"),
        ("docs/fil/install.md", "fil", "docs/install.md"),
        ("README_zh-cn.md", "zh", "README.md"),
        ("README.zh-Hant.md", "zh", "README.md"),
        ("README-fr.md", "fr", "README.md"),
        ("web/locales/de_DE/main.json", "de", "web/locales/main.json"),
        ("ckb-IR/faq.md", "ckb", "faq.md"),
        ("docs/en_US/index.rst", "en", "docs/index.rst"),
        ("lib/mk/rules.mk", "", "lib/mk/rules.mk"),
        ("docs/js/api.md", "", "docs/js/api.md"),
        ("docs/graduate-to-GA/kep.yaml", "", "docs/graduate-to-GA/kep.yaml"),
        ("guide.de.md", "de", "guide.md"),
        ("guide-de_AT.md", "de", "guide.md"),
        ("src/api-bn.md", "", "src/api-bn.md"),
        ("commands/job_id.md", "", "commands/job_id.md"),
        ("what-is-oo.md", "", "what-is-oo.md"),
    ],
)
def test_a_path_tells_the_language_of_a_page(path: str, language: str, page: str) -> None:
    assert language_and_page(path) == (language, page)
