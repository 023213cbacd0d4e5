"""Redaction against labelled text: secrets of more than sixty forms, and what merely looks like one."""

from __future__ import annotations

from random import Random

import pytest
from tests.secret_forms import LOOK_ALIKES, SECRETS

from lerim.redaction.redact import redact_secrets

EACH = 5


def stays(secret: str, text: str) -> bool:
    """Whether half of the secret or more can still be read."""
    half = max(6, len(secret) // 2)
    return any(secret[at : at + half] in text for at in range(len(secret) - half + 1))


def test_at_least_98_of_100_labelled_secrets_are_cut() -> None:
    made = [(form, make(Random(f"{form} {n}"))) for form, make in SECRETS.items() for n in range(EACH)]
    kept = [
        (form, redact_secrets(text).text) for form, (text, secret) in made if stays(secret, redact_secrets(text).text)
    ]

    assert len(SECRETS) >= 30
    assert len(made) >= 150
    assert len(kept) <= 0.02 * len(made), kept


def test_at_most_1_of_100_look_alikes_is_cut() -> None:
    made = [(form, make(Random(f"{form} {n}"))) for form, make in LOOK_ALIKES.items() for n in range(EACH)]
    cut = [(form, text, redact_secrets(text).text) for form, text in made if redact_secrets(text).count]

    assert len(made) >= 150
    assert len(cut) <= 0.01 * len(made), cut


@pytest.mark.parametrize("form", SECRETS)
def test_no_form_is_missed_as_a_whole(form: str) -> None:
    made = [SECRETS[form](Random(f"{form} whole {n}")) for n in range(EACH)]

    assert any(not stays(secret, redact_secrets(text).text) for text, secret in made)


@pytest.mark.parametrize("form", LOOK_ALIKES)
def test_no_look_alike_is_always_cut(form: str) -> None:
    assert any(not redact_secrets(LOOK_ALIKES[form](Random(f"{form} whole {n}"))).count for n in range(EACH))
