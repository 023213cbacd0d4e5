"""One process at a time works on a project; the others are told who, and death frees it."""

import os
import signal
import subprocess
import sys

import pytest

from lerim.errors import BusyError
from lerim.paths import Home
from lerim.project.lock import hold_project_lock, read_lock_holder

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


def test_a_second_process_is_told_who_holds_the_lock_and_what_for(home, other):
    with pytest.raises(BusyError, match=f"process {other.pid} is syncing") as caught, hold_project_lock(home, KEY):
        pass
    assert caught.value.exit_code == 4


def test_another_project_is_free(home, other):
    with hold_project_lock(home, "f" * 16):
        assert read_lock_holder(home, "f" * 16) is not None


def test_a_killed_holder_frees_the_lock(home, other):
    os.kill(other.pid, signal.SIGKILL)
    other.wait()
    with hold_project_lock(home, KEY, "accepting"):
        named = read_lock_holder(home, KEY)
        assert named is not None
        assert (named.pid, named.doing) == (os.getpid(), "accepting")
    assert read_lock_holder(home, KEY) is None


def test_the_lock_is_free_after_an_error_inside(home):
    with pytest.raises(ValueError, match="inside"), hold_project_lock(home, KEY):
        raise ValueError("inside")
    with hold_project_lock(home, KEY):
        pass


def test_the_lock_is_free_although_its_holder_s_name_cannot_be_removed(home):
    side = home.project(KEY) / "holder.json"
    with hold_project_lock(home, KEY):
        side.unlink()
        side.mkdir()  # as a file that somebody has open on Windows: it cannot be unlinked
    side.rmdir()
    with hold_project_lock(home, KEY):
        pass


def test_the_lock_s_files_are_private(home):
    with hold_project_lock(home, KEY):
        for path in home.project(KEY).iterdir():
            assert path.stat().st_mode & 0o077 == 0, path
        assert home.project(KEY).stat().st_mode & 0o777 == 0o700


def test_the_same_process_cannot_take_it_twice(home):
    with hold_project_lock(home, KEY), pytest.raises(BusyError), hold_project_lock(home, KEY):
        pass
