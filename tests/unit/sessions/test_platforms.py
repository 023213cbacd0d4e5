"""The file of the agents that are read, and what nothing undoes in it; `test_cli_connect.py` has the command."""

import json
import os
import stat

import pytest

from killer import DONE, at_once
from lerim.errors import SettingsError
from lerim.paths import Home
from lerim.sessions.model import Platform
from lerim.sessions.platforms import (
    PLATFORMS_FILE,
    connect_platform,
    find_platform_roots,
    list_removed_platforms,
    load_platform_choices,
    remove_platform,
)
from lerim.sessions.readers.platform_readers import PLATFORM_READERS
from rights import bound


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path / "home")


@pytest.fixture
def environ(tmp_path):
    return {"HOME": str(tmp_path), "USERPROFILE": str(tmp_path)}


def written(home: Home) -> dict[str, object]:
    return dict(json.loads((home.root / PLATFORMS_FILE).read_text()))


def test_without_a_word_every_agent_is_read_from_its_usual_places(home, environ, tmp_path):
    roots = find_platform_roots(environ, home)
    assert set(roots) == set(PLATFORM_READERS)
    assert tmp_path / ".claude" in roots["claude"]
    assert not home.root.exists(), "looking makes nothing"
    home.root.mkdir()
    (home.root / PLATFORMS_FILE).write_text('{"platforms": {"claude": {"path": "here"}}}')
    assert find_platform_roots(environ, home)["claude"] == []  # a path from an unknown folder names no store


def test_keys_of_others_stay(home, tmp_path):
    home.root.mkdir()
    (home.root / PLATFORMS_FILE).write_text(
        '{"version": 7, "note": {"a": [1.50]}, "platforms": {"aider": {"x": 1}, "claude": {"colour": "red"}}}'
    )
    connect_platform(home, "claude", tmp_path)
    remove_platform(home, "codex")
    assert written(home) == {
        "version": 7,
        "note": {"a": [1.50]},
        "platforms": {
            "aider": {"x": 1},
            "claude": {"colour": "red", "connected": True, "path": str(tmp_path)},
            "codex": {"connected": False},
        },
    }
    assert list_removed_platforms(home) == {"codex"}


@pytest.mark.parametrize(
    "broken",
    [
        "",
        "{",
        '{"platforms": 3}',
        '{"platforms": {"claude": {"connected": "no"}}}',
        '{"note": "\\ud800"}x',
    ],
)
def test_a_broken_file_is_a_message_and_stays_as_it_is(home, environ, broken):
    home.root.mkdir()
    (home.root / PLATFORMS_FILE).write_text(broken)
    for act in (
        lambda: load_platform_choices(home),
        lambda: find_platform_roots(environ, home),
        lambda: connect_platform(home, "claude"),
        lambda: remove_platform(home, "claude"),
    ):
        with pytest.raises(SettingsError) as told:
            act()
        assert told.value.where == str(home.root / PLATFORMS_FILE)
        assert "delete it" in told.value.todo
    assert (home.root / PLATFORMS_FILE).read_text() == broken


def test_links_are_resolved_and_each_place_comes_once(home, environ, tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    both = environ | {"CLAUDE_CONFIG_DIR": f"{tmp_path / 'link'},{tmp_path / 'real'}"}
    assert find_platform_roots(both, home)["claude"] == [tmp_path / "real"]


@pytest.mark.skipif(os.name == "nt", reason="rights are another matter there")
def test_the_file_is_the_persons_alone_and_a_home_that_cannot_be_written_is_told_and_keeps_what_was_said(home):
    remove_platform(home, "codex")
    before = (home.root / PLATFORMS_FILE).read_bytes()
    assert stat.S_IMODE((home.root / PLATFORMS_FILE).stat().st_mode) == 0o600
    assert {path.name for path in home.root.iterdir()} <= {PLATFORMS_FILE, f"{PLATFORMS_FILE}.lock", ".gitignore"}
    home.root.chmod(0o500)
    with bound(), pytest.raises(SettingsError) as told:
        remove_platform(home, "claude")
    home.root.chmod(0o700)
    assert told.value.where == str(home.root / PLATFORMS_FILE)
    assert (home.root / PLATFORMS_FILE).read_bytes() == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_two_processes_lose_no_word_of_each_other(home):
    halves: tuple[tuple[Platform, ...], ...] = (("claude", "codex", "cursor"), ("opencode", "copilot", "gemini"))
    assert at_once(lambda half: [remove_platform(home, name) for name in halves[half]], 2) == [DONE] * 2
    assert len(list_removed_platforms(home)) == 6
