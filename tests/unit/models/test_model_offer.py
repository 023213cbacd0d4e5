"""The models of this machine: offered by the first sync, tried on one session, then used."""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from chat_server import marked, says
from desk import Desk
from lerim.cli.model import offer as model_offer
from lerim.cli.terminal.repository import open_command_context
from lerim.config import load
from lerim.jobs.report import SyncReport
from model_desk import CENTS, model, story
from terminal import run


@pytest.fixture
def claude(desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Claude Code of the test's own on PATH, that answers with one memory and writes down each call."""
    folder = tmp_path / "bin"
    folder.mkdir()
    asked = tmp_path / "asked.jsonl"
    result = {"type": "result", "is_error": False, "result": marked([CENTS])}
    result["usage"] = {"input_tokens": 70, "output_tokens": 20}
    source = (
        f"import json, sys\ntext = sys.stdin.read()\nopen({str(asked)!r}, 'a').write(json.dumps(text) + '\\n')\n"
        f"print({json.dumps(result)!r})\n"
    )
    (folder / "claude").write_text(f"#!{sys.executable}\n{source}")
    (folder / "claude").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    return asked


def calls(asked: Path) -> int:
    return len(asked.read_text().splitlines()) if asked.exists() else 0


def answered(desk: Desk, *arguments: str) -> Any:
    result = run(*arguments, "--repo", str(desk.repo), "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_a_first_sync_tells_what_it_found_without_a_model_and_offers_what_is_here(desk: Desk, claude: Path) -> None:
    story(desk)
    result = run("sync", "--repo", str(desk.repo))
    assert "Without a model, 1 session gave 0 candidates" in result.stdout
    assert "Claude Code, uses your Claude plan: `lerim model use claude-code`" in result.stdout
    assert calls(claude) == 0, "it is started only after it was chosen"
    assert "Without a model" not in run("sync", "--repo", str(desk.repo)).stdout, "nothing was read"
    run("model", "use", "none")
    story(desk, "s2", "pence")
    assert "Claude Code" not in run("sync", "--repo", str(desk.repo)).stdout, "who chose none is not asked again"


def test_a_trial_says_when_answers_cannot_be_read_and_is_refused_while_a_limit_cannot(desk: Desk) -> None:
    story(desk)
    desk.sync()
    with model(desk, says("banana")) as server:
        arguments = ("model", "try", "openai", "m", "--base-url", server.url)
        trial = answered(desk, *arguments)
        assert (trial["found"], [step["kind"] for step in trial["steps"]]) == ([], ["unread"])
        asked = len(server.asked)
        desk.home.config.write_text("[budget]\nper_day_usd = '1'\n")
        result = run(*arguments, "--repo", str(desk.repo))
        assert (result.exit_code, len(server.asked)) == (1, asked)
    assert "per_day_usd" in result.stderr


def test_one_choice_tries_the_model_then_the_rest_is_read_and_the_tried_session_is_not_asked_again(
    desk: Desk, claude: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    story(desk)
    first = desk.sync()
    assert isinstance(first, SyncReport)
    monkeypatch.setattr(sys, "stdin", io.StringIO("1\ny\n"))
    at = open_command_context(desk.repo)
    offers = model_offer.find_offers(at.home, os.environ)
    assert [(one.provider, one.price) for one in offers] == [("claude-code", "uses your Claude plan")]
    assert model_offer.ask_for_model(at, offers, first)
    shown = capsys.readouterr()
    assert "uses your Claude plan" in shown.err
    assert "`Money` holds cents" in shown.out
    assert load.load_settings(os.environ, desk.home)[0].roles["extract"].provider == "claude-code"
    assert calls(claude) == 1
    second = desk.sync()
    assert [one.title for one in second.candidates] == ["`Money` holds cents in `src/app.py`"]
    assert second.model == "claude-code:sonnet"
    assert sum("[[ ## primitives ## ]]" in line for line in claude.read_text().splitlines()) == 1


def test_use_says_what_it_is_paid_with(desk: Desk, claude: Path) -> None:
    result = run("model", "use", "claude-code")
    assert "claude-code:sonnet" in result.stdout
    assert "uses your Claude plan" in result.stdout
    assert "/bin/claude, uses your Claude plan" in run("model", "list").stdout
