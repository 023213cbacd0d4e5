"""Measures how the work of an organisation grows with its workers, and simulates many more of them.

    python benchmarks/org_scaling.py [--sessions 200] [--workers 1 2 4 8] [--largest BYTES] [--json FILE]

The sessions are the shared real ones of Claude Code and Codex up to a size, varied as in `first_sync.py`. A model on
loopback answers after half a second. Workers and their readers, the database and the model share this machine, so that
the processor is measured beside the waiting: `--largest 60000` gives sessions that mostly wait, without it they mostly
read. PostgreSQL's programs have to be installed. The simulation is in `_org_simulation.py`.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import psutil

from _model_service import ModelHandler
from _org_simulation import SessionCost, describe_assumptions, simulate
from first_sync import NEWEST, write_history
from lerim.models import Model
from lerim.org import FleetBudget
from lerim.team import TeamDatabase
from table import Row, report_rows

TESTS = Path(__file__).resolve().parents[1] / "tests"
sys.path += [str(TESTS / "services"), str(TESTS / "faults")]
LATENCY = 0.5
WAIT_SECONDS = 3_600.0
WARM = 3
"""Sessions for each worker that are not measured: at its first one a reader loads what a model needs."""
EFFICIENCY = 0.85
ANSWER = "[[ ## reasoning ## ]]\nNothing.\n\n[[ ## primitives ## ]]\n[]\n\n[[ ## completed ## ]]\n"


class SlowModel(ModelHandler):
    """Answers every request with nothing found, after `LATENCY`."""

    def answer_request(self, request: bytes) -> None:
        time.sleep(LATENCY)
        self.send_answer(ANSWER, prompt_tokens=10_000, completion_tokens=50)


@dataclass(frozen=True)
class Run:
    """Sessions that so many workers did in `seconds`; the processor's seconds of workers and of the database."""

    workers: int
    sessions: int
    seconds: float
    of_workers: float
    of_database: float

    @property
    def rate(self) -> float:
        return self.sessions / self.seconds


class Fleet:
    """Workers on this machine, in a home of their own with its sessions, and the database."""

    def __init__(self, base: Path, model_port: int) -> None:
        from postgres import PostgresServer, find_programs

        programs = find_programs()
        if programs is None:
            sys.exit("PostgreSQL is not installed")
        self._server, self._base = PostgresServer(programs), base
        config = base / "lerim" / "config.toml"
        config.parent.mkdir()
        url = f"http://127.0.0.1:{model_port}/v1"
        role = f'[roles.extract]\nprovider = "openai"\nmodel = "m"\nbase_url = "{url}"\n'
        config.write_text(f'{role}[roles.summarize]\nprovider = "none"\n', encoding="utf-8")

    def make_database(self) -> TeamDatabase:
        return TeamDatabase(self._server.make_database().replace("admin@", "platform_worker@"), "platform")

    def run(self, workers: int) -> Run:
        """Lets so many workers do all sessions."""
        database = self.make_database()
        started = [psutil.Popen(self._command("worker"), **self._options(database)) for _ in range(workers)]
        try:
            wait_for(database, f"SELECT count(*) = {workers} FROM procrastinate_workers")
            self._send(
                database, "--since", time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(NEWEST - 60 * WARM * workers))
            )
            wait_for(database, "SELECT count(*) = 0 FROM extractions WHERE ended_at IS NULL")
            [(warm,)] = query(database, "SELECT count(*) FROM extractions")
            before = self._processor(started)
            self._send(database)
            wait_for(database, "SELECT count(*) = 0 FROM extractions WHERE ended_at IS NULL")
            spent = [after - earlier for after, earlier in zip(self._processor(started), before, strict=True)]
        finally:
            for one in started:
                one.terminate()
                one.wait()
        newest = f"SELECT sent_at FROM extractions ORDER BY sent_at OFFSET {warm} LIMIT 1"
        [(done, seconds)] = query(
            database,
            f"SELECT count(*), extract(epoch FROM max(ended_at) - min(sent_at))::float8 FROM extractions"
            f" WHERE sent_at >= ({newest}) AND state = 'done'",
        )
        return Run(workers, done, seconds, spent[0], spent[1])

    def _send(self, database: TeamDatabase, *arguments: str) -> None:
        subprocess.run(self._command("backfill", "--yes", *arguments), check=True, **self._options(database))

    def _command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "lerim", "org", *arguments]

    def _options(self, database: TeamDatabase) -> dict[str, Any]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "CODEX_", "CLAUDE_"))}
        ours = {"HOME": str(self._base), "LERIM_HOME": str(self._base / "lerim"), "LERIM_DATABASE_URL": database.url}
        paths = os.pathsep.join([str(TESTS.parent / "server"), kept.get("PYTHONPATH", "")])
        environ = kept | ours | {"PYTHONPATH": paths, "OPENAI_API_KEY": "none"}
        return {"env": environ, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}

    def _processor(self, started: list[psutil.Popen]) -> tuple[float, float]:
        """The seconds of the processor that workers with their readers, and the database, have used so far."""
        return sum(map(processor_seconds, started)), processor_seconds(psutil.Process(self._server.pid))


def processor_seconds(process: psutil.Process) -> float:
    """Those of a process, its children, and children that have ended."""
    total = 0.0
    for one in [process, *process.children(recursive=True)]:
        try:
            times = one.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system + times.children_user + times.children_system
    return total


def query(database: TeamDatabase, statement: str) -> list[tuple[Any, ...]]:
    with database.open() as connection:
        return connection.execute(statement.encode()).fetchall()


def wait_for(database: TeamDatabase, condition: str) -> None:
    end = time.monotonic() + WAIT_SECONDS
    while query(database, condition) != [(True,)]:
        if time.monotonic() > end:
            sys.exit(f"in vain: {condition}")
        time.sleep(0.2)


def measure_reservation(database: TeamDatabase, model: Model) -> float:
    """Seconds for which a reservation lets no other of its team begin: of many at once, the time for each."""
    budget, count = FleetBudget(database, "k"), 200
    with ThreadPoolExecutor(8) as pool:
        began = time.perf_counter()
        list(pool.map(lambda _: budget.reserve(model, 1, 1, lambda: False), range(count)))
        return (time.perf_counter() - began) / count


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--sessions", type=int, default=200)
    arguments.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4, 8])
    arguments.add_argument("--largest", type=int, default=10**9)
    arguments.add_argument("--json", type=Path)
    options = arguments.parse_args()
    model = ThreadingHTTPServer(("127.0.0.1", 0), SlowModel)
    threading.Thread(target=model.serve_forever, daemon=True).start()
    cores, rows = os.cpu_count() or 1, list[Row]()
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder).resolve()
        megabytes = write_history(base, options.sessions + WARM * max(options.workers), options.largest)
        fleet = Fleet(base, model.server_address[1])
        print(f"{options.sessions} sessions of {megabytes / options.sessions:.2f} MB, {LATENCY} s for an answer")
        runs = []
        for workers in options.workers:
            run = fleet.run(workers)
            runs.append(run)
            first = runs[0]
            efficiency = run.rate * first.workers / first.rate / workers
            busy = (run.of_workers + run.of_database) / run.seconds / cores
            who = f"{workers} workers"
            rows += [
                (f"{who}: sessions a second", run.rate, None, "/s"),
                (f"{who}: loss against {first.workers} × {workers}", 1 - efficiency, 1 - EFFICIENCY, ""),
                (f"{who}: processor a session, workers", run.of_workers / run.sessions, None, "s"),
                (f"{who}: processor a session, database", run.of_database / run.sessions, None, "s"),
                (f"{who}: share of the {cores} processors in use", busy, None, ""),
            ]
            report_rows(rows[-5:], None)
        paid = Model("openai", "m", "http://127.0.0.1:1/v1", "", 1.0, 1_000, 0, key="")
        reservation = measure_reservation(fleet.make_database(), paid)
        rows.append(("a reservation, during which its team makes no other", reservation * 1000, None, "ms"))
        first = runs[0]
        cost = SessionCost(first.of_workers / first.sessions, first.of_database / first.sessions, reservation, LATENCY)
        for run in runs:
            simulated = simulate(cost, run.sessions, [run.workers], cores, shared=True)
            rows.append((f"simulated here: {run.workers} workers: sessions a second", simulated, None, "/s"))
        for machines in (5, 50):
            simulated = simulate(cost, 100_000, [2] * machines, cores)
            rows.append(
                (f"simulated: 10^5 sessions, {2 * machines} workers: minutes", 100_000 / simulated / 60, None, "m")
            )
            rows.append((f"simulated: {2 * machines} workers: sessions a second", simulated, None, "/s"))
        print(describe_assumptions(cost, cores))
    print()
    report_rows(rows, options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
