"""Kills of real commands at random instants, from the first start on: nothing is lost, nothing is there twice."""

from __future__ import annotations

import subprocess
import sys
import time
from random import Random

import pytest

from desk import Desk, correction
from lerim.review import queue
from long import times
from window import server_environ

KILLS = 13
"""For each seed; `LERIM_LONG` multiplies it."""


class Commands:
    """Runs `lerim` and kills it at a random instant of the time it takes."""

    def __init__(self, desk: Desk, seed: int) -> None:
        self.desk = desk
        self.chance = Random(seed)
        self.takes: dict[str, float] = {}
        self.killed = 0

    def run(self, *arguments: str, kill: bool = True) -> None:
        name = " ".join(arguments[:2])
        began = time.monotonic()
        command = [sys.executable, "-P", "-m", "lerim", *arguments, "--json"]
        with subprocess.Popen(
            command, cwd=self.desk.repo, env=server_environ(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            if kill:
                # the instant of the kill, not a wait for something
                time.sleep(self.chance.uniform(0.05, self.takes.get(name, 0.6)))
                process.kill()
            out, err = process.communicate()
        assert b"unexpected" not in out + err and b"damaged" not in out + err, (name, out, err)
        if process.returncode < 0:
            self.killed += 1
        else:
            took = time.monotonic() - began
            self.takes[name] = max(0.1, min(self.takes.get(name, took), took))


@pytest.mark.skipif(sys.platform == "win32", reason="a kill is told otherwise there")
@pytest.mark.parametrize("seed", range(2))
def test_kills_of_real_commands_lose_and_double_nothing(desk: Desk, seed: int) -> None:
    commands = Commands(desk, seed)
    chance = commands.chance
    number = 0
    while commands.killed < times(KILLS):
        file = f"src/part{number}.py"
        (desk.repo / file).write_text("def load(): ...\n", encoding="utf-8")
        desk.session(f"s{number}", *correction(desk, f"library{number}", file, f"module{number}"))
        number += 1
        commands.run("sync")
        for proposal in chance.sample(waiting := queue.pending(desk.place)[0], min(2, len(waiting))):
            commands.run("review", chance.choice(["accept", "reject"]), proposal.id)
            commands.run("review", "undo")
        found = desk.place.store().load_all(archived=True)[0]
        for stored in chance.sample(found, min(1, len(found))):
            commands.run("memory", chance.choice(["archive", "restore"]), stored.record.id)
        commands.run("maintain")
    commands.run("sync", kill=False)
    acted = {name for name, state in queue.states(desk.place).items() if state == "rejected"}
    for proposal in queue.pending(desk.place)[0]:
        assert queue.accept(desk.place, proposal.id, quotes="shared").ok
    stored, problems = desk.place.store().load_all(archived=True)
    assert problems == []
    titles = [one.record.title for one in stored]
    assert len(titles) == len(set(titles)) == number - len(acted)
    assert desk.waiting() == []
    ours = [path for folder in (desk.repo / ".lerim", desk.home.root) for path in folder.rglob("*")]
    assert not [path for path in ours if path.name.startswith(".lerim-") or "damaged" in path.name]
