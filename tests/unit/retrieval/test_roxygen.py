from __future__ import annotations

from openbook.retrieval.setting_entries import setting_entries


def test_a_parameter_is_described_by_its_comment_in_the_style_of_roxygen() -> None:
    described = "#' @param .reach All of the\n#'   metres that it reaches."
    text = f"#' Lift.\n#'\n{described}\n#' @return None.\nlift <- function(.reach) NULL\n"

    (entry,) = setting_entries(text, "reach", kind="code")

    assert entry.is_described
    assert text[entry.start : entry.end] == described
