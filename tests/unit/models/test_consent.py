"""What the person agreed to is kept for good, and nothing else in the file is lost."""

from __future__ import annotations

import json
import stat
import threading
from pathlib import Path

import pytest

from lerim.errors import SettingsError
from lerim.models.money.consent import KnownModels, allow_model, keep_limit, load_known_models
from lerim.paths import Home
from model_desk import paid

PLAIN = "openrouter:openai/gpt-5-nano"
NANO = f"{PLAIN}@openrouter.ai"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / ".lerim")


def test_a_model_that_is_paid_for_is_asked_only_once_it_is_agreed_to(home: Home) -> None:
    known, problems = load_known_models(home)
    assert not known.allows(paid())
    assert problems == []
    assert not home.root.exists()
    allow_model(home, NANO)
    allow_model(home, NANO)
    known, _ = load_known_models(home)
    assert known.allows(paid())
    assert not known.allows(paid("openai/gpt-5.5"))
    assert json.loads(home.models.read_text())["allowed"] == [NANO]
    assert stat.S_IMODE(home.models.stat().st_mode) == 0o600


def test_limits_are_remembered_beside_it_and_keys_of_others_are_kept(home: Home) -> None:
    home.root.mkdir()
    home.models.write_text('{"theirs": {"a": [1, 2]}, "allowed": ["x:y", 7], "limits": {"a": "no", "b": 5, "c": true}}')
    keep_limit(home, NANO, 128_000)
    allow_model(home, NANO)
    assert json.loads(home.models.read_text()) == {
        "theirs": {"a": [1, 2]},
        "allowed": [NANO, "x:y"],
        "limits": {"b": 5, NANO: 128_000},
    }
    assert load_known_models(home) == (KnownModels(frozenset({NANO, "x:y"}), {"b": 5, NANO: 128_000}), [])


@pytest.mark.parametrize("data", [b"{", b"[]", b"\xff\xfe", b"", b'{"a":' * 5_000, b"{}" + b" " * 1_000_001])
def test_a_broken_file_agrees_to_nothing_is_told_and_is_set_aside_by_the_next_change(home: Home, data: bytes) -> None:
    home.root.mkdir()
    home.models.write_bytes(data)
    known, [problem] = load_known_models(home)
    assert known == KnownModels()
    assert (problem.code, problem.path) == ("settings", str(home.models))
    allow_model(home, NANO)
    assert load_known_models(home) == (KnownModels(frozenset({NANO})), [])
    assert home.models.with_name("models.json.damaged-copy").read_bytes() == data


def test_of_many_who_agree_at_once_none_is_lost(home: Home) -> None:
    labels = [f"openai:model-{number}" for number in range(12)]
    threads = [threading.Thread(target=allow_model, args=(home, label)) for label in labels]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert load_known_models(home)[0].allowed == frozenset(labels)


def test_what_cannot_be_written_is_said(home: Home) -> None:
    home.root.write_text("a file where the folder should be")
    with pytest.raises(SettingsError, match="could not be saved"):
        allow_model(home, NANO)
    with pytest.raises(FileExistsError):
        keep_limit(home, NANO, 1)


def test_a_model_that_is_not_paid_for_needs_no_consent() -> None:
    free = (paid(base_url="http://127.0.0.1:11434/v1"), paid(wire="command"), paid(wire="editor"))
    assert all(KnownModels().allows(one) for one in free)
    assert free[0].label == PLAIN


def test_what_is_agreed_to_and_learned_at_one_address_is_not_for_another(home: Home) -> None:
    ours, other = paid(), paid(base_url="https://Other.example:8443/v1")
    assert (ours.label, other.label) == (NANO, f"{PLAIN}@other.example:8443")
    allow_model(home, PLAIN)  # as before hosts were named
    assert not load_known_models(home)[0].allows(ours)
    allow_model(home, ours.label)
    keep_limit(home, ours.label, 20_000)
    known, _ = load_known_models(home)
    assert (known.allows(ours), known.allows(other), known.limits) == (True, False, {NANO: 20_000})


@pytest.mark.parametrize("text", ['{"allowed": 7, "limits": []}', '{"allowed": {"a": 1}}', '{"limits": {"a": -1}}'])
def test_what_has_another_form_counts_as_nothing(home: Home, text: str) -> None:
    home.root.mkdir()
    home.models.write_text(text)
    assert load_known_models(home) == (KnownModels(), [])
