"""A person's home and a repository, in which agents are given memories."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import terminal
from agent_files import State, read_state
from hook_program import leave_out_refreshes
from lerim.agents import AgentMachine
from lerim.paths import Home


@pytest.fixture(autouse=True)
def no_refreshes(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    leave_out_refreshes(monkeypatch, tmp_path_factory.mktemp("bin"))


@pytest.fixture
def machine(repo: Path) -> AgentMachine:
    return AgentMachine(sys.platform, os.environ, Home.from_environ(os.environ), repo)


@pytest.fixture
def files(isolated: Path, repo: Path) -> Callable[[], State]:
    """Every file and folder of the home and the repository with its content, without Lerim's own and git's."""

    return lambda: read_state(isolated, repo)


@pytest.fixture
def lerim(repo: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Runs `lerim agents …` in the repository and returns what it printed; `code` is the exit code to expect."""
    monkeypatch.chdir(repo)

    def run(*arguments: str, code: int = 0, typed: str = "") -> str:
        result = terminal.run("agents", *arguments, typed=typed)
        assert result.exit_code == code, result.output
        return result.output

    return run
