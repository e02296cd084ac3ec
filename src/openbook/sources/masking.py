"""Masks access tokens and private keys in text, so that they reach no index, prompt or answer.

Only formats designed to be recognized: a fixed prefix, then random characters. A password that looks like a word is not
masked. (detect-secrets 1.5 finds more but reads only 0.2 MB per second, a twelfth of the speed of indexing; searching
for prefixes costs almost nothing where none occurs.)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

# Placeholders repeat characters (`ghp_xxxxxxxx`), random ones do not: of 20 random hexadecimal characters, fewer than 8
# differ in 4 of 100,000 cases.
_MIN_DIFFERENT = 8
_MAX_LINES = 3

_PLACEHOLDER = re.compile("example|placeholder|your|dummy|fake|redacted", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Format:
    name: str
    literals: tuple[str, ...]
    """Every text with such a secret contains one of these. They stay readable if the pattern has no group."""
    pattern: re.Pattern[str]
    """Matches the secret. The group `secret` is masked; without it, everything after the literal."""


def _format(name: str, literals: str, rest: str) -> _Format:
    """Build a format of a literal and the characters after it, not within a longer word."""
    words = tuple(literals.split())
    starts = "|".join(map(re.escape, words))
    return _Format(name, words, re.compile(rf"(?<![A-Za-z0-9])(?:{starts})(?P<secret>{rest})(?![A-Za-z0-9])"))


# Formats as issuers document or print them.
_FORMATS = (
    _format("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", r"[A-Za-z0-9]{36,255}"),
    _format("GitHub token", "github_pat_", r"[A-Za-z0-9]{22}_[A-Za-z0-9]{59}"),
    _format("GitLab token", "glpat- gldt- glrt- glcbt- glptt- glft- glsoat-", r"[A-Za-z0-9_-]{20,64}"),
    _format("AWS access key", "AKIA ASIA", r"[A-Z2-7]{16}"),
    _Format(
        "AWS secret key",
        ("aws_secret", "AWS_SECRET", "SecretAccessKey", "secretAccessKey"),
        re.compile(
            r"""(?:aws_secret\w*|SecretAccessKey)["']?\s{0,8}[:=]\s{0,8}["']?(?P<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])""",
            re.IGNORECASE,
        ),
    ),
    _format("Google API key", "AIza", r"[A-Za-z0-9_-]{35}"),
    _format("Google client secret", "GOCSPX-", r"[A-Za-z0-9_-]{28}"),
    _format("Slack token", "xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xapp-", r"[A-Za-z0-9-]{20,255}"),
    _format("Slack webhook", "hooks.slack.com/services/", r"T[A-Z0-9]{8,12}/B[A-Z0-9]{8,12}/[A-Za-z0-9]{20,32}"),
    _format("Stripe key", "sk_live_ sk_test_ rk_live_ rk_test_ whsec_", r"[A-Za-z0-9+/]{24,247}"),
    _Format(
        "OpenAI key",
        ("T3BlbkFJ",),
        re.compile(
            r"(?<![A-Za-z0-9])sk-(?:proj-|svcacct-|admin-)?(?P<secret>[A-Za-z0-9_-]{20,200}T3BlbkFJ[A-Za-z0-9_-]{20,200})"
        ),
    ),
    _format("Anthropic key", "sk-ant-", r"[A-Za-z0-9]{3,12}-[A-Za-z0-9_-]{60,200}"),
    _format("Groq key", "gsk_", r"[A-Za-z0-9]{48,64}"),
    _format("xAI key", "xai-", r"[A-Za-z0-9]{70,90}"),
    _format("Hugging Face token", "hf_", r"[A-Za-z0-9]{34,40}"),
    _format("Replicate token", "r8_", r"[A-Za-z0-9]{37}"),
    _format("npm token", "npm_", r"[A-Za-z0-9]{36}"),
    _format("PyPI token", "pypi-AgE", r"[A-Za-z0-9_-]{50,255}"),
    _format("RubyGems key", "rubygems_", r"[a-f0-9]{48}"),
    _format("Docker token", "dckr_pat_ dckr_oat_", r"[A-Za-z0-9_-]{27,64}"),
    _format("DigitalOcean token", "dop_v1_ doo_v1_ dor_v1_", r"[a-f0-9]{64}"),
    _format("SendGrid key", "SG.", r"[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}"),
    _format("Shopify token", "shpat_ shpca_ shppa_ shpss_", r"[A-Fa-f0-9]{32}"),
    _format("Databricks token", "dapi", r"[a-f0-9]{32}(?:-\d)?"),
    _format("Vault token", "hvs. hvb. hvr.", r"[A-Za-z0-9_-]{24,300}"),
    _format("Grafana token", "glsa_", r"[A-Za-z0-9]{32}_[a-f0-9]{8}"),
    _format("Linear key", "lin_api_", r"[A-Za-z0-9]{40}"),
    _format("New Relic key", "NRAK-", r"[A-Z0-9]{27}"),
    _format("Atlassian token", "ATATT3", r"[A-Za-z0-9_=-]{100,255}"),
    _format("Supabase token", "sbp_", r"[a-f0-9]{40}"),
    _format("age key", "AGE-SECRET-KEY-1", r"[A-Z0-9]{58}"),
    _format("JSON web token", "eyJ", r"[A-Za-z0-9_-]{10,2000}\.eyJ[A-Za-z0-9_-]{10,8000}\.[A-Za-z0-9_-]{20,1000}"),
    _Format(
        "private key",
        ("PRIVATE KEY",),
        re.compile(
            r"-----BEGIN (?P<kind>[A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?)-----"
            r"(?P<secret>(?:(?!-----).){40,20000})-----END (?P=kind)-----",
            re.DOTALL,
        ),
    ),
)


def mask_secrets(text: str) -> tuple[str, list[str]]:
    """Mask the secrets in a text.

    Returns:
        The text, with the same length and lines: each character of a secret is an asterisk, except its prefix and white
        space. And what was masked, each kind once, in order: `GitHub token on line 3`, `JSON web token on lines 3, 9,
        12 and 5 more`.

    Example:
        >>> mask_secrets("token = ghp_" + "x7Kq2LmN8vRt4WzYp1Bc5DfGh9JsAe3UoIi6")
        ('token = ghp_************************************', ['GitHub token on line 1'])
    """
    found = sorted(_secrets(text))
    if not found:
        return text, []
    parts, end, line = [], 0, 1
    lines: dict[str, dict[int, None]] = {}
    for start, stop, name in found:
        if start < end:  # overlaps the previous secret
            continue
        line += text.count("\n", end, start)
        parts += [text[end:start], re.sub(r"\S", "*", text[start:stop])]
        lines.setdefault(name, {})[line] = None
        line += text.count("\n", start, stop)
        end = stop
    return "".join([*parts, text[end:]]), [f"{name} on {_listed(list(places))}" for name, places in lines.items()]


def _listed(lines: list[int]) -> str:
    """List line numbers in order, only the first few: login tests have a token on each page."""
    if len(lines) == 1:
        return f"line {lines[0]}"
    shown = ", ".join(map(str, lines[:_MAX_LINES]))
    more = len(lines) - _MAX_LINES
    return f"lines {shown} and {more} more" if more > 0 else f"lines {shown}"


def _secrets(text: str) -> Iterator[tuple[int, int, str]]:
    for form in _FORMATS:
        if any(literal in text for literal in form.literals):
            for match in form.pattern.finditer(text):
                secret = match["secret"]
                if len(set(secret)) >= _MIN_DIFFERENT and not _PLACEHOLDER.search(secret):
                    yield *match.span("secret"), form.name
