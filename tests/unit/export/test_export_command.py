"""`lerim export` in a repository: written, checked in a clone, edited by hand, kept up to date, and taken back."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from killer import Kill, every_kill
from lerim.export import keeps_rules, plan_project_export, undo_export, write_export
from lerim.paths import Home
from lerim.review import ReviewPaths, acts, queue
from reviews import START, accepted, made_candidate, remember
from terminal import answer, run

Git = Callable[..., str]


def export(*options: str, code: int = 0) -> str:
    result = run("export", *options)
    assert result.exit_code == code, result.output
    return result.output


def snapshot(repo: Path) -> dict[str, bytes]:
    """Every file of the repository but git's and ours, by name."""
    inside = (path for path in repo.rglob("*") if path.is_file() and not {".git", ".lerim"} & set(path.parts))
    return {path.relative_to(repo).as_posix(): path.read_bytes() for path in inside}


def test_the_difference_is_shown_and_nothing_is_written_unless_the_person_says_so(
    place: ReviewPaths, repo: Path
) -> None:
    remember(place, "Use uv, not pip")
    before = snapshot(repo)
    assert "+- decision: Use uv, not pip" in export() and snapshot(repo) == before
    assert "`lerim export --yes` writes it" in export()
    export("--diff")
    assert snapshot(repo) == before
    assert "Created AGENTS.md." in export("--yes")
    assert "Use uv, not pip" in (repo / "AGENTS.md").read_text()
    assert "Nothing to do: the files hold 1 memory." in export("--yes")


def test_only_fresh_reviewed_memories_of_the_project_are_written(place: ReviewPaths, repo: Path, home: Home) -> None:
    remember(place, "Loading is lazy", "", "src/app.py#load")
    remember(place, "Saving is atomic", "", "src/app.py#Store")
    remember(place.personal(), "Answers are short")
    queue.propose_candidate(place, made_candidate("It waits for review"))
    acts.archive_memory(place, remember(place, "It was archived"))
    accepted(place, made_candidate("Run scripts/x.sh first", turn="1" * 12), automatic=True)
    mine = made_candidate("Run scripts/y.sh first", turn="1" * 12, references=())
    accepted(place.personal(), mine, automatic=True)
    app = repo / "src" / "app.py"
    app.write_text(app.read_text().replace("open(path).read()", "1"))
    found = answer("export", "--yes")
    text = (repo / "AGENTS.md").read_text()
    assert "Saving is atomic" in text
    assert not any(one in text for one in ("Loading", "Answers", "waits", "archived", "scripts/x.sh"))
    assert (found["memories"], found["drifted"], found["unapproved"]) == (1, 1, 1)
    app.write_text(app.read_text().replace("return 1", "return open(path).read()"))
    export("--yes")
    assert "Loading is lazy" in (repo / "AGENTS.md").read_text()


def test_removal_restores_every_byte_and_the_folders(place: ReviewPaths, repo: Path) -> None:
    remember(place, "Use uv, not pip")
    remember(place, "Loading is lazy", "", "src/app.py#load")
    (repo / "CLAUDE.md").write_bytes(b"\xef\xbb\xbf# App\r\n\r\nRun the tests")
    (repo / ".cursor").mkdir()
    (repo / ".cursor" / "mcp.json").write_text("{}")
    before = snapshot(repo)
    export("--yes")
    assert {".claude/rules/lerim-src.md", ".cursor/rules/lerim-src.mdc"} < set(snapshot(repo))
    export("--check")
    export("--remove", "--yes")
    assert snapshot(repo) == before
    assert not (repo / ".claude").exists() and not (repo / ".cursor" / "rules").exists()
    assert "Nothing to do." in export("--remove", "--yes")


def test_the_check_needs_nothing_but_a_clone_and_says_what_it_cannot_decide(
    place: ReviewPaths, repo: Path, git: Git, tmp_path: Path, home: Home
) -> None:
    name = remember(place, "Loading is lazy", "", "src/app.py#load")
    remember(place, "Always run `make fix` before a commit")
    assert "AGENTS.md is not up to date.\nRun `lerim export` to write it.\n" in export("--check", code=1)
    export("--yes")
    remember(place, "Tests need no network")
    found = answer("export", "--check", code=1)
    assert [one["path"] for one in found["files"]] == ["AGENTS.md"] and not found["ok"]
    export("--yes")
    export("--check")
    git(repo, "add", ".")
    git(repo, "commit", "-qm", "memory")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(repo), str(clone))
    shutil.rmtree(home.root)
    said = export("--check", "--repo", str(clone))
    assert "up to date" in said and "read like an order" in said
    assert not home.root.exists() and git(clone, "status", "--short") == ""
    app = clone / "src" / "app.py"
    app.write_text(app.read_text().replace("open(path).read()", "1"))
    assert f"the code that {name} is about has changed" in export("--check", "--repo", str(clone), code=1)
    git(clone, "checkout", "-q", ".")
    (clone / ".lerim" / "memory" / "decisions" / f"{name}.md").unlink()
    assert "no longer active" in export("--check", "--repo", str(clone), code=1)
    git(clone, "checkout", "-q", ".")
    agents = clone / "AGENTS.md"
    agents.write_text(agents.read_text().replace("lazy", "eager"))
    assert "edited by hand" in export("--check", "--repo", str(clone), code=1)


def test_an_edited_line_becomes_a_change_of_its_memory_and_an_own_line_a_candidate(
    place: ReviewPaths, repo: Path
) -> None:
    name = remember(place, "Use uv, not pip", "Use uv, not pip: it is locked.")
    remember(place, "Tests need no network")
    export("--yes")
    agents = repo / "AGENTS.md"
    written = agents.read_text()
    edited = written.replace("Use uv, not pip", "Use uv, never pip").replace(
        "<!-- lerim:end -->", "- We deploy on Fridays, too\n<!-- lerim:end -->"
    )
    agents.write_text(edited)
    said = export("--yes", code=3)
    assert f"changes {name}: Use uv, never pip" in said and "We deploy on Fridays" in said
    assert agents.read_text() == edited
    assert "2 candidates made of the edited lines." in export("--yes", "--take-edits")
    assert agents.read_text() == written
    candidates = {one.record.title: one for one in queue.list_pending(place)[0]}
    change, own = candidates["Use uv, never pip"], candidates["We deploy on Fridays, too"]
    assert (change.action, change.target, change.maker, change.flags) == ("update", name, "file", ("unverified",))
    assert change.record.source.startswith("file:AGENTS.md#L") and own.action == "add"
    assert queue.accept_candidate(place, change.id, quotes="shared").ok
    assert place.store().load_by_id(name).record.body.strip() == "Use uv, never pip: it is locked."
    export("--yes")
    assert "Use uv, never pip — … it is locked." in agents.read_text()
    marks = [one[-10:] for text in (written, agents.read_text()) for one in text.splitlines() if "Use uv" in one]
    assert marks[0] == marks[1]


def test_files_are_kept_up_to_date_after_each_change_only_where_the_person_chose_that(
    place: ReviewPaths, repo: Path, home: Home
) -> None:
    remember(place, "Use uv, not pip")
    export("--yes")
    agents = repo / "AGENTS.md"
    written = agents.read_text()
    run("memory", "add", "--title", "Not kept yet")
    assert agents.read_text() == written and not keeps_rules(place.project, home)
    export("--yes", "--keep")
    waiting = queue.propose_candidate(place, made_candidate("Prices are Decimal", references=()))
    assert isinstance(waiting, queue.CandidateProposed)
    done = run("review", "accept", waiting.proposal.id, "--quotes", "shared")
    assert "AGENTS.md was brought up to date" in done.stderr and "Prices are Decimal" in agents.read_text()
    run("review", "undo")
    assert "Prices are Decimal" not in agents.read_text()
    added = answer("memory", "add", "--title", "Retry uploads")
    assert "Retry uploads" in agents.read_text()
    (repo / added["path"]).unlink()
    assert "AGENTS.md was brought up to date" in run("maintain").stderr and "Retry uploads" not in agents.read_text()
    (repo / ".claude").mkdir()
    run("memory", "add", "--title", "Loading is lazy", "--reference", "src/app.py#load")
    run("memory", "archive", next(iter(place.store().all_ids())))
    assert not (repo / ".claude" / "rules").exists()
    export("--no-keep", "--diff")
    assert not keeps_rules(place.project, home)


def test_nothing_is_created_where_nothing_was_written(place: ReviewPaths, repo: Path) -> None:
    export("--keep", "--diff")
    before = snapshot(repo)
    assert run("memory", "archive", remember(place, "Use uv")).exit_code == 0
    remember(place, "Use pip")
    assert run("review", "undo").exit_code == 0
    assert snapshot(repo) == before


@pytest.mark.parametrize("what", ["outside", "read-only", "folder", "binary", "large"])
def test_a_file_that_cannot_be_written_is_told_and_no_other_takes_its_place(
    place: ReviewPaths, repo: Path, tmp_path: Path, what: str
) -> None:
    remember(place, "Use uv, not pip")
    agents, outside = repo / "AGENTS.md", tmp_path / "outside.md"
    outside.write_text("not yours\n")
    if what == "outside":
        agents.symlink_to(outside)
    elif what == "folder":
        agents.mkdir()
    else:
        agents.write_bytes({"read-only": b"a\n", "binary": b"\xff\xfe\x00", "large": b"x" * 1_100_000}[what])
        agents.chmod(0o444 if what == "read-only" else 0o644)
    before = snapshot(repo)
    said = export("--yes")
    assert "warning: " in said and str(agents) in said
    assert snapshot(repo) == before and outside.read_text() == "not yours\n"


def test_a_folder_of_rules_that_leads_out_of_the_repository_is_not_followed(
    place: ReviewPaths, repo: Path, tmp_path: Path
) -> None:
    remember(place, "Loading is lazy", "", "src/app.py#load")
    outside = tmp_path / "outside"
    outside.mkdir()
    (repo / ".claude").mkdir()
    (repo / ".claude" / "rules").symlink_to(outside)
    remember(place, "Use uv, not pip")
    assert "symbolic link" in export("--yes", code=3)
    assert list(outside.iterdir()) == [] and "Use uv" in (repo / "AGENTS.md").read_text()


def test_a_file_saved_since_the_plan_was_made_is_not_overwritten(place: ReviewPaths, repo: Path, home: Home) -> None:
    remember(place, "Use uv, not pip")
    remember(place, "Loading is lazy", "", "src/app.py#load")
    (repo / ".claude").mkdir()
    planned = plan_project_export(place.project, home, os.environ)
    (repo / "AGENTS.md").write_text("mine\n")
    before = snapshot(repo)
    with pytest.raises(Exception, match="created meanwhile"):
        write_export(place.project, home, planned, START)
    assert snapshot(repo) == before


def test_undo_takes_back_to_the_byte_and_refuses_if_a_file_was_saved_since(
    place: ReviewPaths, repo: Path, home: Home
) -> None:
    remember(place, "Loading is lazy", "", "src/app.py#load")
    remember(place, "Use uv, not pip")
    (repo / "CLAUDE.md").write_text("# App")
    before = snapshot(repo)
    made = write_export(place.project, home, plan_project_export(place.project, home, os.environ), START).made
    assert len(made) == 2
    undo_export(place.project, made)
    assert snapshot(repo) == before
    made = write_export(place.project, home, plan_project_export(place.project, home, os.environ), START).made
    with (repo / "CLAUDE.md").open("a") as file:
        file.write("mine\n")
    now = snapshot(repo)
    with pytest.raises(Exception, match="changed or removed"):
        undo_export(place.project, made)
    assert snapshot(repo) == now


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_kill_at_any_moment_leaves_whole_files_and_the_next_run_finishes(
    place: ReviewPaths, repo: Path, home: Home
) -> None:
    remember(place, "Use uv, not pip")
    remember(place, "Loading is lazy", "", "src/app.py#load")
    (repo / "CLAUDE.md").write_text("# App\n")
    before = snapshot(repo)

    def write(kill: Kill | None = None) -> None:
        planned = plan_project_export(place.project, home, os.environ)
        if kill is None:
            write_export(place.project, home, planned, START)
        else:
            kill(write_export, place.project, home, planned, START)

    write()
    after = snapshot(repo)
    for kill in every_kill(every=1):
        export("--remove", "--yes")
        assert snapshot(repo) == before
        write(kill)
        for name, text in snapshot(repo).items():
            if not name.startswith("."):
                assert text in (before.get(name), after.get(name)) or name.endswith(".tmp"), name
        write()
        assert snapshot(repo) == after
