"""Kills of commands at random instants: nothing is lost, nothing is there twice."""

from __future__ import annotations

import os
from datetime import UTC, datetime

import pytest

import terminal
from desk import Desk, correction
from killer import Killer
from lerim.memory.record import MemoryRecord, render_record
from lerim.review import queue
from long import at_most, times

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
KILLS, MAINTAIN_KILLS = 3, 2
"""For each seed; `LERIM_LONG` multiplies them."""


class Commands:
    """Runs `lerim` in children of this process and kills them at random instants of the time they take."""

    def __init__(self, desk: Desk, seed: int) -> None:
        self.desk = desk
        self.killer = Killer(seed)
        self.chance = self.killer.chance

    def run(self, *arguments: str, kill: bool = True) -> None:
        def work() -> None:
            done = terminal.run(*arguments, "--repo", str(self.desk.repo), "--json")
            assert "unexpected" not in done.output and "damaged" not in done.output, done.output

        if kill:
            self.killer.run(" ".join(arguments[:2]), work)
        else:
            work()


def with_more(title: str, more: str) -> str:
    return title if title.endswith(more) else title + more


def twin(desk: Desk, number: int, day: int) -> None:
    """One of two memories that say the same."""
    time = datetime(2026, 8, day, 12, tzinfo=UTC)
    title = f"Retry uploads of store{number} {number + 3} times"
    body = f"Uploads to `store{number}` are retried by `upload{number}.py` with a pause between them."
    record = MemoryRecord(name(number, day), "decision", title, time, time, "manual", 0.9, (), body)
    path = desk.place.store().path_for(record)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(render_record(record), encoding="utf-8")


def name(number: int, day: int) -> str:
    return f"2026080{day}-retry-uploads-of-store{number}"


def by_hand(number: int) -> str:
    return f"Keep bucket{number} for uploads of shard{number}"


@pytest.mark.parametrize("seed", range(at_most(2, 1)))
def test_kills_of_a_maintain_that_accepts_by_itself_lose_and_double_nothing(desk: Desk, seed: int) -> None:
    commands = Commands(desk, seed)
    desk.home.root.mkdir(mode=0o700)
    desk.home.config.write_text('[review]\nmode = "auto"\n', encoding="utf-8")
    pairs = 0
    while commands.killer.killed < times(MAINTAIN_KILLS):
        for day in (1, 2):
            twin(desk, pairs, day)
        pairs += 1
        commands.run("maintain")
        commands.run(*commands.chance.choice((("review", "undo"), ("maintain",))))
        kept, problems = desk.place.store().load_all(archived=True)
        assert (problems, sorted({one.record.id for one in kept})) == ([], sorted(one.record.id for one in kept))
    for _ in range(2):  # what was undone is proposed once more, and waits
        commands.run("maintain", kill=False)
    for proposal in queue.list_pending(desk.place)[0]:
        assert queue.accept_candidate(desk.place, proposal.id, quotes="shared").ok
    stored, problems = desk.place.store().load_all(archived=True)
    assert problems == [] and queue.list_pending(desk.place)[1] == []
    over = {one.record.id: one.record.superseded_by for one in stored if one.status == "superseded"}
    assert over == {name(number, 2): name(number, 1) for number in range(pairs)}
    assert {one.record.id for one in stored if one.status == "active"} == {name(at, 1) for at in range(pairs)}


@pytest.mark.parametrize("seed", range(at_most(2, 1)))
def test_kills_of_commands_lose_and_double_nothing(desk: Desk, seed: int) -> None:
    commands = Commands(desk, seed)
    chance = commands.chance
    number = 0
    while commands.killer.killed < times(KILLS):
        file = f"src/part{number}.py"
        (desk.repo / file).write_text("def load(): ...\n", encoding="utf-8")
        desk.session(f"s{number}", *correction(desk, f"library{number}", file, f"module{number}"))
        number += 1
        commands.run("sync")
        for proposal in chance.sample(waiting := queue.list_pending(desk.place)[0], min(2, len(waiting))):
            commands.run("review", "edit", proposal.id, "--title", with_more(proposal.record.title, ", always"))
            commands.run("review", chance.choice(["accept", "reject"]), proposal.id)
            commands.run("review", "undo")
        commands.run("memory", "add", "--title", by_hand(number))
        found = [one for one in desk.place.store().load_all(archived=True)[0] if one.record.source != "manual"]
        for stored in chance.sample(found, min(1, len(found))):
            commands.run("memory", "edit", stored.record.id, "--title", with_more(stored.record.title, ", ever"))
            commands.run("memory", chance.choice(["archive", "restore"]), stored.record.id)
        commands.run("maintain")
    commands.run("sync", kill=False)
    for one in range(1, number + 1):  # what was added before is not added again
        commands.run("memory", "add", "--title", by_hand(one), kill=False)
    acted = {name for name, state in queue.claim_states(desk.place).items() if state == "rejected"}
    for proposal in queue.list_pending(desk.place)[0]:
        assert queue.accept_candidate(desk.place, proposal.id, quotes="shared").ok
    memories, problems = desk.place.store().load_all(archived=True)
    assert problems == []
    titles = [one.record.title for one in memories]
    assert len(titles) == len(set(titles)) == 2 * number - len(acted)
    assert desk.waiting() == []
    ours = [path for folder in (desk.repo / ".lerim", desk.home.root) for path in folder.rglob("*")]
    assert not [path for path in ours if path.name.startswith(".lerim-") or "damaged" in path.name]
