"""Models asked by an organisation's workers: each answer is paid once, within one budget and one rate for all."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest

from chat_server import Asked, Chat, Handler, fails, finds, marked, says
from lerim.errors import TooDearError
from lerim.models import NO_USAGE, Reservation, Usage
from lerim.org import FleetBudget, FleetBusyError, Limits, Worker, load_limits
from lerim.org.workers.local_extractor import LocalExtractor
from lerim.org.workers.results import BegunExtraction
from lerim.team import TeamDatabase, make_storable_json
from model_desk import CENTS, model, paid, story
from organisation import Organisation
from terminal import answer, run


@pytest.fixture
def database(organisation: Organisation) -> TeamDatabase:
    return TeamDatabase(organisation.url, "platform")


@pytest.fixture
def busy_then_answering(organisation: Organisation) -> Iterator[Chat]:
    for name in ("s1", "s2"):
        story(organisation.desk, name)
    with model(organisation.desk, fails(429, headers={"Retry-After": "1"}), finds(CENTS)) as server:
        yield server


def test_an_answer_is_stored_before_its_job_is_done_and_never_paid_twice(
    organisation: Organisation, database: TeamDatabase, busy_then_answering: Chat
) -> None:
    plan = organisation.send("--dry-run")["plan"]
    assert plan["model"] == "openai:m" and plan["estimate"]["calls"] == 2
    organisation.send()
    Worker(database, os.environ, until_done=True).run()
    assert organisation.status()["states"] == {"done": 2}
    assert len(busy_then_answering.asked) == 3  # one was told to come back, and the other waited with it
    found = organisation.candidates()
    assert CENTS["title"] in {title for _, title, _, _ in found}
    organisation.rows(  # as if the worker had died between the answer and its result
        "WITH lost AS (DELETE FROM candidates WHERE team = 'platform' RETURNING key)"
        " UPDATE extractions SET state = 'failed' RETURNING key"
    )
    organisation.rows(  # and as if its call had been in flight
        "INSERT INTO calls (team, model, key, dollars) SELECT 'platform', model, key, 100 FROM extractions RETURNING id"
    )
    assert answer("org", "retry")["changed"] == 2
    Worker(database, os.environ, until_done=True).run()
    assert organisation.candidates() == found
    assert len(busy_then_answering.asked) == 3
    assert organisation.status()["today_usd"] < 1  # it counts as such a call costs on average


def test_the_time_of_a_model_is_told_from_its_answers_and_from_the_limits_of_the_team(
    organisation: Organisation,
) -> None:
    for number in range(4):
        story(organisation.desk, f"s{number}")
    with model(organisation.desk, finds(CENTS)):
        assert organisation.send("--dry-run")["plan"]["estimate"]["answer_seconds"] is None
        assert "is known after the first ten calls" in run("org", "backfill", "--dry-run").stdout
        organisation.send()
        organisation.rows("UPDATE extractions SET state = 'done', seconds = 5, ended_at = now() RETURNING key")
        organisation.rows(
            "INSERT INTO calls (team, model, key, dollars, output_tokens)"
            " SELECT 'platform', 'openai:m', 'k', 0, 200 FROM generate_series(1, 10) RETURNING id"
        )
        for number in range(6):
            story(organisation.desk, f"later{number}")
        answer("org", "limits", "--calls-per-minute", "1")
        estimate = organisation.send("--dry-run")["plan"]["estimate"]
        assert (estimate["calls"], estimate["answer_seconds"], estimate["least_seconds"]) == (6, 12.0, 360.0)
        shown = run("org", "backfill", "--dry-run").stdout
    assert "waits for its answers for about 12 seconds" in shown and "within about 6 minutes" in shown


def test_work_that_costs_as_much_as_a_day_allows_takes_no_second_day(
    organisation: Organisation, monkeypatch: pytest.MonkeyPatch
) -> None:
    def least_seconds(per_day: float) -> float:
        organisation.rows(f"UPDATE budgets SET dollars_per_day = {per_day!r} RETURNING team")
        seconds: float = organisation.send("--dry-run")["plan"]["estimate"]["least_seconds"]
        return seconds

    monkeypatch.setenv("OPENROUTER_API_KEY", "k")
    story(organisation.desk, "s1")
    with model(organisation.desk, provider="openrouter", model="openai/gpt-5-nano", base_url=""):
        answer("org", "limits", "--per-day", "1")
        cost = organisation.send("--dry-run")["plan"]["estimate"]["cost"]
        assert [least_seconds(cost * share) for share in (1, 0.5, 0.4)] == [0, 86_400, 2 * 86_400]


def test_an_answer_with_characters_that_no_database_stores_is_paid_once(
    organisation: Organisation, database: TeamDatabase
) -> None:
    story(organisation.desk, "s1")
    odd = {**CENTS, "title": f"{CENTS['title']}\0", "body": "It was \0 agreed."}

    def answers(handler: Handler, asked: Asked) -> None:
        says(f"\0{marked([odd])}")(handler, asked)

    with model(organisation.desk, answers) as server:
        organisation.send()
        Worker(database, os.environ, until_done=True).run()
        assert organisation.status()["states"] == {"done": 1}
        assert len(server.asked) == 1
    assert any(title.startswith(CENTS["title"]) for _, title, _, _ in organisation.candidates())


def test_only_escaped_nul_characters_are_taken_out_of_json() -> None:
    text = 'a\0b "\\u0000" \\\0 c:\\\\u0000'
    assert json.loads(make_storable_json(json.dumps(text))) == text.replace("\0", "")


def test_a_session_is_sent_only_to_the_model_it_was_queued_for_as_long_as_that_is_chosen(
    organisation: Organisation, database: TeamDatabase
) -> None:
    story(organisation.desk, "s1")
    with model(organisation.desk, finds(CENTS)) as server:
        organisation.send()
        [row] = organisation.rows("SELECT key, project, session, place_hash, content_hash, model FROM extractions")
        queued, extractor = BegunExtraction(*row), LocalExtractor(database, os.environ)
        assert extractor.extract(queued).state == "done"
        assert len(server.asked) == 1
        for_another = replace(queued, key="other", model="openai:another")
        assert extractor.extract(for_another).state == "waiting"
        organisation.desk.home.config.unlink()
        assert extractor.extract(replace(queued, key="later")).state == "waiting"
        assert len(server.asked) == 1


def test_an_outage_of_the_service_is_no_try_of_a_session_but_failing_while_others_are_answered_is(
    organisation: Organisation, database: TeamDatabase
) -> None:
    for name in ("s1", "s2"):
        story(organisation.desk, name)
    broken_off = says("[[ ## reasoning", "error")
    with model(organisation.desk, *[fails(503)] * 4, finds(CENTS), fails(503), broken_off):
        organisation.send()
        rows = organisation.rows("SELECT key, project, session, place_hash, content_hash, model FROM extractions")
        one, other = (BegunExtraction(*row) for row in rows)
        extractor = LocalExtractor(database, os.environ)

        def extract(extraction: BegunExtraction) -> tuple[str, bool]:
            result = extractor.extract(extraction)
            organisation.rows("UPDATE rates SET paused_until = now() RETURNING team")
            return result.state, result.is_try

        assert [extract(one) for _ in range(4)] == [("waiting", False)] * 4
        assert extract(other) == ("done", False)
        assert extract(one) == ("waiting", True)
        assert extract(one) == ("waiting", True), "what breaks off is paid for each time"


def test_all_workers_together_keep_to_one_rate_and_one_budget(
    organisation: Organisation, database: TeamDatabase
) -> None:
    nano = paid()
    assert "any number of model calls, at any cost" in run("org", "limits").stdout
    assert answer("org", "limits", "--calls-per-minute", "30")["calls_per_minute"] == 30
    assert len(reserve_at_once(database, 12)) == 5  # what ten seconds are good for
    answer("org", "limits", "--calls-per-minute", "0", "--per-day", "1")
    with pytest.raises(TooDearError):
        FleetBudget(database, "k").reserve(nano, 10**9, 10**9, lambda: False)
    reserved = reserve_at_once(database, 12, tokens=250_000)  # at most $0.1 each
    [(spent, most)] = organisation.rows("SELECT sum(dollars)::float8, max(dollars)::float8 FROM calls")
    assert 1 - most < spent <= 1 and len(reserved) < 12
    budget = FleetBudget(database, "k")
    budget.settle(reserved[0], Usage(1, 10, 5, cost=0.001), lambda: False)
    budget.settle(reserved[1], NO_USAGE, lambda: False)
    assert len(reserve_at_once(database, 12, tokens=250_000)) in (1, 2)
    other = TeamDatabase(database.url.replace("platform_worker", "payments_worker"), "payments")
    assert load_limits(other) == Limits(0, 0)  # limits are a team's, and so is what is spent
    assert len(reserve_at_once(other, 12, tokens=250_000)) == 12


def reserve_at_once(database: TeamDatabase, count: int, tokens: int = 1_000) -> list[Reservation]:
    """Tries so many reservations from as many threads; those that were granted. The others are told when to come."""

    def reserve(number: int) -> Reservation | None:
        try:
            return FleetBudget(database, str(number)).reserve(paid(), tokens, 200_000 if tokens > 1_000 else 1, never)
        except FleetBusyError as error:
            assert error.at.utcoffset() == timedelta(0)
            return None

    with ThreadPoolExecutor(4) as pool:
        return [one for one in pool.map(reserve, range(count)) if one]


def never() -> bool:
    return False


def test_a_service_that_asks_for_patience_stops_every_worker_of_the_team_for_a_day_at_most_and_no_other(
    database: TeamDatabase,
) -> None:
    until = FleetBudget(database, "one").pause(paid().label, 3600)
    with pytest.raises(FleetBusyError) as told:
        FleetBudget(database, "two").reserve(paid(), 10, 10, never)
    assert told.value.at == until
    longest = FleetBudget(database, "one").pause(paid().label, 1e12)  # a service may ask for anything
    assert longest - until < timedelta(days=1)
    other = TeamDatabase(database.url.replace("platform_worker", "payments_worker"), "payments")
    assert FleetBudget(other, "k").reserve(paid(), 10, 10, never).row
