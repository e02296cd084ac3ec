"""Names that code uses but neither defines nor gets from its language."""

from __future__ import annotations

import builtins
import re
import sys
from functools import cache

from openbook.grounding.lookup import SearchedText

_USED = re.compile(r"(?:\.\s*([A-Za-z_]\w{2,})|\b([A-Za-z_]\w{2,})(?=\())")
_DEFINED = re.compile(
    r"\b(?:def|class|fn|func|function|const|let|var|import|from|as|for|struct|type)\s+([A-Za-z_]\w*)|\b([A-Za-z_]\w*)\s*=[^=]"
)
_IMPORTED = re.compile(r"^\s*(?:import|from)\s+([a-z_]\w*)", re.MULTILINE)
_CHAIN = re.compile(r"(?<![\w.])([a-z_]\w*)(?:\.\w+)+")
_STRINGS_AND_COMMENTS = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|(?:#|//)[^\n]*")

# Common built-in names of other languages. For Python, `builtins` and the built-in types provide them.
_COMMON_NAMES = frozenset(
    "addEventListener assert catch concat console debug describe error expect fetch filter finally find forEach"
    " getElementById includes indexOf info JSON keys log main map Math Object parse parseInt preventDefault println"
    " Printf Println Promise push querySelector reduce replace require resolve setInterval setTimeout shift slice some"
    " sort splice stringify test then toString trim unwrap values vec warn while with".split()
)
_BUILT_IN_TYPES = (bytes, dict, float, int, list, set, str, tuple)


@cache
def _language_names() -> frozenset[str]:
    attributes = (name for kind in _BUILT_IN_TYPES for name in dir(kind))
    return frozenset((*dir(builtins), *attributes)) | _COMMON_NAMES


def absent_names(code: str, sources: SearchedText) -> list[str]:
    r"""List the names that code uses and no source contains, in order, each once.

    Example:
        >>> absent_names("for x in range(3):\\n    print(client.magic(x))", SearchedText("client = open()"))
        ['magic']
    """
    plain = _STRINGS_AND_COMMENTS.sub(" ", code)
    imported = sys.stdlib_module_names.intersection(_IMPORTED.findall(plain))
    plain = _CHAIN.sub(lambda match: " " if match[1] in imported else match.group(), plain)
    brought = {name for pair in _DEFINED.findall(plain) for name in pair}
    called = dict.fromkeys(name for pair in _USED.findall(plain) for name in pair if name)
    known = brought | _language_names()
    return [name for name in called if name not in known and not sources.has_name(name)]
