"""Secrets in idioms, glued, escaped or joined; and what engineers see every day that is none."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from lerim.redaction.redact import redact_secrets

CHARACTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
HEX = "0123456789abcdef"
DRAW = Random(7)
LOOK_ALIKES = (Path(__file__).parent / "lookalikes.txt").read_text(encoding="utf-8").splitlines()


def made(characters: str, length: int) -> str:
    return "".join(DRAW.choice(characters) for _ in range(length))


def a_uuid() -> str:
    return "-".join(made(HEX, length) for length in (8, 4, 4, 4, 12))


IDIOMS = [
    "creds: admin / {V}",
    "creds: admin:{V}",
    "log in with admin:{V}",
    "smbclient //h/s -U 'jane%{V}'",
    "net use Z: \\\\h\\s /user:ACME\\jane {V}",
    "[Environment]::SetEnvironmentVariable('ADMIN_PW','{V}','User')",
    "app_secret: {V}",
    "pass: {V}",
    "AUTH={V}",
    "setenv API_KEY {V}",
    "ENV DB_PASS {V}",
    'const password: string = "{V}"',
    '.withPassword("{V}")',
    'login("ana","{V}")',
    "password:\n{V}",
    "password: |\n  {V}",
    '<entry name="password">{V}</entry>',
    '"master_password":{"value":"{V}"}',
    '"master_password": {\n  "value": "{V}",\n',
    "| user | password |\n|---|---|\n| ana | {V} |",
    "user,password\nana,{V}\nbob,x",
    'curl -u "ana:{V}" https://h',
    "zip -P {V} a.zip b",
    "ldapsearch -x -D cn=a -w {V} -b dc=x",
    "xfreerdp /u:ana /p:{V} /v:host",
    "gh secret set NAME --body {V}",
    "h.example.org\tFALSE\t/\tTRUE\t1790000000\tsid\t{V}",
    "la contraseña es {V}",
    'const apiSecret: string = "{V}"',
    "setx DB_PASSWORD {V}",
    'export AUTH="{V}"',
]
FORMS = [
    ("tk-us-", made(CHARACTERS, 48)),
    ("re_", made(CHARACTERS, 8) + "_" + made(CHARACTERS, 24)),
    ("waka_", a_uuid()),
    ("dnkey-", made(CHARACTERS, 40)),
    ("s-s4t2ud-", made(HEX, 64)),
    ("p8e-", made(CHARACTERS, 40)),
    ("ico-", made(CHARACTERS, 32)),
    ("rpa_", made(CHARACTERS, 40)),
    ("secret-live-", a_uuid()),
    ("1000.", made(HEX, 32) + "." + made(HEX, 32)),
    ("pat.", made(CHARACTERS, 22) + "." + made(HEX, 24) + "." + made(CHARACTERS, 20)),
    ("live_", made(HEX, 35)),
    ("s.", made(CHARACTERS, 24)),
    ("sk.eyJ", made(CHARACTERS, 80) + "." + made(CHARACTERS, 22)),
    ("eyJhbGciOiJIUzI1NiJ9.", "eyJ" + made(CHARACTERS, 40)),
]
ACCESS_KEY = "AKIA" + made("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16)
TOKEN = "ghp_" + made(CHARACTERS, 36)
JOINTS = ['" + "', "<wbr>", "<b>", "</b>", "**", "' + '", '" +\n    "', '"\n"']
ESCAPES = ["\\_", "\\u005f", "%5F", "&#95;", "&#x5f;"]


def readable(value: str, text: str) -> bool:
    return any(value[at : at + 8] in text for at in range(len(value) - 7))


@pytest.mark.parametrize("line", LOOK_ALIKES)
def test_what_only_looks_like_a_secret_comes_back_unchanged(line: str) -> None:
    assert redact_secrets(line).text == line


@pytest.mark.parametrize("idiom", IDIOMS)
@pytest.mark.parametrize("value", ["bQx7Rk2mTzW9", "hunter677!aslv"])
def test_a_secret_in_an_idiom_is_cut(idiom: str, value: str) -> None:
    assert not readable(value, redact_secrets(idiom.replace("{V}", value)).text)


@pytest.mark.parametrize(("head", "rest"), FORMS)
def test_the_form_of_a_vendor_is_cut(head: str, rest: str) -> None:
    assert not readable(rest, redact_secrets(f"it printed {head}{rest} and stopped").text)


@pytest.mark.parametrize("around", ["__{}__", "_{}_", "--{}--", "x_{}", "<b>{}</b>", "**{}**", "id={}_x"])
def test_a_token_glued_to_other_characters_is_cut(around: str) -> None:
    assert not readable(ACCESS_KEY, redact_secrets(around.format(ACCESS_KEY)).text)


@pytest.mark.parametrize("joint", JOINTS)
@pytest.mark.parametrize("token", [ACCESS_KEY, TOKEN])
def test_a_token_in_two_parts_is_cut(token: str, joint: str) -> None:
    half = len(token) // 2
    text = redact_secrets(f't = "{token[:half]}{joint}{token[half:]}" end').text
    assert not readable(token[:half], text)
    assert not readable(token[half:], text)


@pytest.mark.parametrize("escape", ESCAPES)
def test_a_token_whose_underscore_is_escaped_is_cut(escape: str) -> None:
    assert not readable(TOKEN[4:], redact_secrets(f"x {TOKEN.replace('_', escape)} y").text)


def test_a_token_in_full_width_is_cut() -> None:
    wide = "".join(chr(ord(character) + 0xFEE0) for character in TOKEN)
    assert not readable(wide, redact_secrets(f"x {wide} y").text)
