"""Sessions of one machine sent to the queue and worked through."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from chat_server import finds
from claude_lines import Fields, prompt
from desk import Desk, correction
from hang import HANG
from lerim.models import consent
from lerim.org import LocalSessions, Worker, reconcile_project
from lerim.team import TeamDatabase
from model_desk import CENTS, model, story
from organisation import Organisation
from terminal import answer, run


def correct(desk: Desk, subject: str = "pathlib") -> list[Fields]:
    return correction(desk, subject, over=f"old_{subject}")


def test_sessions_are_sent_once_worked_through_and_reconciled(organisation: Organisation) -> None:
    desk = organisation.desk
    organisation.write_sessions(3)
    desk.session("again", *correct(desk))
    dry = organisation.send("--dry-run")
    assert (dry["sent"], dry["plan"]["new"], dry["plan"]["estimate"]["sampled"]) == (0, 4, 4)
    assert organisation.status()["states"] == {}
    assert organisation.send()["sent"] == 4
    again = organisation.send()
    assert (again["sent"], again["plan"]["known"]) == (0, 4)
    worker = organisation.start_worker("--concurrency", "2")
    assert worker.wait(HANG) == 0
    status = organisation.status()
    assert status["states"] == {"done": 4} and status["failures"] == []
    assert sum(one["done"] for one in status["workers"]) == 4
    organisation.rows("UPDATE extractions SET ended_at = ended_at - interval '2 hours' RETURNING key")
    assert organisation.status()["workers"] == [], "workers that ended long ago are not listed"
    found = organisation.candidates()
    proposed = desk.sync()
    assert {title for _, title, _, outcome in found if outcome == "proposed"} == {
        one.title for one in proposed.candidates
    }
    assert [outcome for session, _, _, outcome in found if session == "claude:again"] == ["repeated"]
    before = found
    database = TeamDatabase(organisation.url, "platform")
    [(project,)] = organisation.rows("SELECT DISTINCT project FROM extractions")
    reconcile_project(database, project)
    assert organisation.candidates() == before
    desk.session("s0", *correct(desk, "grown"))
    assert organisation.send()["sent"] == 1
    Worker(database, os.environ, until_done=True).run()
    after = organisation.candidates()
    assert {row[-1] for row in after if row[0] == "claude:s0"} == {"outdated", "proposed"}
    assert {row[:3] for row in after if row[-1] == "proposed"} > {row[:3] for row in before if row[-1] == "proposed"}
    everything = "\n".join(str(row) for row in organisation.rows("SELECT * FROM extractions"))
    assert str(desk.repo) not in everything and "No, use" not in everything


def test_the_database_holds_no_path_and_of_a_transcript_only_what_candidates_quote(organisation: Organisation) -> None:
    desk = organisation.desk
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    desk.session("s1", *correct(desk, "httpx"), prompt(f"The token is {secret}"))
    organisation.send()
    worker = Worker(TeamDatabase(organisation.url, "platform"), os.environ, until_done=True)
    worker.run()
    story(desk, "s2")
    with model(desk, finds(CENTS)) as service:
        organisation.send()
        Worker(worker.database, os.environ, until_done=True).run()
        assert any("Anything else?" in one.prompt for one in service.asked)
    tables = organisation.rows("SELECT tablename FROM pg_tables WHERE schemaname = 'lerim'")
    held = "\n".join(str(row) for (name,) in tables for row in organisation.rows(f"SELECT * FROM {name}"))
    assert "No, use httpx" in held and CENTS["title"] in held
    for text in ("Read the config", "def load(path)", "perfect, commit it", "Anything else?", "Noted:", secret):
        assert text not in held
    for path in (desk.repo, desk.home.root, desk.projects):
        assert str(path) not in held


def test_yes_approves_only_the_model_whose_price_was_shown(
    organisation: Organisation, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = organisation.desk.home
    organisation.write_sessions(1)
    models = {"extract": "openai/gpt-5-nano", "summarize": "openai/gpt-5-mini"}
    roles = [f'[roles.{role}]\nprovider = "openrouter"\nmodel = "{model}"\n' for role, model in models.items()]
    home.root.mkdir(mode=0o700, exist_ok=True)
    home.config.write_text("".join(roles), encoding="utf-8")
    monkeypatch.setenv("OPENROUTER_API_KEY", "k")
    sent = run("org", "backfill", "--yes")
    assert sent.exit_code == 0 and "gpt-5-nano@openrouter.ai: about" in sent.stdout
    assert consent.load_known_models(home)[0].allowed == {"openrouter:openai/gpt-5-nano@openrouter.ai"}


def test_what_was_found_is_taken_into_the_review_once(organisation: Organisation) -> None:
    organisation.write_sessions(2)
    organisation.send()
    Worker(TeamDatabase(organisation.url, "platform"), os.environ, until_done=True).run()
    [(broken,)] = organisation.rows(
        """
        UPDATE candidates SET candidate = jsonb_set(candidate, '{references}', '["../outside"]')
        WHERE (key, ordinal) = (SELECT key, ordinal FROM candidates ORDER BY said_at LIMIT 1)
        RETURNING candidate->>'title'
        """
    )
    pulled = answer("org", "pull", "--repo", str(organisation.desk.repo))
    titles = {one["title"] for one in pulled["candidates"]}
    assert titles == {row[1] for row in organisation.candidates()} - {broken} == set(organisation.desk.waiting())
    assert [one["code"] for one in pulled["problems"]] == ["org"]
    again = run("org", "pull", "--repo", str(organisation.desk.repo))
    assert again.stdout.startswith("0 candidates proposed") and organisation.desk.waiting()


def test_a_session_that_was_sent_again_after_it_changed_counts_once(organisation: Organisation) -> None:
    def change_and(act: Callable[[], object], text: str) -> dict[str, int]:
        organisation.desk.session("s0", *correct(organisation.desk, text))
        act()
        states: dict[str, int] = organisation.status()["states"]
        return states

    def work() -> None:
        Worker(TeamDatabase(organisation.url, "platform"), os.environ, until_done=True).run()

    organisation.write_sessions(2)
    organisation.send()
    assert change_and(work, "later") == {"changed": 1, "done": 1}
    assert change_and(organisation.send, "later still") == {"waiting": 1, "done": 1}
    assert change_and(organisation.send, "at last") == {"waiting": 2, "done": 1}
    work()
    assert organisation.status()["states"] == {"done": 2} and not organisation.status()["failures"]


def test_a_session_that_is_gone_or_has_changed_is_told_and_can_be_sent_again(organisation: Organisation) -> None:
    organisation.write_sessions(3)
    organisation.send()
    next(organisation.desk.projects.rglob("s0.jsonl")).unlink()
    organisation.desk.session("s1", *correct(organisation.desk, "later"))
    Worker(TeamDatabase(organisation.url, "platform"), os.environ, until_done=True).run()
    status = organisation.status()
    assert status["states"] == {"gone": 1, "changed": 1, "done": 1}
    told = [(one["state"], one["problem"]) for one in status["failures"]]
    assert told == [
        ("gone", "The session is not on this machine any more."),
        ("changed", "The session has changed since it was sent; the next backfill sends it again."),
    ]
    assert run("org", "retry").stdout == "2 sessions sent again.\n"
    assert run("org", "cancel").stdout == "2 sessions cancelled.\n"
    organisation.rows("UPDATE extractions SET ended_at = now() - interval '9 minutes', seconds = 60 RETURNING key")
    shown = run("org", "status").stdout
    assert "3 of 3 sessions" in shown and "2 cancelled, 1 done" in shown
    assert "0.1 sessions a minute\n" in shown, "what was cancelled was not worked through"


def test_a_machine_that_got_another_name_takes_over_what_waits_under_its_former_one(
    organisation: Organisation,
) -> None:
    organisation.write_sessions(2)
    organisation.send()
    organisation.rows("UPDATE extractions SET queue = 'platform/former-name' RETURNING key")
    organisation.rows("UPDATE procrastinate_jobs SET queue_name = 'platform/former-name' RETURNING id")
    assert organisation.status()["queues"] == [{"queue": "former-name", "left": 2}]
    assert "former-name" in run("org", "status").stdout
    assert organisation.send()["sent"] == 2
    assert organisation.send()["sent"] == 0
    Worker(TeamDatabase(organisation.url, "platform"), os.environ, until_done=True).run()
    assert organisation.status()["states"] == {"done": 2}
    assert organisation.rows("SELECT count(*) FROM procrastinate_jobs") == [(0,)]


def test_the_time_left_goes_by_the_pace_since_work_began(organisation: Organisation) -> None:
    organisation.write_sessions(6)
    organisation.send()
    organisation.rows(
        "UPDATE extractions SET state = 'done', seconds = 20, ended_at = now() - interval '10 seconds'"
        " WHERE key IN (SELECT key FROM extractions LIMIT 3) RETURNING key"
    )
    status = organisation.status()
    assert 30 <= status["seconds_left"] < 600
    assert 180 / status["seconds_left"] == pytest.approx(status["per_minute"]), "three are left"
    assert "to go" in run("org", "status").stdout
    organisation.rows("UPDATE extractions SET ended_at = now() - interval '1 hour' WHERE state = 'done' RETURNING key")
    assert organisation.status()["seconds_left"] is None


def test_failures_that_are_not_shown_are_counted_and_an_unknown_key_is_told(organisation: Organisation) -> None:
    organisation.write_sessions(23)
    organisation.send()
    organisation.rows("UPDATE extractions SET state = 'failed', ended_at = now(), problem = 'Why.' RETURNING key")
    organisation.rows("DELETE FROM procrastinate_jobs RETURNING id")
    shown = run("org", "status").stdout
    assert shown.count("Why.") == 20 and "… and 3 more. `lerim org retry`" in shown
    told = answer("org", "retry", "nosuchkey", code=1)["error"]
    assert told["message"] == "No session without a result has this key." and told["where"] == "nosuchkey"
    [(key,)] = organisation.rows("SELECT key FROM extractions LIMIT 1")
    assert run("org", "retry", key).stdout == "1 session sent again.\n"


def test_a_reader_of_the_team_sees_the_state_and_can_send_nothing(organisation: Organisation) -> None:
    organisation.write_sessions(1)
    organisation.send()
    reader = organisation.url.replace("_worker@", "_reader@")
    assert run("org", "status", "--database", reader).exit_code == 0
    organisation.write_sessions(2)
    refused = run("org", "backfill", "--database", reader)
    assert refused.exit_code == 1 and "is not allowed to do this" in refused.stderr
    other = organisation.url.replace("platform_worker@", "payments_worker@")
    assert "[....................................]" not in run("org", "status", "--database", other).stdout
    assert "platform" in run("org", "status", "--database", other, "--team", "platform").stderr


def test_a_repository_that_was_away_is_found_when_it_is_back(desk: Desk) -> None:
    desk.session("s1", *correct(desk))
    here = LocalSessions(desk.home, os.environ)
    [transcript] = here.list_transcripts()
    away = desk.repo.rename(desk.repo.with_name("away"))
    assert here.find_project(transcript) is None
    away.rename(desk.repo)
    assert here.find_project(transcript) == desk.place.project
