"""Languages are told apart where a text is long enough to tell."""

from __future__ import annotations

import pytest

from openbook.grounding.languages import differ, language_of


@pytest.mark.parametrize(
    ("text", "language"),
    [
        pytest.param("The lock is released when the block ends.", "en", id="english"),
        pytest.param("Die Sperre wird freigegeben, wenn der Block endet.", "de", id="german"),
        pytest.param(
            "Le verrou est libéré à la fin du bloc, et il est rendu par le fil qui le tient.", "fr", id="french"
        ),
        pytest.param("El bloqueo se libera cuando termina el bloque.", "es", id="spanish"),
        pytest.param("Блокировка снимается в конце блока.", "CYRILLIC", id="russian"),
        pytest.param("锁在代码块结束时释放。", "CJK", id="chinese"),
        pytest.param("lock.release()", "", id="code"),
        pytest.param("", "", id="empty"),
    ],
)
def test_language_is_told(text: str, language: str) -> None:
    assert language_of(text) == language


def test_code_differs_from_no_language() -> None:
    assert not differ("The lock is released at the end.", "def release(self): self._lock = None")
    assert differ(
        "The lock is released at the end.",
        "Le verrou est libéré à la fin du bloc, et il est rendu par le fil qui le tient.",
    )
