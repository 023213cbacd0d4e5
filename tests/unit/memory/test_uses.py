"""Uses of memories are counted, survive what happens to their file, and never get in the way of a reader."""

import sqlite3
import threading
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lerim.memory import ServedOutcomes
from lerim.memory.uses import RecordedUse, Uses

NOW = datetime(2026, 8, 1, 12, tzinfo=UTC)


def test_a_record_made_before_outcomes_were_kept_keeps_its_uses(tmp_path: Path) -> None:
    uses = Uses(tmp_path)
    uses.record_use(["a"], "served", NOW)
    with closing(sqlite3.connect(uses.path)) as db:
        db.executescript("DROP TABLE outcomes; PRAGMA user_version = 1;")
    uses.replace_outcomes({"a": ServedOutcomes(followed=1)})
    assert uses.of_all() == {"a": RecordedUse(NOW, 1, ServedOutcomes(followed=1))}
    assert uses.problems == []


def test_threads_and_other_processes_lose_no_use(tmp_path: Path) -> None:
    def use() -> None:
        mine = Uses(tmp_path)
        for _ in range(20):
            mine.record_use(["a"], "served", NOW)
        assert mine.problems == []

    threads = [threading.Thread(target=use) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Uses(tmp_path).of_all()["a"].count == 80


@pytest.mark.parametrize("how", ["a file", "a folder"])
def test_where_nothing_can_be_kept_readers_go_on_and_it_is_told(tmp_path: Path, how: str) -> None:
    if how == "a file":
        (tmp_path / "private").write_text("in the way")
    else:
        (tmp_path / "private" / "uses.sqlite3").mkdir(parents=True)
    uses = Uses(tmp_path / "private")
    uses.record_use(["a"], "opened", NOW)
    uses.record_use(["a"], "opened", NOW)
    assert uses.of_all() == {}
    assert [problem.code for problem in uses.problems].count("uses") == len(uses.problems) >= 1
