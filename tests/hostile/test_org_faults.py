"""What workers of an organisation survive: kills of them and of the database, a network that is cut, full disks, clocks
an hour apart, a session that kills its reader, and two schedulers at once."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

import psutil
import psycopg
import pytest

from chat_server import Asked, Handler, finds
from clock import clock_ahead
from desk import Desk
from hang import HANG
from lerim.org import Worker, rescue_stalled_jobs
from lerim.org.workers.reader_processes import Reader
from lerim.org.workers.results import BegunExtraction
from lerim.team import TeamDatabase
from long import at_most
from model_desk import CENTS, model, story
from network import network
from organisation import Organisation, kill, make_organisation
from postgres import postgres
from terminal import answer, run

HOUR = 3600
LATENCY = 0.3
"""Seconds that the model takes for an answer."""
CONCURRENCY = 2
ASKED = "EXISTS (SELECT 1 FROM calls WHERE (calls.team, calls.key) = (extractions.team, extractions.key))"

POISON = """
import os, signal, sys

def die(event, arguments):
    if event == "open" and str(arguments[0]).endswith("poisoned.jsonl"):
        os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(die)
"""


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + HANG
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_after_kills_of_workers_and_of_the_database_all_is_found_and_nothing_paid_twice_but_what_was_in_flight(
    organisation: Organisation, monkeypatch: pytest.MonkeyPatch
) -> None:
    kills, restarts = at_most(300, 2), at_most(20, 1)
    chance, server, in_flight = Random(19), postgres(), 0
    children: list[psutil.Process] = []
    with model(organisation.desk, answer_slowly) as service:
        write_work(organisation, 2)
        workers = [start_worker(organisation, number) for number in range(at_most(2, 1))]
        restarted = False
        for number in range(kills):
            if not left(organisation):
                write_work(organisation, 6)
            began, asked = begun(organisation), len(service.asked)

            def is_at_work(began: int = began, restarted: bool = restarted) -> bool:
                go_on(organisation, workers, restarted=restarted)
                return begun(organisation) > began or not left(organisation)

            wait_for(is_at_work)
            if number % 3:
                wait_for(lambda: len(service.asked) > asked or not left(organisation))  # noqa: B023
            victim = number % len(workers)
            worker = workers[victim]
            time.sleep(chance.uniform(0, 2 * LATENCY))  # the instant of the kill, not a wait for something
            restarted = number % (kills // restarts) == kills // restarts - 1
            if restarted:
                server.kill()
                server.start()
            family = psutil.Process(worker.pid).children(recursive=True) if is_alive(worker) else []
            children += family
            if number % 3 == 2 and family:  # the reader alone: its worker goes on
                family[-1].kill()
                in_flight += CONCURRENCY
                continue
            kill(worker)
            in_flight += count(organisation, f"{ASKED} AND state = 'running' AND worker LIKE '%:{worker.pid}'")
            workers[victim] = start_worker(organisation, number)
        for worker in workers:
            worker.wait(HANG)
        go_on(organisation, workers, restarted=restarted)
        assert [one.wait(HANG) for one in workers] == [0] * len(workers)
        wait_for(lambda: not any(child.is_running() for child in children))
        while set(organisation.status()["states"]) != {"done"}:  # one that was hit by three kills counts as dangerous
            assert answer("org", "retry")["changed"]
            assert start_worker(organisation, 0).wait(HANG) == 0
        distinct = {str(one.body) for one in service.asked}
        assert len(service.asked) - len(distinct) <= in_flight
        assert organisation.rows("SELECT count(*) FROM answers") == [(len(distinct),)]
        assert organisation.rows("SELECT count(*) FROM calls WHERE NOT settled") == [(0,)]
        assert organisation.rows("SELECT count(*) FROM calls") >= [(len(service.asked),)]
        unharmed = make_organisation(organisation.desk, monkeypatch)
        unharmed.send()
        Worker(TeamDatabase(unharmed.url, "platform"), os.environ, until_done=True).run()
    assert organisation.candidates() == unharmed.candidates() != []


def write_work(organisation: Organisation, more: int) -> None:
    """Writes so many more sessions in which the rules find something and as many that need a model, and sends them."""
    before = count(organisation, "true") // 2
    organisation.write_sessions(before + more, before)
    for number in range(before, before + more):
        story(organisation.desk, f"story{number}")
    organisation.send()


def start_worker(organisation: Organisation, number: int) -> subprocess.Popen[bytes]:
    """A worker on a machine whose clock is right, an hour ahead or an hour behind, in turn."""
    arguments = ("--concurrency", str(CONCURRENCY))
    environ = clock_ahead((0, HOUR, -HOUR)[number % 3])
    return organisation.start_worker(*arguments, environ=environ, python=sys.executable)


def go_on(organisation: Organisation, workers: list[subprocess.Popen[bytes]], *, restarted: bool) -> None:
    """Starts the workers again that ended because nothing was left for a moment, or because they were just starting
    while the database `restarted`: such a worker says that it cannot reach it."""
    for number, worker in enumerate(workers):
        if not is_alive(worker):
            assert worker.returncode in ((0, 1) if restarted else (0,))
            workers[number] = start_worker(organisation, number)


def answer_slowly(handler: Handler, asked: Asked) -> None:
    time.sleep(LATENCY)
    (finds(CENTS) if "agreement with billing" in asked.prompt else finds())(handler, asked)


def test_workers_that_the_network_cuts_off_go_on_and_lose_nothing(organisation: Organisation) -> None:
    for name in ("s1", "s2"):
        story(organisation.desk, name)
    answers = finds(CENTS)
    with network(postgres().socket) as cable:

        def cut(handler: Handler, asked: Asked) -> None:
            cable.cut(refuse=3)
            answers(handler, asked)

        def stall(handler: Handler, asked: Asked) -> None:
            cable.stall()
            answers(handler, asked)

        with model(organisation.desk, cut, stall, answers) as service:
            organisation.send()
            url = f"postgresql://platform_worker@127.0.0.1:{cable.port}/{organisation.url.split('/')[3].split('?')[0]}"
            cut_off = organisation.start_worker(environ=os.environ | {"LERIM_DATABASE_URL": url})
            wait_for(lambda: len(service.asked) == 2)
            assert organisation.start_worker().wait(HANG) == 0  # takes over what the silent one had at hand
            found = organisation.candidates()
            cable.flow()
            assert cut_off.wait(HANG) == 0
        assert len(service.asked) == 3
    assert organisation.status()["states"] == {"done": 2}
    assert organisation.candidates() == found
    assert [session for session, title, _, _ in found if title == CENTS["title"]] == ["claude:s1", "claude:s2"]


def test_a_worker_whose_disk_is_full_does_its_work(organisation: Organisation) -> None:
    organisation.write_sessions(3)
    organisation.send()
    nothing_written = ("sh", "-c", 'ulimit -f 0; exec "$@"', "sh")
    assert organisation.start_worker(within=nothing_written, python=sys.executable).wait(HANG) == 0
    assert organisation.status()["states"] == {"done": 3}
    assert {session for session, _, _, _ in organisation.candidates()} == {"claude:s0", "claude:s1", "claude:s2"}


def test_while_the_disk_of_the_database_is_full_workers_wait_and_no_result_is_lost(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = postgres()
    with server.small_disk(megabytes=16) as disk:
        organisation = make_organisation(desk, monkeypatch, tablespace="small")
        organisation.write_sessions(3)
        organisation.send()
        filler = disk / "filler"
        filler.write_bytes(bytes(shutil.disk_usage(disk).free))
        worker = organisation.start_worker()
        wait_for(lambda: b"No space left on device" in (server.folder / "log").read_bytes())
        filler.unlink()
        assert worker.wait(HANG) == 0
        assert organisation.status()["states"] == {"done": 3}
        assert len(organisation.candidates()) == 3


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
    worker = organisation.start_worker(environ=os.environ | {"PYTHONPATH": path}, python=sys.executable)
    assert worker.wait(HANG) == 0
    status = organisation.status()
    assert status["states"] == {"done": 2, "quarantined": 1}
    [failure] = status["failures"]
    assert failure["session"] == "claude:poisoned" and failure["tries"] == 3
    assert "claude:poisoned" in run("org", "status").stdout and "died 3 times" in run("org", "status").stdout


def test_a_fault_of_the_worker_itself_quarantines_a_session_rather_than_leave_it_running(
    organisation: Organisation,
) -> None:
    organisation.write_sessions(1)
    organisation.send()
    no_environment = {**os.environ, "NAME": lambda: ""}  # no process can be started with it
    Worker(TeamDatabase(organisation.url, "platform"), no_environment, until_done=True).run()  # type: ignore[arg-type]
    [failure] = organisation.status()["failures"]
    assert (failure["state"], failure["tries"]) == ("quarantined", 3)


def test_a_session_whose_reader_cannot_be_started_waits_and_that_is_no_try(organisation: Organisation) -> None:
    resource = pytest.importorskip("resource", reason="there are no limits of a process here")
    reader = Reader(TeamDatabase(organisation.url, "platform"), os.environ)
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, before[1]))
    try:
        result = reader.extract(BegunExtraction("k", "p", "claude:s", "h", "c", ""))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert (result.state, result.is_try) == ("waiting", False)
    assert result.problem == "The process that reads sessions could not be started: Too many open files."


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
