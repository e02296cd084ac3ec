"""Converts text to the form people read: no comment signs, links, tags or string prefixes between the words."""

from __future__ import annotations

import re
from html import unescape

from openbook.grounding.sentences import without_comment_signs

# HTML elements that GitHub and documentation generators allow in Markdown. `<T>` and `<Button>` are code.
_ELEMENTS = (
    "a|abbr|article|aside|b|blockquote|br|center|cite|dd|del|details|dfn|div|dl|dt|em|figcaption|figure|font|footer"
    "|h[1-6]|header|hr|i|img|ins|kbd|li|main|mark|nav|ol|p|picture|q|s|samp|section|small|source|span|strike|strong"
    "|sub|summary|sup|table|tbody|td|tfoot|th|thead|tr|tt|u|ul|var|video|wbr"
)
# A comment must not contain another `<!--`; otherwise a line of openings takes quadratic time.
# Other names in angle brackets without an end, such as `<time>`, stand for values, except for components with a hyphen
# before a word.
HTML_TAG = re.compile(
    rf"<!--(?:(?!<!--).)*?-->|</?(?:{_ELEMENTS})(?:\s[^<>]*)?/?>"
    r"|<([A-Za-z][\w.-]*)(?:\s[^<>]*)?>(?=[^\n]{0,500}?</\1>)|</[A-Za-z][\w.-]*>"
    r"|(?m:^)[ \t]*<[a-z]+-[\w-]+>(?=\w)"
)

_LINK = re.compile(r"!?\[([^\[\]\n]{0,300})\](?:\([^()\n]{0,500}\)|\[[^\[\]\n]{0,100}\])")
# String prefixes. Adjacent string literals are one string.
_STRING_SIGNS = re.compile(r"(?<!\w)[rbfuRBFU]{1,2}(?=[\"'])")
_BLANK_OF_STRING = re.compile(r"\\[nrt]")


def readable(text: str) -> str:
    r"""Return a text without the markup around its words. Offsets change, so use it for lookup only.

    Example:
        >>> readable("# See [the lock](lock.md), which is\n# <b>held</b> for 3 s &amp; freed.")
        'See the lock, which is\nheld for 3 s & freed.'
    """
    plain = "\n".join(map(without_comment_signs, text.split("\n")))
    plain = _BLANK_OF_STRING.sub(" ", _STRING_SIGNS.sub("", plain))
    return unescape(HTML_TAG.sub("", _LINK.sub(r"\1", plain)))
