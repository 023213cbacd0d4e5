"""A person saves the files an act is about at each instant of it: no line is lost, and nothing is half done."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest

from desk import Desk
from lerim.config import edit
from lerim.memory.store import StoredMemory
from lerim.review import acts, queue
from long import times
from reviews import made_candidate
from saving_person import DONE, REFUSED, Person, Way, Which, instants, saved_at

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells of a file that is open for writing")
TRIALS = 2
"""So many of each act are made, others in each run; `LERIM_LONG` multiplies it up to all there are."""
WAYS: tuple[Way, ...] = ("append", "rename", "held")
WHICH: tuple[Which, ...] = ("all", 0, 1, 2)


def memory(desk: Desk, title: str, body: str = "Because it is small.") -> StoredMemory:
    done = queue.add_memory(desk.place, "learning", title, body)
    assert done.path
    return desk.place.store().load(Path(done.path))[0]


def candidate(desk: Desk, title: str, body: str, turn: str, replaces: tuple[str, ...] = ()) -> str:
    """A waiting decision of a session; its id."""
    found = made_candidate(title, body, turn, minutes=int(turn), references=(), replaces=replaces)
    outcome = queue.propose_candidate(desk.place, found)
    assert isinstance(outcome, queue.CandidateProposed)
    return outcome.proposal.id


def suggestion(desk: Desk, action: str) -> str:
    """A waiting suggestion about two memories; its id."""
    one, two = memory(desk, "Uploads are retried"), memory(desk, "Uploads are retried thrice")
    found = queue.Suggestion(action, one.record, (one, two), "Because.")  # type: ignore[arg-type]
    outcome = queue.propose_suggestion(desk.place, found)
    assert isinstance(outcome, queue.CandidateProposed)
    return outcome.proposal.id


Act = Callable[[], object]


def superseding(desk: Desk) -> Act:
    old = candidate(desk, "Use pip, not uv", "Installs go through `pip install`.", "1")
    assert queue.accept_candidate(desk.place, old, quotes="shared").ok
    new = candidate(desk, "Use uv, not pip", "Installs go through `uv pip sync`.", "2", ("pip",))
    assert queue.load_pending(desk.place, new).action == "supersede"
    return lambda: queue.accept_candidate(desk.place, new, quotes="shared")


def merging(desk: Desk) -> Act:
    name = suggestion(desk, "merge")
    return lambda: queue.accept_candidate(desk.place, name, quotes="shared")


def putting_together(desk: Desk) -> Act:
    name = suggestion(desk, "consolidate")
    return lambda: queue.accept_candidate(desk.place, name, quotes="shared")


def undoing_an_accept(desk: Desk) -> Act:
    superseding(desk)()
    return lambda: queue.undo_last(desk.place)


def undoing_a_merge(desk: Desk) -> Act:
    merging(desk)()
    return lambda: queue.undo_last(desk.place)


def undoing_an_edit(desk: Desk) -> Act:
    editing_a_memory(desk)()
    return lambda: queue.undo_last(desk.place)


def editing_a_candidate(desk: Desk) -> Act:
    name = candidate(desk, "Use pip, not uv", "Installs go through `pip install`.", "1")
    return lambda: queue.edit_candidate(desk.place, name, queue.CandidateEdit("Use uv", None, ("tools",)))


def editing_a_memory(desk: Desk) -> Act:
    name = memory(desk, "Uploads are retried").record.id
    return lambda: acts.edit_memory(
        desk.place, name, queue.CandidateEdit("Uploads are retried thrice", None, ("uploads",))
    )


def archiving(desk: Desk) -> Act:
    name = memory(desk, "Uploads are retried").record.id
    return lambda: acts.archive_memory(desk.place, name)


def restoring(desk: Desk) -> Act:
    name = memory(desk, "Uploads are retried").record.id
    acts.archive_memory(desk.place, name)
    return lambda: acts.restore_memory(desk.place, name)


def setting(desk: Desk) -> Act:
    desk.home.root.mkdir(exist_ok=True)
    desk.home.config.write_text('# Mine.\n[roles.extract]\nprovider = "none" # for now\n', encoding="utf-8")
    return lambda: edit.change_settings(desk.home, "roles.extract", {"provider": "ollama", "model": "small"})


ACTS = (
    superseding,
    merging,
    putting_together,
    undoing_an_accept,
    undoing_a_merge,
    undoing_an_edit,
    editing_a_candidate,
    editing_a_memory,
    archiving,
    restoring,
    setting,
)


@dataclass
class Snapshot:
    """All that Lerim and the person wrote, to begin each trial from."""

    desk: Desk
    folder: Path

    def __post_init__(self) -> None:
        for number, place in enumerate(self.places):
            if place.exists():
                shutil.copytree(place, self.folder / str(number))

    @property
    def places(self) -> tuple[Path, Path]:
        return self.desk.repo / ".lerim", self.desk.home.root

    def put_back(self) -> None:
        for number, place in enumerate(self.places):
            shutil.rmtree(place, ignore_errors=True)
            if (kept := self.folder / str(number)).exists():
                shutil.copytree(kept, place)

    def text(self) -> str:
        """What a person finds in the files they may read and change."""
        found = [path for place in self.places for path in place.rglob("*") if path.suffix in (".md", ".toml")]
        return "\n".join(path.read_text() for path in found if not path.name.startswith("."))


@pytest.mark.parametrize("prepared", ACTS, ids=lambda act: act.__name__)
def test_a_line_saved_at_any_instant_of_an_act_is_not_lost(
    desk: Desk, tmp_path: Path, prepared: Callable[[Desk], Act]
) -> None:
    act = prepared(desk)
    snapshot = Snapshot(desk, tmp_path / "snapshot")
    count = instants(act)
    trials = [(way, instant, which) for way in WAYS for instant in range(count) for which in WHICH]
    for way, instant, which in Random(os.urandom(8)).sample(trials, min(len(trials), times(TRIALS))):
        snapshot.put_back()
        log = tmp_path / f"{way}-{instant}-{which}"
        with Person(way, log, desk.repo / ".lerim", desk.home.config) as person:
            code = saved_at(instant, person, which, act)
        trial = (way, instant, which, code)
        assert code in (DONE, REFUSED), trial
        text = snapshot.text()
        assert [line for line in person.saved() if line not in text] == [], trial
        assert [path for place in snapshot.places for path in place.rglob(".lerim-*")] == [], trial
        if which == "all":  # who changes both copies of a file that moves keeps both, and is told of them
            continue
        names = [path.name for path in desk.place.project.memory_dir.rglob("*.md")]
        assert (queue.list_pending(desk.place)[1], len(names)) == ([], len(set(names))), trial
