"""Access tokens and private keys are masked, in place; placeholders and hashes are not."""

from __future__ import annotations

import random
import string

import pytest

from openbook.sources.masking import mask_secrets

_ALNUM = string.ascii_letters + string.digits
_KEY = "-----BEGIN RSA PRIVATE KEY-----\n{}\n{}\n-----END RSA PRIVATE KEY-----"


def made_up(length: int, letters: str = _ALNUM) -> str:
    """Return characters that look random, the same each time. Written out, they would look like somebody's secret."""
    return "".join(random.Random(length).choices(letters, k=length))


SECRETS = {
    "GitHub token": f"ghp_{made_up(36)}",
    "GitLab token": f"glpat-{made_up(20)}",
    "AWS access key": f"AKIA{made_up(16, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567')}",
    "AWS secret key": f'aws_secret_access_key = "{made_up(40)}"',
    "Google API key": f"AIza{made_up(35)}",
    "Slack token": f"xoxb-{made_up(12, string.digits)}-{made_up(24)}",
    "Stripe key": f"sk_live_{made_up(24)}",
    "OpenAI key": f"sk-proj-{made_up(40)}T3BlbkFJ{made_up(41)}",
    "Anthropic key": f"sk-ant-api03-{made_up(93)}-{made_up(6)}AA",
    "npm token": f"npm_{made_up(36)}",
    "JSON web token": f"eyJ{made_up(20)}.eyJ{made_up(60)}.{made_up(43)}",
    "private key": _KEY.format(made_up(64), made_up(63)),
}


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_is_masked_in_place(name: str) -> None:
    text = f"# Setup\n\nuse '{SECRETS[name]}' for now\nand renew it\n"

    masked, found = mask_secrets(text)

    assert len(masked) == len(text)
    assert [len(line) for line in masked.split("\n")] == [len(line) for line in text.split("\n")]
    assert SECRETS[name][-12:] not in masked or name == "private key"
    assert masked.startswith("# Setup\n\nuse '")
    assert masked.endswith("' for now\nand renew it\n")
    assert found == [f"{name} on line 3"]


@pytest.mark.parametrize(
    "text",
    [
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "AKIAIOSFODNN7EXAMPLE",
        "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "ghp_ is the prefix of a token",
        f"sha256:{made_up(64, '0123456789abcdef')}",
        "-----BEGIN PUBLIC KEY-----\nMFwwDQYJ\n-----END PUBLIC KEY-----",
        "if re.match('-----BEGIN RSA PRIVATE KEY-----', text):",
    ],
)
def test_ordinary_text_is_not_masked(text: str) -> None:
    assert mask_secrets(text) == (text, [])


def test_each_secret_is_named_with_its_line() -> None:
    text = f"{SECRETS['private key']}\nA={SECRETS['npm token']}\n\nB={SECRETS['GitHub token']}"

    assert mask_secrets(text)[1] == ["private key on line 1", "npm token on line 5", "GitHub token on line 7"]


def test_many_secrets_of_a_kind_are_named_once_with_the_first_of_their_lines() -> None:
    token = f"A={SECRETS['npm token']}"

    assert mask_secrets("\n".join([token, "", f"{token} {token}"]))[1] == ["npm token on lines 1, 3"]
    assert mask_secrets("\n".join([token] * 9))[1] == ["npm token on lines 1, 2, 3 and 6 more"]


def test_masking_again_changes_nothing() -> None:
    masked, _ = mask_secrets("\n".join(SECRETS.values()))

    assert mask_secrets(masked) == (masked, [])
