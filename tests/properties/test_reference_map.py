"""Whatever is written, moved, ended or removed, in whatever batches it is told: the map is the one a scan makes."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from lerim.memory.record import MemoryRecord, render_record
from lerim.memory.references.reference_map import ReferenceMap

NOW = datetime(2026, 8, 1, tzinfo=UTC)
NAMES = ("one", "two", "three", "four")
FOLDERS = ("decisions", "learnings", "archived/decisions", "loose")
REFERENCES = ("a.py", "a.py#f", "b.py#C.g", "b.py#g", "c.py")


@dataclass(frozen=True)
class Step:
    """A file that is written (with references and what it ends) or, without references, removed."""

    folder: str
    name: str
    references: tuple[str, ...] | None
    ends: tuple[str, ...]
    broken: bool


STEPS = st.builds(
    Step,
    st.sampled_from(FOLDERS),
    st.sampled_from(NAMES),
    st.none() | st.lists(st.sampled_from(REFERENCES), max_size=3).map(tuple),
    st.lists(st.sampled_from(NAMES), max_size=2).map(tuple),
    st.sampled_from((False, False, False, True)),
)


def do(memory_dir: Path, step: Step, tick: int) -> Path:
    path = memory_dir / step.folder / f"20260801-{step.name}.md"
    if step.references is None:
        path.unlink(missing_ok=True)
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    time = NOW + timedelta(days=NAMES.index(step.name), seconds=tick)
    ends = tuple(f"20260801-{name}" for name in step.ends)
    record = MemoryRecord(
        *(path.stem, "decision", f"{step.name} {tick}", NOW, time, "manual", 0.9, (), "Body"),
        supersedes=ends,
        references=step.references,
    )
    path.write_text("no header" if step.broken else render_record(record) + " " * tick, encoding="utf-8")
    return path


def seen(found: ReferenceMap) -> object:
    paths = ("a.py", "b.py", "c.py")
    by_file = {path: [entry.title for entry in found.for_file(path)] for path in paths}
    by_symbol = {
        (path, name): [entry.title for entry in found.for_symbol(path, name)]
        for path in paths
        for name in ("f", "g", "C.g")
    }

    def symbol_titles(path: str) -> dict[str, set[str]]:
        entries_by_name = found.by_symbol(path)
        titles = {name: {entry.title for entry in entries} for name, entries in entries_by_name.items()}
        assert titles == {name: {entry.title for entry in found.for_symbol(path, name)} for name in titles}
        return titles

    problems = sorted((problem.code, problem.path, problem.message) for problem in found.problems)
    titles = [entry.title for entry in found.entries]  # sorted when they are first asked for
    return by_file, by_symbol, list(map(symbol_titles, paths)), problems, titles


def in_steps(followed: ReferenceMap, changed: list[Path]) -> None:
    """As `update` does, with the files read one by one: meanwhile nothing is otherwise."""
    before = seen(followed)
    changes = followed.find_changes(changed)
    if changes is None:
        followed.scan()
        return
    for _ in changes.read_files():
        assert seen(followed) == before
    followed.apply_changes(changes)


@given(st.lists(st.lists(STEPS, min_size=1, max_size=5), max_size=6))
def test_batches_give_what_a_scan_gives(batches: list[list[Step]]) -> None:
    folder = Path(tempfile.mkdtemp()).resolve()
    try:
        memory_dir = folder / ".lerim" / "memory"
        (memory_dir / "decisions").mkdir(parents=True)
        followed = ReferenceMap(memory_dir)
        followed.scan()
        tick = 0
        for batch in batches:
            changed = []
            for step in batch:
                tick += 1
                changed.append(do(memory_dir, step, tick))
            if tick % 2:
                followed.update(*changed)
            else:
                in_steps(followed, changed)
            anew = ReferenceMap(memory_dir)
            anew.scan()
            assert seen(followed) == seen(anew)
    finally:
        shutil.rmtree(folder)
