"""A role with any part that cannot be used asks nobody: no byte of a session reaches the provider's own host."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from chat_server import finds
from desk import Desk
from hang import HANG
from lerim.models import consent
from model_desk import CENTS, environ, job, model, story
from paid_service import NANO, paid_service

Patch = pytest.MonkeyPatch


def terminal(desk: Desk, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-m", "lerim", *arguments]
    return subprocess.run(
        command, cwd=desk.repo, env=environ(), capture_output=True, text=True, check=False, timeout=HANG
    )


@pytest.mark.parametrize(
    "line",
    [
        'base_url = "http://models.example/v1"',
        'base_ur1 = "https://models.example/v1"',
        'base_url = "models.example/v1"',
        "base_url = 5",
        'base_url = ["https://models.example"]',
        'fallback_models = "x"',
        "timeout = 0",
    ],
)
def test_no_byte_reaches_the_provider_where_a_part_of_the_role_is_refused(
    desk: Desk, monkeypatch: Patch, line: str
) -> None:
    story(desk)
    consent.allow(desk.home, NANO)
    with paid_service(desk, monkeypatch, finds(CENTS)) as service:
        text = desk.home.config.read_text()
        desk.home.config.write_text(text.replace("[roles.extract]\n", f"[roles.extract]\n{line}\n"))
        code, lines, _ = job(desk, "--explicit")
        report = lines[-1]["report"]
        told = json.loads(terminal(desk, "status", "--json").stdout)["model"]
        shown = terminal(desk, "config", "show")
        listed = json.loads(terminal(desk, "model", "list", "--json").stdout)
        tried = terminal(desk, "model", "test", "--yes", "--json")
        assert service.asked == []
    name = line.partition(" ")[0]
    assert (code, report["state"], report["waits"]["why"]) == (0, "partial", "gone")
    assert any(name in problem["message"] for problem in report["problems"])
    assert (told["model"], told["allowed"], told["waits"]["why"]) == ("", False, "gone")
    assert any(name in problem["message"] for problem in told["problems"])
    assert "No model is asked for roles.extract until it is corrected." in shown.stderr
    assert [role["model"] for role in listed["roles"] if role["role"] == "extract"] == [""]
    assert name in json.loads(tried.stdout)["error"]["message"]


def test_a_refused_address_of_summaries_does_not_send_them_where_extract_is_asked(
    desk: Desk, monkeypatch: Patch
) -> None:
    story(desk)
    with model(desk, finds(CENTS)) as server:
        text = desk.home.config.read_text()
        desk.home.config.write_text(text.replace('provider = "none"', 'base_url = "http://models.example/v1"'))
        _, lines, _ = job(desk, "--explicit")
        assert all("summar" not in asked.prompt.lower()[:400] for asked in server.asked)
        roles = {spent["role"] for spent in lines[-1]["report"]["spent"]}
    assert roles == {"extract"}
    assert any("roles.summarize" in problem["message"] for problem in lines[-1]["report"]["problems"])


def test_what_the_editor_says_wrongly_keeps_the_model_from_being_asked(desk: Desk, monkeypatch: Patch) -> None:
    story(desk)
    consent.allow(desk.home, NANO)
    for settings in (
        {"roles.extract.base_url": 5},
        {"roles.extract.base_url": "http://x"},
        {"roles.extract.baseUr1": ""},
    ):
        monkeypatch.setenv("LERIM_EDITOR", json.dumps({"settings": settings}))
        with paid_service(desk, monkeypatch, finds(CENTS)) as service:
            _, lines, _ = job(desk, "--explicit")
            assert service.asked == []
        assert lines[-1]["report"]["waits"]["why"] == "gone"


def test_an_agreement_counts_for_the_host_it_names_alone(desk: Desk, monkeypatch: Patch) -> None:
    story(desk)
    with paid_service(desk, monkeypatch, finds(CENTS)) as service:
        consent.allow(desk.home, NANO.partition("@")[0])
        consent.allow(desk.home, f"{NANO}:8443")
        _, lines, _ = job(desk, "--explicit")
        assert (service.asked, lines[-1]["report"]["waits"]["why"]) == ([], "consent")
        assert lines[-1]["report"]["waits"]["model"] == NANO
        assert "openrouter.ai" in terminal(desk, "sync").stdout


def test_choosing_a_model_again_mends_what_was_refused(desk: Desk) -> None:
    desk.home.config.parent.mkdir(parents=True, exist_ok=True)
    desk.home.config.write_text('[roles.extract]\nprovider = "openai"\nbase_url = "http://models.example/v1"\n')
    used = json.loads(terminal(desk, "model", "use", "ollama", "qwen", "--json").stdout)
    assert (used["problems"], used["role"]["model"]) == ([], "ollama:qwen")


def test_a_clone_sends_no_more_of_a_session_than_the_person_lets_it(desk: Desk, monkeypatch: Patch) -> None:
    story(desk)
    theirs = desk.repo / ".lerim" / "config.toml"
    theirs.parent.mkdir(exist_ok=True)
    theirs.write_text('[sync]\nsince = ""\n[extract]\ngate = "all"\n[budget]\nper_day_usd = 0\n')
    consent.allow(desk.home, NANO)
    settings = '[sync]\nsince = "2099-01-01"\n[budget]\nper_day_usd = 0.5\n'
    with paid_service(desk, monkeypatch, finds(CENTS), settings=settings) as service:
        report = json.loads(terminal(desk, "sync", "--json").stdout)
        assert service.asked == []
    told = [problem["message"] for problem in report["problems"] if problem["path"] == str(theirs)]
    assert len(told) == 3
    assert all("may only be narrowed by a repository" in message for message in told)
