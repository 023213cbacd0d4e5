"""The extractor with a model, as the evaluation measures it."""

from __future__ import annotations

from pathlib import Path

import pytest

from chat_server import KEY, chat, finds, item
from claude_lines import encoded, prompt, reply, text, transcript
from lerim.errors import ModelError, SettingsError
from lerim.sessions.model import Transcript
from lerim_evals.extractors import extract_by_rules, extract_with_model


@pytest.fixture
def session(tmp_path: Path) -> Transcript:
    path = tmp_path / "s1.jsonl"
    records = [
        prompt("Use `pnpm` instead of `npm` in this repo."),
        reply("a", text("I will use pnpm.")),
        prompt("amounts of `Money` are cents by agreement with billing"),
        reply("b", text("Noted.")),
    ]
    path.write_bytes(encoded(*records))
    return transcript(path)


def settings(home: Path, url: str) -> None:
    (home / ".lerim").mkdir(parents=True, exist_ok=True)
    (home / ".lerim" / "config.toml").write_text(f'[roles.extract]\nprovider = "openai"\nbase_url = "{url}"\n')


def test_a_models_words_take_the_place_of_what_only_ranks_high_and_its_cost_is_counted(
    session: Transcript, isolated: Path
) -> None:
    rules = extract_by_rules(session, "")
    cents = item("`Money` holds cents", "amounts of `Money` are cents by agreement", 2)
    again = item("Use `pnpm` instead of `npm`", "Use `pnpm` instead of `npm` in this repo", 0)
    with chat(finds(cents, again)) as server:
        settings(isolated, server.url)
        found = extract_with_model(session, "")
    assert len(rules.candidates) == 1
    assert [candidate.title for candidate in found.candidates] == [cents["title"], again["title"]]
    assert (found.tokens, found.cost) == (1_050, 0.002)
    assert found.turn_of == rules.turn_of


def test_without_a_model_or_an_approval_it_says_what_to_do(
    session: Transcript, isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with pytest.raises(SettingsError, match="no model"):
        extract_with_model(session, "")
    settings(isolated, "")
    with pytest.raises(SettingsError, match="not approved"):
        extract_with_model(session, "")


def test_answers_that_were_recorded_are_taken_instead_of_asking(session: Transcript, isolated: Path) -> None:
    answers = isolated / "answers"
    cents = item("`Money` holds cents", "amounts of `Money` are cents by agreement", 2)
    with chat(finds(cents)) as server:
        settings(isolated, server.url)
        first = extract_with_model(session, "", answers)
        assert len(server.asked) == 1
    (isolated / ".lerim" / "config.toml").unlink()
    again = extract_with_model(session, "", answers)
    assert again.candidates == first.candidates
    assert again.tokens == first.tokens > 0


def test_an_answer_that_was_not_recorded_is_told(session: Transcript, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="primitives 0-3"):
        extract_with_model(session, "", tmp_path / "answers")
