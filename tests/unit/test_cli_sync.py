from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
import typer

from claude_lines import prompt, reply, text
from desk import Desk
from lerim import views
from lerim.cli import project
from lerim.cli.app import main
from lerim.cli.terminal.interrupt import interruptible
from lerim.cli.terminal.repository import with_error_exit
from lerim.jobs import report
from lerim.memory.views import MemoryView
from lerim.review.views import CandidateView
from sample import CLONE, Sample, make_sample
from terminal import run


@pytest.fixture
def sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sample:
    made = make_sample(tmp_path / "sample")
    monkeypatch.setenv("LERIM_HOME", made.environ["LERIM_HOME"])
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", made.environ["CLAUDE_CONFIG_DIR"])
    return made


def sync(sample: Sample, *more: str, code: int = 0) -> Any:
    result = run("sync", "--repo", str(sample.repo), *more, "--json")
    assert result.exit_code == code, result.output
    return json.loads(result.stdout)


def memories(sample: Sample) -> list[Path]:
    return sorted((sample.repo / ".lerim" / "memory").glob("*/*.md"))


def test_a_sync_prints_one_object_with_everything_promised(sample: Sample):
    before = dict(os.environ)
    done = sync(sample, "--model", "none")
    assert {"project", "sessions", "candidates", "dropped", "problems", "model", "seconds"} <= set(done)
    assert done["sessions"] == {"found": 11, "new": 11, "changed": 0, "unchanged": 0, "failed": 0}
    assert done["model"] == "none"
    assert done["problems"] == []
    assert done["candidates"]
    assert {"action", "confidence", "evidence", "references", "session", "turn"} <= set(done["candidates"][0])
    [line] = (sample.place.home.activity_log).read_text(encoding="utf-8").splitlines()
    assert "| sync | repo |" in line
    assert "11 sessions (11 new" in line
    status = json.loads(run("status", "--repo", str(sample.repo), "--json").stdout)
    assert (status["sessions"], status["waiting"], status["candidates"]) == (11, 0, len(done["candidates"]))
    assert status["last_session"].startswith("2026-07-20")
    assert dict(os.environ) == before, "the environment is only read"


def test_a_sync_in_words_names_what_it_withdrew_and_why(desk: Desk) -> None:
    desk.session("s1", prompt("let's use redis instead of sqlite"), reply("a", text("Ok.")))
    [first] = desk.sync().candidates
    desk.session("s1", prompt("let's use sqlite instead of redis"), reply("b", text("Ok.")))
    assert f"Withdrawn: {first.id}: " in run("sync", "--repo", str(desk.repo)).stdout


def test_since_and_until_bound_the_sessions_by_time(sample: Sample):
    first = sync(sample, "--until", "2026-07-05")
    assert {c["session"][:8] for c in first["candidates"]} == {"911de246", "30d09a33"}
    later = sync(sample, "--since", "2026-07-13")["candidates"]
    assert {c["session"][:8] for c in later} == {"ses_1c7e", "55bd9d42", "b2d94e17", "7c1f0a9e"}
    rest = sync(sample)
    assert {c["session"][:8] for c in rest["candidates"]} == {"5440ef06", "db6ddc6b", "019f4b2c"}


def test_a_session_that_cannot_be_read_is_a_failed_one_and_the_exit_code_is_3(sample: Sample):
    victim = next(sample.sessions.glob("911de246*.jsonl"))
    sync(sample, "--until", "2026-01-01")  # known to the catalog, not read yet
    victim.unlink()
    victim.mkdir()
    done = sync(sample, code=3)
    assert done["state"] == "partial"
    assert [problem["path"] for problem in done["problems"]] == [str(victim)]
    assert len(done["candidates"]) >= 5


def test_a_sync_in_words_says_what_it_found_and_main_returns_the_exit_code(
    sample: Sample, capsys: pytest.CaptureFixture[str]
):
    assert main(["sync", "--repo", str(sample.repo), "--accept-above", "0.45"]) == 0
    shown = capsys.readouterr().out
    assert "11 sessions: 11 new (" in shown
    assert f"{len(memories(sample))} candidates were accepted" in shown
    assert "`lerim review left-out` says why" in shown
    assert len(shown.splitlines()) < 16
    assert "`lerim memory list`" in shown
    assert "`lerim review list`" in shown  # others wait
    assert main(["sync", "--repo", str(sample.repo)]) == 0
    again = capsys.readouterr().out
    assert "11 unchanged" in again
    assert "Nothing new to propose." in again
    assert main(["sync", "--repo", str(sample.folder.parent.parent)]) == 1
    assert main(["nonsense"]) == 2


def test_the_first_interrupt_asks_and_the_second_ends():
    before = signal.getsignal(signal.SIGINT)
    with interruptible() as cancelled:
        assert not cancelled()
        signal.raise_signal(signal.SIGINT)
        assert cancelled()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


def test_a_fault_of_ours_is_told_without_the_text_it_met(capsys: pytest.CaptureFixture[str]):
    def command(as_json: bool = False) -> None:
        raise KeyError("words of a transcript")

    with pytest.raises(typer.Exit) as ended:
        with_error_exit(command)(as_json=True)
    shown = capsys.readouterr()
    assert ended.value.exit_code == 1
    assert json.loads(shown.out)["error"]["message"] == "An unexpected KeyError."
    assert "in command" in shown.err
    assert "words of a transcript" not in shown.out


def test_an_output_of_another_encoding_ends_no_command(sample: Sample):
    command = [sys.executable, "-m", "lerim", "sync", "--repo", str(sample.repo), "--json"]
    environ = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONPATH": str(CLONE / "server")}
    done = subprocess.run(command, env=environ, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    bodies = [one["body"] for one in json.loads(done.stdout.decode("utf-8"))["candidates"]]
    assert any("“ModuleNotFoundError" in body for body in bodies)


STRUCTS = (
    *(views.ConfigOutput, views.SettingView, views.MemoryListOutput, views.ProjectView),
    *(views.ProjectListOutput, project.ProjectOutput, project.RemovedProjectOutput, views.PendingListOutput),
    *(
        views.ResultView,
        views.ResultListOutput,
        views.StatusOutput,
        report.SyncReport,
        report.SessionCounts,
    ),
    *(report.DroppedView, report.CandidateWithdrawn, CandidateView, MemoryView),
)


@pytest.mark.parametrize("struct", STRUCTS, ids=lambda struct: struct.__name__)
def test_every_field_that_json_prints_is_documented(struct: type[msgspec.Struct]):
    section = (CLONE / "docs" / "PROTOCOL.md").read_text(encoding="utf-8").split("## 3. Command line")[1]
    assert set(struct.__struct_fields__) <= set(re.findall(r"[a-z_]+", section))
