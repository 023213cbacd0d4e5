"""Memory files are found, read and written without losing one."""

import contextlib
import os
import stat
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from killer import DONE, at_once
from lerim.errors import BoundaryError, MemoryError_
from lerim.memory.record import MemoryRecord, render_record
from lerim.memory.search.memory_search import search_memories
from lerim.memory.store import Store
from lerim.paths import Home
from lerim.project.project import Project
from lerim.review.review_paths import ReviewPaths
from reviews import added
from rights import bound

NOW = datetime(2026, 8, 1, tzinfo=UTC)
NAME = "20260801-use-uv"
TEXT = render_record(MemoryRecord(NAME, "decision", "Use uv", NOW, NOW, "manual", 0.9, ("a",), "Because."))
IGNORED = ["workspace/", "index/", "review/", "memory/summaries/", ".lerim-*", "/.gitignore"]


@pytest.fixture
def place(tmp_path: Path) -> ReviewPaths:
    root = tmp_path.resolve() / "repo"
    root.mkdir()
    return ReviewPaths(Project("0" * 16, root, root, root / ".git", "", "repo"), Home(tmp_path.resolve() / "home"))


@pytest.fixture
def root(place: ReviewPaths) -> Path:
    return place.project.root


@pytest.fixture
def store(place: ReviewPaths) -> Store:
    return place.store()


def put(store: Store, name: str = f"decisions/{NAME}.md") -> Path:
    path = store.memory_dir / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(TEXT)
    return path


def everything(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_the_folder_and_its_ignore_file_are_made_with_the_first_memory(place: ReviewPaths, root: Path) -> None:
    assert place.store().load_all() == ([], [])
    assert everything(root) == []
    path = added(place)
    assert everything(root) == [".lerim/.gitignore", f".lerim/memory/decisions/{path.name}"]
    assert [line for line in (root / ".lerim/.gitignore").read_text().splitlines() if line[0] != "#"] == IGNORED
    (root / "plain").touch()
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE((root / "plain").stat().st_mode)


def test_a_persons_ignore_lines_stay_and_what_they_remove_stays_removed(place: ReviewPaths, root: Path) -> None:
    (root / ".lerim").mkdir()
    ignore = root / ".lerim/.gitignore"
    ignore.write_bytes(b"mine\r\nindex/")
    added(place)
    text = ignore.read_bytes()
    assert text.startswith(b"mine\r\nindex/\r\n") and text.count(b"index/") == 1 and b"review/\r\n" in text
    ignore.write_bytes(text.replace(b"review/\r\n", b""))
    added(place, "Another")
    assert b"review/" not in ignore.read_bytes()


def test_memories_are_pulled_into_a_clone_in_which_lerim_has_written_already(
    place: ReviewPaths, root: Path, git: Callable[..., str]
) -> None:
    git(root, "init", "-q", "-b", "main")
    git(root, "commit", "-q", "--allow-empty", "-m", "Start")
    clone = root.parent / "clone"
    git(root.parent, "clone", "-q", str(root), str(clone))
    mate = ReviewPaths(Project("1" * 16, clone, clone, clone / ".git", "", "clone"), place.home)
    added(mate, "Bob's")
    path = added(place, "Alice's")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "Memories")
    git(clone, "pull", "-q")
    assert (clone / path.relative_to(root)).is_file() and (clone / ".lerim/.gitignore").is_file()
    assert {one.record.title for one in mate.store().load_all()[0]} == {"Alice's", "Bob's"}


def test_a_search_in_a_fresh_clone_leaves_nothing_for_git(
    place: ReviewPaths, root: Path, git: Callable[..., str]
) -> None:
    put(place.store())
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "Memories")
    assert [hit.record.title for hit in search_memories(place.project, place.home, "uv")] == ["Use uv"]
    assert (root / ".lerim/index").is_dir() and git(root, "status", "--porcelain") == ""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_the_same_title_on_the_same_day_never_overwrites(place: ReviewPaths) -> None:
    first = added(place, body="First.")
    assert at_once(lambda number: added(place, body=f"Words of {number}.")) == [DONE] * 4
    memories = place.store().load_all()[0]
    assert {stored.record.body for stored in memories} == {"First.", *(f"Words of {number}." for number in range(4))}
    names = {first.stem, *(f"{first.stem}-{number}" for number in range(2, 6))}
    assert {stored.record.id for stored in memories} == names
    assert added(place, body="First.", primitive="learning").stem == f"{first.stem}-6"


def test_one_bad_file_takes_no_other_with_it(store: Store) -> None:
    folder = put(store).parent
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
    assert [stored.record.id for stored in memories] == [NAME]
    assert len(problems) == (6 if sys.platform != "win32" else 5)
    assert all(problem.message and problem.path for problem in problems)


def test_a_file_that_goes_while_its_folder_is_listed_takes_no_other_with_it(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [put(store, f"decisions/20260801-{name}.md") for name in ("a", "b", "c")]
    scan = os.scandir

    def scan_then_remove(place: str | Path) -> contextlib.nullcontext[list[os.DirEntry[str]]]:
        with scan(place) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
        paths[1].unlink(missing_ok=True)
        return contextlib.nullcontext(found)

    monkeypatch.setattr(os, "scandir", scan_then_remove)
    assert [stored.path for stored in store.load_all()[0]] == [paths[0], paths[2]]


def test_links_are_neither_read_nor_written_through(place: ReviewPaths, store: Store, tmp_path: Path) -> None:
    put(store)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "20260801-secret.md").write_text(TEXT)
    (store.memory_dir / "learnings").symlink_to(outside)
    (store.memory_dir / "decisions/20260801-link.md").symlink_to(outside / "20260801-secret.md")
    memories, problems = store.load_all()
    assert [stored.record.id for stored in memories] == [NAME] and len(problems) == 2
    with pytest.raises(BoundaryError):
        added(place, primitive="learning")
    with pytest.raises(BoundaryError):
        store.load_by_id("20260801-link")
    assert everything(outside) == ["20260801-secret.md"]


def test_a_linked_lerim_folder_is_refused(place: ReviewPaths, root: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (root / ".lerim").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BoundaryError):
        added(place)
    assert everything(tmp_path / "elsewhere") == []


@pytest.mark.parametrize("how", ["a closed folder", "a file where the folder should be"])
def test_where_nothing_can_be_written_the_error_says_what_to_do(place: ReviewPaths, root: Path, how: str) -> None:
    if how == "a closed folder":
        root.chmod(0o555)
    else:
        (root / ".lerim").mkdir()
        (root / ".lerim" / "memory").write_text("in the way")
    try:
        with bound(), pytest.raises(MemoryError_) as error:
            added(place)
        assert error.value.where and error.value.todo
        assert not list(root.rglob("*.md"))
    finally:
        root.chmod(0o755)


def test_a_memory_that_git_checks_out_with_other_line_ends_has_not_changed(store: Store) -> None:
    path = put(store)
    before = store.load(path)[0]
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    after = store.load(path)[0]
    assert (after.text_hash, after.record) == (before.text_hash, before.record)


def test_files_beside_the_folders_of_memories_are_told(store: Store) -> None:
    good = put(store)
    for name in ("loose.md", "decisions/sub/x.md", "notes/y.md", "archived/z.md", "README.md", "summaries/1/2/s.md"):
        put(store, name)
    for archived, wanted in ((False, []), (True, ["archived/z.md"])):
        memories, problems = store.load_all(archived=archived)
        assert [stored.path for stored in memories] == [good]
        told = sorted(Path(problem.path).relative_to(store.memory_dir).as_posix() for problem in problems)
        assert told == sorted(["decisions/sub/x.md", "loose.md", "notes/y.md", *wanted])
        assert {problem.code for problem in problems} == {"memory-misplaced"}


def test_one_id_in_two_folders_is_told_with_both_files(store: Store) -> None:
    put(store)
    put(store, f"learnings/{NAME}.md")
    memories, problems = store.load_all()
    assert len(memories) == 2 and [problem.code for problem in problems] == ["memory-twice"]
    assert f"decisions/{NAME}.md and learnings/{NAME}.md" in problems[0].message
