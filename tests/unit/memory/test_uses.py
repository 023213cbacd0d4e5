"""Uses of memories are counted, survive what happens to their file, and never get in the way of a reader."""

import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lerim.memory.uses import LastUse, Uses

NOW = datetime(2026, 8, 1, 12, tzinfo=UTC)


def test_uses_add_up_whatever_kind_they_are_and_the_last_one_counts(tmp_path: Path) -> None:
    uses = Uses(tmp_path / "private")
    assert (uses.of_all(), uses.of_memories(["a"]), uses.last_feedback()) == ({}, {}, {})
    assert not (tmp_path / "private").exists()
    uses.record_use(["a", "b", "a"], "opened", NOW)
    uses.record_use(["a"], "cited", NOW - timedelta(days=3))
    assert uses.of_all() == {"a": LastUse(NOW, 2), "b": LastUse(NOW, 1)}
    assert Uses(tmp_path / "private").of_memories(["b", "c"]) == {"b": LastUse(NOW, 1)}
    assert uses.problems == []


def test_of_what_people_said_the_last_word_is_told_and_is_no_use(tmp_path: Path) -> None:
    uses = Uses(tmp_path)
    uses.record_feedback("a", "useful", NOW)
    uses.record_feedback("a", "outdated", NOW + timedelta(days=1))
    assert uses.last_feedback() == {"a": ("outdated", NOW + timedelta(days=1))}
    assert uses.of_all() == {}


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
