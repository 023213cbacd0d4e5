"""The program by which an agent starts Lerim: the same on each system, wherever Lerim and its home are."""

from __future__ import annotations

from pathlib import Path, PureWindowsPath
from typing import cast

from lerim.agents.launcher import launcher_text, mcp_command
from lerim.paths import Home


def test_paths_with_spaces_and_quotes_are_quoted_for_the_shell() -> None:
    home = Home(Path("/home/ana/.lerim"), Path("/home/ana"))
    assert launcher_text("linux", home, "/opt/my tools/it's/python") == (
        "#!/bin/sh\nexec '/opt/my tools/it'\"'\"'s/python' -P -X utf8 -m lerim \"$@\"\n"
    )


def test_a_home_elsewhere_is_named_because_some_agents_pass_on_few_variables() -> None:
    home = Home(Path("/data/my lerim"), Path("/home/ana"))
    assert "\nexport LERIM_HOME='/data/my lerim'\n" in launcher_text("darwin", home, "/usr/bin/python3")


def test_on_windows_the_command_processor_runs_a_batch_file() -> None:
    user = PureWindowsPath(r"C:\Users\Ana Maria")
    home = Home(cast(Path, user / ".lerim"), cast(Path, user))
    assert mcp_command("user", "win32", home) == ("cmd", "/c", r"C:\Users\Ana Maria\.lerim\bin\lerim.cmd", "mcp")
    text = launcher_text("win32", home, r"C:\Program Files\Python\python.exe")
    assert text == '@"C:\\Program Files\\Python\\python.exe" -P -X utf8 -m lerim %*\r\n'
    elsewhere = Home(cast(Path, PureWindowsPath(r"D:\lerim")), cast(Path, user))
    assert launcher_text("win32", elsewhere, "python").startswith('@set "LERIM_HOME=D:\\lerim"\r\n')
