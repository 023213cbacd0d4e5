"""How a child is started, on three systems, as data."""

from __future__ import annotations

import sys

from lerim.process import CREATE_NEW_PROCESS_GROUP, CREATE_NO_WINDOW, build_kill_launch, build_lerim_launch

ENVIRON = {"PATH": "/bin", "PYTHONSTARTUP": "evil.py", "PYTHONHOME": "/x", "LERIM_HOME": "/h", "PYTHONPATH": "server"}


def test_a_child_on_posix_leads_its_own_group() -> None:
    launch = build_lerim_launch(["worker", "sync"], "/usr/bin/python3", ENVIRON, "linux")
    assert launch.new_session
    assert launch.creationflags == 0


def test_a_child_on_windows_shows_no_console_and_leads_its_own_group() -> None:
    launch = build_lerim_launch(["worker"], "C:\\env\\python.exe", ENVIRON, "win32")
    assert not launch.new_session
    assert launch.creationflags & CREATE_NO_WINDOW
    assert launch.creationflags & CREATE_NEW_PROCESS_GROUP


def test_the_working_directory_is_never_a_place_to_import_from() -> None:
    launch = build_lerim_launch(["worker", "sync", "--repo", "/a b/$(x)"], sys.executable, ENVIRON, "darwin")
    assert launch.argv == (sys.executable, "-P", "-X", "utf8", "-m", "lerim", "worker", "sync", "--repo", "/a b/$(x)")


def test_variables_that_would_change_our_python_are_left_out() -> None:
    environ = build_lerim_launch([], "python", ENVIRON, "linux").environ
    assert "PYTHONSTARTUP" not in environ
    assert "PYTHONHOME" not in environ
    assert environ["LERIM_HOME"] == "/h"
    assert environ["PYTHONPATH"] == "server"
    assert environ["PYTHONUTF8"] == "1"


def test_a_tree_of_processes_is_ended_by_its_group_on_posix() -> None:
    assert build_kill_launch(12, {"SYSTEMROOT": "/x"}, "linux") is None
    assert build_kill_launch(12, {}, "darwin") is None


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
