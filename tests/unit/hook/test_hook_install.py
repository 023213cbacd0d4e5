"""The program's installation, and the command lines that agents are told to run."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from hook_program import HookProgram
from killer import DONE, at_once
from lerim.agents.hook_events import build_hook_command
from lerim.errors import HomeError, MemoryError_
from lerim.hook import install_hook_program, is_hook_program_current
from lerim.paths import Home
from lerim.project import Project
from rights import bound


def test_an_update_replaces_the_modules_but_not_the_script_that_agents_run_and_a_second_one_changes_nothing(
    home: Home,
) -> None:
    assert not is_hook_program_current(home)
    install_hook_program(home)
    script = (home.root / "bin" / "hook").read_bytes()
    starter = home.root / "bin" / "hook.py"
    [modules] = home.root.glob("bin/hook-*/")
    modules.rename(modules.with_name("hook-0123456789ab"))
    starter.write_text(starter.read_text().replace(modules.name, "hook-0123456789ab"))
    assert not is_hook_program_current(home)
    install_hook_program(home)
    assert is_hook_program_current(home)
    assert (home.root / "bin" / "hook").read_bytes() == script
    assert [path.name for path in home.root.glob("bin/hook-*/")] == [modules.name]
    before = {path: path.stat().st_mtime_ns for path in home.root.rglob("*") if path.is_file()}
    install_hook_program(home)
    assert {path: path.stat().st_mtime_ns for path in home.root.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("name", ["hook", "hook.py", "hook-python", "hook-*/lerim_hook/match.py"])
def test_what_was_damaged_or_removed_is_noticed_and_repaired(home: Home, name: str) -> None:
    install_hook_program(home)
    [path] = (home.root / "bin").glob(name)
    for damage in (lambda: path.write_text("x"), path.unlink):
        damage()
        assert not is_hook_program_current(home)
        install_hook_program(home)
        assert is_hook_program_current(home)


def test_another_interpreter_is_taken_and_a_script_without_rights_gets_them_back(home: Home) -> None:
    install_hook_program(home)
    (home.root / "bin" / "hook-python").write_text("/elsewhere/python\n", encoding="utf-8")
    assert not is_hook_program_current(home)
    install_hook_program(home)
    assert is_hook_program_current(home)
    (home.root / "bin" / "hook").chmod(0o600)
    assert not is_hook_program_current(home)
    install_hook_program(home)
    assert is_hook_program_current(home)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_several_processes_may_install_at_once(home: Home) -> None:
    assert at_once(lambda _: install_hook_program(home)) == [DONE] * 4
    assert is_hook_program_current(home)


def test_a_folder_that_cannot_be_written_is_an_error_that_says_so(home: Home) -> None:
    install_hook_program(home)
    (home.root / "bin" / "hook.py").write_text("")
    (home.root / "bin").chmod(0o500)
    try:
        with bound(), pytest.raises((HomeError, MemoryError_), match=r"cannot be (installed|written)"):
            install_hook_program(home)
    finally:
        (home.root / "bin").chmod(0o700)


def test_the_command_line_names_the_usual_place_by_the_home_variable_and_another_one_in_full() -> None:
    usual = Home(Path("/home/me/.lerim"), Path("/home/me"))
    other = Home(Path("/data/it's mine/lerim"), Path("/home/me"))
    assert build_hook_command("gemini", usual, "linux") == (
        'h="$HOME/.lerim/bin/hook"; [ -x "$h" ] && { exec 3<&0; "$h" gemini <&3 & p=$!; '
        "{ sleep 2; kill -9 $p; } <&- 3<&- >&- & w=$!; wait $p; kill $w; } 2>/dev/null; exit 0"
    )
    assert build_hook_command("gemini", usual, "darwin") == build_hook_command("gemini", usual, "linux")
    assert build_hook_command("codex", other, "linux").startswith(
        """h='/data/it'"'"'s mine/lerim/bin/hook'; [ -x "$h" ] && { exec 3<&0; "$h" codex <&3 &"""
    )
    assert build_hook_command("codex", usual, "win32") == (
        '$h = "$env:USERPROFILE\\.lerim\\bin"; if (Test-Path "$h\\hook.py") '
        "{ $OutputEncoding = [Text.UTF8Encoding]::new($false); "
        '$input | & (Get-Content "$h\\hook-python" -TotalCount 1 -Encoding UTF8) -I -S "$h\\hook.py" codex 2>$null }; '
        "exit 0"
    )
    assert "'/data/it''s mine/lerim/bin'" in build_hook_command("codex", other, "win32")


@pytest.mark.parametrize(
    "script",
    [
        "",
        "#!/bin/sh\nexit 3\n",
        "#!/bin/sh\necho no >&2\nkill -SEGV $$\n",
        "#!/nowhere\n",
        "#!/bin/sh\nexec sleep 600\n",
    ],
)
def test_the_command_line_ends_well_without_a_word_whatever_the_program_does(home: Home, script: str) -> None:
    program = home.root / "bin" / "hook"
    program.parent.mkdir(parents=True)
    if script:
        program.write_text(script)
        program.chmod(0o755)
    command = build_hook_command("gemini", home, "linux")
    done = subprocess.run(["/bin/sh", "-c", command], input=b"x" * 360_000, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_the_command_line_hands_the_event_to_the_program(program: HookProgram, home: Home) -> None:
    command = build_hook_command("opencode", home, "linux")
    event = json.dumps({"event": "start", "session": "s", "cwd": str(program.project.root)})
    done = subprocess.run(["/bin/sh", "-c", command], input=event.encode(), capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"Prices are Decimal" in done.stdout


def test_without_its_interpreter_the_program_is_silent(program: HookProgram) -> None:
    for text in ("/nowhere/python\n", ""):
        (program.home.root / "bin" / "hook-python").write_text(text)
        assert program.ask("should prices be decimal or float?") == ""


def test_nothing_is_made_for_people_who_did_not_install_hooks(project: Project, home: Home) -> None:
    from lerim.hook import refresh_if_used, start_refresh_if_used

    assert refresh_if_used(project, home) == []
    assert not start_refresh_if_used(project.root, home)
    assert not os.path.lexists(home.root / "run")
