"""Run folders are there for what was extracted, and do not pile up."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from lerim.errors import MemoryError_, NotFoundError
from lerim.extraction.candidate import Candidate, drop_candidate
from lerim.models.money.usage import ModelStep, RoleUsage, Usage
from lerim.review.review_paths import ReviewPaths
from lerim.review.run_folder import (
    MAX_KEPT_RUNS,
    MemoryAction,
    RunFolder,
    add_memory_actions,
    try_write_run,
)
from lerim.review.run_records import LastRun, find_last_model_run, list_runs, load_run

Make = Callable[..., Candidate]
NOW = datetime(2026, 8, 1, 10, 20, 30, tzinfo=UTC)


def test_a_file_is_written_only_for_what_there_is(place: ReviewPaths, make: Make) -> None:
    run = RunFolder(place, NOW)
    run.note("looked")
    assert run.write() is None
    assert not place.project.lerim_dir.exists()
    dropped = drop_candidate(make("T"), "no-evidence", "nowhere", 0.2)
    folder = RunFolder(place, NOW, [make(score=0.3, features=(1.0,)), dropped]).write()
    assert folder is not None and folder.name.startswith("sync-20260801-102030-")
    assert [path.name for path in folder.iterdir()] == ["extract.json"]
    first, second = json.loads((folder / "extract.json").read_text())
    assert (first["outcome"], first["title"], first["evidence"][0]["who"]) == ("candidate", "Use uv, not pip", "user")
    assert (second["outcome"], second["title"], second["detail"]) == ("dropped", "T", "nowhere")
    assert not {"score", "features", "candidate"} & {*first, *second}
    run = RunFolder(place, NOW, [make()], [MemoryAction("accepted", "c", "Use uv", undo="u")])
    run.note("one\nline")
    folder = run.write()
    assert folder is not None
    assert sorted(path.name for path in folder.iterdir()) == ["extract.json", "memory_actions.json", "session.log"]
    assert (folder / "session.log").read_text().endswith(" one line\n")


def test_what_is_done_after_the_folder_was_written_is_added_to_it(place: ReviewPaths, make: Make) -> None:
    first, second = MemoryAction("proposed-add", "c", "Use uv"), MemoryAction("accepted", "c", "Use uv", "m", "u")
    for run, before in ((RunFolder(place, NOW, [make()], [first]), [first]), (RunFolder(place, NOW, [make()]), [])):
        folder = run.write()
        assert folder is not None
        add_memory_actions(folder, [second])
        told = msgspec.json.decode((folder / "memory_actions.json").read_bytes(), type=list[MemoryAction])
        assert told == [*before, second]
    (folder / "memory_actions.json").write_text("{}")
    with pytest.raises(MemoryError_, match="not a list of actions"):
        add_memory_actions(folder, [second])


@pytest.mark.parametrize("committed", ["sync-20269999-999999-abcdef", "sync-99991231-235959-abcdef"])
def test_folders_that_a_repository_brings_break_no_list_of_runs_and_push_no_run_out(
    place: ReviewPaths, make: Make, committed: str
) -> None:
    for number in range(MAX_KEPT_RUNS):
        (place.state / "workspace" / f"{committed[:-2]}{number:02}").mkdir(parents=True)
    folder = RunFolder(place, NOW, [make()]).write()
    assert folder is not None and folder.is_dir()
    runs, total = list_runs(place, 0, 10)
    assert [run.name for run in runs] == [folder.name] and total == 1
    with pytest.raises(NotFoundError):
        load_run(place, committed)


def test_a_workspace_that_leads_elsewhere_is_a_problem_and_fails_nothing(
    place: ReviewPaths, make: Make, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    place.state.mkdir(parents=True)
    (place.state / "workspace").symlink_to(tmp_path / "elsewhere")
    folder, problems = try_write_run(RunFolder(place, NOW, [make()]))
    assert folder is None and [problem.code for problem in problems] == ["run-folder"]
    assert not list((tmp_path / "elsewhere").iterdir())


def test_the_newest_run_that_asked_a_model_says_what_it_took_whatever_lies_beside_it(
    place: ReviewPaths, make: Make
) -> None:
    assert find_last_model_run(place) == LastRun()
    began = datetime(2026, 7, 1, 12, tzinfo=UTC)
    spent = RoleUsage("extract", "openai:m", Usage(2, 1_000, 50, 100, 0.002, seconds=1.5))
    step = ModelStep("retried", "extract", "openai:m", "too many requests", "claude:1f0c", "2 of 5")
    run = RunFolder(place, began, extracted=[make()], spent=[spent], steps=[step])
    folder = run.write()
    assert folder
    log = (folder / "session.log").read_text()
    assert "extract, openai:m: 2 calls, 1,000 tokens in (100 from its cache), 50 out, $0.0020" in log
    assert "extract, openai:m: retried: too many requests (claude:1f0c, 2 of 5)" in log
    RunFolder(place, began + timedelta(hours=1), extracted=[make()]).write()
    for number, text in enumerate(
        ("{", "[1]", '[{"outcome": "asked", "role": 5}]', '[{"outcome": "step", "kind": "x"}]')
    ):
        broken = folder.with_name(f"sync-20260901-00000{number}-abcdef")
        broken.mkdir()
        (broken / "extract.json").write_text(text)
    assert find_last_model_run(place) == LastRun(str(folder), [spent], [step])
