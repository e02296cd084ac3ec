"""Greetings, thanks, and questions about the answerer itself: no source is needed for them."""

from __future__ import annotations

import re

# What a person says in one breath and no library answers. English and German.
_PARTS = (
    r"(?:hi|hiya|hello|hey|good\s+(?:morning|afternoon|evening|day)|hallo|moin|guten\s+(?:morgen|tag|abend)|servus)",
    r"(?:(?:many\s+|great[,!]?\s+)?thanks|thank\s+you|thx|cheers|(?:vielen\s+|besten\s+)?dank(?:e(?:\s*sch(?:ö|oe)n)?)?)",
    r"(?:got\s+it|i\s+see|understood|(?:that\s+)?makes\s+sense|alles\s+klar|verstanden|d['’]accord|merci(?:\s+beaucoup)?)",
    r"(?:bye|goodbye|good\s+night|see\s+you(?:\s+later)?|tschüss|auf\s+wiedersehen|gute\s+nacht)",
    r"(?:ok(?:ay)?|great|nice|perfect|cool|super|prima|how\s+are\s+you(?:\s+(?:doing|today))?|wie\s+geht(?:'s|\s+es\s+dir))",
    r"(?:who|what)\s+are\s+you|wer\s+bist\s+du|was\s+bist\s+du",
    r"(?:what|how)\s+can\s+(?:you\s+(?:do|help)|i\s+(?:ask|do\s+(?:here|with\s+you)))(?:\s+(?:me|you|for\s+me|here|with))*",
    r"what\s+do\s+you\s+do|how\s+do\s+you\s+work|was\s+kannst\s+du|wie\s+kannst\s+du(?:\s+mir)?\s+helfen",
    r"(?:can|could)\s+you\s+help(?:\s+me)?(?:\s+please)?|help(?:\s+me)?(?:\s+please)?|hilfe",
)
_MORE = (
    r"(?:there|all|everyone|openbook|a\s+lot|lots|so\s+much|very\s+much|you|again|please|bitte|sehr|dir|mir|"
    r"for\s+(?:your|the|that|all)(?:\s+(?:help|answer|quick\s+answer|info))?|"
    r"th(?:at|is)\s+(?:helps|helped|was\s+(?:very\s+)?(?:helpful|great|useful))(?:\s+a\s+lot)?)"
)
_SMALL_TALK = re.compile(rf"\W*(?:(?:{'|'.join(_PARTS)})\b(?:\W+{_MORE}\b)*\W*)+", re.IGNORECASE)

# "10-20" and "404/405" may stand in a source: these signs count between blanks, or when a result is asked for.
_NUMBER = r"[-+]?\(*\d+(?:[.,]\d+)?\)*"
_ASKS_RESULT = (
    r"(?:what(?:['’]s|\s+is)|how\s+much\s+is|calculate|compute|(?:was|wie\s*viel)\s+(?:ist|ergibt|sind)|berechne|"
    r"combien\s+font|calcule[rz]?|cu[aá]nto\s+(?:es|son))"
)
_ARITHMETIC = re.compile(
    rf"\W*(?:{_ASKS_RESULT}\s+{_NUMBER}(?:\s*[-+*/×÷^x]\s*{_NUMBER})+"
    rf"|{_NUMBER}(?:(?:\s*[+*×÷^]\s*|\s+[-/x]\s+){_NUMBER})+)\s*=?[\s?.!]*",
    re.IGNORECASE,
)

# Characters: thanks are short, and what is long has a question in it.
_LONGEST = 120


def is_small_talk(text: str) -> bool:
    """Tell whether a text asks nothing of any source: a greeting, thanks, or what the answerer can do.

    Example:
        >>> is_small_talk("Thanks, that helped!"), is_small_talk("Hello, when do sessions end?")
        (True, False)
    """
    return len(text) <= _LONGEST and _SMALL_TALK.fullmatch(text.strip()) is not None


def is_arithmetic(text: str) -> bool:
    """Tell whether a text asks for nothing but the result of a calculation.

    Example:
        >>> is_arithmetic("2+2"), is_arithmetic("What is 3 * 4?"), is_arithmetic("HTTP 404/405")
        (True, True, False)
    """
    return len(text) <= _LONGEST and _ARITHMETIC.fullmatch(text.strip()) is not None
