"""A repository with sessions on this machine, and the organisation's database that they are sent to."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest

from desk import Desk, correction
from postgres import PostgresServer, postgres
from terminal import answer
from warm_python import warm_python

SUBJECTS = ("pathlib", "httpx", "orjson", "uvicorn", "msgspec", "polars", "sqlite", "attrs", "typer", "trio")


@dataclass
class Organisation:
    """A database, and the machine of `desk`, whose user works for the team `platform`."""

    desk: Desk
    url: str

    def write_sessions(self, count: int, first: int = 0) -> None:
        for number in range(first, count):
            subject = f"{SUBJECTS[number % len(SUBJECTS)]}{number // len(SUBJECTS) or ''}"
            self.desk.session(f"s{number}", *correction(self.desk, subject, over=f"old_{subject}"))

    def send(self, *arguments: str) -> dict[str, Any]:
        sent: dict[str, Any] = answer("org", "backfill", *arguments)
        return sent

    def status(self) -> dict[str, Any]:
        status: dict[str, Any] = answer("org", "status")
        return status

    def start_worker(
        self,
        *arguments: str,
        environ: Mapping[str, str] = os.environ,
        until_done: bool = True,
        within: Sequence[str] = (),
        python: str = "",
    ) -> subprocess.Popen[bytes]:
        """A worker in a process of its own, which does not wait long for one that died. `within`: a command that runs
        it. `python` is `sys.executable` for one that is killed, or whose limits or clock are others."""
        command = [*within, python or warm_python(), "-m", "lerim", "org", "worker", "--stalled-after", "2", *arguments]
        return subprocess.Popen(
            [*command, *(["--until-done"] if until_done else [])],
            env={**environ},
            cwd=self.desk.repo,
            start_new_session=True,
        )

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.url, autocommit=True, options="-c search_path=lerim,pg_catalog") as connection:
            return connection.execute(query).fetchall()

    def candidates(self) -> list[tuple[Any, ...]]:
        """What the database holds of each candidate, in the order in which it was said."""
        return self.rows(
            "SELECT session, candidate->>'title', candidate->>'turn', outcome FROM candidates"
            " JOIN extractions USING (team, key) ORDER BY said_at, session, ordinal"
        )


def make_organisation(
    desk: Desk,
    monkeypatch: pytest.MonkeyPatch,
    tablespace: str = "pg_default",
    server: PostgresServer | None = None,
) -> Organisation:
    url = (server or postgres()).make_database(tablespace).replace("admin@", "platform_worker@")
    monkeypatch.setenv("LERIM_DATABASE_URL", url)
    return Organisation(desk, url)


def kill(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGKILL)
    process.wait()
