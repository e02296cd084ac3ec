"""What Openbook says that it reads, and that it does not."""

from __future__ import annotations

from openbook.sources.exclusions import is_binary_name
from openbook.sources.formats import BINARY_FORMATS
from openbook.sources.known_formats import known_formats, unread_formats
from openbook.sources.languages import BY_SUFFIX
from openbook.sources.optional_readers import OPTIONAL_READERS


def test_each_suffix_that_is_known_is_listed_once_and_is_read() -> None:
    listed = [suffix for one in known_formats() for suffix in one.suffixes]

    missing = {suffix for one in OPTIONAL_READERS if not one.is_there() for suffix in one.suffixes}
    assert sorted(listed) == sorted({*BY_SUFFIX, *BINARY_FORMATS} - missing)
    assert not any(is_binary_name(f"a.{suffix}") for suffix in listed)
    assert {one.name: one.reader for one in known_formats()}["xlsx"] == "python-calamine"


def test_what_is_not_read_is_not_listed_as_read() -> None:
    listed = {suffix for one in known_formats() for suffix in one.suffixes}

    assert listed.isdisjoint(suffix for one in unread_formats() for suffix in one.suffixes)
