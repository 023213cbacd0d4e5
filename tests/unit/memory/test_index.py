"""The index of memories on disk: kept up to date by several processes, replaced if it is damaged or not ours."""

import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from test_search import titles, write

from concept_model import ConceptModel
from lerim.errors import Problem
from lerim.memory.local_quotes import strip_quotes
from lerim.memory.record import Evidence
from lerim.memory.search.filters import MemoryFilters
from lerim.memory.search.memory_search import MemorySearch, load_all, search_memories
from lerim.memory.store import Store
from lerim.paths import Home
from lerim.project.project import Project


def plant(index: Path) -> None:
    """An index as a hostile repository would bring it: the right tables, another content."""
    with sqlite3.connect(index) as connection:
        connection.execute("UPDATE files SET path = '../../../etc/passwd'")
    connection.close()


@pytest.mark.parametrize("how", ["copied", "linked", "no database", "another nonce", "half written", "journal"])
def test_an_index_we_did_not_make_is_replaced_and_never_opened(
    project: Project, home: Home, tmp_path: Path, how: str
) -> None:
    write(project.memory_dir, "One", "alpha")
    titles(project, home, "alpha")
    index = project.lerim_dir / "index" / "memories.sqlite3"
    foreign = tmp_path / "foreign.sqlite3"
    shutil.copy(index, foreign)
    plant(foreign)
    before = foreign.read_bytes()
    if how == "copied":
        shutil.copy(foreign, tmp_path / "new")
        (tmp_path / "new").replace(index)
    elif how == "linked":
        index.unlink()
        index.symlink_to(foreign)
    elif how == "no database":
        index.write_bytes(b"not a database" * 1000)
    elif how == "half written":
        (home.project(project.key) / "index-memories.json").unlink()
    elif how == "another nonce":
        with sqlite3.connect(index) as connection:
            connection.execute("UPDATE meta SET nonce = 'x'")
        connection.close()
    else:
        for suffix in ("-wal", "-journal", "-shm"):
            shutil.copy(foreign, f"{index}{suffix}")
    assert titles(project, home, "alpha") == ["One"]
    assert foreign.read_bytes() == before
    assert list(index.parent.iterdir()) == [index] and not index.is_symlink()


@pytest.mark.parametrize("how", ["a link", "a file"])
def test_where_the_index_cannot_be_kept_the_search_works_and_says_so(
    project: Project, home: Home, tmp_path: Path, how: str
) -> None:
    write(project.memory_dir, "One", "alpha")
    (tmp_path / "elsewhere").mkdir()
    if how == "a link":
        (project.lerim_dir / "index").symlink_to(tmp_path / "elsewhere")
    else:
        (project.lerim_dir / "index").write_text("a file where the folder should be")
    problems: list[Problem] = []
    assert len(search_memories(project, home, "alpha", problems=problems)) == 1
    assert [problem.code for problem in problems] == ["index"] and not list((tmp_path / "elsewhere").iterdir())


def test_an_open_search_follows_single_files_and_other_processes(project: Project, home: Home) -> None:
    write(project.memory_dir, "One", "alpha")
    with MemorySearch(project, home) as first, MemorySearch(project, home) as second:
        path = write(project.memory_dir, "Two", "beta")
        first.update_file(path)
        assert [hit.record.title for hit in first.search("beta")] == ["Two"]
        second.refresh()
        path.unlink()
        second.update_file(path)
        assert second.search("beta") == []
        assert first.search("beta") == []
        shutil.rmtree(project.lerim_dir / "index")
        first.refresh()
        write(project.memory_dir, "Three", "gamma")
        first.refresh()
        assert {hit.record.title for hit in first.search("gamma alpha?")} == {"One", "Three"}


def test_an_open_search_shows_files_and_private_quotes_as_they_are_now(project: Project, home: Home) -> None:
    quote = Evidence("in cents, always", "t1", "user")
    path = write(project.memory_dir, "Use Decimal for money", evidence=strip_quotes([quote]))
    quotes = Store(project.memory_dir, home.project(project.key)).quotes
    with MemorySearch(project, home) as search:
        assert [hit.record.evidence for hit in search.search("money")] == [(replace(quote, quote=""),)]
        quotes.folder.mkdir(parents=True)
        quotes.path_for(path.stem).write_text(quotes.text_with_quotes(path.stem, [quote]), "utf-8")
        assert [hit.record.evidence for hit in search.search("money")] == [(quote,)]
        path.write_text(path.read_text("utf-8").replace("Use Decimal for", "Never use floats for"), "utf-8")
        assert [hit.record.title for hit in search.search("money")] == ["Never use floats for money"]
        assert search.problems == []
        path.write_text("no memory", "utf-8")
        assert search.search("money") == []
        assert [problem.path for problem in search.problems] == [str(path)]


def test_an_open_search_notices_what_another_process_put_into_the_index(project: Project, home: Home) -> None:
    write(project.memory_dir, "Clear the CI cache weekly")
    write(home.memory, "Use Decimal for money")
    model: Any = ConceptModel()
    with MemorySearch(project, home) as first, MemorySearch(project, home) as second:

        def near() -> set[tuple[str, str]]:
            hits = first.search_by_meaning("price", 10, MemoryFilters(), model)
            return {(hit.record.title, hit.scope) for hit in hits}

        assert near() == {("Use Decimal for money", "global")}
        assert first.search("integration") == []
        second.update_file(write(project.memory_dir, "Use Decimal for money"))
        second.update_file(write(project.memory_dir, "Prices are integers", "Continuous integration (CI) checks it."))
        first.refresh_if_changed()
        assert near() == {("Use Decimal for money", "project"), ("Prices are integers", "project")}
        assert len(first.search("continuous integration")) == 2


def test_a_memory_that_is_damaged_in_the_index_is_read_from_its_file(project: Project, home: Home) -> None:
    write(project.memory_dir, "One", "alpha")
    titles(project, home, "alpha")
    with closing(sqlite3.connect(project.lerim_dir / "index" / "memories.sqlite3")) as db, db:
        db.execute("UPDATE records SET record = x'00'")
    stored, problems = load_all(project, home, Store(project.memory_dir, home.project(project.key)))
    assert ([one.record.title for one in stored], problems) == (["One"], [])
    assert titles(project, home, "alpha") == ["One"]


def test_a_damaged_index_is_told_once_and_made_anew(project: Project, home: Home) -> None:
    for number in range(60):
        write(project.memory_dir, f"Alpha {number}", "Some more words. " * 30)
    titles(project, home, "alpha")
    with (project.lerim_dir / "index" / "memories.sqlite3").open("r+b") as file:
        file.seek(20_000)
        file.write(b"\xff" * 100_000)
    problems: list[Problem] = []
    assert len(search_memories(project, home, "alpha", problems=problems)) == 20
    assert [problem.code for problem in problems] == ["index"]
    assert "A new one is made next time." in problems[0].message
    assert len(titles(project, home, "alpha")) == 20
