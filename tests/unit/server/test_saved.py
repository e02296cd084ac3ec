from __future__ import annotations

from typing import Any

from openbook.server.presenting import read_record

# As the versions before `exact` and `conflict` wrote it.
OLD_HTML = (
    '<p>It waits <span class="hold"><a class="cite cite-supported" href="#cite-1" data-cite="1"'
    ' aria-label="Source 1: supported by the source, a&gt;b.py:1-1" rel="noopener noreferrer nofollow">'
    '<span class="cite-sign" aria-hidden="true">✓</span>1</a>.</span>'
    ' <span class="claim claim-unsupported" title="no &quot;b > a&quot;">It hums <span class="hold">'
    '<a class="cite cite-unsupported" href="#cite-2" data-cite="2" aria-label="Source 2: not supported by the source,'
    ' a>b.py:1-1" rel="noopener noreferrer nofollow"><span class="cite-sign" aria-hidden="true">×</span>2'
    ' <span class="cite-words">not supported</span></a>.</span><span class="unseen"> (not supported: no "b &gt; a")'
    '</span></span> <span class="claim claim-uncited" title="no mark">It flies.'
    '<span class="flag">no source given</span><span class="unseen"> (no source given: no mark)</span></span>'
    ' <span class="claim claim-unknown" title="none">'
    'It swims <span class="hold"><a class="cite cite-unknown" href="#cite-3" data-cite="3" aria-label="Source 3: names'
    ' nothing that was shown"><span class="cite-sign" aria-hidden="true">?</span>3 <span class="cite-words">no such'
    ' source</span></a>.</span><span class="unseen"> (no such source: none)</span></span></p>\n'
)


def saved(model: str = "scripted:tutor") -> dict[str, Any]:
    verdicts = ("supported", "unsupported", "unknown")
    return {
        "model": model,
        "html": OLD_HTML,
        "citations": [{"verdict": verdict, "place": "a>b.py:1-1", "reason": ""} for verdict in verdicts],
        "claims": [{"text": verdict, "verdict": verdict} for verdict in (*verdicts, "partial", "uncited")],
        "quality_score": 0.2,
    }


def test_chips_of_an_old_answer_say_the_verdicts_of_today() -> None:
    html = read_record(saved())["html"]

    assert html.count('class="cite cite-unverified"') == 2
    assert html.count('class="cite cite-unknown"') == 1
    assert "Source 2: not verified, a&gt;b.py:1-1" in html
    assert "supported" not in html


def test_notes_by_word_overlap_are_removed_from_stored_answers() -> None:
    html = read_record(saved())["html"]

    assert "no source given" not in html
    assert '<span>It hums <span class="hold">' in html
    assert '<span class="claim claim-unknown" title="none">It swims ' in html
    assert "(no such source: none)" in html
    assert html.count("<span") == html.count("</span>")


def test_old_quotes_without_a_model_are_exact() -> None:
    read = read_record(saved("extractive"))

    assert '<a class="cite cite-exact" href="#cite-1"' in read["html"]
    assert read["citations"][0]["verdict"] == "exact"


def test_the_quality_of_an_old_answer_counts_what_is_still_decided() -> None:
    assert read_record(saved())["quality_score"] == 0.0  # a mark that names nothing
    assert read_record(saved("extractive"))["quality_score"] == 0.5


def test_an_answer_of_today_is_read_as_it_was_saved() -> None:
    record = {
        "model": "scripted:tutor",
        "html": '<p>It waits <a class="cite cite-conflict" href="#cite-1" data-cite="1">1</a></p>',
        "citations": [{"verdict": "conflict", "place": "a.py:1-1", "reason": "no"}],
        "claims": [{"text": "It waits", "verdict": "conflict"}],
        "quality_score": 0.0,
    }

    assert read_record(record) == record
