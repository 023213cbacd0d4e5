"""What workers of an organisation survive: kills of them and of the database, a session that kills its reader, and two
schedulers at once."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

import psutil
import psycopg
import pytest

from chat_server import Asked, Handler, finds
from desk import Desk
from hang import HANG
from lerim.org import TeamDatabase, Worker, rescue_stalled_jobs
from long import times
from model_desk import CENTS, model, story
from organisation import Organisation, kill, make_organisation
from postgres import postgres
from terminal import answer, run

POISON = """
import os, signal, sys

def die(event, arguments):
    if event == "open" and str(arguments[0]).endswith("poisoned.jsonl"):
        os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(die)
"""


@pytest.fixture
def organisation(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Organisation:
    return make_organisation(desk, monkeypatch)


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + HANG
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_after_kills_of_workers_and_of_the_database_the_candidates_are_those_of_a_run_without(
    organisation: Organisation, monkeypatch: pytest.MonkeyPatch
) -> None:
    organisation.write_sessions(6)
    organisation.send()
    chance, server = Random(19), postgres()
    children: list[psutil.Process] = []
    workers = [organisation.start_worker("--concurrency", "2") for _ in range(2)]
    for number in range(times(2)):
        began = begun(organisation)
        wait_for(lambda began=began: begun(organisation) > began or not left(organisation))
        time.sleep(chance.uniform(0, 0.3))  # the instant of the kill, not a wait for something
        if number % 2:
            server.kill()
            server.start()
        victim = number % 2
        children += psutil.Process(workers[victim].pid).children(recursive=True) if is_alive(workers[victim]) else []
        kill(workers[victim])
        workers[victim] = organisation.start_worker("--concurrency", "2")
    for worker in workers:
        assert worker.wait(HANG) == 0
    wait_for(lambda: not any(child.is_running() for child in children))
    while organisation.status()["states"] != {"done": 6}:  # one that was hit by three kills counts as dangerous
        assert answer("org", "retry")["changed"]
        assert organisation.start_worker().wait(HANG) == 0
    unharmed = make_organisation(organisation.desk, monkeypatch)
    unharmed.send()
    Worker(TeamDatabase(unharmed.url, "platform"), os.environ, 2, until_done=True).run()
    assert organisation.candidates() == unharmed.candidates() != []


def test_a_worker_killed_while_a_model_answers_pays_again_only_for_what_was_in_flight(
    organisation: Organisation,
) -> None:
    kills, sessions = times(1), 2 + times(1)
    for number in range(sessions):
        story(organisation.desk, f"s{number}")
    answers = finds(CENTS)
    workers: list[subprocess.Popen[bytes]] = []

    def kill_then_answer(handler: Handler, asked: Asked) -> None:
        kill(workers[-1])
        answers(handler, asked)

    acts = [act for _ in range(kills) for act in (answers, kill_then_answer)]
    with model(organisation.desk, *acts, answers) as server:
        organisation.send()
        for _ in range(kills):
            workers.append(organisation.start_worker())
            wait_for(lambda: not is_alive(workers[-1]))
        workers.append(organisation.start_worker())
        assert workers[-1].wait(HANG) == 0
        assert organisation.status()["states"] == {"done": sessions}
        assert len({str(one.body) for one in server.asked}) == sessions
        assert len(server.asked) == sessions + kills  # each kill lost the one answer that was in flight
        assert organisation.rows("SELECT count(*) FROM calls WHERE NOT settled") == [(kills,)]
    found = [session for session, title, _, _ in organisation.candidates() if title == CENTS["title"]]
    assert sorted(found) == [f"claude:s{number}" for number in range(sessions)]


def begun(organisation: Organisation) -> int:
    return count(organisation, "tries > 0")


def left(organisation: Organisation) -> int:
    return count(organisation, "ended_at IS NULL")


def count(organisation: Organisation, condition: str) -> int:
    return organisation.rows(f"SELECT count(*) FROM extractions WHERE {condition}")[0][0]


def is_alive(process: subprocess.Popen[bytes]) -> bool:
    return process.poll() is None


def test_a_session_that_kills_its_reader_is_quarantined_after_three_tries_and_told(
    organisation: Organisation, tmp_path: Path
) -> None:
    organisation.write_sessions(2)
    organisation.desk.session("poisoned", {"type": "user"})
    organisation.send()
    (tmp_path / "hook").mkdir()
    (tmp_path / "hook" / "sitecustomize.py").write_text(POISON, encoding="utf-8")
    path = os.pathsep.join([str(tmp_path / "hook"), os.environ.get("PYTHONPATH", "")])
    worker = organisation.start_worker(environ=os.environ | {"PYTHONPATH": path})
    assert worker.wait(HANG) == 0
    status = organisation.status()
    assert status["states"] == {"done": 2, "quarantined": 1}
    [failure] = status["failures"]
    assert failure["session"] == "claude:poisoned" and failure["tries"] == 3
    assert "claude:poisoned" in run("org", "status").stdout and "died 3 times" in run("org", "status").stdout


def test_two_schedulers_at_once_take_over_each_job_of_a_dead_worker_once(organisation: Organisation) -> None:
    with psycopg.connect(organisation.url, autocommit=True, options="-c search_path=lerim,pg_catalog") as connection:
        dead = "INSERT INTO procrastinate_workers (team, last_heartbeat) VALUES ('platform', now() - interval '1 hour')"
        alive = "INSERT INTO procrastinate_workers (team) VALUES ('platform')"
        ids = [connection.execute(f"{one} RETURNING id").fetchone()[0] for one in (dead, alive)]
        for number in range(20):
            connection.execute(
                "INSERT INTO procrastinate_jobs (queue_name, task_name, status, worker_id)"
                " VALUES ('platform/host', 'extract', 'doing', %s)",
                (ids[number % 2],),
            )
    database = TeamDatabase(organisation.url, "platform")
    with ThreadPoolExecutor(2) as pool:
        assert sum(pool.map(lambda _: rescue_stalled_jobs(database, 30), range(2))) == 10
    states = organisation.rows("SELECT status, attempts, count(*) FROM procrastinate_jobs GROUP BY 1, 2 ORDER BY 1")
    assert states == [("todo", 1, 10), ("doing", 0, 10)]
