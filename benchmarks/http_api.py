"""Measures `lerim up` with many memories: how long the API takes to answer, and what the idle daemon costs.

    python benchmarks/http_api.py [--count 10000] [--idle 60] [--json FILE]

The server is the process that `lerim up` starts. Its first sync and maintenance are awaited. Idle is measured then,
before anything was asked, with the agents' stores watched.
"""

from __future__ import annotations

import argparse
import math
import os
import tempfile
import time
import urllib.request
from pathlib import Path

import psutil

from dashboard import make_home
from lerim.paths import Home
from lerim.views import RunningServer
from lerim.web import start_server, stop_server
from lerim.web.binding import ServeOptions
from lerim.web.token import load_token
from table import Row, report_rows

TIMES = 20
QUIET_SECONDS = 20.0
FIRST_WORK_SECONDS = 900.0
API_BUDGET_MS, CPU_BUDGET_PERCENT, MEMORY_BUDGET_MB = 200.0, 0.1, 60.0


def list_requests(key: str) -> dict[str, str]:
    """The measured requests, by name."""
    return {
        "memories, a page of 100": f"/projects/{key}/memories",
        "memories, search": f"/projects/{key}/memories/search?q=ra+to",
        "one memory": f"/projects/{key}/memories/20260101-choice-7-2",
        "candidates": f"/projects/{key}/candidates",
        "sessions": "/sessions",
        "sessions, search": "/sessions/search?q=run+main",
        "queue": f"/projects/{key}/queue",
        "statistics by day": "/statistics?by=day",
        "statistics by model": "/statistics?by=model",
        "status": f"/projects/{key}/status",
    }


def measure_request(server: RunningServer, path: str, token: str) -> tuple[float, float]:
    """The 95th percentile of the milliseconds until the answer was read, and the mean of the milliseconds of processor
    time, both without the first request."""
    address, process = f"{server.address}/api/v1{path}", psutil.Process(server.pid)
    times, before = [], 0.0
    for number in range(TIMES + 1):
        if number == 1:
            before = sum(process.cpu_times()[:2])
        request = urllib.request.Request(address, headers={"Authorization": f"Bearer {token}"})
        started = time.perf_counter()
        with urllib.request.urlopen(request) as response:
            response.read()
        times.append((time.perf_counter() - started) * 1000)
    used = sum(process.cpu_times()[:2]) - before
    return sorted(times[1:])[math.ceil(0.95 * TIMES) - 1], used / TIMES * 1000


def wait_until_idle(server: RunningServer) -> None:
    """Wait until the daemon has done its first work: its processes have ended, and none starts for a while."""
    process = psutil.Process(server.pid)
    has_worked, quiet_since = False, time.monotonic()
    deadline = time.monotonic() + FIRST_WORK_SECONDS
    while not has_worked or time.monotonic() - quiet_since < QUIET_SECONDS:
        assert time.monotonic() < deadline, "The daemon did not finish its first work."
        if process.children():
            has_worked, quiet_since = True, time.monotonic()
        time.sleep(0.2)


def measure_idle(server: RunningServer, seconds: float) -> list[Row]:
    """The processor time and memory of a server that nobody asks anything."""
    process = psutil.Process(server.pid)
    before, started = sum(process.cpu_times()[:2]), time.monotonic()
    time.sleep(seconds)
    used = sum(process.cpu_times()[:2]) - before
    percent = used / (time.monotonic() - started) * 100
    size = process.memory_info().rss / 1e6
    return [
        ("idle: processor", percent, CPU_BUDGET_PERCENT, "%"),
        ("idle: memory", size, MEMORY_BUDGET_MB, "MB"),
    ]


def main() -> int:
    """Print the rows. Return 1 if a budget is not met."""
    parser = argparse.ArgumentParser(description="Measure the server.")
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--idle", type=float, default=60.0)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home, project = make_home(Path(folder).resolve(), arguments.count)
        (Path(folder) / ".claude" / "projects").mkdir(parents=True)
        environ = {**os.environ, "HOME": folder, "LERIM_HOME": str(home.root)}
        server = start_server(Home(home.root, Path(folder)), environ, ServeOptions(port=0))
        try:
            wait_until_idle(server)
            rows = measure_idle(server, arguments.idle)
            token = load_token(home)
            for name, path in list_requests(project.key).items():
                p95, processor = measure_request(server, path, token)
                rows += [
                    (f"{name}: p95", p95, API_BUDGET_MS, "ms"),
                    (f"{name}: processor", processor, API_BUDGET_MS, "ms"),
                ]
        finally:
            stop_server(home)
    report_rows(rows, arguments.json)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
