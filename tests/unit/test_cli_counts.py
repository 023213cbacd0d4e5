"""What is counted: sessions that are new to a repository, those that wait, and those a command left out."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from chat_server import KEY
from desk import Desk, correction
from lerim.times import format_moment
from terminal import answer, run


@pytest.fixture
def desk(desk: Desk) -> Desk:
    desk.session("one", *correction(desk, "pathlib"))
    desk.session("two", *correction(desk, "tomllib", over="configparser"))
    return desk


def test_a_sync_tells_how_many_sessions_its_bounds_left_out(desk: Desk) -> None:
    here = ("--repo", str(desk.repo))
    assert answer("sync", *here, "--since", "2030-01-01")["left_out"] == 2
    assert "2 sessions were skipped because of --since" in run("sync", *here, "--since", "2030-01-01").stdout
    assert answer("sync", *here, "--until", "2001-01-01")["left_out"] == 2
    everything = run("sync", *here).stdout
    assert "2 sessions: 2 new" in everything
    assert "skipped because" not in everything
    assert answer("sync", *here, "--since", "2030-01-01")["left_out"] == 0


def test_what_waits_for_a_model_counts_only_where_one_is_configured(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = ("--repo", str(desk.repo))
    assert "none known that ran in this repository; `lerim sync` looks for them" in run("status", *here).stdout
    answer("sync", *here)
    assert answer("status", *here)["waiting"] == 0
    assert "2, all read" in run("status", *here).stdout
    desk.home.config.write_text('[roles.extract]\nprovider = "openai"\n', encoding="utf-8")
    assert answer("status", *here)["waiting"] == 0  # without a key no model can be asked
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert answer("status", *here)["waiting"] == 2
    assert "2, 2 not read to the end" in run("status", *here).stdout


def test_one_thing_is_not_told_as_several_and_times_are_told_to_the_minute(desk: Desk, repo: Path) -> None:
    shutil.rmtree(desk.projects)
    desk.session("one", *correction(desk, "pathlib"))
    here = ("--repo", str(repo))
    assert "1 session: 1 new" in run("sync", *here).stdout
    status = run("status", *here).stdout
    newest = answer("status", *here)["last_session"]
    assert format_moment(newest) in status
    assert newest not in status
