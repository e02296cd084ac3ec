"""The rules of axe-core for pages that everyone can use."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page

from tests.web.npm import Tool

AXE = Tool("axe-core", "4.14.1", "e6b0ce02b84d892e2e33e403485e7f3d6c29e2be6df65daf44d89ba564139745")

_RUN = """async () => {
    const runOnly = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
    const { passes, violations } = await axe.run(document, { runOnly });
    return [passes.map(({ id }) => id), violations.map(({ id, nodes }) =>
        [id, nodes.map((each) => each.html.slice(0, 120) + " " + each.failureSummary)])];
}"""


# Each page has colours and regions to check; most of them have fields too.
_COMMON = frozenset({"color-contrast", "label", "region"})


def violations(page: Page, axe: str, *, expected: frozenset[str] = _COMMON) -> list[Any]:
    """Check a page as it is now, and give each rule that is broken with the elements that break it."""
    page.evaluate(axe)
    passed, found = page.evaluate(_RUN)
    assert expected <= {*passed, *(rule for rule, _ in found)}, "axe saw no page"
    return list(found)
