"""Writes the numbers of lists as office programs show them: 3, c, C, iii or III."""

from __future__ import annotations

_ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl")),
    *((10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)
_LETTERS = "abcdefghijklmnopqrstuvwxyz"

# Romans wrote no more, and 30 letters for an item say nothing.
_LARGEST_ROMAN, _LARGEST_LETTER = 3999, 30 * len(_LETTERS)


def numeral(number: int, form: str) -> str:
    """Write a number of a list. What a form does not reach, and an unknown form, is decimal.

    Example:
        >>> [numeral(number, form) for number, form in ((3, "1"), (3, "a"), (28, "A"), (14, "i"), (0, "I"))]
        ['3', 'c', 'BB', 'xiv', '0']
    """
    shown = ""
    if form in {"a", "A"} and 0 < number <= _LARGEST_LETTER:
        times, letter = divmod(number - 1, len(_LETTERS))
        shown = _LETTERS[letter] * (times + 1)
    elif form in {"i", "I"} and 0 < number <= _LARGEST_ROMAN:
        shown = _roman(number)
    return (shown.upper() if form.isupper() else shown) or str(number)


def _roman(number: int) -> str:
    signs = []
    for worth, sign in _ROMAN:
        times, number = divmod(number, worth)
        signs.append(sign * times)
    return "".join(signs)
