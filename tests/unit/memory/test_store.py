"""Memory files are found, read and written without losing one."""

import os
import stat
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lerim.errors import BoundaryError, MemoryError_, NotFoundError, StaleError
from lerim.files import atomic
from lerim.memory.record import MemoryRecord, render_record, update_record_text
from lerim.memory.store import Store
from rights import bound

NOW = datetime(2026, 8, 1, tzinfo=UTC)
RECORD = MemoryRecord("20260801-use-uv", "decision", "Use uv", NOW, NOW, "manual", 0.9, ("a",), "Because.")
IGNORED = ["workspace/", "index/", "review/", "memory/summaries/", ".lerim-*"]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "repo").mkdir()
    return tmp_path / "repo"


@pytest.fixture
def store(root: Path, tmp_path: Path) -> Store:
    return Store(root / ".lerim" / "memory", tmp_path / "private")


def everything(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_the_folder_and_its_ignore_file_are_made_with_the_first_memory(store: Store, root: Path) -> None:
    assert store.load_all() == ([], [])
    assert everything(root) == []
    path = store.write_new(RECORD)
    assert everything(root) == [".lerim/.gitignore", ".lerim/memory/decisions/20260801-use-uv.md"]
    assert [line for line in (root / ".lerim/.gitignore").read_text().splitlines() if line[0] != "#"] == IGNORED
    assert store.load_all()[0][0].record == RECORD
    (root / "plain").touch()
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE((root / "plain").stat().st_mode)


def test_a_persons_ignore_lines_stay_and_what_they_remove_stays_removed(store: Store, root: Path) -> None:
    (root / ".lerim").mkdir()
    ignore = root / ".lerim/.gitignore"
    ignore.write_bytes(b"mine\r\nindex/")
    store.write_new(RECORD)
    text = ignore.read_bytes()
    assert text.startswith(b"mine\r\nindex/\r\n") and text.count(b"index/") == 1 and b"review/\r\n" in text
    ignore.write_bytes(text.replace(b"review/\r\n", b""))
    store.write_new(RECORD)
    assert b"review/" not in ignore.read_bytes()


def test_the_same_title_on_the_same_day_never_overwrites(store: Store) -> None:
    paths = {store.write_new(RECORD) for _ in range(3)}
    assert sorted(path.stem for path in paths) == ["20260801-use-uv", "20260801-use-uv-2", "20260801-use-uv-3"]
    assert store.write_new(replace(RECORD, primitive="learning")).stem == "20260801-use-uv-4"


def test_a_new_file_never_takes_a_name_that_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    assert atomic.create_file(path, "first")
    assert not atomic.create_file(path, "second")
    assert path.read_text() == "first" and list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_processes_writing_the_same_title_at_once_each_keep_theirs(store: Store) -> None:
    children = []
    for number in range(6):
        pid = os.fork()
        if pid == 0:
            try:
                store.write_new(replace(RECORD, body=f"Words of {number}."))
                os._exit(0)
            except BaseException:
                os._exit(1)
        children.append(pid)
    assert [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children] == [0] * 6
    assert {stored.record.body for stored in store.load_all()[0]} == {f"Words of {number}." for number in range(6)}


def test_one_bad_file_takes_no_other_with_it(store: Store) -> None:
    good = store.write_new(RECORD)
    folder = good.parent
    (folder / "20260801-yaml.md").write_text("---\na: [\n---\n")
    (folder / "20260801-bytes.md").write_bytes(b"---\nid: \xff\n---\n")
    (folder / "20260801-empty.md").write_text("")
    with (folder / "20260801-huge.md").open("wb") as file:
        file.truncate(1 << 30)
    (folder / "20260801-folder.md").mkdir()
    if sys.platform != "win32":
        os.mkfifo(folder / "20260801-pipe.md")
    (folder / "notes.txt").write_text("no memory")
    memories, problems = store.load_all()
    assert [stored.record.id for stored in memories] == ["20260801-use-uv"]
    assert len(problems) == (6 if sys.platform != "win32" else 5)
    assert all(problem.message and problem.path for problem in problems)


def test_links_are_neither_read_nor_written_through(store: Store, root: Path, tmp_path: Path) -> None:
    store.write_new(RECORD)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "20260801-secret.md").write_text(render_record(RECORD))
    (root / ".lerim/memory/learnings").symlink_to(outside)
    (root / ".lerim/memory/decisions/20260801-link.md").symlink_to(outside / "20260801-secret.md")
    memories, problems = store.load_all()
    assert [stored.record.id for stored in memories] == ["20260801-use-uv"] and len(problems) == 2
    with pytest.raises(BoundaryError):
        store.write_new(replace(RECORD, id="20260801-other", primitive="learning"))
    with pytest.raises(BoundaryError):
        store.load_by_id("20260801-link")
    assert everything(outside) == ["20260801-secret.md"]


def test_a_linked_lerim_folder_is_refused(root: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (root / ".lerim").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BoundaryError):
        Store(root / ".lerim" / "memory", tmp_path / "private").write_new(RECORD)
    assert everything(tmp_path / "elsewhere") == []


def test_a_rewrite_checks_what_it_saw(store: Store) -> None:
    path = store.write_new(RECORD)
    seen = store.load_by_id("20260801-use-uv")
    path.write_text(path.read_text() + "By hand.\n")
    with pytest.raises(StaleError):
        store.rewrite(seen.record.id, seen.text_hash, update_record_text(render_record(RECORD), {"title": "X"}))
    seen = store.load_by_id("20260801-use-uv")
    store.rewrite(seen.record.id, seen.text_hash, update_record_text(path.read_text(), {"title": "X"}))
    assert store.load_by_id("20260801-use-uv").record.title == "X" and path.read_text().endswith("By hand.\n")


@pytest.mark.parametrize("name", ["../../x", "20260801-none", "", "a" * 4000])
def test_an_unknown_id_is_said(store: Store, name: str) -> None:
    with pytest.raises(NotFoundError):
        store.load_by_id(name)


def test_a_folder_without_write_permission_is_an_error_that_says_what_to_do(store: Store, root: Path) -> None:
    root.chmod(0o555)
    try:
        with bound(), pytest.raises(MemoryError_) as error:
            store.write_new(RECORD)
        assert error.value.where and error.value.todo
        assert everything(root) == []
    finally:
        root.chmod(0o755)


def test_where_a_folder_cannot_be_made_nothing_is_left(store: Store, root: Path) -> None:
    (root / ".lerim").mkdir()
    (root / ".lerim" / "memory").write_text("a file where the folder should be")
    with pytest.raises(MemoryError_) as error:
        store.write_new(RECORD)
    assert error.value.where and error.value.todo
    assert everything(root) == [".lerim/.gitignore", ".lerim/memory"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a disk that can be full")
def test_a_full_disk_leaves_no_half_file(store: Store) -> None:
    import resource
    import signal

    path = store.write_new(RECORD)
    before = path.read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (64, limits[1]))
    try:
        with pytest.raises(MemoryError_, match="cannot be written"):
            store.write_new(replace(RECORD, id="20260801-new", title="New"))
        seen = store.load_by_id("20260801-use-uv")
        with pytest.raises(MemoryError_, match="cannot be written"):
            store.rewrite(seen.record.id, seen.text_hash, render_record(replace(RECORD, body="x" * 1000)))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_archived_memories_are_read_on_request(store: Store, root: Path) -> None:
    folder = root / ".lerim/memory/archived/decisions"
    folder.mkdir(parents=True)
    (folder / "20260801-use-uv.md").write_text(render_record(RECORD))
    assert store.load_all() == ([], [])
    assert [stored.status for stored in store.load_all(archived=True)[0]] == ["archived"]
    assert store.load_by_id("20260801-use-uv").status == "archived"
    assert store.write_new(RECORD).stem == "20260801-use-uv-2"


def test_files_beside_the_folders_of_memories_are_told(store: Store, root: Path) -> None:
    good = store.write_new(RECORD)
    top = root / ".lerim/memory"
    for name in ("loose.md", "decisions/sub/x.md", "notes/y.md", "archived/z.md", "README.md", "summaries/1/2/s.md"):
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(render_record(RECORD))
    for archived, wanted in ((False, []), (True, ["archived/z.md"])):
        memories, problems = store.load_all(archived=archived)
        assert [stored.path for stored in memories] == [good]
        told = sorted(Path(problem.path).relative_to(top).as_posix() for problem in problems)
        assert told == sorted(["decisions/sub/x.md", "loose.md", "notes/y.md", *wanted])
        assert {problem.code for problem in problems} == {"memory-misplaced"}


def test_one_id_in_two_folders_is_told_with_both_files(store: Store, root: Path) -> None:
    path = store.write_new(RECORD)
    other = root / ".lerim/memory/learnings" / path.name
    other.parent.mkdir()
    other.write_text(render_record(RECORD))
    memories, problems = store.load_all()
    assert len(memories) == 2 and [problem.code for problem in problems] == ["memory-twice"]
    assert f"decisions/{path.name} and learnings/{path.name}" in problems[0].message
