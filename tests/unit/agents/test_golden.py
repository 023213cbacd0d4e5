"""The files of every agent, as they are written on each system.

Run as a program with `tests` on the path, this module writes them anew.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath
from typing import cast

import pytest

from lerim.agents import AgentMachine, list_config_files
from lerim.agents.hook_events import HookWriter
from lerim.agents.launcher import launcher_text, mcp_command
from lerim.paths import Home

FOLDER = Path(__file__).resolve().parents[2] / "fixtures" / "agents"
GOLDEN_SYSTEMS = ("linux", "win32")
SYSTEMS = {"linux": "/home/ana", "darwin": "/Users/ana", "win32": r"C:\Users\ana"}


def make_machine(platform: str, *, deny_once: bool = False) -> AgentMachine:
    pure = PureWindowsPath if platform == "win32" else PurePosixPath
    user: PurePath = pure(SYSTEMS[platform])
    # Paths of another system cannot be real ones; nothing touches them.
    home = Home(cast(Path, user / ".lerim"), cast(Path, user))
    variable = "USERPROFILE" if platform == "win32" else "HOME"
    return AgentMachine(platform, {variable: str(user)}, home, user / "shop", deny_once)


def make_files(platform: str) -> dict[str, str]:
    """The text of every file that is made where there is none, by its place below the person's home."""
    machine = make_machine(platform)
    texts: dict[str, str] = {}
    for file in list_config_files(machine):
        name = file.path.relative_to(machine.user).as_posix()
        texts[name] = file.entry.add_to(texts.get(name))
    return texts


def list_golden() -> Iterator[tuple[str, str]]:
    for platform in GOLDEN_SYSTEMS:
        for name in make_files(platform):
            if not name.endswith(("SKILL.md", "lerim.js")):  # these are in the sources as they are written
                yield platform, name


@pytest.mark.parametrize(("platform", "name"), list(list_golden()))
def test_each_file_is_written_as_it_was_agreed(platform: str, name: str) -> None:
    golden = FOLDER / platform / f"{name}.golden"
    assert make_files(platform)[name] == golden.read_text(encoding="utf-8")


def test_there_is_no_golden_file_that_nothing_writes() -> None:
    expected = {f"{platform}/{name}.golden" for platform, name in list_golden()}
    assert {path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.golden")} == expected


def test_on_macos_they_are_the_same_as_on_linux() -> None:
    linux = {name: text.replace("/home/ana", "/Users/ana") for name, text in make_files("linux").items()}
    assert make_files("darwin") == linux


def test_edits_are_held_up_only_if_the_person_chose_it() -> None:
    asked = {str(file.path): file.entry.snippet for file in list_config_files(make_machine("linux", deny_once=True))}
    usual = {str(file.path): file.entry.snippet for file in list_config_files(make_machine("linux"))}
    added = [path for path in usual if usual[path] != asked[path]]
    assert len(added) == 10  # the hooks of five agents, in two places; OpenCode's plugin always asks the program
    for path in added:
        event = next(one for one in ("PreToolUse", "preToolUse", "BeforeTool") if one in asked[path])
        assert event not in usual[path]


def test_only_guarded_commands_and_no_path_of_a_machine_are_written_into_a_repository() -> None:
    for platform, user in SYSTEMS.items():
        for name, text in make_files(platform).items():
            if name.startswith("shop/"):
                assert user not in text.replace("\\\\", "\\"), name


def test_the_plugin_folder_has_the_hooks_that_an_installation_writes_for_its_agents() -> None:
    machine = make_machine("linux")
    writer = HookWriter("linux", machine.home)
    installed = {**writer.claude("project"), **writer.gemini()}
    plugin = writer.plugin()
    assert set(plugin) == set(installed)
    assert '"timeout"' not in json.dumps(plugin)  # seconds for one agent, milliseconds for another


def test_the_program_that_starts_lerim_is_quoted_for_each_shell_and_names_a_home_elsewhere() -> None:
    home = Home(Path("/home/ana/.lerim"), Path("/home/ana"))
    assert launcher_text("linux", home, "/opt/my tools/it's/python") == (
        "#!/bin/sh\nexec '/opt/my tools/it'\"'\"'s/python' -P -X utf8 -m lerim \"$@\"\n"
    )
    home = Home(Path("/data/my lerim"), Path("/home/ana"))
    assert "\nexport LERIM_HOME='/data/my lerim'\n" in launcher_text("darwin", home, "/usr/bin/python3")
    user = PureWindowsPath(r"C:\Users\Ana Maria")
    home = Home(cast(Path, user / ".lerim"), cast(Path, user))
    assert mcp_command("user", "win32", home) == ("cmd", "/c", r"C:\Users\Ana Maria\.lerim\bin\lerim.cmd", "mcp")
    text = launcher_text("win32", home, r"C:\Program Files\Python\python.exe")
    assert text == '@"C:\\Program Files\\Python\\python.exe" -P -X utf8 -m lerim %*\r\n'
    elsewhere = Home(cast(Path, PureWindowsPath(r"D:\lerim")), cast(Path, user))
    assert launcher_text("win32", elsewhere, "python").startswith('@set "LERIM_HOME=D:\\lerim"\r\n')


if __name__ == "__main__":
    for system, place in list_golden():
        target = FOLDER / system / f"{place}.golden"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(make_files(system)[place], encoding="utf-8")
