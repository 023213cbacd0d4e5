"""`lerim ask` as a person runs it."""

from __future__ import annotations

import json

import pytest
from typer.testing import Result

import terminal
from asker import known
from chat_server import KEY, Act, fails, streams
from desk import Desk
from lerim.review import queue
from model_desk import model


@pytest.fixture
def desk(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.setenv("LERIM_MODEL_KEY", KEY)
    known(desk)
    return desk


def run(desk: Desk, *arguments: str) -> Result:
    return terminal.run("ask", "--repo", str(desk.repo), *arguments)


def test_sentences_come_with_numbers_and_what_these_open(desk: Desk) -> None:
    with model(desk, streams("Amounts of `Money` are integer cents. [1]\nNobody said this.\n")):
        done = run(desk, "Why are amounts", "of Money cents?")
    assert done.exit_code == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "Amounts of `Money` are integer cents. [1]"
    assert "[1]" in lines[1:]
    assert any(line.strip().startswith("you, Claude Code, ") for line in lines)
    assert any(line.strip().startswith("lerim sessions show s1 --turn ") for line in lines)
    assert "1 sentence without a source was left out." in lines
    assert "[2]" not in done.stdout
    assert any("openai:m: 1 call" in line for line in lines)


def test_without_a_model_the_passages_are_shown_and_marked_as_such(desk: Desk) -> None:
    done = run(desk, "do we use uv or pip for installs", "--model", "none")
    assert done.exit_code == 0
    assert done.stdout.startswith("No model was used. These passages were found, best first.")
    assert "uv pip sync requirements.lock" in done.stdout
    assert "lerim memory show" in done.stdout


@pytest.mark.parametrize(
    ("act", "why", "todo"),
    [
        (None, "it cannot be reached", "Check the address"),
        (fails(401), "it asks for a key", "Set a valid key"),
        (fails(402), "the account has no credit left", "once the account has credit"),
        (fails(400, "odd"), "it refused the request: odd", "Check its settings"),
    ],
)
def test_a_model_that_does_not_answer_is_told_once_with_what_to_do(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, act: Act | None, why: str, todo: str
) -> None:
    monkeypatch.delenv("LERIM_MODEL_KEY")
    with model(desk, act or fails(500)) as server:
        if act is None:
            desk.home.config.write_text(desk.home.config.read_text().replace(server.url, "http://127.0.0.1:9/v1"))
        done = run(desk, "Why are amounts of Money cents?")
    assert done.exit_code == 3
    assert f"openai:m did not answer: {why}" in done.stdout
    assert todo in done.stdout
    assert done.stderr == ""


def test_json_is_one_object_in_any_case(desk: Desk) -> None:
    with model(desk, streams("Amounts of `Money` are integer cents. [1]\n")):
        answer = json.loads(run(desk, "Why are amounts of Money cents?", "--json").stdout)
    assert [one["text"] for one in answer["sentences"]] == ["Amounts of `Money` are integer cents."]
    assert json.loads(run(desk, "capital of France", "--json").stdout)["known"] is False


def test_a_passage_says_its_title_once_and_keeps_its_lines(desk: Desk) -> None:
    table = "| port | use |\n|---|---|\n| 5433 | postgres |"
    queue.add_memory(
        desk.place,
        "decision",
        "Pin the ports",
        f"Pin the ports. They are fixed:\n\n{table}\n\n{'Long words follow. ' * 30}",
    )
    said = run(desk, "which ports are pinned", "--model", "none").stdout
    assert said.count("Pin the ports") == 1
    assert "  They are fixed:\n  | port | use |\n  |---|---|\n  | 5433 | postgres |\n" in said
    assert any(row.endswith(("follow.…", "words…", "Long…")) for row in said.splitlines())
