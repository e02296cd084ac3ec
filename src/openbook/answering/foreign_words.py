"""Words that German, French and Spanish questions are made with, and that say nothing of what is asked."""

from __future__ import annotations

import re

from openbook.retrieval.names import FILLING_WORDS, STOP_WORDS

FOREIGN_WORDS = frozenset(
    (
        # German
        " aber als am an auf aus bei beim bis da dann das dass dem den der des die dies diese diesem diesen dieser"
        " dieses durch ein eine einem einen einer eines er es für gibt haben hat hatte ich ihr ihre im in ist ja"
        " jede jeder kann kein keine können lässt machen macht man mein mich mir mit muss nach nicht noch nur ob"
        " oder ohne sein seine sich sie sind so soll sollte um und uns vom von wann war waren warum was"
        " welche welchem welchen welcher welches wenn wer werden wie wieso wir wird wo wofür wozu wurde wurden zu"
        " zum zur über"
        # French
        " au aux avec c ce ces cette comment d dans de des du elle en est et faire fait il ils j je l la le les"
        " leur ma mais mes mon n ne nous on ont ou où par pas peut peux plus pour pourquoi qu quand que quel quelle"
        " quelles quels qui quoi s sa sans se ses son sont sur t ta un une vous y à"
        # Spanish
        " al como con cual cuales cuando cuanto cuantos cuál cuáles cuándo cuánto cuántos cómo de del donde dónde"
        " el ella ellos en entre es esta estas este esto está están fue ha hacer hay la las lo los mi muy más"
        " no o para pero por porque puede puedo que quien quién qué se según si sin sobre son su sus sí también"
        " tiene un una unas unos y"
    ).split()
)

# One alone is a word of English as well, as in "comment syntax".
_FEWEST = 2


def foreign_words(question: str) -> frozenset[str]:
    """Give the words of a question that only make its sentence, if it is German, French or Spanish.

    Example:
        >>> sorted(foreign_words("Wie kann ich das Protokoll abschalten?"))
        ['das', 'ich', 'kann', 'wie']
        >>> foreign_words("What does the comment say on the man page?")
        frozenset()
    """
    words = set(re.findall(r"\w+", question.lower()))
    found = words & FOREIGN_WORDS
    is_english = not (words - FOREIGN_WORDS).isdisjoint(STOP_WORDS | FILLING_WORDS)
    return frozenset() if is_english or len(found) < _FEWEST else frozenset(found)
