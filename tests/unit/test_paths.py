"""Where homes and agents' folders lie on each system, as functions of the platform and the environment."""

from __future__ import annotations

from pathlib import PurePosixPath, PureWindowsPath

import pytest

from lerim import paths
from lerim.errors import HomeError

ROOTS = (
    paths.claude_roots,
    paths.codex_roots,
    paths.opencode_roots,
    paths.gemini_roots,
    paths.cursor_roots,
    paths.copilot_roots,
)


@pytest.mark.parametrize(
    ("platform", "environ"),
    [
        ("linux", {}),
        ("linux", {"HOME": ""}),
        ("linux", {"HOME": "."}),
        ("linux", {"HOME": "home/ana"}),
        ("linux", {"HOME": "~"}),
        ("linux", {"USERPROFILE": "C:\\Users\\ana"}),
        ("darwin", {"HOME": "./Users/ana"}),
        ("win32", {}),
        ("win32", {"USERPROFILE": ""}),
        ("win32", {"USERPROFILE": "Users\\ana"}),
        ("win32", {"USERPROFILE": "C:ana"}),
        ("win32", {"USERPROFILE": "\\Users\\ana"}),
        ("win32", {"HOME": "/home/ana"}),
    ],
)
def test_a_home_that_is_no_absolute_path_is_an_error_on_every_system(platform: str, environ: dict[str, str]) -> None:
    for folder in (paths.user_home, paths.lerim_home, *ROOTS):
        with pytest.raises(HomeError):
            folder(environ, platform)


@pytest.mark.parametrize(
    ("platform", "environ"),
    [
        ("linux", {"HOME": "/home/ana", "LERIM_HOME": ".lerim"}),
        ("darwin", {"HOME": "/Users/ana", "LERIM_HOME": "~/.lerim"}),
        ("win32", {"USERPROFILE": "C:\\Users\\ana", "LERIM_HOME": "D:lerim"}),
        ("win32", {"USERPROFILE": "C:\\Users\\ana", "LERIM_HOME": "\\lerim"}),
    ],
)
def test_a_lerim_home_that_is_no_absolute_path_is_an_error_on_every_system(
    platform: str, environ: dict[str, str]
) -> None:
    with pytest.raises(HomeError, match="LERIM_HOME"):
        paths.lerim_home(environ, platform)


def test_a_home_is_found_on_every_system() -> None:
    windows = {"USERPROFILE": "C:\\Users\\ana", "HOME": "relative"}
    assert paths.lerim_home({"HOME": "/home/ana"}, "linux") == PurePosixPath("/home/ana/.lerim")
    assert paths.lerim_home({"HOME": "/Users/ana"}, "darwin") == PurePosixPath("/Users/ana/.lerim")
    assert paths.lerim_home(windows, "win32") == PureWindowsPath("C:\\Users\\ana\\.lerim")
    assert paths.lerim_home(windows | {"LERIM_HOME": "\\\\server\\share\\l"}, "win32") == PureWindowsPath(
        "\\\\server\\share\\l"
    )


@pytest.mark.parametrize(
    ("platform", "home", "relative"),
    [
        ("linux", {"HOME": "/home/ana"}, "in/the/clone"),
        ("darwin", {"HOME": "/Users/ana"}, "in/the/clone"),
        ("win32", {"USERPROFILE": "C:\\Users\\ana"}, "in\\the\\clone"),
        ("win32", {"USERPROFILE": "C:\\Users\\ana"}, "D:clone"),
    ],
)
def test_a_relative_folder_of_an_agent_counts_as_not_set_and_is_told(
    platform: str, home: dict[str, str], relative: str
) -> None:
    set_so = home | dict.fromkeys(paths.AGENT_VARIABLES, relative)
    for roots in ROOTS:
        assert roots(set_so, platform) == roots(home, platform)
        assert all(root.is_absolute() for root in roots(set_so, platform))
    assert {one.path for one in paths.relative_variables(set_so, platform)} == set(paths.AGENT_VARIABLES)


WINDOWS = {"USERPROFILE": "C:\\Users\\me", "APPDATA": "C:\\Users\\me\\AppData\\Roaming"}
ROAMING = "C:\\Users\\me\\AppData\\Roaming"
STORES = [
    (paths.cursor_roots, "linux", {"HOME": "/me"}, ["/me/.config/Cursor/User", "/me/.cursor"]),
    (paths.cursor_roots, "linux", {"HOME": "/me", "XDG_CONFIG_HOME": "/c"}, ["/c/Cursor/User", "/me/.cursor"]),
    (paths.cursor_roots, "darwin", {"HOME": "/me"}, ["/me/Library/Application Support/Cursor/User", "/me/.cursor"]),
    (paths.cursor_roots, "win32", WINDOWS, [f"{ROAMING}\\Cursor\\User", "C:\\Users\\me\\.cursor"]),
    (paths.copilot_roots, "linux", {"HOME": "/me"}, ["/me/.config/Code - Insiders/User", "/me/.config/VSCodium/User"]),
    (paths.copilot_roots, "darwin", {"HOME": "/me"}, ["/me/Library/Application Support/Code/User"]),
    (paths.copilot_roots, "win32", WINDOWS, [f"{ROAMING}\\Code\\User"]),
    (paths.codex_roots, "linux", {"HOME": "/me"}, ["/me/.codex"]),
    (paths.codex_roots, "win32", WINDOWS, ["C:\\Users\\me\\.codex"]),
    (paths.codex_roots, "linux", {"HOME": "/me", "CODEX_HOME": "/data/codex"}, ["/data/codex"]),
    (paths.gemini_roots, "linux", {"HOME": "/me"}, ["/me/.gemini"]),
    (paths.gemini_roots, "win32", WINDOWS, ["C:\\Users\\me\\.gemini"]),
    (paths.gemini_roots, "darwin", {"HOME": "/me", "GEMINI_CLI_HOME": "/data"}, ["/data/.gemini"]),
]


@pytest.mark.parametrize(("find_roots", "platform", "environ", "folders"), STORES)
def test_the_folders_of_agents_are_looked_for_on_every_system(find_roots, platform, environ, folders) -> None:
    places = [str(root) for root in find_roots(environ, platform)]
    assert [one for one in places if one in folders] == folders
