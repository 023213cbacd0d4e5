"""A session that is written anew just when it is learned from."""

from __future__ import annotations

import os
from pathlib import Path

import gemini_files as files
from desk import Desk
from lerim.jobs.report import SyncEvent, SyncProgress
from lerim.sessions.catalog.catalog import Catalog


def test_it_waits_without_a_word_and_is_learned_from_in_the_next_sync(desk: Desk) -> None:
    folder = files.chats(Path(os.environ["HOME"]) / ".gemini", "shop")
    (folder.parent / ".project_root").write_text(str(desk.repo))
    told = [
        files.prompt("Read the config in src/app.py"),
        files.reply("I will use os.path in src/app.py."),
        files.prompt("No, always use pathlib instead of os.path in src/app.py."),
        files.reply("Done, src/app.py uses pathlib."),
        files.prompt("perfect, commit it"),
    ]
    path = files.whole(folder / "session-1.json", *told)
    complete = path.read_bytes()

    def cut(event: SyncEvent) -> None:
        if isinstance(event, SyncProgress) and event.stage == "learning":
            path.write_bytes(complete[:-40])

    first = desk.sync(emit=cut)
    assert (first.candidates, first.problems, first.sessions.failed) == ([], [], 0)
    with Catalog.open(desk.home) as catalog:
        assert catalog.count_jobs_by_state(desk.place.project.key) == {"pending": 1}
    path.write_bytes(complete)
    assert len(desk.sync().candidates) == 1
