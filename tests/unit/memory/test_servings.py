"""What agents are given, and the record of it."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from hook_program import write_memory
from lerim.hook.program import traces
from lerim.memory import AgentMemories, Serving, load_servings, record_serving
from lerim.paths import Home
from lerim.project import Project


def make_serving(at: float, *ids: str) -> Serving:
    return Serving(at, "mcp", "claude-code", "recall", ids)


def test_servings_are_read_back_in_order_also_when_several_write_at_once(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        problems = list(pool.map(lambda n: record_serving(tmp_path, make_serving(200 - n, f"id-{n}")), range(200)))
    assert not any(problems)
    servings, problems_read = load_servings(tmp_path)
    assert [one.ids for one in servings] == [(f"id-{n}",) for n in reversed(range(200))]
    assert not problems_read
    assert (tmp_path / "servings.jsonl").stat().st_mode & 0o777 == 0o600


def test_a_line_that_cannot_be_read_is_counted_and_takes_nothing_with_it(tmp_path: Path) -> None:
    record_serving(tmp_path, make_serving(1, "first"))
    with (tmp_path / "servings.jsonl").open("ab") as file:
        file.write(b'{"at": 2, "chan\n[]\n')
    record_serving(tmp_path, make_serving(3, "last"))
    servings, problems = load_servings(tmp_path)
    assert [one.ids for one in servings] == [("first",), ("last",)]
    assert [problem.message == "2 of its lines cannot be read." for problem in problems] == [True]


def test_no_record_is_no_problem_and_one_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    assert load_servings(tmp_path / "none") == ([], [])
    (tmp_path / "file").write_text("")
    problem = record_serving(tmp_path / "file", make_serving(1, "one"))
    assert problem is not None
    assert "cannot be recorded" in problem.message


def test_a_long_record_grows_while_another_process_puts_it_aside(tmp_path: Path) -> None:
    record, lock = tmp_path / "servings.jsonl", tmp_path / "servings.1.jsonl.lock"
    (tmp_path / "servings.1.jsonl").write_bytes(b" ")
    record.write_bytes(b" " * 4_000_001)
    lock.touch()
    assert record_serving(tmp_path, make_serving(1, "one")) is None
    traces.record_serving(str(tmp_path), "claude", "read", ["two"], "s")
    assert record.stat().st_size > 4_000_001 and lock.exists()
    os.utime(lock, (1, 1))  # its process was killed
    for number in (3, 4):
        record_serving(tmp_path, make_serving(number, f"id-{number}"))
    assert record.stat().st_size < 1000 and not lock.exists()
    assert [one.ids[0] for one in load_servings(tmp_path)[0]] == ["one", "id-3", "id-4", "two"]


def test_the_hook_program_puts_a_long_record_aside_as_well(tmp_path: Path) -> None:
    (tmp_path / "servings.jsonl").write_bytes(b" " * 4_000_001)
    traces.record_serving(str(tmp_path), "claude", "read", ["one"], "s")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["servings.1.jsonl", "servings.jsonl"]
    assert (tmp_path / "servings.jsonl").stat().st_size < 1000


def test_where_the_code_cannot_be_compared_agents_get_the_memories_that_are_about_none(
    project: Project, home: Home
) -> None:
    write_memory(project.memory_dir, "Use uv")
    write_memory(project.memory_dir, "Retry uploads", references=("src/app.py",))
    home.project(project.key).mkdir(parents=True)
    (home.project(project.key) / "freshness.sqlite3").write_bytes(b"no database" * 100)
    with AgentMemories(project, home, lambda *_: True) as memories:
        found = memories.list_servable()
        assert [one.record.title for one in found.fresh] == ["Use uv"]
        assert (found.unchecked, [problem.code for problem in memories.problems]) == (1, ["freshness"])
