"""Questions for a project, a page or a lesson as a whole."""

from __future__ import annotations

import re

_WHOLE = (
    r"(?:th(?:is|e)|these|your|our|dies\w+|das|der|die|cet?(?:te)?|le|la|este|esta|el)\s+(?:\w+\s+)?"
    r"(?:projects?|repo(?:sitory)?|code(?:\s?base)?|librar(?:y|ies)|package|program|tool|app(?:lication)?|software"
    r"|system|framework|documentation|docs|pages?|files?|document|chapter|section|projekte?s?|bibliothek|programms?|seite"
    r"|kapitels?|projet|d[eé]p[oô]t|biblioth[eè]que|logiciel|proyecto|biblioteca|repositorio)"
)
_OF = rf"(?:\s+(?:of|for|in|von|des|der|de|du|del)\s+(?:{_WHOLE}|(?P<name>[\w.-]+)))?"
_OPENS = (
    r"(?:(?:please|can|could|would|you|bitte|me|us|i|want|need|give|show|write|tell|about|describe|explain"
    r"|what(?:'s| is| does)|look like|the|its|an?|high[- ]level|quick|short|brief|general|overall"
    r"|gib|mir|was ist|wie ist|die|der|das|ein(?:en)?"
    r"|quelle? est|une?|l['’]|la|cu[aá]l es)[\s,]*)*"
)
_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_OPENS}\s*(?:architecture|overview|big picture|code structure|project structure|introduction|summary"
        rf"|[üu]berblick(?: [üu]ber)?|architektur|aufbau|vue d['’]ensemble|arquitectura|resumen){_OF}(?:\s+look like)?",
        rf"how (?:is|are) {_WHOLE} (?:structured|organi[sz]ed|laid out|built|architected)",
        r"(?:what|who)(?:'s| is) (?P<name>[\w.-]+)(?: (?:about|for|good for|used for))?",
        rf"what (?:does|do|is|are) {_WHOLE}(?:\s+(?:do|about|for|good for|all about|used for))*",
        rf"what problems? (?:does|do) {_WHOLE} solve|why does {_WHOLE} exist|what can i do with {_WHOLE}",
        rf"how (?:does|do) (?:{_WHOLE}|it|th(?:is|e whole thing|e parts|e pieces)|everything)(?: all)?"
        r" (?:work|(?:hang|fit|work|come) together)",
        rf"what(?:'s| is) (?:the )?(?:purpose|point|goal|idea){_OF}",
        rf"what are (?:the )?(?:main|major|key|most important) (?:components?|parts?|modules?|pieces|concepts?){_OF}",
        rf"(?:please )?(?:summari[sz]e|sum up|introduce|explain|describe) {_WHOLE}(?: (?:to|for) me)?",
        rf"where (?:do|should|can) (?:i|we|one|a newcomer) (?:start|begin)(?: (?:reading|with|in) ?(?:{_WHOLE})?)?",
        rf"(?:was macht|worum geht es in|wozu dient|was ist|wie ist) {_WHOLE}(?: (?:aufgebaut|strukturiert))?",
        r"worum geht es(?: hier)?|wo (?:fange ich|soll ich) an(?:fangen)?|par o[uù] commencer|por d[oó]nde empiezo",
        rf"(?:que fait|[aà] quoi sert|qu['’]est-ce que|comment est (?:structur|organis)[eé]e?|qu[eé] hace) {_WHOLE}"
        r"(?: structur[eé]e?| organis[eé]e?)?",
    )
)
_GREETING = re.compile(
    r"^(?:hi|hello|i['’]?a?m new(?: here| to this)?|in (?:short|a few words|one sentence))[,.!:]\s*", re.IGNORECASE
)
_ENDS = " \t?？!.。¿"


def overview_of(text: str) -> str | None:
    """Return the name of the project that a question asks for as a whole, empty for the one at hand; else None.

    Example:
        >>> overview_of("What is the architecture of this project?"), overview_of("overview of Harbour")
        ('', 'harbour')
        >>> overview_of("What is Harbour?")  # of which no project may have the name
        'harbour'
        >>> overview_of("What is a job?") is None
        True
    """
    asked = _GREETING.sub("", text.strip(_ENDS))
    for pattern in _PATTERNS:
        if found := pattern.fullmatch(asked):
            return (found.groupdict().get("name") or "").lower()
    return None
