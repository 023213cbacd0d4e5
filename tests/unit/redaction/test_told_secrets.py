"""What a text around a value tells, and text made to keep the rules busy."""

import base64
from pathlib import Path

import pytest

from lerim.redaction.redact import redact_secrets
from long import at_most
from surfaces import load, survives

EVALS = Path(__file__).resolve().parents[3] / "evals"
VALUE = "".join(("q7Fj2", "Kx9Lm", "4Rt8V"))
PACKED = b'{"a": "b"}' * 200
for _ in range(8):
    PACKED = base64.b64encode(PACKED)
HOSTILE = (
    PACKED.decode(),
    "password password ",
    "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n",
    "Cookie: a=b; ",
    "| password | token |\n",
    "password  token  key\n",
    'login("a1B2c3D4e5F6", ',
    "key is the key to the key ",
    "kind: Secret\ndata:\n  a: bbbbbbbb\n",
    "curl -u a:b -p c ",
    "<password><key>",
    "токен ключ пароль ",
)


def test_a_set_written_blind_is_cut_and_its_look_alikes_come_back_whole() -> None:
    items = load(EVALS / "secrets-a.toml")
    left = [one.id for one in items if one.kind == "secret" and survives(one, redact_secrets(one.text).text)]
    changed = [one.id for one in items if one.kind == "lookalike" and redact_secrets(one.text).text != one.text]
    assert len(left) <= 0.03 * 175, left
    assert len(changed) <= 0.02 * 159, changed


@pytest.mark.parametrize("unit", HOSTILE)
def test_a_unit_repeated_many_times_comes_to_an_end(unit: str) -> None:
    assert redact_secrets(unit * (max(1, at_most(100_000, few=10_000) // len(unit)))).text


def test_base64_of_a_text_with_a_secret_is_cut() -> None:
    packed = base64.b64encode(f'{{"user": "ci", "password": "{VALUE}"}}'.encode()).decode()
    assert packed not in redact_secrets(f"CONFIG_B64={packed}").text
    harmless = base64.b64encode(b'{"name": "acme", "version": "1.2.3", "private": "no"}').decode()
    assert redact_secrets(f"CONFIG_B64: {harmless}").text == f"CONFIG_B64: {harmless}"


def test_the_cell_below_a_heading_of_passwords_is_cut_and_its_neighbours_stay() -> None:
    told = redact_secrets(f"| host | password |\n|---|---|\n| db1x2y3z4 | {VALUE} |\n").text
    assert VALUE not in told
    assert "db1x2y3z4" in told


def test_the_data_of_every_secret_of_kubernetes_is_cut_wherever_its_kind_stands_and_that_of_other_kinds_stays() -> None:
    def item(value: str, kind: str) -> str:
        return f"- apiVersion: v1\n  data:\n    cookie: {value}\n  kind: {kind}\n  metadata:\n    name: app\n"

    data, other = "data:\n  cookie: c2VjcmV0MTIzNDU2Nzg=\n", "---\nkind: ConfigMap\ndata:\n  colour: cmVkZGlzaC1ibHVl\n"
    secret, harmless = item("c2VjcmV0OTg3NjU0", "Secret"), item("cmVkZGlzaC1ibHVl", "ConfigMap")
    for text in (
        f"apiVersion: v1\n{data}kind: Secret\nmetadata:\n  name: app\n{other}",
        f"apiVersion: v1\nkind: Secret\n{data}{other}",
        f"apiVersion: v1\nitems:\n{secret}{harmless}{secret}kind: List\n",
    ):
        told = redact_secrets(text).text
        assert "c2VjcmV0" not in told
        assert "cmVkZGlzaC1ibHVl" in told
