"""Which memories speak of a file."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lerim.memory.record import MemoryRecord, render_record
from lerim.memory.reference import Reference, parse_reference
from lerim.memory.references.reference_map import ReferenceMap

NOW = datetime(2026, 8, 1, tzinfo=UTC)


def record(name: str, *references: str, days: int = 0) -> MemoryRecord:
    time = NOW + timedelta(days=days)
    return MemoryRecord(
        f"20260801-{name}", "decision", name, time, time, "manual", 0.9, (), "Body", references=references
    )


@pytest.fixture
def memory_dir(tmp_path: Path) -> Path:
    folder = tmp_path / ".lerim" / "memory"
    (folder / "decisions").mkdir(parents=True)
    return folder


def write(memory_dir: Path, memory: MemoryRecord) -> Path:
    path = memory_dir / "decisions" / f"{memory.id}.md"
    path.write_text(render_record(memory), encoding="utf-8")
    return path


def names(entries: object) -> list[str]:
    return [entry.title for entry in entries]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("src/app.py", Reference("src/app.py")),
        ("./src\\app.py", Reference("src/app.py")),
        ("src/app.py#Store.save()", Reference("src/app.py", "Store.save")),
        ("src/app.rs#Store::save", Reference("src/app.rs", "Store.save")),
        ("src/app.py:12", Reference("src/app.py")),
        ("src/app.py#L3-L9", Reference("src/app.py")),
        ("../x", None),
        ("/etc/passwd", None),
        ("C:\\x", None),
        ("", None),
    ],
)
def test_a_reference_is_made_comparable(written: str, meant: Reference | None) -> None:
    assert parse_reference(written) == meant


def test_files_and_symbols_find_their_memories_newest_first(memory_dir: Path) -> None:
    write(memory_dir, record("old", "src/app.py"))
    write(memory_dir, record("new", "src/app.py#Store.save", days=1))
    found = ReferenceMap(memory_dir)
    assert found.scan()
    assert names(found.for_file("src/app.py")) == ["new", "old"]
    assert names(found.for_symbol("src/app.py", "save")) == ["new"]
    by_symbol = found.by_symbol("src/app.py")
    assert {name: names(entries) for name, entries in by_symbol.items()} == {"Store.save": ["new"]}
    assert found.for_file("other.py") == ()
    assert not found.scan()


def test_what_is_over_is_not_shown(memory_dir: Path) -> None:
    write(memory_dir, replace(record("past", "a.py"), superseded_by="20260802-x"))
    archived = memory_dir / "archived" / "decisions"
    archived.mkdir(parents=True)
    (archived / "20260801-a.md").write_text(render_record(record("a", "a.py")))
    found = ReferenceMap(memory_dir)
    found.scan()
    assert found.for_file("a.py") == ()
    assert not found.update(archived / "20260801-a.md")


def test_links_and_files_from_elsewhere_are_not_read(memory_dir: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text(render_record(record("secret", "a.py")))
    (memory_dir / "decisions" / "20260801-link.md").symlink_to(secret)
    (memory_dir / "learnings").symlink_to(tmp_path)
    found = ReferenceMap(memory_dir)
    found.scan()
    assert found.for_file("a.py") == ()
    assert len(found.problems) == 2
    assert not found.update(memory_dir / "decisions" / "20260801-link.md")
    assert not found.update(secret)


def test_backslashes_are_looked_up_and_what_leads_out_is_told(memory_dir: Path) -> None:
    path = write(memory_dir, record("one", "src\\app.py", "../up.py"))
    found = ReferenceMap(memory_dir)
    found.scan()
    assert names(found.for_file("src/app.py")) == ["one"] and found.for_file("../up.py") == ()
    assert [(problem.path, "../up.py" in problem.message) for problem in found.problems] == [(str(path), True)]
