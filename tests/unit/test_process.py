"""How a child is started, on three systems, as data."""

from __future__ import annotations

import pytest

from lerim.process import (
    BELOW_NORMAL_PRIORITY_CLASS,
    CREATE_NEW_PROCESS_GROUP,
    CREATE_NO_WINDOW,
    build_kill_launch,
    build_lerim_launch,
)

ENVIRON = {"PATH": "/bin", "PYTHONSTARTUP": "evil.py", "PYTHONHOME": "/x", "LERIM_HOME": "/h", "PYTHONPATH": "server"}


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
def test_a_child_leads_its_own_group_without_a_console_and_runs_no_code_of_its_folder(platform: str) -> None:
    launch = build_lerim_launch(["worker", "sync", "--repo", "/a b/$(x)"], "python", ENVIRON, platform)
    assert launch.argv == ("python", "-P", "-X", "utf8", "-m", "lerim", "worker", "sync", "--repo", "/a b/$(x)")
    assert launch.environ == {"PATH": "/bin", "LERIM_HOME": "/h", "PYTHONPATH": "server", "PYTHONUTF8": "1"}
    of_windows = CREATE_NO_WINDOW | CREATE_NEW_PROCESS_GROUP | BELOW_NORMAL_PRIORITY_CLASS
    expected = (False, of_windows) if platform == "win32" else (True, 0)
    assert (launch.new_session, launch.creationflags) == expected


def test_a_tree_of_processes_is_ended_on_windows_by_the_systems_own_taskkill_without_a_console() -> None:
    for environ, place in {
        ("SYSTEMROOT", "D:\\Win"): "D:\\Win",
        ("SystemRoot", "D:\\Win"): "D:\\Win",
        ("PATH", "C:\\repo"): "C:\\Windows",
        ("SYSTEMROOT", "repo"): "C:\\Windows",
    }.items():
        launch = build_kill_launch(12, dict([environ]), "win32")
        assert launch is not None
        assert launch.argv == (f"{place}\\System32\\taskkill.exe", "/F", "/T", "/PID", "12")
        assert launch.creationflags == CREATE_NO_WINDOW
        assert not launch.new_session
    assert build_kill_launch(12, {"SYSTEMROOT": "/x"}, "linux") is None  # the group is killed by a signal
