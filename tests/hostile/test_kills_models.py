"""Kills of a sync that asks a model: what the model said waits in the end, once, and what gave way to it is listed."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from random import Random

from chat_server import finds, item
from desk import Desk, correction
from lerim.jobs.sync_context import SyncOptions
from lerim.review import queue
from long import times
from model_desk import environ, model, told
from warm_python import warm_python

KILLS = 1
"""`LERIM_LONG` multiplies them."""
SAYS = item("Use `pathlib` rather than `os.path` in src/app.py", "use pathlib instead of os.path in src/app.py", 2)


def test_a_model_takes_the_place_of_the_ranker_through_kills(desk: Desk) -> None:
    desk.session("s1", *correction(desk))
    desk.sync(SyncOptions(model="none"))
    [ranked] = desk.waiting()
    chance, killed = Random(1), 0
    with model(desk, finds(SAYS)):
        for _ in range(times(KILLS)):
            killed += sync_killed(desk.repo, chance.uniform(0.3, 2.5))
            assert len(desk.waiting()) <= 1
        told(desk)
    assert killed
    assert desk.waiting() == [SAYS["title"]]
    assert [one.title for one in queue.list_left_out(desk.place)[0] if one.reason == "model-read"] == [ranked]


def test_two_syncs_at_once_leave_one_candidate(desk: Desk) -> None:
    desk.session("s1", *correction(desk))
    desk.sync(SyncOptions(model="none"))
    with model(desk, finds(SAYS)):
        both = [started(desk.repo, warm_python()) for _ in range(2)]
        for process in both:
            process.wait()
        told(desk)
    assert desk.waiting() == [SAYS["title"]]


def started(repo: Path, python: str = sys.executable) -> subprocess.Popen[bytes]:
    command = [python, "-P", "-m", "lerim", "sync", "--repo", str(repo), "--yes", "--json"]
    return subprocess.Popen(command, env=environ(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def sync_killed(repo: Path, after: float) -> bool:
    """Whether the sync was still at work so many seconds later, and was killed."""
    with started(repo) as process:
        time.sleep(after)  # the instant of the kill, not a wait for something
        process.kill()
        return process.wait() < 0
