"""Measures the dashboard's pages with many memories, sessions and candidates: the time to answer, and the size.

    python benchmarks/dashboard.py [--count 10000] [--json FILE]

The server runs in a process of its own, and each page is requested over the loopback connection.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import signal
import statistics
import subprocess
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import quote, urlencode

from lerim.extraction.candidate import Candidate
from lerim.memory.record import Evidence, MemoryRecord, render_record
from lerim.paths import Home
from lerim.project.project import Project, add_project, locate_project
from lerim.review import queue
from lerim.review.review_paths import ReviewPaths
from lerim.sessions.catalog.catalog import Catalog
from lerim.sessions.model import Tokens, ToolCall, Transcript, Turn
from lerim.web.binding import ServeOptions, open_socket, plan_binding
from lerim.web.daemon.daemon import Daemon
from lerim.web.running import mark_environment
from lerim.web.running_jobs import Work
from lerim.web.served import Served
from lerim.web.server import QuietServer, make_app, make_config
from lerim.web.token import load_token
from memory_search import write_memories
from session_search import PreparedReading, make_session

TIMES = 7
BUDGET_MS, BUDGET_KB = 200.0, 300.0
TURNS = 6
CANDIDATES = 300
LINKED = 300
REFERENCE = re.compile(r"^  - (src/[\w/.]+)(?:#(\w+))?$", re.MULTILINE)


@dataclass(frozen=True)
class ProjectOwner:
    """All folders belong to one project."""

    key: str

    def find_owner(self, cwd: str) -> str:
        return self.key


def write_linked_memories(folder: Path) -> None:
    """Decisions that replace one another, three in each chain."""
    start = datetime.now(UTC) - timedelta(days=3)
    for number in range(LINKED):
        for at in range(3):
            when = start + timedelta(minutes=number * 3 + at)
            name, before, after = (f"20260101-choice-{number}-{one}" for one in (at, at - 1, at + 1))
            record = MemoryRecord(
                id=name,
                primitive="decision",
                title=f"Choice {number} in its version {at}",
                created=when,
                updated=when,
                source="manual",
                confidence=0.9,
                tags=(),
                body="It was chosen.",
                supersedes=(before,) if at else (),
                superseded_by=after if at < 2 else "",
            )
            place = folder / ("decisions" if at == 2 else "archived/decisions")
            place.mkdir(parents=True, exist_ok=True)
            (place / f"{name}.md").write_text(render_record(record), "utf-8")


def write_referenced_files(root: Path) -> None:
    """The files and symbols that the memories refer to."""
    symbols: dict[str, list[str]] = {}
    for memory in (root / ".lerim" / "memory").rglob("*.md"):
        for path, symbol in REFERENCE.findall(memory.read_text("utf-8")):
            symbols.setdefault(path, []).extend(filter(None, [symbol]))
    for path, names in symbols.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("".join(f"def {name}():\n    return 1\n\n\n" for name in names), "utf-8")


def make_sessions(count: int, folder: Path, draw: random.Random) -> Iterator[tuple[Transcript, PreparedReading]]:
    """Sessions of the last year, with tokens of one model."""
    words = ["".join(draw.choices("abcdefghijklmnop", k=3 + at % 7)) for at in range(5_000)]
    start = datetime.now(UTC) - timedelta(days=365)
    for session in range(count):
        spoken = draw.choices(words, k=TURNS * 30)
        turns = [
            Turn(
                f"{session}:{ordinal}",
                ordinal,
                "assistant" if ordinal % 2 else "user",
                "reply" if ordinal % 2 else "prompt",
                " ".join(spoken[ordinal * 30 : ordinal * 30 + 30]),
                start + timedelta(seconds=session * (365 * 86_400 // count) + ordinal * 60),
                str(folder),
                "main",
                model="claude-sonnet-4-5" if ordinal % 2 else "",
                tokens=Tokens(1_000, 200, 0, 0) if ordinal % 2 else Tokens(0, 0, 0, 0),
                tool_calls=(ToolCall("c", "Bash", "shell", "ok", command=f"run {spoken[0]}"),) if ordinal % 2 else (),
            )
            for ordinal in range(TURNS)
        ]
        yield make_session(str(session), turns)


def propose_candidates(paths: ReviewPaths) -> None:
    """Candidates that wait."""
    for number in range(CANDIDATES):
        turn = f"{number:012x}"
        queue.propose_candidate(
            paths,
            Candidate(
                primitive="decision",
                kind=None,
                title=f"Use retry policy {number} for uploads of kind {number % 17}",
                body=f"Uploads of kind {number % 17} are tried {number} times.",
                confidence=0.8,
                tags=("uploads",),
                references=("src/app.py",),
                evidence=(Evidence(f"use policy {number}", turn, "user"),),
                platform="claude",
                session="s1",
                turn=turn,
                time=datetime.now(UTC),
                signal="prompt",
            ),
        )


def make_home(folder: Path, count: int) -> tuple[Home, Project]:
    """A home with a project of that many memories and sessions."""
    repository = folder / "repository"
    subprocess.run(["git", "init", "-q", str(repository)], check=True)
    home = Home(folder / "home")
    project = locate_project(repository, home)
    assert project is not None
    add_project(project, home)
    write_memories(repository / ".lerim" / "memory", count, random.Random(3))
    write_linked_memories(repository / ".lerim" / "memory")
    write_referenced_files(repository)
    propose_candidates(ReviewPaths(project, home))
    with Catalog.open(home) as catalog:
        owner = ProjectOwner(project.key)
        for done in catalog.index_transcripts(make_sessions(count, repository, random.Random(5)), owner):
            assert not done.failed, done.problems
        catalog.count_changed_sessions()  # as a sync does
    return home, project


@contextmanager
def serve(home: Home) -> Iterator[tuple[str, str]]:
    """Serves the home; the address and the token."""
    with open_socket("127.0.0.1", 0) as listener:
        binding = plan_binding("127.0.0.1", listener.getsockname()[1], has_certificate=False)
        environ, work = dict(os.environ), Work(home, dict(os.environ))
        clock = lambda: datetime.now().astimezone()  # noqa: E731
        daemon, mark = Daemon(home, environ, work, clock), mark_environment(home, environ)
        served = Served(home, environ, binding, load_token(home), clock, work, daemon, mark)
        server = QuietServer(make_config(make_app(served), ServeOptions()))
        thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listener])), daemon=True)
        thread.start()
        try:
            yield binding.origin, served.token
        finally:
            server.handle_exit(signal.SIGTERM, None)
            thread.join()


def list_pages(project: Project) -> dict[str, str]:
    """The addresses of the measured pages, by name."""
    pages = {
        "today": "today",
        "review": "review",
        "memories": "memories",
        "memories, search": f"memories?{urlencode({'q': 'ra to'})}",
        "memories, page 200": "memories?start=6000",
        "linked memories": "memories/links",
        "one memory": "memories/20260101-choice-7-2",
        "sessions": "sessions",
        "sessions, search": f"sessions?{urlencode({'q': 'run main'})}",
        "sessions, page 200": "sessions?start=6000",
        "transcript": f"sessions/show?place={quote('/sessions/17')}",
        "agents and queue": "agents",
        "runs": "runs",
        "statistics by day": "statistics",
        "statistics by day, a year": "statistics?part=day&span=365",
        "statistics by agent, a year": "statistics?part=agent&span=365",
        "statistics by model, a year": "statistics?part=model&span=365",
        "statistics of the review": "statistics?part=review",
    }
    return {name: f"/projects/{project.key}/{page}" for name, page in pages.items()}


def measure_page(address: str, token: str, times: int = TIMES) -> tuple[float, float, float]:
    """Milliseconds of the first request, the median of the next `times` ones, and the size in kB."""
    spent: list[float] = []
    body = b""
    for _ in range(times + 1):
        request = urllib.request.Request(address, headers={"Authorization": f"Bearer {token}"})
        started = time.perf_counter()
        with urllib.request.urlopen(request) as response:
            body = response.read()
        spent.append((time.perf_counter() - started) * 1000)
    return spent[0], statistics.median(spent[1:] or spent), len(body) / 1000


def measure_opening(origin: str, token: str, project: Project) -> float:
    """Milliseconds of the first page after a start, requested half a second after its link was made: a browser takes
    longer to start."""
    link = urllib.request.Request(
        f"{origin}/api/v1/login-links", b"{}", {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    )
    urllib.request.urlopen(link).close()
    time.sleep(0.5)
    return measure_page(f"{origin}/projects/{project.key}/today", token, times=0)[0]


def main() -> int:
    """Print the rows. Return 1 if a budget is not met."""
    parser = argparse.ArgumentParser(description="Measure the dashboard.")
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    rows: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as folder:
        home, project = make_home(Path(folder), arguments.count)
        with serve(home) as (origin, token):
            opened = measure_opening(origin, token, project)
            print(f"{'today, as the first page':32} {opened:8.1f} ms", flush=True)
            rows.append(
                {"what": "today, as the first page: time", "measured": opened, "unit": "ms", "budget": BUDGET_MS}
            )
            for name, page in list_pages(project).items():
                first, median, size = measure_page(origin + page, token)
                print(f"{name:32} {median:8.1f} ms (first {first:8.1f} ms) {size:8.1f} kB", flush=True)
                rows.append({"what": f"{name}: time", "measured": median, "unit": "ms", "budget": BUDGET_MS})
                rows.append({"what": f"{name}: size", "measured": size, "unit": "kB", "budget": BUDGET_KB})
    if arguments.json:
        arguments.json.write_text(json.dumps(rows), "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
