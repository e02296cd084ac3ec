"""What words alone say: exact, conflict, or nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openbook.grounding.literal import RULES, UNCLEAR, ReadClaim, check_literally, names_of_code
from openbook.grounding.protocol import CitedClaim, SourceText

CODE = """\
    def set(self, key, value, expire=None, retry=False):
        if retry:
            time.sleep(0.25)
        limit = 60 * 60
        size = 2**22
        return self._write(key, value)"""
SOURCE = SourceText(f"class Cache:\n{CODE}\n", "cache/core.py", "Cache.set")
PAGE = """\
Transactions may be nested and may not be shared between threads.
The timeout defaults to 0.25 seconds, and the limit to 1 GB.
By default, commands run in `/bin/sh` on Unix and `cmd.exe` on Windows.
When a task times out, a `TimeoutError` is thrown by the worker.
The callback fires from the heartbeat thread when a refresh fails.
Results are recomputed before they expire, in a background thread."""


def of_page(claim: str) -> CitedClaim:
    return CitedClaim(claim, PAGE, (SourceText(PAGE, "docs/tasks.md"),))


def of_code(claim: str) -> CitedClaim:
    return CitedClaim(claim, CODE, (SOURCE,))


@pytest.mark.parametrize(
    ("claim", "rule"),
    [
        pytest.param(of_page("The timeout is 2 seconds unless you set it."), "number", id="other-number"),
        pytest.param(of_page("It waits for 0.25 minutes."), "number", id="other-unit"),
        pytest.param(of_code("It takes chunks of 8 MiB."), "number", id="not-computed"),
        pytest.param(of_code("`Cache.pop` calls it as well."), "identifier", id="absent-name"),
        pytest.param(of_code("Pass `--no-retry` to turn it off."), "identifier", id="absent-option"),
        pytest.param(of_code("What it throws is CacheTimeoutError, at once."), "identifier", id="absent-name-in-prose"),
        pytest.param(of_code("The rest is read from disk_min_size."), "identifier", id="absent-snake-case-in-prose"),
        pytest.param(of_code("After that, maxDepth is checked."), "identifier", id="absent-camel-case-in-prose"),
        pytest.param(of_page('It says "never share a lock" about threads.'), "quote", id="absent-quote"),
        pytest.param(of_page("A transaction may be shared between threads."), "polarity", id="denial-dropped"),
        pytest.param(of_page("The timeout does not default to 0.25 seconds."), "polarity", id="denial-added"),
        pytest.param(of_page("Results are recomputed after they expire in the background."), "opposite", id="opposite"),
        pytest.param(of_page("When a task times out, an `AbortError` is thrown."), "replaced", id="other-literal"),
        pytest.param(
            of_page("The callback fires from the acquiring thread when a refresh fails."), "replaced", id="other-word"
        ),
        pytest.param(
            of_page("By default, commands run in `cmd.exe` on Unix and `/bin/sh` on Windows."),
            "exchanged",
            id="literals-exchanged",
        ),
        pytest.param(
            CitedClaim(
                "An instance coordinates threads, not processes.", "An instance coordinates processes, not threads."
            ),
            "exchanged",
            id="words-exchanged",
        ),
    ],
)
def test_conflict_is_found_by_its_rule(claim: CitedClaim, rule: str) -> None:
    found = check_literally(claim)

    assert found.verdict == "conflict"
    assert RULES[rule](ReadClaim(claim))
    assert found.reason


@pytest.mark.parametrize(
    "claim",
    [
        pytest.param(of_page("Half a minute is far more than the default of 250 ms."), id="smaller-unit"),
        pytest.param(of_code("The limit is one hour, that is 3600 seconds."), id="product"),
        pytest.param(of_code("Chunks have 4 MiB."), id="power"),
        pytest.param(of_code("With `retry=True` it sleeps for a quarter of a second."), id="argument"),
        pytest.param(of_code("There is no `pop` on it."), id="denied-name"),
        pytest.param(of_code("There is no CacheTimeoutError then."), id="denied-name-in-prose"),
        pytest.param(
            of_code("WebAssembly and JavaScript can, on x86_64, an iPhone and macOS."), id="names-of-products"
        ),
        pytest.param(of_code("See read_me.md, docs/some_page and https://a.example/theBestPage."), id="names-of-files"),
        pytest.param(of_code("In line 905, or in lines 3, 7 and 9-12, it sleeps."), id="numbers-of-lines"),
        pytest.param(of_code("Unlike `push`, it overwrites."), id="compared-name"),
        pytest.param(of_code("Something like `session.token` works as a key."), id="example-name"),
        pytest.param(of_code("So `cache.set('a', 7)` followed by another call leaves 7 there."), id="example-number"),
        pytest.param(of_code("1. It sleeps. 2. It writes."), id="enumeration"),
        pytest.param(of_code("Keys are encoded as UTF-8 over HTTP/2."), id="numbers-of-names"),
        pytest.param(of_page("Threads must each begin a transaction of their own."), id="paraphrase"),
        pytest.param(
            of_page("Nesting transactions is allowed; handing one to another thread is not."), id="turned-round"
        ),
        pytest.param(
            CitedClaim(
                "A delivered parcel is never lost.",
                '"""Tell whether a parcel counts as lost."""\nreturn self.state != "delivered" and self.is_lost()',
            ),
            id="denied-by-code",
        ),
        *(
            pytest.param(CitedClaim(claim, source), id=f"foreign-{claim}")
            for claim, source in (
                ("Timeout = 1.5 s", "Le verrou est tenu 30 secondes, et la valeur du délai est de 1,5 s."),
                ("Hold time: 30 s", "Die Sperre wird dreißig Sekunden gehalten, und das ist nicht zu ändern."),
                ("Hold time is 30 s", "El bloqueo se mantiene durante treinta segundos y se libera cada vez."),
                ("Timeout 30 s", "锁最多保持半分钟。"),
            )
        ),
        pytest.param(of_page("It 'gives up' when a task takes too long."), id="scare-quotes"),
        pytest.param(
            CitedClaim(
                'It says "a port that is free, unless PORT is set".', "# a port that is free, unless\n# PORT is set"
            ),
            id="quote-of-a-wrapped-comment",
        ),
        pytest.param(
            CitedClaim('It says "press F1 to leave".', "press <kbd>F1</kbd> [to leave](#x)"), id="quote-of-markup"
        ),
        pytest.param(CitedClaim("`Cache.pop` removes it.", CODE), id="no-source-no-identifier-rule"),
    ],
)
def test_true_claim_is_unverified(claim: CitedClaim) -> None:
    assert check_literally(claim).verdict == "unverified"


def test_the_number_of_a_line_is_judged_by_a_text_that_tells_of_lines() -> None:
    assert check_literally(CitedClaim("It fails in line 6 of the file.", "It fails in line 5 there.")).rule == "number"


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        pytest.param("Sperre: 45 s", "Die Sperre wird 30 Sekunden gehalten, und das ist nicht zu ändern.", id="german"),
        pytest.param("锁最多保持40秒。", "锁最多保持30秒，然后释放。", id="chinese"),
    ],
)
def test_short_claim_in_the_language_of_its_source_is_checked(claim: str, source: str) -> None:
    assert check_literally(CitedClaim(claim, source)).rule == "number"


def test_very_words_without_blanks_between_them_are_exact() -> None:
    page = "锁最多保持三十秒，然后在每次调用之前释放。"

    assert check_literally(CitedClaim("锁最多保持三十秒。", page)).verdict == "exact"
    assert check_literally(CitedClaim("锁最多", page)).verdict != "exact"


@pytest.mark.parametrize(
    "claim",
    [
        pytest.param("Transactions may be nested and may not be shared between threads.", id="as-it-stands"),
        pytest.param("**Transactions** may be `nested`", id="markup-and-a-part"),
        pytest.param("- when a task times out, a TimeoutError is thrown", id="item-and-case"),
    ],
)
def test_very_words_are_exact(claim: str) -> None:
    assert check_literally(of_page(claim)).verdict == "exact"


@pytest.mark.parametrize("claim", ["Yes.", "threads", "may not", "ransactions may be nested"])
def test_fewer_words_or_parts_of_words_are_not_exact(claim: str) -> None:
    assert check_literally(of_page(claim)).verdict != "exact"


@pytest.mark.parametrize(
    ("claim", "cited"),
    [
        ("Use the lock when several threads write.", "Do not use the lock when several threads write."),
        ("Use the lock when several threads write.", "Don't use the lock when several threads write."),
        ("The timeout is 30 seconds.", "It is wrong that the timeout is 30 seconds."),
        ("The timeout is 30 seconds.", "It is wrong that\nthe timeout is 30 seconds."),
        ("The timeout is 30 seconds.", "It isn’t so: the timeout is 30 seconds."),
        ("The timeout is 30 seconds.", "Deprecated: the timeout is 30 seconds."),
        ("The timeout is 30 seconds.", "If a proxy is set, the timeout is 30 seconds."),
        ("Die Sperre wird gehalten.", "Es ist nicht so, die Sperre wird gehalten und ist da."),
        ("Utilisez le verrou.", "N'utilisez pas le verrou. Jamais, utilisez le verrou est une erreur."),
    ],
)
def test_words_behind_others_that_may_reverse_them_are_not_exact(claim: str, cited: str) -> None:
    assert check_literally(CitedClaim(claim, cited)).verdict != "exact"


@pytest.mark.parametrize(
    "cited",
    [
        "Take the lock unless you only read.",
        "Take the lock, but only when several\nthreads write.",
        "Take the lock (except in tests).",
        "take the lock if several threads write",
        "Take the lock — außer beim Lesen.",
    ],
)
def test_words_that_are_limited_behind_them_are_not_exact(cited: str) -> None:
    assert check_literally(CitedClaim("Take the lock.", cited)).verdict != "exact"
    assert check_literally(CitedClaim(cited, cited)).verdict == "exact"


@pytest.mark.parametrize(
    "cited",
    [
        "Take the lock. If it is taken, wait.",
        "- take the lock\n- only wait in tests",
        "| take the lock | if several threads write |",
        "Take the lock and wait.",
    ],
)
def test_words_before_another_statement_are_exact(cited: str) -> None:
    assert check_literally(CitedClaim("Take the lock.", cited)).verdict == "exact"


@pytest.mark.parametrize(
    ("claim", "cited"),
    [
        ("The value is 3.", "The value is 3%."),
        ("The value is 3.", "The value is 3 %."),
        ("The value is 3.", "The value is 3 GB."),
        ("The limit is 5", "The limit is 5-10"),
        ("The limit is 5", "The limit is 5–10"),
        ("The limit is 5", "The limit is 5 to 10"),
        ("value is 5 GB", "value is 5 GB/s"),
        ("value is 5 GB", "value is 5 GB per second"),
        ("range is 10 to 20", "range is 10 to 20 000"),
        ("5 is the limit", "-5 is the limit"),
        ("-5 is the limit", "5 is the limit"),
        (".5 is the limit", "5 is the limit"),
        ("The value is 23", "The value is 2*3"),
        ("a * b is the product", "a b is the product"),
        ("a b is the product", "a * b is the product"),
        ("set the flag --no", "set the flag --no-cache"),
        ("no-cache is set", "--no-cache is set"),
        ("It is written in C", "It is written in C++"),
        ("It is read from config", "It is read from config.yaml"),
    ],
)
def test_a_part_of_a_number_or_a_name_is_not_exact(claim: str, cited: str) -> None:
    assert check_literally(CitedClaim(claim, cited)).verdict != "exact"


@pytest.mark.parametrize(
    ("claim", "cited"),
    [
        ("The timeout is 30 seconds.", "By default, the timeout is 30 seconds."),
        ("Use the lock.", "Do not wait. Use the lock."),
        ("Use the lock.", "Do not use the lock when reading.\n\nuse the lock to write"),
        ("use the lock", "- never wait\n- use the lock"),
        ("use the lock", "| never wait | use the lock |"),
        ("The lock is held for 30 s.", "wait(30)  # The lock is held for 30 s"),
        ("The lock is held by a thread.", "/**\n * The lock is held\n * by a thread.\n */"),
        ("It doesn't wait.", "It doesn’t wait."),
        ("- -5 is the limit.", "-5 is the limit"),
        ("a * b is the product", "**a * b** is the product"),
    ],
)
def test_a_whole_statement_among_others_is_exact(claim: str, cited: str) -> None:
    assert check_literally(CitedClaim(claim, cited)).verdict == "exact"


@pytest.mark.parametrize(
    ("claim", "cited"),
    [
        (
            "The lock is held for 30 seconds and is not shared.",
            "Le verrou est tenu pendant une demi-minute, et il est partagé.",
        ),
        (
            "The server waits for 30 seconds.",
            "Der Server wartet eine halbe Minute und wird dann mit der Arbeit fertig.",
        ),
        ('The page says "too late" to the caller.', "サーバーは三十秒待ちます。遅すぎます。"),
    ],
)
def test_words_decide_nothing_across_languages(claim: str, cited: str) -> None:
    assert check_literally(CitedClaim(claim, cited, (SourceText(cited),))).verdict == "unverified"


def test_name_that_code_spells_otherwise_is_there() -> None:
    assert check_literally(of_code("`timeSleep` and `Cache.set_` are used.")).verdict == "unverified"


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("Client.get(url, 'a', x=1)", ["get"]),
        ("caddy run --watch", ["watch"]),
        ("max_tokens: 5", ["max_tokens"]),
        ("X-Auth-Token", ["X-Auth-Token"]),
        ("[A-Z]", []),
        ("None", []),
        ("x", []),
    ],
)
def test_names_of_code_leave_out_what_is_no_name(code: str, names: list[str]) -> None:
    assert names_of_code(code) == names


@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        *((name, "unverified") for name in ("X-XSRFToken", "x-xsrftoken", "font-size", "X-Forwarded-For", "end-start")),
        *((name, "conflict") for name in ("X-XSRF-Token", "X-Xsrf-Header", "font-token", "XSRF-X")),
    ],
)
def test_a_name_with_hyphens_has_to_be_there_as_a_whole(name: str, verdict: str) -> None:
    text = "It reads X-XSRFToken, HTTP_X_FORWARDED_FOR and font_size, header by header: end - start."

    assert check_literally(CitedClaim(f"It may use `{name}`.", text, (SourceText(text),))).verdict == verdict


@given(st.text(), st.text(), st.text())
def test_any_text_gets_a_verdict(claim: str, cited: str, source: str) -> None:
    found = check_literally(CitedClaim(claim, cited, (SourceText(source),)))

    assert found.verdict in ("exact", "conflict", "unverified")
    assert bool(found.rule) is (found.verdict == "conflict")
    assert found.rule in {"", *RULES}


def test_a_number_beside_a_sign_that_cannot_be_read_is_never_exact() -> None:
    cited = "The correlation was \ufffd0.9393 in 2001, and 12 \ufffd in all."
    why = "the sign beside 0.9393 cannot be read in the source"

    for claim in ("The correlation was \ufffd0.9393 in 2001", "0.9393 in 2001", "It is correlated by -0.9393 overall."):
        verdict = check_literally(CitedClaim(claim, cited))
        assert (verdict.verdict, verdict.reason, verdict.rule) == ("unverified", why, UNCLEAR)
    assert check_literally(CitedClaim("and 12 \ufffd in all", cited)).verdict == "unverified"
    assert check_literally(CitedClaim("The correlation was", cited)).verdict == "exact"
