"""Words in segments of a table in LanceDB: `tests/contract` has what a whole index makes of them."""

from __future__ import annotations

import random
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from openbook.index.packing import PackedEntries
from openbook.index.postings import PackedTerms, pack_terms
from openbook.index.protocol import Terms
from openbook.integrations.lance_rows import new_version
from openbook.integrations.lance_tables import LanceTables
from openbook.integrations.lance_words import Mapped, Segment, SegmentBuilder, SegmentStore, write_segment_rows
from tests.support import IDENTITY
from tests.unit.integrations.lance_material import word_rows

Found = dict[tuple[str, int], tuple[int, ...]]
"""How often a word stands in each field, by version and number of a chunk."""

_HOUR_NS = 3600 * 10**9


class CountedTables(LanceTables):
    """Counts the rows of words that are read."""

    read = 0

    def rows_of_words(self, row_ids: Sequence[int]) -> list[dict[str, Any]]:
        self.read += len(row_ids)
        return super().rows_of_words(row_ids)


class Process:
    """What one process knows of the words of a library."""

    def __init__(self, tables: CountedTables, first_id: int = 1) -> None:
        self.tables = tables
        self.words = SegmentStore(tables, word_rows())
        self._next_id = first_id
        self._first_ids: dict[str, int] = {}
        self._places: dict[int, tuple[str, int]] = {}

    def first_id(self, version: str, chunks: int) -> int:
        if version not in self._first_ids:
            self._first_ids[version] = self._next_id
            self._places |= {self._next_id + number: (version, number) for number in range(chunks)}
            self._next_id += chunks
        return self._first_ids[version]

    def load(self) -> None:
        self.tables.refresh()
        self.words.load(self.first_id)

    def ids(self, token: str, unwritten: Sequence[Segment] = ()) -> list[int]:
        """Return the ids of the chunks that hold a word."""
        ids = self.words.look_up([token], self.first_id, unwritten)[token].ids.tolist()
        return [id_ for id_ in ids if id_ in self._places]

    def found(self, token: str, unwritten: Sequence[Segment] = ()) -> Found:
        """Look a word up. No chunk may come twice."""
        return self.found_all([token], unwritten)[token]

    def found_all(self, tokens: Sequence[str], unwritten: Sequence[Segment] = ()) -> dict[str, Found]:
        looked_up = self.words.look_up(tokens, self.first_id, unwritten)
        found: dict[str, Found] = {}
        for token, (ids, counts) in looked_up.items():
            pairs = zip(ids.tolist(), counts.tolist(), strict=True)
            held = [(self._places[id_], tuple(count)) for id_, count in pairs if id_ in self._places]
            found[token] = dict(held)
            assert len(found[token]) == len(held)
        return found

    def merge(self, *living: str) -> bool:
        return self.words.merge(self.first_id, dict.fromkeys(living, 1), every=True)

    def segments(self) -> list[set[str]]:
        """Return the versions of each segment, the newest segment first."""
        return [{version for version, _ in segment.head.versions} for segment in self.words._segments]


@pytest.fixture
def here(tmp_path: Path) -> Process:
    return Process(CountedTables(str(tmp_path / "library"), IDENTITY, lock_timeout_s=5))


@pytest.fixture
def there(here: Process) -> Process:
    """Make another process, which gives other ids."""
    return Process(CountedTables(here.tables.uri, IDENTITY, lock_timeout_s=5), first_id=1000)


def body(*tokens: str) -> Terms:
    return Terms(body=tokens)


def segment_of(documents: Mapping[str, Sequence[Terms]]) -> Segment:
    gathering = SegmentBuilder()
    for version, chunks in documents.items():
        gathering.add(version, PackedEntries(rows=((0, 0, 1, 1, ""),) * len(chunks), words=pack_terms(chunks)[0]))
    return gathering.segment()


def add(process: Process, documents: Mapping[str, Sequence[Terms]]) -> None:
    write_segment_rows(process.tables, segment_of(documents))


def old_version(number: int) -> str:
    """Make a version of two hours ago."""
    return f"{time.time_ns() - 2 * _HOUR_NS:016x}{number:016x}"


def once(version: str, number: int = 0) -> Found:
    return {(version, number): (0, 0, 0, 1)}


def test_a_word_is_found_with_its_counts_by_field(here: Process) -> None:
    first, second = new_version(), new_version()
    fields = Terms(("a",), ("b", "a", "b"), (), ("a", "c", "a"))
    add(here, {first: [fields, Terms()], second: [Terms(), Terms(context=("b",))]})

    here.load()

    assert here.found("a") == {(first, 0): (1, 1, 0, 2)}
    assert here.found("b") == {(first, 0): (0, 2, 0, 0), (second, 1): (0, 0, 1, 0)}
    assert here.found("d") == {}


def test_words_that_are_not_written_yet_are_found_beside_those_that_are(here: Process) -> None:
    written, unwritten = new_version(), new_version()
    add(here, {written: [body("a", "b")]})
    here.load()

    segment = segment_of({unwritten: [body("c"), body("a")]})

    assert here.found("a", [segment]) == once(written) | once(unwritten, 1)
    assert here.found("b", [segment]) == once(written)
    assert here.found("c", [segment]) == once(unwritten)
    assert here.found("c") == {}


def test_of_a_version_in_two_segments_the_newest_counts_and_once(here: Process) -> None:
    a, b = new_version(), new_version()
    add(here, {a: [body("word", "old")]})
    add(here, {a: [body("word", "new")], b: [body("word")]})

    here.load()

    assert here.found("word") == once(a) | once(b)
    assert here.found("new") == once(a)
    assert here.found("old") == {}


def test_a_version_that_another_machine_has_merged_meanwhile_counts_once(here: Process) -> None:
    a, b = new_version(), new_version()
    add(here, {a: [body("word")]})
    add(here, {b: [body("word")]})
    here.load()
    before = here.ids("word")

    add(here, {a: [body("word")], b: [body("word")]})
    here.load()

    assert sorted(here.ids("word")) == sorted(before)


def test_a_merge_never_claims_a_version_whose_words_it_has_not_taken(here: Process, there: Process) -> None:
    # The words of `a` that count are in the newest segment, which is too large to be merged with the others.
    a, b, c = (old_version(number) for number in range(3))
    add(here, {a: [body("word", "here")]})
    add(here, {c: [body("word", "here")]})
    add(here, {a: [body("word", "here")], b: [body(*(f"w{number}" for number in range(20)))]})
    here.load()
    assert here.segments() == [{a, b}, {c}, {a}]

    assert here.merge(a, b, c)

    for process in (here, there):
        process.load()
        assert process.segments() == [{c}, {a, b}]
        assert process.found("word") == process.found("here") == once(a) | once(c)
        assert process.found("w7") == once(b)


def test_merging_all_segments_of_a_version_keeps_it_once(here: Process, there: Process) -> None:
    a, b, c = (old_version(number) for number in range(3))
    add(here, {a: [body("word", "old")]})
    add(here, {b: [body("word"), body("word")]})
    add(here, {a: [body("word", "new")], c: [body("word")]})
    here.load()

    assert here.merge(a, b, c)

    for process in (here, there):
        process.load()
        assert process.segments() == [{a, b, c}]
        assert process.found("word") == once(a) | once(b) | once(b, 1) | once(c)
        assert process.found("new") == once(a)
        assert process.found("old") == {}


@pytest.mark.slow
def test_two_machines_that_merge_the_same_at_once_lose_and_double_nothing(here: Process, there: Process) -> None:
    versions = [old_version(number) for number in range(4)]
    for number, version in enumerate(versions):
        add(here, {version: [body("word", f"w{number}")]})
    for process in (here, there):
        process.load()

    for process in (here, there):
        assert process.merge(*versions)
    here.load()
    there.load()
    while here.merge(*versions):
        here.load()
    there.load()

    for process in (here, there):
        assert len(process.segments()) == 1
        assert process.found("word") == {(version, 0): (0, 0, 0, 1) for version in versions}
        assert [process.found(f"w{number}") for number in range(4)] == [once(version) for version in versions]


def test_merging_drops_what_is_gone_and_nothing_else(here: Process, there: Process) -> None:
    gone, kept, other = (old_version(number) for number in range(3))
    add(here, {gone: [body("word", "gone")], kept: [Terms(path=("word",)), Terms(), body("kept")]})
    add(here, {other: [body("word", "other", "b", "c")]})
    here.load()

    assert here.merge(kept, other)

    for process in (here, there):
        process.load()
        assert process.segments() == [{kept, other}]
        assert process.found("word") == {(kept, 0): (1, 0, 0, 0), (other, 0): (0, 0, 0, 1)}
        assert process.found("kept") == once(kept, 2)
        assert process.found("gone") == {}
    assert [segment.head.postings for segment in here.words._segments] == [6]


def test_young_words_of_no_document_yet_survive_a_merge_and_old_ones_go(here: Process, there: Process) -> None:
    old, young, living = old_version(1), new_version(), old_version(2)
    for version in (old, young, living):
        add(here, {version: [body("word")]})
    here.load()

    assert here.merge(living)

    there.load()
    assert there.segments() == [{young, living}]
    assert there.found("word") == once(young) | once(living)


def test_rows_without_a_head_are_no_segment(here: Process, there: Process) -> None:
    version, whole, other = old_version(1), old_version(2), old_version(3)
    cut_off = segment_of({version: [body("word", "lost")]})
    rows = [row for row in cut_off.rows if isinstance(row, PackedTerms)]
    here.tables.add_words([{"segment": cut_off.name, "place": 0, **rows[0]._asdict()}])
    for each in (whole, other):
        add(here, {each: [body("word")]})

    here.load()
    assert here.segments() == [{other}, {whole}]
    assert here.merge(version, whole, other)

    there.load()
    assert there.segments() == [{whole, other}]
    assert there.found("word") == once(whole) | once(other)
    assert there.found("lost") == {}


def test_ids_stay_the_same_after_another_load_and_a_merge(here: Process, there: Process) -> None:
    versions = [old_version(number) for number in range(3)]
    for version in versions[:2]:
        add(here, {version: [body("word"), body("word")]})
    here.load()
    before = here.found("word"), sorted(here.ids("word"))

    here.load()
    assert (here.found("word"), sorted(here.ids("word"))) == before
    there.load()
    there.merge(*versions[:2])
    here.load()
    assert (here.found("word"), sorted(here.ids("word"))) == before

    add(there, {versions[2]: [body("other"), body("word")]})
    here.load()
    assert sorted(here.ids("word")) == [*before[1], 6]


def test_rows_of_many_words_are_held_as_columns_and_found(here: Process) -> None:
    tokens = [f"w{number:05}" for number in range(64 * 1_001)]
    version = new_version()
    add(here, {version: [body(*tokens)]})

    here.load()
    restored = Process(here.tables)
    restored.first_id(version, 1)
    restored.words.restore(*here.words.packed(), version)

    asked = [tokens[0], tokens[63], tokens[40_000], tokens[-1]]
    for process in (here, restored):
        assert isinstance(process.words._segments[0].rows, Mapped)
        assert process.found_all([*asked, "x"]) == dict.fromkeys(asked, once(version)) | {"x": {}}


@pytest.mark.parametrize("count", [1, 63, 64, 65, 128, 129, 1000])
def test_every_word_is_found_wherever_the_borders_of_rows_are(here: Process, count: int) -> None:
    tokens = [f"w{number:04}" for number in range(count)]
    version = new_version()
    add(here, {version: [body(*random.Random(1).sample(tokens, count))]})
    here.load()

    beside = [near for token in tokens for near in (token[:-1], token + "\0", token + "0")]
    assert len(here.words._segments[0].rows) == -(-count // 64)
    assert here.found_all(tokens) == dict.fromkeys(tokens, once(version))
    assert here.found_all(["", "a", "x", *beside]) == {token: {} for token in ("", "a", "x", *beside)}


def test_words_of_every_plane_are_found(here: Process) -> None:
    # UTF-16 would put the astral ones before U+E000; code points do not.
    characters = [chr(code) for code in (0, 0x41, 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFD, 0xFFFF)]
    characters += ["\U00010000", "😀", "\U0010ffff"]
    tokens = [first + second for first in characters for second in ("", *characters)]
    version, other = old_version(1), old_version(2)
    for each in (version, other):
        add(here, {each: [body(*random.Random(2).sample(tokens, len(tokens)))]})
    here.load()

    assert here.found_all(tokens) == dict.fromkeys(tokens, once(version) | once(other))
    assert here.merge(version)
    here.load()
    assert here.found_all(tokens) == dict.fromkeys(tokens, once(version))


def test_a_second_look_up_reads_no_rows_again(here: Process) -> None:
    version = old_version(1)
    add(here, {version: [body(*(f"w{number:04}" for number in range(200)))]})
    here.load()
    read = here.tables.read

    here.found_all(["w0000", "w0001", "w0070"])
    assert here.tables.read == read + 2  # two words of one row, and one of another
    here.found_all(["w0002", "w0071"])
    assert here.tables.read == read + 2

    add(here, {new_version(): [body("w0000")]})
    here.load()
    assert here.found("w0000").keys() >= once(version).keys()
    assert here.tables.read == read + 4  # the head of the new segment, and its row


@pytest.mark.slow
def test_more_rows_than_stay_in_memory_are_read_again(here: Process) -> None:
    tokens = [f"w{number:05}" for number in range(64 * 1002)]
    version = new_version()
    add(here, {version: [body(*tokens)]})
    here.load()
    wanted = tokens[::64]

    for _ in range(2):
        assert here.found_all(wanted) == dict.fromkeys(wanted, once(version))
    assert here.found_all([tokens[-1], tokens[0]]) == dict.fromkeys((tokens[-1], tokens[0]), once(version))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_any_words_are_counted_as_plain_python_counts_them(here: Process, there: Process, seed: int) -> None:
    chance = random.Random(seed)
    living: dict[str, list[Terms]] = {}
    for step in range(12):
        documents = {
            old_version(100 * step + number): [some_terms(chance) for _ in range(chance.randrange(1, 4))]
            for number in range(chance.randrange(1, 4))
        }
        add(here, documents)
        living |= documents
        for version in [version for version in living if chance.random() < 0.2]:
            del living[version]
        if chance.random() < 0.4:
            merging = chance.choice([here, there])
            merging.load()
            merging.merge(*living)

    counted = expected(living)
    for process in (here, there):
        process.load()
        found = process.found_all([f"w{number}" for number in range(30)])
        alive = {
            token: {place: counts for place, counts in places.items() if place[0] in living}
            for token, places in found.items()
        }
        assert {token: places for token, places in alive.items() if places} == counted


def some_terms(chance: random.Random) -> Terms:
    words = [f"w{number}" for number in range(30)]
    return Terms(*(tuple(chance.choices(words, k=chance.randrange(4))) for _ in range(4)))


def expected(documents: Mapping[str, Sequence[Terms]]) -> dict[str, Found]:
    """Count the words of documents as plain Python does."""
    counted: defaultdict[str, Found] = defaultdict(dict)
    for version, chunks in documents.items():
        for number, terms in enumerate(chunks):
            counts = [Counter(field) for field in terms]
            for token in set().union(*terms):
                counted[token][version, number] = tuple(field[token] for field in counts)
    return dict(counted)
