"""Memory files that changed are read again by the loop, whatever else is at work on them."""

from __future__ import annotations

import asyncio
import gc
import runpy
from collections.abc import Callable
from pathlib import Path

import pytest

from lerim import heap
from lerim.lsp.features.checking import schedule_check
from lerim.lsp.server import create_server
from lerim.lsp.window import repos
from lerim.lsp.window.candidate_counts import find_shown_review_paths
from lerim.lsp.window.reload import reread_files
from lerim.lsp.window.repos import Repo
from lerim.lsp.window.state import Sidecar
from lerim.paths import Home
from window import RECORD, write_memory

pytestmark = pytest.mark.asyncio


def named(number: int, repo: Path, title: str) -> Path:
    return write_memory(repo, id=f"20260801-memory-{number}", title=title)


async def begun(repo: Path, isolated: Path) -> tuple[Sidecar, Repo]:
    sidecar = create_server(Home(isolated / ".lerim"), {})
    sidecar.folder_uris = [repo.as_uri()]
    found = await sidecar.find_repo(None)
    found.is_fast_to_read = True  # however busy this machine is
    return sidecar, found


def titles(repo: Repo) -> set[str]:
    return {entry.title for entry in repo.references.for_file("src/app.py")}


async def test_events_that_come_in_parts_are_taken_over_together(repo: Path, isolated: Path) -> None:
    paths = [named(number, repo, "Before") for number in range(40)]
    sidecar, found = await begun(repo, isolated)
    for number in range(40):
        named(number, repo, "After")
    parts = [reread_files(sidecar, found, paths[at : at + 10]) for at in range(0, 40, 10)]
    taken = [set(one) for one in await asyncio.gather(*parts)]
    assert set().union(*taken) == set(paths)
    assert sum(map(len, taken)) == 40
    assert set() in taken
    assert titles(found) == {"After"}


async def test_others_have_their_turn_between_two_files_and_see_nothing_half_done(repo: Path, isolated: Path) -> None:
    paths = [named(number, repo, "Before") for number in range(200)]
    sidecar, found = await begun(repo, isolated)
    for number in range(200):
        named(number, repo, "After")
    reading = asyncio.create_task(reread_files(sidecar, found, paths))
    seen = []
    while not reading.done():
        await asyncio.sleep(0)
        seen.append(frozenset(titles(found)))
    assert set(seen) == {frozenset({"Before"}), frozenset({"After"})}
    assert len(seen) > 3


async def test_a_search_at_work_on_the_files_is_waited_for_in_a_thread(repo: Path, isolated: Path) -> None:
    path = write_memory(repo)
    sidecar, found = await begun(repo, isolated)
    write_memory(repo, title="After")
    with found.lock:
        reading = asyncio.create_task(reread_files(sidecar, found, [path]))
        await sidecar.run_in_thread(list)  # it has had its turn
        assert titles(found) == {RECORD.title}
    assert await reading == [path]
    assert titles(found) == {"After"}


async def test_a_file_beside_the_folders_makes_it_look_at_all(repo: Path, isolated: Path) -> None:
    write_memory(repo)
    sidecar, found = await begun(repo, isolated)
    stray = found.project.memory_dir / "stray.md"
    stray.write_text("no memory", encoding="utf-8")
    write_memory(repo, id="20260802-unheard-of", title="Not told")
    await reread_files(sidecar, found, [stray])
    assert [problem.code for problem in found.references.problems] == ["memory-misplaced"]
    assert titles(found) == {RECORD.title, "Not told"}


async def test_rules_files_are_read_again_after_a_save_although_another_check_waits(repo: Path, isolated: Path) -> None:
    sidecar, _ = await begun(repo, isolated)
    uri = write_memory(repo).as_uri()
    sidecar.running_checks[uri] = "text"  # a change during a check
    schedule_check(sidecar, uri, with_rules=True)
    schedule_check(sidecar, uri)
    assert sidecar.running_checks[uri] == "rules"


async def test_what_was_read_is_not_gone_through_for_garbage(
    repo: Path, isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_memory(repo)
    monkeypatch.setattr(repos, "settle_heap", runpy.run_path(heap.__file__)["settle_heap"])  # other tests do without
    before = gc.get_freeze_count()
    _, found = await begun(repo, isolated)
    assert gc.get_freeze_count() > before
    assert not any(one is found.references for one in gc.get_objects())


async def test_personal_candidates_wait_beside_the_first_folder_of_the_window_whichever_was_opened_first(
    repo: Path, isolated: Path, tmp_path: Path, git: Callable[..., str]
) -> None:
    git(tmp_path, "init", "-q", "elsewhere")
    sidecar = create_server(Home(isolated / ".lerim"), {})
    sidecar.folder_uris = [tmp_path.as_uri(), repo.as_uri()]
    elsewhere = await sidecar.repos.locate_file((tmp_path / "elsewhere" / "a.py").as_uri())
    own = await sidecar.find_repo(repo.as_uri())
    assert elsewhere is not None
    assert [len(find_shown_review_paths(sidecar, one)) for one in (elsewhere.repo, own)] == [1, 2]
