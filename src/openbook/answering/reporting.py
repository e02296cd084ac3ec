"""Reports on answers: citations, code blocks and statistics."""

from __future__ import annotations

import re
from collections.abc import Iterable

from openbook.answers import GenerationResult
from openbook.grounding.blocks import Fence, read_line
from openbook.grounding.marks import find_marks

# Places as in `Citation.place`: `auth.py:10-20`, `slides.pdf p. 4`.
_PLACE = re.compile(r"(?<![\w./\\-])[\w./\\-]*\w\.\w{1,8}(?::\d+(?:-\d+)?| p\. \d+)\b")


def check_citations(answer: GenerationResult | str) -> bool:
    """Return whether an answer cites anything. Invalid marks and conflicts do not count.

    In a plain text, any mark such as `[2:14]` or place such as `auth.py:10-20` counts.

    Example:
        >>> check_citations("It waits [2:14]."), check_citations("See `auth.py:10-20`."), check_citations("It waits.")
        (True, True, False)
    """
    if isinstance(answer, str):
        return bool(find_marks(answer)) or _PLACE.search(answer) is not None
    return answer.has_citations


def extract_code_blocks(answer: str) -> list[tuple[str, str]]:
    r"""List the code between fences as language and text, in order. An open fence lasts to the end.

    The language is the first word behind the fence, or empty. Fences that are indented, as in a
    list, take their indentation off the code.

    Example:
        >>> extract_code_blocks("So:\n```python\nwait(1)\n```\n")
        [('python', 'wait(1)')]
    """
    blocks: list[tuple[str, list[str]]] = []
    fence: Fence | None = None
    for line in answer.split("\n"):
        line = line.removesuffix("\r")
        before = fence
        _, fence = read_line(line, before)
        if fence is not None and fence is not before:
            told = line.partition(fence.run)[2].split()
            blocks.append((told[0] if told else "", []))
        elif fence is not None:
            blocks[-1][1].append(line[min(fence.indent, len(line) - len(line.lstrip())) :])
    return [(language, "\n".join(lines)) for language, lines in blocks]


def format_generation_stats(results: Iterable[GenerationResult]) -> str:
    """Print the statistics of answers as plain text, ending in a line feed. No answers give zeros."""
    answers = list(results)
    count = max(1, len(answers))
    claims = [claim for answer in answers for claim in answer.claims if claim.verdict]
    confirmed = sum(claim.verdict in ("exact", "confirmed") for claim in claims)
    conflicts = sum(claim.verdict == "conflict" for claim in claims)
    costs = [answer.cost_usd for answer in answers if answer.cost_usd is not None]
    lines = [
        f"answers         {len(answers)}",
        f"refused         {sum(answer.refused for answer in answers)}",
        f"with citations  {sum(answer.has_citations for answer in answers)}",
        f"claims          {len(claims)}, {confirmed} exact or confirmed, {conflicts} in conflict",
        f"repairs         {sum(len(answer.repairs) for answer in answers)}",
        f"tokens          {sum(answer.total_tokens for answer in answers)}",
        f"cost            {sum(costs):.4f} USD, {len(answers) - len(costs)} of unknown price",
        f"time            {sum(answer.took_ms for answer in answers) / count:.0f} ms an answer",
    ]
    return "".join(f"{line}\n" for line in lines)
