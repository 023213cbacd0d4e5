"""One process at a time works on a project; the others are told who, and death frees it."""

import os
import signal
import subprocess
import sys

import pytest

from lerim.errors import BusyError
from lerim.paths import Home
from lerim.project.lock import hold_project_lock

KEY = "0123456789abcdef"
HOLD = """
import sys
from pathlib import Path
from lerim.project import hold_project_lock
from lerim.paths import Home
with hold_project_lock(Home(Path(sys.argv[1])), sys.argv[2], "syncing"):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path / "home")


@pytest.fixture
def other(home):
    """Another process that holds the lock."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(home.root), KEY], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.communicate()


def test_others_are_told_who_holds_the_lock_until_it_dies_and_another_project_is_free(home, other):
    with pytest.raises(BusyError, match=f"process {other.pid} is syncing") as caught, hold_project_lock(home, KEY):
        pass
    assert caught.value.exit_code == 4
    with hold_project_lock(home, "f" * 16):
        assert (home.project("f" * 16) / "holder.json").exists()
    os.kill(other.pid, signal.SIGKILL)
    other.wait()
    with hold_project_lock(home, KEY, "accepting"):
        for path in home.project(KEY).iterdir():
            assert path.stat().st_mode & 0o077 == 0, path
        assert home.project(KEY).stat().st_mode & 0o777 == 0o700
        with pytest.raises(BusyError, match=f"process {os.getpid()} is accepting"), hold_project_lock(home, KEY):
            pass  # not even this process takes it twice
    assert not (home.project(KEY) / "holder.json").exists()


def test_after_a_part_of_shared_work_others_are_told_of_the_whole_again(home):
    with hold_project_lock(home, KEY, "backfilling", shared=True):
        with hold_project_lock(home, KEY, "syncing"):
            assert b'"syncing"' in (home.project(KEY) / "holder.json").read_bytes()
        assert b'"backfilling"' in (home.project(KEY) / "holder.json").read_bytes()


def test_the_lock_is_free_after_an_error_although_its_holder_s_name_cannot_be_removed(home):
    side = home.project(KEY) / "holder.json"
    with pytest.raises(ValueError, match="inside"), hold_project_lock(home, KEY):
        side.unlink()
        side.mkdir()  # as a file that somebody has open on Windows: it cannot be unlinked
        raise ValueError("inside")
    side.rmdir()
    with hold_project_lock(home, KEY):
        pass
