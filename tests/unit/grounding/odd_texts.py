"""Texts of what numbers, units and counting words are made of, put together as nobody would, for several tests."""

from __future__ import annotations

from hypothesis import strategies as st

_PARTS = (
    *("1", "23", "456", "٣", "½", ".", ",", "_", "-", "e", "E5", "k", "v", "é", "%", "$", "=", ":", " ", "\n", "`"),
    *("six", "\u017fix", "s\u0131x", "the fir\u017ft", "the s\u0130xth", "per \u017fecond", "a wee\u212a"),
    *(" dollar\u017f", "twenty", "thou\u017fand", "halve\u017f"),
    *("timeout_ms = ", "waitMs: ", "May ", "Augu\u017ft ", "2004", "万", "十", "三", "秒", "月", "年", "次", "周"),
)
ODD = st.lists(st.sampled_from(_PARTS) | st.text(max_size=2), max_size=12).map("".join)
