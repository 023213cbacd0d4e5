"""A role with any part that cannot be used asks nobody: no byte of a session reaches the provider's own host."""

from __future__ import annotations

import json

import pytest

from chat_server import finds
from desk import Desk
from lerim.models.money import consent
from model_desk import CENTS, model, reported, story
from paid_service import NANO, paid_service
from terminal import answer, run

Patch = pytest.MonkeyPatch


@pytest.fixture(autouse=True)
def in_the_repository(desk: Desk, monkeypatch: Patch) -> None:
    monkeypatch.chdir(desk.repo)


@pytest.mark.parametrize(
    "line",
    [
        'base_url = "http://models.example/v1"',
        'base_ur1 = "https://models.example/v1"',
    ],
)
def test_no_byte_reaches_the_provider_where_a_part_of_the_role_is_refused(
    desk: Desk, monkeypatch: Patch, line: str
) -> None:
    story(desk)
    consent.allow_model(desk.home, NANO)
    with paid_service(desk, monkeypatch, finds(CENTS)) as service:
        text = desk.home.config.read_text()
        desk.home.config.write_text(text.replace("[roles.extract]\n", f"[roles.extract]\n{line}\n"))
        report = reported(desk)
        told = answer("status")["model"]
        shown = run("config", "show")
        listed = answer("model", "list")
        tried = run("model", "test", "--yes", "--json")
        assert service.asked == []
    name = line.partition(" ")[0]
    assert (report["state"], report["waits"]["why"]) == ("partial", "gone")
    assert any(name in problem["message"] for problem in report["problems"])
    assert (told["model"], told["allowed"], told["waits"]["why"]) == ("", False, "gone")
    assert any(name in problem["message"] for problem in told["problems"])
    assert "No model is used for roles.extract until it is corrected." in shown.stderr
    assert [role["model"] for role in listed["roles"] if role["role"] == "extract"] == [""]
    assert name in json.loads(tried.stdout)["error"]["message"]


def test_a_refused_address_of_summaries_does_not_send_them_where_extract_is_asked(
    desk: Desk, monkeypatch: Patch
) -> None:
    story(desk)
    with model(desk, finds(CENTS)) as server:
        text = desk.home.config.read_text()
        desk.home.config.write_text(text.replace('provider = "none"', 'base_url = "http://models.example/v1"'))
        report = reported(desk)
        assert all("summar" not in asked.prompt.lower()[:400] for asked in server.asked)
        roles = {spent["role"] for spent in report["spent"]}
    assert roles == {"extract"}
    assert any("roles.summarize" in problem["message"] for problem in report["problems"])


def test_what_the_editor_says_wrongly_keeps_the_model_from_being_asked(desk: Desk, monkeypatch: Patch) -> None:
    story(desk)
    consent.allow_model(desk.home, NANO)
    monkeypatch.setenv("LERIM_EDITOR", json.dumps({"settings": {"roles.extract.baseUr1": ""}}))
    with paid_service(desk, monkeypatch, finds(CENTS)) as service:
        report = reported(desk)
        assert service.asked == []
    assert report["waits"]["why"] == "gone"


def test_choosing_a_model_again_mends_what_was_refused(desk: Desk) -> None:
    desk.home.config.parent.mkdir(parents=True, exist_ok=True)
    desk.home.config.write_text('[roles.extract]\nprovider = "openai"\nbase_url = "http://models.example/v1"\n')
    used = answer("model", "use", "ollama", "qwen")
    assert (used["problems"], used["role"]["model"]) == ([], "ollama:qwen")


def test_a_clone_sends_no_more_of_a_session_than_the_person_lets_it(desk: Desk, monkeypatch: Patch) -> None:
    story(desk)
    theirs = desk.repo / ".lerim" / "config.toml"
    theirs.parent.mkdir(exist_ok=True)
    theirs.write_text('[sync]\nsince = ""\n[extract]\ngate = "all"\n[budget]\nper_day_usd = 0\n')
    consent.allow_model(desk.home, NANO)
    settings = '[sync]\nsince = "2099-01-01"\n[budget]\nper_day_usd = 0.5\n'
    with paid_service(desk, monkeypatch, finds(CENTS), settings=settings) as service:
        report = answer("sync")
        assert service.asked == []
    told = [problem["message"] for problem in report["problems"] if problem["path"] == str(theirs)]
    assert len(told) == 3
    assert all("can only be restricted by a repository" in message for message in told)
