"""What prepared files are when they come from another process."""

from __future__ import annotations

import pickle
import pickletools

import numpy as np

from openbook.ingest.preparation import PreparedFile
from tests.support import document, entry


def test_entries_come_back_as_they_were() -> None:
    of = document("a.py", "def a():\n    return 1\n")
    sent = PreparedFile(of, (entry(of, 0, 8), entry(of, 9, 21)))

    back = pickle.loads(pickle.dumps(sent))

    assert back.document == of
    assert [(each.chunk, each.terms) for each in back.entries] == [(each.chunk, each.terms) for each in sent.entries]
    assert all(np.array_equal(one.vector, other.vector) for one, other in zip(back.entries, sent.entries, strict=True))


def test_a_chunk_is_sent_as_what_makes_it_again() -> None:
    of = document("a.py", "def a():\n    return 1\n")

    steps = {step.name for step, *_ in pickletools.genops(pickle.dumps(entry(of, 0, 8).chunk))}

    assert "REDUCE" in steps
    assert "BUILD" not in steps
