"""What is cut, and by which name, and what only looks like a secret and stays."""

import re
import unicodedata
from pathlib import Path

import pytest

from lerim.redaction.clean_texts import CleanTexts, make_key
from lerim.redaction.redact import redact_secrets
from lerim.redaction.search import remove_private_blocks

HERE = Path(__file__).parent
# put together here so that no scanner takes this file for a leak
A, D = "abcdefghijklmnopqrstuvwxyz", "0123456789"
SECRETS = [  # the forms of all other vendors are in forms_of_secrets.txt and in evals/
    ("AKIA" + "IOSFODNN7EXAMQLE", "aws-access-key"),
    ("ghp_" + A + D, "github-token"),
    ("sk-ant-" + "api03-a1B2c3D4e5F6g7H8i9J0", "anthropic-key"),
    ("sk-proj-" + "a1B2c3D4e5F6g7H8i9J0k1L2", "openai-key"),
    ("sk_live_" + "a1B2c3D4e5F6g7H8", "stripe-key"),
    ("eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl", "jwt"),
    ("-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEpAIBAAKCAQEA7\n" * 3 + "-----END RSA PRIVATE KEY-----", "private-key"),
    ("-----BEGIN OPENSSH PRIVATE KEY-----\n" + "b3BlbnNzaC1rZXkt" * 4, "private-key"),
    ("123456789:" + "AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw9", "telegram-token"),
    ("MTk4NjIyNDgzNDcxOTI1MjQ4." + "Cl2FMQ." + "ZnCjm1XVW7vRze4b7Cq4se7kKWs1a2", "discord-token"),
    ("key-" + "0123456789abcdef" * 2, "mailgun-key"),
    ("<private>the new office is in Ghent</private>", "private"),
]

ACCESS_KEY, TOKEN = "AKIA" + "Q7WXZ2LMNP4RSTUV", "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z5A"
PLAIN_TOKEN = "ghp_" + "a1" * 18


def lines(name: str) -> list[str]:
    """The lines of a file; `␤` and `␉` stand for the end of a line and a tab."""
    return [line.replace("␤", "\n").replace("␉", "\t") for line in (HERE / name).read_text("utf-8").splitlines()]


def readable(secret: str, text: str) -> bool:
    """Whether eight characters in a row of a secret can be read."""
    return any(secret[at : at + 8] in text for at in range(len(secret) - 7))


@pytest.mark.parametrize(("secret", "kind"), SECRETS)
def test_a_secret_is_replaced_by_its_kind(secret: str, kind: str) -> None:
    found = redact_secrets(f"before {secret} after" if kind != "private-key" else f"before {secret}")
    assert found.text.startswith(f"before [redacted:{kind}]")
    assert (found.count, found.spans[0].start) == (1, len("before "))
    assert secret[10:] not in found.text
    assert redact_secrets(found.text).text == found.text


def test_a_value_is_cut_where_its_name_says_what_it_is() -> None:
    kind = ""
    for line in lines("named_secrets.txt"):  # each secret stands between ⟪ and ⟫, under its kind
        kind = line[3:] if line.startswith("## ") else kind
        text, cut = re.sub("[⟪⟫]", "", line), re.sub("⟪.*⟫", f"[redacted:{kind}]", line, flags=re.DOTALL)
        assert redact_secrets(text).text == cut


def test_a_secret_in_an_idiom_is_cut() -> None:
    for value in ("bQx7Rk2mTzW9", "hunter677!aslv"):
        told = {idiom: redact_secrets(idiom.replace("{V}", value)).text for idiom in lines("idioms.txt")}
        assert [idiom for idiom, text in told.items() if readable(value, text)] == []


NUMBERED = ["app/db.go:12:", "Dockerfile:12:", "deploy/.env-12-", "12:", "    12→", "    12\t"]
"""What a search or an agent's reading puts before each line of a file."""


@pytest.mark.parametrize("number", NUMBERED)
@pytest.mark.parametrize(
    "line",
    [
        'password = "hunter2sun"',
        "ENV DB_PASS Sommer2024",
        "password: 12345678",
        "db.acme.dev:5432:shop:app:cyi3vicRQh1tVI",
        "admin:$apr1$To1AgYrG$yFMTlqGTfaUEEMInmF8TXi",
        "hf_5DLrOz5jbghGzU9I6FXBhD34YeUPofv1bq",
    ],
)
def test_a_secret_is_cut_from_a_line_with_its_number_as_from_the_file(line: str, number: str) -> None:
    alone = redact_secrets(line).text
    assert alone != line
    assert redact_secrets(f"{number}user = ana\n{number}{line}").text == f"{number}user = ana\n{number}{alone}"


@pytest.mark.parametrize("number", NUMBERED[3:])
def test_what_only_looks_like_a_secret_stays_in_a_line_with_its_number(number: str) -> None:
    texts = [f"{number}{line}" for line in lines("lookalikes.txt")]
    assert [text for text in texts if redact_secrets(text).text != text] == []


def test_a_private_block_goes_whole_if_a_token_in_it_was_removed_before() -> None:
    text = "a\n<private>\nAna earns 95k. The token was [redacted:github-token].\n</private>\nb"
    assert redact_secrets(text).text == "a\n[redacted:private]\nb"


def test_a_secret_is_cut_whole_at_any_distance_from_another_in_the_same_idiom() -> None:
    shown: list[tuple[str, int]] = []
    for idiom in lines("idioms.txt"):
        for distance in (*range(370, 470, 5), *range(830, 930, 5)):
            between = ("so it goes on " * 70)[:distance]
            text = f"{idiom.replace('{V}', 'bQx7Rk2mTzW9')}\n{between}\n{idiom.replace('{V}', 'Hn5Zc8LpT3yGs6')}"
            clean = redact_secrets(text).text
            shown += [(idiom, distance)] if "Hn5" in clean or "Gs6" in clean else []
    assert shown == []


def test_what_only_looks_like_a_secret_comes_back_unchanged() -> None:
    assert [line for line in lines("lookalikes.txt") if redact_secrets(line).text != line] == []


@pytest.mark.parametrize(
    "variable",
    [
        "DB_PASSWORD=Tr0ub4dor&3x",
        "DB_PASS=Tr0ub4dor3x",
        "SMTP_PASS=pwesDpFvWckZPsBr",
        "SEARCH_KEY=" + "ea3fb57672ef91eb" * 2,
    ],
)
@pytest.mark.parametrize("empty", ["API_TOKEN=\n", "PASSWORD=\n", "SECRET_KEY=\n\n", "    29→SECRET_KEY=\n"])
def test_the_secret_of_a_variable_after_an_empty_one_is_cut_as_if_it_stood_alone(variable: str, empty: str) -> None:
    alone = redact_secrets(variable).text
    assert alone != variable
    assert redact_secrets(f"{empty}{variable}\nPORT=1").text == f"{empty}{alone}\nPORT=1"


@pytest.mark.parametrize("hidden", ["\u200b", "\u2060", "\u202e", "\U000e0041", "\x1b[31m", "\u00ad\ufeff"])
def test_characters_that_do_not_show_hide_neither_a_secret_nor_its_name(hidden: str) -> None:
    for at in (0, 2, 12, 40):
        found = redact_secrets(f"é\u200b before {TOKEN[:at]}{hidden}{TOKEN[at:]} after")
        assert found.text.replace(hidden, "").replace("\u200b", "") == "é before [redacted:github-token] after"
        assert found.count == 1
    assert "swordfishy" not in redact_secrets(f"pass{hidden}word{hidden}: swordfishy").text


@pytest.mark.parametrize(
    "text",
    [
        *(
            around.replace("{}", ACCESS_KEY)
            for around in ("__{}__", "_{}_", "--{}--", "x_{}", "<b>{}</b>", "**{}**", "id={}_x")
        ),
        *(f"{glue}{TOKEN}" for glue in "0a_="),
        *(f"x {TOKEN.replace('_', escape)} y" for escape in ("\\_", "\\u005f", "%5F", "&#95;", "&#x5f;")),
        "x " + "".join(chr(ord(character) + 0xFEE0) for character in TOKEN) + " y",  # in full width
        *(
            f't = "{token[: len(token) // 2]}{joint}{token[len(token) // 2 :]}" end'
            for token in (ACCESS_KEY, TOKEN)
            for joint in ('" + "', "<wbr>", "<b>", "</b>", "**", "' + '", '" +\n    "', '"\n"')
        ),
    ],
)
def test_a_token_that_is_glued_to_others_escaped_or_in_two_parts_is_cut(text: str) -> None:
    told = redact_secrets(text).text
    for token in (ACCESS_KEY, TOKEN, PLAIN_TOKEN):
        half = len(token) // 2
        for part in (token[:half], token[half:]):
            assert not readable(part, told) and not readable(part, unicodedata.normalize("NFKC", told))


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a <private>x</private> b", "a \n\n b"),
        ("a <PRIVATE>x", "a \n\n"),
        ("a <private>x <private>y</private> z</private> b", "a \n\n b"),
        ("a <private>" + "x" * 9000 + " always use uv</private> b", "a \n\n b"),
        ("no </private> here", "no </private> here"),
    ],
)
def test_private_blocks_are_left_out_whole(text: str, left: str) -> None:
    assert remove_private_blocks(text) == left


@pytest.mark.parametrize("text", ["use the loader", "use the loader at every start " * 10])
def test_no_more_texts_are_remembered_than_were_asked_for(text: str) -> None:
    clean = CleanTexts(most=3)
    keys = [make_key(f"{text} {number}") for number in range(8)]
    for key in keys:
        clean.add(key)
        assert key in clean.keys
    assert len(clean.keys) <= 3 and len(set(keys)) == 8
