"""`lerim queue`: what waits or failed is listed with its reason, tried again, or left alone."""

from __future__ import annotations

import json
from typing import Any

import pytest
from typer.testing import Result

import terminal
from desk import Desk, correction
from lerim.sessions.catalog.catalog import Catalog

SECRET = "ghp_" + "a8Kd02mXq7LzP4rT9vWb1NcYh6Se3Jf5GuQo"


@pytest.fixture
def tried(desk: Desk) -> Desk:
    """A repository with one session nothing could be learned from, though it was tried."""
    first, *rest = correction(desk)
    first["message"] = {"role": "user", "content": f"Read the config in src/app.py {SECRET}"}
    desk.session("s1", first, *rest)
    desk.sync(cancelled=lambda: desk.home.catalog.exists() and bool(jobs_of(desk)))
    with Catalog.open(desk.home) as catalog:
        for _ in range(3):
            job = catalog.claim_job(desk.place.project.key, started=9e12)
            assert job is not None
            catalog.fail_job(job, "The file was locked.")
    return desk


def jobs_of(desk: Desk) -> Any:
    with Catalog.open(desk.home) as catalog:
        return catalog.list_open_jobs(desk.place.project.key)


def run(desk: Desk, *arguments: str) -> Result:
    return terminal.run("queue", *arguments, "--repo", str(desk.repo))


def answer(desk: Desk, *arguments: str) -> Any:
    return terminal.answer("queue", *arguments, "--repo", str(desk.repo))


@pytest.mark.usefixtures("tried")
def test_a_dead_job_is_listed_with_its_reason_and_without_secrets(desk: Desk) -> None:
    shown = answer(desk, "list")
    [job] = shown["jobs"]
    assert (job["state"], job["tries"], job["reason"]) == ("dead", 3, "The file was locked.")
    assert (job["kind"], job["platform"], job["session"], job["next_try"]) == ("extract", "claude", "s1", None)
    assert SECRET not in json.dumps(shown)
    assert "Read the config" in job["title"]
    assert shown["counts"] == {"dead": 1}
    table = run(desk, "list").stdout
    assert "The file was locked." in table
    assert SECRET[:12] not in table


@pytest.mark.usefixtures("tried")
def test_what_is_retried_runs_at_the_next_sync_also_if_it_was_skipped(desk: Desk) -> None:
    assert desk.sync().candidates == []
    assert answer(desk, "retry") == {"changed": 1}
    assert answer(desk, "skip", str(answer(desk, "list")["jobs"][0]["id"])) == {"changed": 1}
    assert answer(desk, "retry") == {"changed": 0}, "all that failed is not what a person skipped"
    assert answer(desk, "retry", str(answer(desk, "list")["jobs"][0]["id"])) == {"changed": 1}
    assert len(desk.sync().candidates) == 1
    assert answer(desk, "list")["jobs"] == []
    assert run(desk, "retry").stdout == "Nothing to retry.\n"
    assert run(desk, "list").stdout.startswith("Nothing is waiting")


@pytest.mark.usefixtures("tried")
def test_what_is_skipped_is_left_alone_until_its_session_grows(desk: Desk) -> None:
    assert answer(desk, "skip") == {"changed": 1}
    [job] = answer(desk, "list")["jobs"]
    assert (job["state"], job["reason"]) == ("skipped", "The file was locked.")
    assert desk.sync().candidates == []
    assert run(desk, "skip").stdout == "Nothing to skip.\n"
    desk.session("s1", *correction(desk, "tomllib", "README.md"))
    assert len(desk.sync().candidates) == 2


@pytest.mark.usefixtures("tried")
def test_a_job_that_is_not_there_is_an_error_and_nothing_is_done(desk: Desk) -> None:
    for command in ("retry", "skip"):
        result = run(desk, command, "1", "987654", "--json")
        assert result.exit_code == 1
        assert json.loads(result.stdout)["error"]["code"] == "not-found"
        assert run(desk, command, "x").exit_code == run(desk, command, str(2**70)).exit_code == 2
    assert answer(desk, "list")["jobs"][0]["state"] == "dead"


def test_without_a_catalog_the_queue_is_empty_and_none_is_made(desk: Desk) -> None:
    assert answer(desk, "list") == {"jobs": [], "counts": {}}
    assert run(desk, "retry").stdout == "Nothing to retry.\n"
    assert run(desk, "list").stdout == "Nothing is waiting. Run `lerim sync` to read this repository's sessions.\n"
    assert not desk.home.catalog.exists()
