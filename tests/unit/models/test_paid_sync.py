"""Syncs with a model that is paid for: asked only once the person agreed, within the day's budget, and told of."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pytest
from typer.testing import Result

from chat_server import finds, marked, says
from claude_lines import prompt, reply, text
from desk import Desk, correction
from lerim.jobs.sync_context import SyncOptions
from lerim.models.money import consent
from lerim.models.money.spending import DayBudget, total_spent_today
from lerim.models.money.usage import Usage
from model_desk import CENTS, environ, model_jobs, paid, reported, story
from paid_service import NANO, paid_service
from terminal import run
from warm_python import warm_python

Patch = pytest.MonkeyPatch


def now() -> datetime:
    return datetime.now().astimezone()


def terminal(desk: Desk, *arguments: str) -> Result:
    return run(*arguments, "--repo", str(desk.repo))


def test_once_agreed_to_it_is_asked_and_what_it_took_is_told_everywhere(desk: Desk, monkeypatch: Patch) -> None:
    story(desk)
    consent.allow_model(desk.home, NANO)
    with paid_service(desk, monkeypatch, finds(CENTS)) as service:
        report = reported(desk)
    assert len(service.asked) == 1
    assert report["spent"] == [{"role": "extract", "model": NANO, "usage": report["usage"]}]
    usage = report["usage"]
    assert (usage["calls"], usage["input_tokens"], usage["output_tokens"], usage["cost"]) == (1, 1_000, 50, 0.002)
    assert report["waits"] == {"sessions": 0, "tokens": 0, "cost": None, "model": NANO, "why": ""}
    assert total_spent_today(desk.home, now()) == Usage(1, 1_000, 50, cost=0.002)
    [line] = [one for one in desk.home.activity_log.read_text().splitlines() if NANO in one]
    assert f"{NANO}, 1 calls, 1000 tokens in, 50 out," in line
    assert "| $0.0020 |" in line
    [log] = [path for path in Path(report["run"]).parent.glob("*/session.log") if NANO in path.read_text()]
    extracted = json.loads(log.with_name("extract.json").read_text())
    asked = [one for one in extracted if one["outcome"] == "asked"]
    assert [(one["role"], one["model"], one["calls"], one["cost"]) for one in asked] == [("extract", NANO, 1, 0.002)]
    assert f"extract, {NANO}: 1 call, 1,000 tokens in, 50 out, $0.0020" in log.read_text()


def test_a_budget_that_is_used_up_stops_the_asking_and_keeps_the_rest_waiting(desk: Desk, monkeypatch: Patch) -> None:
    consent.allow_model(desk.home, NANO)
    DayBudget(desk.home, 0, now).reserve(paid(), 19_960_000, 0)  # $0.998
    story(desk)
    with paid_service(desk, monkeypatch, finds(CENTS)) as service:
        report = reported(desk)
        assert service.asked == []
        assert (report["state"], report["problems"]) == ("done", [])
        assert (report["waits"]["sessions"], report["waits"]["why"]) == (1, "budget")
        [stopped] = report["steps"]
        assert (stopped["kind"], stopped["role"], stopped["model"]) == ("stopped", "extract", NANO)
        assert "$1.00" in stopped["why"]
        shown = terminal(desk, "sync")
        assert "Today's budget of $1.00 does not allow another call: $1.00 are spent or reserved." in shown.stdout
        assert "budget.per_day_usd sets the limit" in shown.stdout
        assert shown.stderr == ""
    desk.home.spending.unlink()
    with paid_service(desk, monkeypatch, finds(CENTS)) as service:
        assert [one["title"] for one in reported(desk)["candidates"]] == [CENTS["title"]]
        assert len(service.asked) == 1


def test_a_budget_that_ends_before_the_summaries_leaves_them_waiting(desk: Desk, monkeypatch: Patch) -> None:
    consent.allow_model(desk.home, NANO)
    story(desk)
    with paid_service(desk, monkeypatch, finds(CENTS), settings="[budget]\nper_day_usd = 0.0075\n") as service:
        settings = desk.home.config.read_text()
        desk.home.config.write_text(settings.replace('[roles.summarize]\nprovider = "none"\n', ""))
        report = reported(desk)
        assert len(service.asked) == 1
    assert [one["title"] for one in report["candidates"]] == [CENTS["title"]]
    assert (report["state"], report["problems"]) == ("done", [])
    assert (report["waits"]["sessions"], report["waits"]["why"]) == (1, "budget")
    assert [(step["kind"], step["role"]) for step in report["steps"]] == [("stopped", "summarize")]
    assert 0 < total_spent_today(desk.home, now()).cost <= 0.0075


def test_a_session_that_no_days_budget_allows_keeps_no_other_from_being_asked(desk: Desk, monkeypatch: Patch) -> None:
    consent.allow_model(desk.home, NANO)
    os.utime(story(desk), (1_790_000_000,) * 2)
    fox = "the quick brown fox jumps. " * 6_000
    long = prompt(f"In src/app.py amounts of `Money` are cents by agreement with billing, whatever {fox}")
    desk.session("s2", long, reply("b", text("Noted")), prompt("ok"), reply("c", text("Anything else?")))
    with paid_service(desk, monkeypatch, finds(CENTS), settings="[budget]\nper_day_usd = 0.008\n") as service:
        report = reported(desk)
        assert len(service.asked) == 1
        assert [one["title"] for one in report["candidates"]] == [CENTS["title"]]
        assert (report["state"], report["problems"]) == ("done", [])
        assert (report["waits"]["why"], model_jobs(desk)) == ("", {"done": 1, "pending": 1})
        [step] = report["steps"]
        assert (step["kind"], step["role"], step["where"]) == ("dear", "extract", "claude:s2")
        assert "larger than the day's budget of $0.0080" in step["why"]
        assert "roles.extract.max_window_tokens smaller" in step["why"]
        shown = terminal(desk, "sync").stdout
        assert "1 session waits for a larger budget: One call may cost $0.0" in shown
        assert "tomorrow" not in shown
        idle = desk.sync(SyncOptions(explicit=False))  # as the editor's, which ends though the session waits
        assert (idle.state, idle.steps, model_jobs(desk)) == ("done", [], {"done": 1, "pending": 1})
        assert len(service.asked) == 1


def test_status_tells_the_model_what_today_cost_and_what_waits(desk: Desk, monkeypatch: Patch) -> None:
    story(desk)
    with paid_service(desk, monkeypatch, finds(CENTS)) as service:
        terminal(desk, "sync", "--model", "none")
        shown = json.loads(terminal(desk, "status", "--json").stdout)["model"]
        assert (shown["model"], shown["provider"], shown["allowed"]) == (NANO, "openrouter", False)
        assert (shown["today_usd"], shown["budget_usd"], shown["spent"]) == (0, 1, [])
        assert (shown["waits"]["sessions"], shown["waits"]["why"]) == (1, "consent")
        words = terminal(desk, "status").stdout
        assert "you have not approved it yet" in words
        terminal(desk, "sync", "--yes")
        shown = json.loads(terminal(desk, "status", "--json").stdout)["model"]
        assert (shown["allowed"], shown["today_usd"], shown["waits"]["sessions"]) == (True, 0.002, 0)
        assert [(one["role"], one["model"], one["usage"]["calls"]) for one in shown["spent"]] == [("extract", NANO, 1)]
        assert "less than $0.01 of $1.00" in terminal(desk, "status").stdout
        last = json.loads(terminal(desk, "status", "--json").stdout)["last_run"]
        assert Path(last["run"]).is_dir()
        assert [(one["role"], one["model"], one["usage"]["cost"]) for one in last["spent"]] == [
            ("extract", NANO, 0.002)
        ]
        assert last["steps"] == []
        assert len(service.asked) == 1


OPUS = "anthropic/claude-opus-4.1"


def test_a_dear_model_can_be_tried_for_what_a_short_answer_costs(desk: Desk, monkeypatch: Patch) -> None:
    budget = "[budget]\nper_day_usd = 0.1\n"
    with paid_service(desk, monkeypatch, says("ready"), settings=budget, name=OPUS) as service:
        done = run("model", "test", "--yes")
    assert (done.exit_code, done.stderr) == (0, "")
    assert f"openrouter:{OPUS}@openrouter.ai answered: ready" in done.stdout
    assert [asked.body["max_tokens"] for asked in service.asked] == [500]
    assert consent.load_known_models(desk.home)[0].allowed == frozenset()


def test_without_consent_nothing_is_asked_and_what_waits_is_said_with_how_to_agree(
    desk: Desk, monkeypatch: Patch
) -> None:
    story(desk)
    desk.session("s2", *correction(desk))
    with paid_service(desk, monkeypatch, finds(CENTS)) as service:
        for explicit in (True, False):
            report = desk.sync(SyncOptions(explicit=explicit))
            assert (report.state, report.problems, report.steps) == ("done", [], [])
            assert (report.waits.sessions, report.waits.model, report.waits.why) == (2, NANO, "consent")
            assert report.waits.tokens > 0
            assert 0 < (report.waits.cost or 0) < 0.01
            assert (report.model, report.usage.calls) == ("none", 0)
        shown = terminal(desk, "sync")
        assert service.asked == []
    assert not desk.home.models.exists()
    assert (shown.exit_code, shown.stderr) == (0, "")
    assert f"2 sessions wait for {NANO}, about " in shown.stdout
    assert "`lerim sync --yes` or `lerim model allow`" in shown.stdout


def test_yes_agrees_for_good_also_to_the_model_of_summaries(desk: Desk, monkeypatch: Patch) -> None:
    mini = "openrouter:openai/gpt-5-mini@openrouter.ai"
    story(desk)
    with paid_service(desk, monkeypatch, finds(CENTS), says(marked([]))) as service:
        settings = desk.home.config.read_text()
        other = '[roles.summarize]\nprovider = "openrouter"\nmodel = "openai/gpt-5-mini"\n'
        desk.home.config.write_text(settings.replace('[roles.summarize]\nprovider = "none"\n', other))
        done = terminal(desk, "sync", "--yes")
        assert done.exit_code == 0
        assert f"Called extract, {NANO}: 1 call, 1,000 tokens in, 50 out, $0.0020." in done.stdout
        assert "Spent today: less than $0.01 of $1.00." in done.stdout
        assert consent.load_known_models(desk.home)[0].allowed == {NANO, mini}
        desk.home.config.write_text(settings)
        before = len(service.asked)
        story(desk, "s2", "francs")
        json.loads(terminal(desk, "sync", "--json").stdout)
        assert len(service.asked) == before + 1


def at_terminal(said: str, *arguments: str) -> tuple[str, str]:
    """What a command at a terminal asks, and what it prints once this was typed."""
    ours, theirs = pty.openpty()
    command = [warm_python(), "-P", "-m", "lerim", *arguments]
    with subprocess.Popen(command, env=environ(), stdin=theirs, stdout=subprocess.PIPE, stderr=theirs) as process:
        os.close(theirs)
        shown = b""
        while b"[y/N]" not in shown:
            shown += os.read(ours, 4_096)
        os.write(ours, said.encode())
        assert process.stdout
        out = process.stdout.read().decode()
        assert process.wait(60) == 0
    os.close(ours)
    return shown.decode(), out


@pytest.mark.skipif(sys.platform == "win32", reason="there is no pty")
@pytest.mark.parametrize(("said", "calls"), [("y\n", 1), ("\n", 0)])
def test_at_a_terminal_the_first_paid_sync_asks(desk: Desk, monkeypatch: Patch, said: str, calls: int) -> None:
    story(desk)
    with paid_service(desk, monkeypatch, finds(CENTS)) as service:
        shown, out = at_terminal(said, "sync", "--repo", str(desk.repo))
        assert len(service.asked) == calls
    assert f"1 session waits for {NANO}, about 2k tokens, less than $0.01. Approve the cost? [y/N]" in shown
    assert (CENTS["title"][:20] in out) == bool(calls)
    assert consent.load_known_models(desk.home)[0].allowed == (frozenset({NANO}) if calls else frozenset())


@pytest.mark.skipif(sys.platform == "win32", reason="there is no pty")
def test_at_a_terminal_a_trial_that_is_paid_for_asks(desk: Desk, monkeypatch: Patch) -> None:
    with paid_service(desk, monkeypatch, says("ready")) as service:
        shown, out = at_terminal("y\n", "model", "test")
        assert len(service.asked) == 1
    assert f"{NANO} costs money" in shown
    assert "ready" in out
    assert consent.load_known_models(desk.home)[0].allowed == frozenset()
