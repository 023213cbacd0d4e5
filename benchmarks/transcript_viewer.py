"""How fast the editor's views of sessions are answered: opening a long session, its pages, the days and lists of many.

    python benchmarks/transcript_viewer.py [--megabytes 4] [--sessions 10000] [--json FILE]

A real sidecar is asked as the editor asks it; times hold encoding, the pipe and decoding.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from _editor_client import SERVER, Client
from lerim.lsp.protocol import core
from lerim.paths import Home
from lerim.project.project import FolderOwners, locate_project
from lerim.sessions.catalog.catalog import Catalog
from lerim.sessions.model import Session, ToolCall, Transcript, Turn

WORDS = "the cart keeps prices in integer cents because floats lose money when discounts are applied twice in a row "
SEEN = 30
"""Turns a person sees at first."""


class Told:
    """A reading of made-up turns, every other one with a command and what it printed."""

    resume = b"{}"
    restarted = False
    ids = None

    def __init__(self, path: Path, number: int, turns: int, words: int, cwd: str) -> None:
        self.problems: list[Any] = []
        self._name, self._turns, self._words, self._cwd = number, turns, words, cwd
        self.session = Session(
            f"{number:08d}", "claude", path, title=f"Session {number}", turns=turns, prompts=turns // 2
        )

    def __iter__(self) -> Iterator[Turn]:
        began = 1_767_000_000 + self._name * 3_000
        for number in range(self._turns):
            asks = number % 2 == 0
            yield Turn(
                id=f"{self._name:06x}{number:06x}",
                ordinal=number,
                role="user" if asks else "assistant",
                kind="prompt" if asks else "reply",
                text=f"Turn {number}: " + WORDS * self._words,
                time=_moment(began + number),
                cwd=self._cwd,
                tool_calls=() if asks else (ToolCall("t", "Bash", "shell", "error", command="pytest", exit_code=1),),
            )
        self.session = replace(self.session, started=_moment(began), ended=_moment(began + self._turns))

    def checkpoint(self) -> bool:
        return False


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def fill(home: Home, root: Path, megabytes: int, sessions: int) -> str:
    """A catalog of many short sessions and a long one of that size; the place of the long one."""
    project = locate_project(root, home)
    assert project is not None
    owners = FolderOwners([project])
    long = Path("/claude/long.jsonl")
    with Catalog.open(home) as catalog:
        readings = (
            (Transcript("claude", path, f"{number:08d}", 1, 1, number + 1), Told(path, number, 4, 1, str(root)))
            for number in range(sessions)
            if (path := Path(f"/claude/{number}.jsonl"))
        )
        for _ in catalog.index_transcripts(readings, owners):
            pass
        turns = megabytes * 1_000_000 // (len(WORDS) * 20)
        one = Transcript("claude", long, "long", 1, 1, 1)
        list(catalog.index_transcripts([(one, Told(long, sessions, turns, 20, str(root)))], owners))
    return str(long)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--megabytes", type=int, default=4)
    parser.add_argument("--sessions", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "repo").resolve()
        root.mkdir()
        subprocess.run(["git", "init", "-q", str(root)], check=True)
        home = Home(Path(folder, "home", ".lerim"))
        place = fill(home, root, asked.megabytes, asked.sessions)
        environ = {**os.environ, "HOME": str(home.root.parent), "LERIM_HOME": str(home.root), "PYTHONPATH": str(SERVER)}
        client = Client([sys.executable, "-P", "-m", "lerim", "lsp"], environ, root)
        rows = measured(client, place, asked)
        client.stop()
    for row in rows:
        budget = f"   (aim {row['budget']})" if "budget" in row else ""
        print(f"  {row['what']:<62} {row['measured']:8.1f} {row['unit']}{budget}")
    if asked.json:
        asked.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")


def measured(client: Client, place: str, asked: argparse.Namespace) -> list[dict[str, Any]]:
    first: list[float] = []
    cold, _ = opened(client, place, 0)
    for _ in range(asked.rounds):
        total, outline = opened(client, place, 0)
        first.append(total)
    middle = [opened(client, place, len(outline["kinds"]) // 2)[0] for _ in range(asked.rounds)]
    whole, start = time.perf_counter(), 0
    while turns := client.ask(core.SESSION_TURNS, {"id": place, "start": start, "count": 200})["turns"]:
        start += len(turns)
    every = (time.perf_counter() - whole) * 1000
    found, _ = client.timed(core.SESSION_FIND, {"id": place, "text": "nothing of the kind"})
    days, listed = client.timed(core.SESSIONS_DAYS, {"everywhere": False})
    day = listed["days"][0]["day"]
    page, _ = client.timed(core.SESSIONS_LIST, {"day": day, "everywhere": False, "start": 0})
    size = f"{asked.megabytes} MB"
    many = f"{asked.sessions:,} sessions"
    return [
        row(f"opening a session of {size}: outline and first page, the first time", cold, "<= 1000 ms"),
        row(f"opening a session of {size}: outline and first page", sorted(first)[len(first) // 2], "<= 1000 ms"),
        row(f"opening a session of {size} in its middle", sorted(middle)[len(middle) // 2], "<= 1000 ms"),
        row(f"all {start:,} turns of it, page by page", every),
        row(f"finding a text in a session of {size}", found),
        row(f"the days of {many}", days),
        row(f"a day's first page of {many}", page),
    ]


def opened(client: Client, place: str, at: int) -> tuple[float, Any]:
    """What the viewer asks for before it shows the first turns, in milliseconds."""
    outlined, outline = client.timed(core.SESSION_OPEN, {"id": place, "turn": ""})
    paged, _ = client.timed(core.SESSION_TURNS, {"id": place, "start": at, "count": SEEN})
    return outlined + paged, outline


def row(what: str, milliseconds: float, budget: str = "") -> dict[str, Any]:
    bound = {"budget": budget, "ok": milliseconds <= 1000} if budget else {}
    return {"what": what, "measured": milliseconds, "unit": "ms", **bound}


if __name__ == "__main__":
    main()
