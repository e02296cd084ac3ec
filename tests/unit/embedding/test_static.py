from __future__ import annotations

import hashlib
import os
import pickle
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from openbook.embedding.static import MATRIX_FILE, TOKENIZER_FILE, StaticEmbedder, load_embedder
from openbook.errors import SettingsError

SHIPPED = Path(str(files("openbook.embedding") / "model"))
DOCUMENT = Path(__file__).parents[3] / "docs" / "static-model.md"
NINE_MEGABYTES = 9_000_000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in (TOKENIZER_FILE, MATRIX_FILE):
        shutil.copy(SHIPPED / name, tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("compound", "words"),
    [
        pytest.param("getUserName", "get user name", id="camel"),
        pytest.param("UserName", "user name", id="pascal"),
        pytest.param("parseHTTPResponse", "parse http response", id="capitals-inside"),
        pytest.param("base64Encode", "base64 encode", id="digit-before-capital"),
        pytest.param("größeÄndern", "größe ändern", id="not-ascii"),
    ],
)
def test_a_compound_name_has_the_vector_of_its_words(compound: str, words: str) -> None:
    joined, apart = load_embedder().embed([compound, words])

    assert np.array_equal(joined, apart)


def test_a_snake_case_name_lies_next_to_its_words() -> None:
    joined, apart = load_embedder().embed(["get_user_name", "get user name"])

    assert joined @ apart > 0.95


def test_capitals_alone_are_not_split() -> None:
    loud, quiet = load_embedder().embed(["HTTP", "http"])

    assert np.array_equal(loud, quiet)


def test_a_token_name_in_a_text_is_text() -> None:
    (vector,) = load_embedder().embed(["[UNK] [PAD]"])

    assert vector.any()


def test_a_synonym_lies_closer_than_a_lookalike() -> None:
    word, synonym, lookalike = load_embedder().embed(["doctor", "physician", "doctrine"])

    assert word @ synonym > word @ lookalike + 0.2


def test_what_stands_behind_8192_characters_changes_nothing() -> None:
    start = "close the file " * 600

    long, longer = load_embedder().embed([start, start + "and bake bread"])

    assert len(start) > 8_192
    assert np.array_equal(long, longer)


def test_vectors_are_the_same_bytes_on_every_machine() -> None:
    vectors = load_embedder().embed(["How is a fileHandle closed?", "def close(self): ..."])

    assert hashlib.sha256(vectors.astype("<f4").tobytes()).hexdigest() == (
        "ad5041ba523e5e99a299b40609638c44fdcba79378824b03e70dfba34b8267ca"
    )


# Letters of both cases and of none, marks, digits, and all that is white space or nothing to some.
ALPHABET = "abYZ9_.(`~ßÉıΣ漢가ไ😀²\u0301\u0338\u200b\ufffd\ud800 \t\n\r\0\x0b\x0c\x1c\x1f\x7f\x85\xa0\u2028\u3000"


@cache
def shipped() -> tuple[Tokenizer, np.ndarray[tuple[int, int], np.dtype[np.float32]]]:
    """Read the tokenizer and the matrix once: no example changes them, and each would take 25 ms for it."""
    return Tokenizer.from_file(str(SHIPPED / TOKENIZER_FILE)), np.load(SHIPPED / MATRIX_FILE)


@pytest.mark.slow
@given(st.lists(st.text(st.one_of(st.sampled_from(ALPHABET), st.characters()), max_size=30), max_size=3))
@example(["getUserName(HTTPResponse2Go)", "a\x0cb c\x1cd", "x" * 101, "Word" * 30, "漢字" * 60, "a...b--c"])
def test_a_vector_is_the_sum_of_the_pieces_that_the_tokenizer_makes_of_the_whole_text(texts: list[str]) -> None:
    tokenizer, matrix = shipped()

    vectors = load_embedder().embed(texts)

    for text, vector in zip(texts, vectors, strict=True):
        readable = text.encode("utf-8", "replace").decode("utf-8")
        total = matrix[tokenizer.encode(readable, add_special_tokens=False).ids].sum(axis=0, dtype=np.float64)
        assert np.array_equal(vector, (total / max(np.sqrt(np.square(total).sum()), 1)).astype(np.float32))


def test_loading_opens_no_socket(socket_disabled: None) -> None:
    embedder = StaticEmbedder(SHIPPED)

    assert embedder.embed(["ready"]).any()


def test_the_shipped_model_is_loaded_once_per_process() -> None:
    assert load_embedder() is load_embedder()


def test_importing_the_embedder_loads_nothing_heavy() -> None:
    code = "import sys, openbook.embedding.static; print(sorted({'numpy', 'tokenizers'} & set(sys.modules)))"

    done = subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        capture_output=True,
        encoding="utf-8",
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )

    assert done.stdout.strip() == "[]"


def test_a_pickled_embedder_travels_as_the_path_of_its_folder(folder: Path) -> None:
    embedder = StaticEmbedder(folder)

    frozen = pickle.dumps(embedder)

    assert len(frozen) < 1_000
    assert pickle.loads(frozen).identity == embedder.identity


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform cannot fork")
def test_a_forked_process_can_go_on_embedding() -> None:
    code = (
        "import os, sys; from openbook.embedding.static import load_embedder; many = ['close the file'] * 999\n"
        "load_embedder().embed(many)\n"
        "if not (child := os.fork()): load_embedder().embed(many); os._exit(0)\n"
        "sys.exit(os.waitpid(child, 0)[1])"
    )

    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        check=True,
        capture_output=True,
        encoding="utf-8",
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        timeout=60,
    )

    assert done.stderr == ""


def test_a_copy_of_the_model_has_the_same_identity(folder: Path) -> None:
    assert StaticEmbedder(folder).identity == load_embedder().identity


def change_one_weight(folder: Path) -> None:
    matrix = np.load(folder / MATRIX_FILE)
    matrix[-1, -1] ^= 1
    np.save(folder / MATRIX_FILE, matrix)


def keep_capitals(folder: Path) -> None:
    tokenizer = (folder / TOKENIZER_FILE).read_text(encoding="utf-8")
    (folder / TOKENIZER_FILE).write_text(tokenizer.replace('"lowercase":true', '"lowercase":false'), encoding="utf-8")


@pytest.mark.parametrize("change", [change_one_weight, keep_capitals])
def test_the_identity_changes_with_the_model(folder: Path, change: Callable[[Path], None]) -> None:
    change(folder)

    assert StaticEmbedder(folder).identity != load_embedder().identity


def test_the_identity_is_the_documented_one() -> None:
    assert f"`{load_embedder().identity}`" in DOCUMENT.read_text(encoding="utf-8")


def cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1_000])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def replace_by_text(path: Path) -> None:
    path.write_text("version https://git-lfs", encoding="utf-8")


@pytest.mark.parametrize("name", [TOKENIZER_FILE, MATRIX_FILE])
@pytest.mark.parametrize("damage", [Path.unlink, cut_short, empty, replace_by_text])
def test_a_damaged_model_is_an_error_that_names_its_folder(
    folder: Path, name: str, damage: Callable[[Path], None]
) -> None:
    damage(folder / name)

    with pytest.raises(SettingsError, match="no static model in") as caught:
        StaticEmbedder(folder)

    assert repr(str(folder)) in str(caught.value)
    assert "reinstall" in caught.value.hint


@pytest.mark.parametrize(
    ("matrix", "reason"),
    [
        pytest.param(np.zeros((32_500, 8), dtype=np.float32), "must be int8", id="floats"),
        pytest.param(np.zeros(32_500, dtype=np.int8), "two dimensions", id="one-dimension"),
        pytest.param(np.zeros((7, 8), dtype=np.int8), "7 rows for 32500 word pieces", id="too-few-rows"),
        pytest.param(np.array([{}]), "no static model", id="pickled"),
    ],
)
def test_a_matrix_that_does_not_fit_the_tokenizer_is_an_error(
    folder: Path, matrix: np.ndarray[tuple[int, ...], np.dtype[np.generic]], reason: str
) -> None:
    np.save(folder / MATRIX_FILE, matrix)

    with pytest.raises(SettingsError, match=reason):
        StaticEmbedder(folder)


def test_what_is_shipped_stays_below_nine_megabytes() -> None:
    sizes = [path.stat().st_size for path in SHIPPED.iterdir()]

    assert sum(sizes) < NINE_MEGABYTES


@pytest.mark.parametrize("name", [TOKENIZER_FILE, MATRIX_FILE])
def test_the_shipped_bytes_are_the_documented_ones(name: str) -> None:
    digest = hashlib.sha256((SHIPPED / name).read_bytes()).hexdigest()

    assert re.search(rf"`{re.escape(name)}`.*`{digest}`", DOCUMENT.read_text(encoding="utf-8"))
