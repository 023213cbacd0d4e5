"""Giving memories to agents while processes die, run at once, may not write, or find the files changed under them."""

from __future__ import annotations

import json
import os
import resource
import shutil
from pathlib import Path

import pytest

import terminal
from agent_files import State, read_state, write
from hook_program import leave_out_refreshes
from killer import DONE, at_once, every_kill
from rights import bound, close

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
ALL = ("claude", "codex", "gemini", "opencode", "cursor", "copilot")
SETTINGS = '{\n  "theme": "dark",\n  "hooks": {}\n}\n'


@pytest.fixture(autouse=True)
def no_refreshes(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    leave_out_refreshes(monkeypatch, tmp_path_factory.mktemp("bin"))


def run(repo: Path, action: str, *agents: str) -> int:
    return terminal.run("agents", action, *agents, "--user", "--project", "--yes", "--repo", str(repo)).exit_code


def settle(home: Path, repo: Path) -> None:
    """A home and a repository with settings of their own."""
    write(home / ".gemini" / "settings.json", SETTINGS)
    write(home / ".codex" / "config.toml", 'model = "gpt"')
    write(repo / ".mcp.json", '{"mcpServers": {}}')


def read_whole(home: Path, repo: Path) -> State:
    """The agents' files, without what a killed write left beside them."""
    return {
        path: content for path, content in read_state(home, repo).items() if not Path(path).name.startswith(".lerim")
    }


def test_an_installation_killed_at_any_moment_is_finished_by_the_next_and_removed_to_the_byte(
    isolated: Path, repo: Path
) -> None:
    settle(isolated, repo)
    before = read_whole(isolated, repo)
    installed: State = {}
    for kill in every_kill(every=60, least=20):
        kill(run, repo, "install", "gemini", "codex", "claude")
        for path, content in read_whole(isolated, repo).items():
            assert content  # no file is half written or empty
            if path.endswith(".json"):
                json.loads(content)
        assert run(repo, "install", "gemini", "codex", "claude") == DONE
        now = read_whole(isolated, repo)
        installed = installed or now
        assert now == installed
        assert run(repo, "remove") == DONE
        assert without_folders(read_whole(isolated, repo)) == without_folders(before)


def test_a_removal_killed_at_any_moment_is_finished_by_the_next(isolated: Path, repo: Path) -> None:
    settle(isolated, repo)
    before = read_whole(isolated, repo)
    for kill in every_kill(every=35, least=10):
        assert run(repo, "install", "gemini", "codex", "claude") == DONE
        kill(run, repo, "remove")
        assert run(repo, "remove") == DONE
        assert without_folders(read_whole(isolated, repo)) == without_folders(before)


def without_folders(state: State) -> State:
    """Only the files: a kill right after a folder was made may leave it."""
    return {path: content for path, content in state.items() if content != b"<folder>"}


def test_several_installations_at_once_are_like_one_and_are_removed_to_the_byte(isolated: Path, repo: Path) -> None:
    settle(isolated, repo)
    before = read_whole(isolated, repo)
    assert set(at_once(lambda _: run(repo, "install", *ALL))) == {DONE}
    assert run(repo, "install", *ALL) == DONE
    servers = json.loads((isolated / ".gemini" / "settings.json").read_text())
    assert len(servers["hooks"]["SessionStart"]) == 1
    assert len((isolated / ".codex" / "config.toml").read_text().split("[mcp_servers.lerim]")) == 2
    assert set(at_once(lambda _: run(repo, "remove"))) == {DONE}
    assert read_whole(isolated, repo) == before


def test_different_agents_at_once_are_all_recorded(isolated: Path, repo: Path) -> None:
    before = read_whole(isolated, repo)

    def install(number: int) -> None:
        if run(repo, "install", ALL[number]) != DONE:
            os._exit(1)

    assert set(at_once(install, len(ALL))) == {DONE}
    assert run(repo, "remove") == DONE
    assert read_whole(isolated, repo) == before


def test_a_file_that_may_not_be_written_is_reported_and_the_others_are_written(isolated: Path, repo: Path) -> None:
    settle(isolated, repo)
    close(isolated / ".gemini")
    with bound():
        done = terminal.run("agents", "install", "gemini", "codex", "--user", "--yes", "--repo", str(repo))
    assert done.exit_code == 3
    assert "Permission denied" in done.output
    assert (isolated / ".gemini" / "settings.json").read_text() == SETTINGS
    assert "lerim" in (isolated / ".codex" / "config.toml").read_text()
    close(isolated / ".gemini", mode=0o755)
    assert run(repo, "install", "gemini", "codex") == DONE
    assert run(repo, "remove") == DONE
    assert (isolated / ".gemini" / "settings.json").read_text() == SETTINGS


def test_a_home_that_may_not_be_written_changes_no_agent_s_file(isolated: Path, repo: Path) -> None:
    settle(isolated, repo)
    (isolated / ".lerim").mkdir()
    before = read_whole(isolated, repo)
    close(isolated / ".lerim")
    with bound():
        done = terminal.run("agents", "install", "gemini", "--user", "--yes", "--repo", str(repo))
    close(isolated / ".lerim", mode=0o755)
    assert done.exit_code == 1
    assert "Permission denied" in done.output
    assert read_whole(isolated, repo) == before


def test_where_nothing_more_fits_on_the_disk_the_person_s_text_stays(isolated: Path, repo: Path) -> None:
    write(isolated / ".gemini" / "settings.json", json.dumps({"notes": "x" * 60_000}))
    before = read_whole(isolated, repo)

    def install(_: int) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
        os._exit(20 + run(repo, "install", "gemini"))

    [code] = at_once(install, 1)
    assert code == 23
    assert (isolated / ".gemini" / "settings.json").read_bytes() == before[str(isolated / ".gemini" / "settings.json")]


def test_a_folder_replaced_by_a_file_or_a_pipe_is_told(isolated: Path, repo: Path) -> None:
    write(isolated / ".cursor", "not a folder")
    os.mkfifo(repo / ".mcp.json")
    done = terminal.run("agents", "install", "cursor", "claude", "--user", "--project", "--yes", "--repo", str(repo))
    assert done.exit_code == 3
    assert "not a regular file" in done.output
    assert (isolated / ".cursor").read_text() == "not a folder"
    shutil.rmtree(repo / ".claude")
