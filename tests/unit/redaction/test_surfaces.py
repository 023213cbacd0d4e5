"""Secrets in a session reach no surface: a part of the open set, through a whole sync and accepting."""

from pathlib import Path

from desk import Desk
from lerim.redaction.redact import redact_secrets
from long import LONG
from surfaces import figures, load, surfaces, survives

OPEN = Path(__file__).resolve().parents[3] / "evals" / "secrets-open.toml"


def test_the_open_set_is_cut_and_its_look_alikes_stay() -> None:
    items = load(OPEN)
    secrets = [one for one in items if one.kind == "secret"]
    assert [one.id for one in secrets if survives(one, redact_secrets(one.text).text)] == []
    assert [one.id for one in items if one.kind == "lookalike" and redact_secrets(one.text).count] == []


def test_no_secret_of_a_session_reaches_any_surface(desk: Desk) -> None:
    items = load(OPEN)[:: 1 if LONG else 96]
    found = surfaces(desk, items)
    told = figures(items, found)
    expected = {"candidate", "memory", "summary", "title", "search", "sessions search", "hover", "model", "review list"}
    assert expected <= found.texts.keys()
    assert not any(told.survived.values()), told.survived
