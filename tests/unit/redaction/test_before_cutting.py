"""A secret is cut out of the raw text: no cut, title, quote or file name of ours leaves a part of it."""

import base64
import json
import textwrap
from random import Random

import pytest

from lerim.memory.slug import make_slug
from lerim.redaction.redact import redact_json, redact_new, redact_secrets
from lerim.sessions.display import clean_line
from lerim.sessions.readers.engine.fields import keep_ends, make_session_title

CHANCE = Random("keys")
BODY = "\n".join(textwrap.wrap(base64.b64encode(CHANCE.randbytes(1200)).decode(), 64))
TOKEN = "ghp_" + "".join(CHANCE.choices("abcdefghijkmnpqrstuvwxyzABCDEFGH23456789", k=36))
BEGIN, END = (f"-----{word} RSA PRIVATE KEY-----" for word in ("BEGIN", "END"))
FIRST_LINE = "MIIEowIBAAKCAQEA" + BODY[16:64]


def parts(secret: str, shown: str) -> list[str]:
    return [secret[at : at + 8] for at in range(len(secret) - 7) if secret[at : at + 8] in shown]


@pytest.mark.parametrize(
    "key",
    [
        f"{BEGIN}\n{BODY}\n{END}",
        f"{BODY}\n{END}",
        f"{BODY[200:]}\n{END}".replace("\n", "\\n"),
        f"{BEGIN}\n{BODY}",
        f"{FIRST_LINE}\n{BODY}",
        "\n".join(f"{number:6}\t{one}" for number, one in enumerate(f"{BODY}\n{END}".split("\n"), 7)),
        "\n".join(f"{number:6}→{one}" for number, one in enumerate(f"{BEGIN}\n{BODY}".split("\n"), 1)),
        base64.b64encode(f"{BEGIN}\n{BODY}\n{END}".encode()).decode(),
    ],
)
def test_a_private_key_is_known_without_its_first_or_last_line(key: str) -> None:
    shown = redact_secrets(f"Here it is:\n{key}\nUse it for the deploy.").text
    assert not any(parts(one.strip(), shown) for one in key.replace("\\n", "\n").split("\n") if len(one) > 30)
    assert shown.startswith("Here it is:")
    assert shown.endswith("Use it for the deploy.")


def test_a_certificate_and_a_public_key_stay() -> None:
    certificate = f"-----BEGIN CERTIFICATE-----\n{BODY}\n-----END CERTIFICATE-----"
    assert redact_secrets(certificate).text == certificate
    named = 'if "-----BEGIN RSA PRIVATE KEY-----" in text: warn()'
    assert redact_secrets(named).text == named


def test_a_title_shows_no_part_of_a_secret_it_is_cut_in() -> None:
    for before in range(0, 140, 7):
        said = "x " * (before // 2) + f"use {TOKEN} for the deploy"
        ends = redact_secrets(keep_ends(said * 400)[0]).text
        for shown in (make_session_title(said), clean_line(said), make_slug(said), ends):
            assert not parts(TOKEN[4:], shown) and not parts(TOKEN[4:].lower(), shown)


def test_json_stays_json_and_loses_its_secrets() -> None:
    value = {"a": f"token: {TOKEN}", "b": ['say "hi"', f"<private>{TOKEN}"], "c": 1}
    shown = redact_json(json.dumps(value))
    assert TOKEN not in shown
    assert json.loads(shown)["b"][0] == 'say "hi"'
    assert json.loads(shown)["c"] == 1


def test_what_a_person_wrote_into_a_file_is_not_taken_from_it() -> None:
    assert redact_new(f"a {TOKEN} b", f"before {TOKEN}") == f"a {TOKEN} b"
    assert TOKEN not in redact_new(f"a {TOKEN} b", "before")
