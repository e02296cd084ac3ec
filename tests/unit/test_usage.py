from __future__ import annotations

from openbook.usage import Usage


def test_usage_adds_up() -> None:
    total = Usage(10, 4, 3, 2) + Usage(1, 1, 1, 1)

    assert total == Usage(11, 5, 4, 3)


def test_a_sum_is_known_only_if_all_of_it_is() -> None:
    total = Usage(10, 4) + Usage(known=False)

    assert total == Usage(10, 4, known=False)
