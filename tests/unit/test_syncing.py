"""A sync as a person meets it: real files, a real repository, a real catalog."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from claude_lines import encoded, prompt, reply, text
from desk import Desk, correction
from finished import finish
from lerim.jobs.report import CandidateFound, SyncEvent, SyncProgress
from lerim.jobs.sync_context import SyncOptions
from lerim.paths import Home
from lerim.project import project
from lerim.project.lock import hold_project_lock
from lerim.review import queue
from lerim.sessions.catalog.catalog import Catalog
from lerim.sessions.settling import SETTLE_SECONDS
from model_desk import start_job


def test_what_an_agent_was_asked_as_lerim_s_own_command_is_not_learned_from(desk: Desk) -> None:
    desk.home = Home(desk.repo / ".lerim", desk.repo)  # a person's whole home under version control
    desk.home.root.mkdir(parents=True)
    desk.session("s1", *correction(desk), cwd=desk.home.root)
    report = desk.sync()
    assert (report.sessions.found, report.candidates) == (0, [])
    desk.session("s2", *correction(desk))
    assert len(desk.sync().candidates) == 1


def test_a_repository_stays_untouched_where_its_own_sessions_teach_nothing(
    desk: Desk, tmp_path: Path, git: Callable[..., str]
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    desk.session("s1", prompt("What does this project do?"), reply("m", text("It loads files.")))
    desk.session("s2", *correction(desk), cwd=other)
    report = desk.sync()
    assert (report.sessions.found, report.candidates, report.run) == (1, [], "")
    assert not (desk.repo / ".lerim").exists()


@pytest.mark.parametrize("explicit", [False, True])
def test_the_last_exchange_of_a_session_waits_until_nothing_was_written_for_90_seconds_or_the_next_prompt_stands(
    desk: Desk, *, explicit: bool
) -> None:
    path = desk.session("s1", *correction(desk)[:6])
    os.utime(path)
    options = SyncOptions(explicit=explicit)
    early = desk.sync(options)
    assert (early.candidates, early.settling) == ([], 1)
    assert early.settles_at == pytest.approx(path.stat().st_mtime + SETTLE_SECONDS)
    finish(path)
    late = desk.sync(options)
    assert (len(late.candidates), late.settling, late.settles_at) == (1, 0, None)
    os.utime(desk.session("s2", *correction(desk, "tomllib")[:6]))
    assert desk.sync(options).candidates == []
    os.utime(desk.session("s2", prompt("perfect, commit it")))
    report = desk.sync(options)
    assert (len(report.candidates), report.settling) == (1, 1)


def test_a_session_that_moved_in_from_elsewhere_is_found_in_the_same_sync(desk: Desk, tmp_path: Path) -> None:
    elsewhere = tmp_path / "nowhere"
    elsewhere.mkdir()
    path = desk.session("s1", prompt("hello"), reply("m", text("Hello.")), cwd=elsewhere)
    with path.open("ab") as file:
        file.write(encoded(*({**one, "cwd": str(desk.repo), "sessionId": "s1"} for one in correction(desk))))
    report = desk.sync()
    assert len(report.candidates) == 1


def test_a_sync_that_finds_the_project_taken_for_its_second_look_reports_what_it_found_before(
    desk: Desk, tmp_path: Path
) -> None:
    desk.session("s1", *correction(desk))
    elsewhere = tmp_path / "nowhere"
    elsewhere.mkdir()
    path = desk.session("s2", prompt("hello"), reply("m", text("Hello.")), cwd=elsewhere)
    with path.open("ab") as file:
        file.write(encoded(*({**one, "cwd": str(desk.repo), "sessionId": "s2"} for one in correction(desk, "tomllib"))))
    finish(path)
    with ExitStack() as locks:

        def take_lock(event: SyncEvent) -> None:
            if isinstance(event, SyncProgress) and event.stage == "reading" and "other projects" in event.message:
                locks.enter_context(hold_project_lock(desk.home, desk.place.project.key))

        report = desk.sync(emit=take_lock)
    assert ["pathlib" in one.title for one in report.candidates] == [True]
    assert ["tomllib" in one.title for one in desk.sync().candidates] == [True]


def test_what_begins_in_the_project_s_folder_is_learned_from_before_other_sessions_are_opened(desk: Desk) -> None:
    desk.session("s1", *correction(desk))
    odd = desk.session("s2", *correction(desk, "tomllib"))
    away = odd.parent.with_name("-some-other-name")
    away.mkdir()
    odd = odd.rename(away / odd.name)
    known: list[bool] = []

    def look(event: SyncEvent) -> None:
        if isinstance(event, CandidateFound):
            with Catalog.open(desk.home) as catalog:
                known.append(str(odd) in catalog.load_stamps())

    assert len(desk.sync(emit=look).candidates) == 2
    assert known == [False, True]


def test_a_rejected_candidate_stays_away_even_when_the_review_folder_and_the_catalog_are_gone(desk: Desk) -> None:
    desk.session("s1", *correction(desk))
    (view,) = desk.sync().candidates
    queue.reject_candidate(desk.place, view.id)
    for path in (desk.repo / ".lerim" / "review").iterdir():
        path.unlink()
    (desk.repo / ".lerim" / "review").rmdir()
    for path in desk.home.catalog.parent.iterdir():
        path.unlink()
    report = desk.sync()
    assert (report.candidates, report.dropped) == ([], {"rejected-before": 1})


def test_a_transcript_that_cannot_be_opened_fails_alone_and_since_leaves_older_ones_for_a_later_sync(
    desk: Desk,
) -> None:
    desk.session("s1", *correction(desk))
    desk.session("s2", *correction(desk, "tomllib"))
    broken = desk.projects / re.sub(r"[^A-Za-z0-9]", "-", str(desk.repo)) / "s3.jsonl"
    broken.symlink_to(broken)
    assert desk.sync(SyncOptions(since=datetime(2030, 1, 1, tzinfo=UTC))).candidates == []
    assert len(desk.sync().candidates) == 2


@pytest.mark.parametrize("link", [None, "../../../../feature/.git\n"])
def test_sessions_of_a_worktree_that_was_deleted_and_never_pruned_are_found(
    desk: Desk, git: Callable[..., str], tmp_path: Path, link: str | None
) -> None:
    worktree = tmp_path / "feature"
    git(desk.repo, "worktree", "add", "-q", str(worktree))
    if link is not None:  # as git writes it with worktree.useRelativePaths
        (desk.repo / ".git" / "worktrees" / "feature" / "gitdir").write_text(link)
    shutil.rmtree(worktree)
    desk.session("s1", *correction(desk), cwd=worktree)
    report = desk.sync()
    assert (report.sessions.found, len(report.candidates)) == (1, 1)


def test_a_correction_becomes_a_candidate_and_each_sync_is_recorded(desk: Desk) -> None:
    desk.session("s1", *correction(desk))
    first = desk.sync()
    assert [view.title for view in first.candidates] == desk.waiting()
    assert len(first.candidates) == 1
    assert "pathlib" in first.candidates[0].title
    folder = Path(first.run)
    assert folder.parent == desk.repo / ".lerim" / "workspace"
    actions = json.loads((folder / "memory_actions.json").read_text(encoding="utf-8"))
    assert [action["action"] for action in actions] == ["proposed-add"]
    second = desk.sync()
    assert (second.candidates, second.sessions.unchanged, second.sessions.new) == ([], 1, 0)
    assert [known.root for known in project.list_projects(desk.home)[0]] == [desk.repo]
    lines = desk.home.activity_log.read_text(encoding="utf-8").splitlines()
    assert (len(lines), "1 candidates" in lines[0]) == (2, True)
    assert desk.home.activity_log.stat().st_mode & 0o077 == 0
    desk.session("s1", *correction(desk, "tomllib", "README.md"))
    third = desk.sync()
    assert (third.sessions.changed, len(third.candidates)) == (1, 1), "only what is new is learned from"
    assert "tomllib" in third.candidates[0].title


def test_a_repository_whose_name_is_not_utf_8_is_synced(desk: Desk) -> None:
    desk.repo = desk.repo.rename(os.fsdecode(bytes(desk.repo) + b"-caf\xe9"))
    with start_job(desk, "--explicit") as job:
        assert job.stdout
        lines = [json.loads(line) for line in job.stdout]
    assert lines[-1]["report"]["project"].endswith("-caf\\xe9")
    assert "-caf\\xe9 | done: " in desk.home.activity_log.read_text()


def test_a_session_that_is_being_written_by_a_clock_that_is_behind_is_read_once(desk: Desk) -> None:
    path = desk.session("s1", *correction(desk))
    behind = datetime.now(UTC) - timedelta(days=3)
    os.utime(path, (behind.timestamp(),) * 2)
    reports = [desk.sync(SyncOptions(explicit=explicit), clock=lambda: behind) for explicit in (False, True)]
    assert [(report.state, report.settling) for report in reports] == [("done", 1), ("done", 1)]


def test_words_without_a_time_are_dated_by_the_last_change_of_their_transcript(desk: Desk) -> None:
    path = desk.session("s1", *({**record, "timestamp": ""} for record in correction(desk)))
    changed = datetime(2026, 3, 2, 15, 1, tzinfo=UTC)
    os.utime(path, (changed.timestamp(),) * 2)
    desk.sync()
    (proposal,) = queue.list_pending(desk.place)[0]
    assert (proposal.time, proposal.id[:8]) == (changed, "20260302")


def test_a_session_whose_file_has_an_impossible_time_is_read_like_any_other(desk: Desk) -> None:
    path = desk.session("s1", *correction(desk))
    os.utime(path, (400_000_000_000,) * 2)  # the year 14645, as after a fault of the disk
    assert len(desk.sync().candidates) == 1
