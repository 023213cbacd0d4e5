"""Whatever happens to the hook program, its files or its input: it ends with 0 and says nothing wrong."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from hook_program import HookProgram, write_memories
from lerim.paths import Home
from lerim.project import locate_project
from warm_python import warm_python

ABOUT_PRICES = "should the new prices be decimal or float?"


@pytest.fixture
def program(repo: Path) -> HookProgram:
    home = Home.from_environ(os.environ)
    project = locate_project(repo, home)
    assert project is not None
    write_memories(project.memory_dir)
    installed = HookProgram(project, home)
    installed.refresh()
    return installed


def _truncate(index: Path) -> None:
    index.write_bytes(index.read_bytes()[:3_000])


def _scramble(index: Path) -> None:
    data = bytearray(index.read_bytes())
    data[4_096:] = bytes((byte * 7 + 3) % 256 for byte in data[4_096:])
    index.write_bytes(data)


def _empty(index: Path) -> None:
    index.write_bytes(b"")


def _replace_by_folder(index: Path) -> None:
    index.unlink()
    index.mkdir()


def _make_newer(index: Path) -> None:
    with closing(sqlite3.connect(index)) as db, db:
        db.execute("UPDATE meta SET value = '99' WHERE name = 'version'")


@pytest.mark.parametrize("damage", [Path.unlink, _empty, _truncate, _scramble, _replace_by_folder, _make_newer])
def test_an_index_that_is_missing_or_damaged_is_silence(program: HookProgram, damage: Callable[[Path], None]) -> None:
    damage(program.index)
    for text in (program.ask(ABOUT_PRICES), program.read(), program.tell("SessionStart", source="startup")):
        assert text == ""
    assert program.log().count("\n") <= 3
    if program.index.is_dir():
        program.index.rmdir()
    program.refresh()
    assert "Prices are Decimal" in program.ask(ABOUT_PRICES)


def test_what_a_killed_refresh_left_is_removed_and_the_index_before_it_answers(program: HookProgram) -> None:
    unfinished = program.index.with_suffix(".12345.new")
    unfinished.write_bytes(b"half")
    gone = program.folder / f"{'a' * 40}.sqlite3"
    shutil.copy(program.index, gone)
    with closing(sqlite3.connect(gone)) as db, db:
        db.execute("UPDATE meta SET value = '/nowhere/at/all' WHERE name = 'root'")
    assert "Prices are Decimal" in program.ask(ABOUT_PRICES)
    program.refresh()
    assert not unfinished.exists() and not gone.exists() and program.index.exists()


def _wait_for_begin(program: HookProgram, process: subprocess.Popen[bytes]) -> None:
    program.waits_for(lambda: bool(list(program.folder.glob("*.new"))) or process.poll() is not None)


def test_a_refresh_that_is_killed_at_any_moment_leaves_a_whole_index(program: HookProgram) -> None:
    for delay in range(6):
        process = subprocess.Popen(
            [warm_python(), "-P", "-m", "lerim", "hook-refresh", str(program.project.root)], env=program.environ({})
        )
        _wait_for_begin(program, process)
        process.kill()
        process.wait()
        assert "Prices are Decimal" in program.ask(ABOUT_PRICES, f"s{delay}")
    program.refresh()
    assert not list(program.folder.glob("*.new"))


def test_a_locked_index_is_read_all_the_same(program: HookProgram) -> None:
    with closing(sqlite3.connect(program.index, isolation_level=None)) as db:
        db.execute("BEGIN EXCLUSIVE")
        assert "Prices are Decimal" in program.ask(ABOUT_PRICES)


@pytest.mark.parametrize(
    "data",
    [
        *(b"", b"{", b"[]", b"null", b"\xff\xfe\x00", b'{"a": 1}', b"[" * 100_000, b'"text"', b"\xef\xbb\xbf{}"),
        b'{"hook_event_name": 5, "session_id": [], "cwd": {}, "prompt": 3}',
        b'{"hook_event_name": "PostToolUse", "tool_name": [], "tool_input": 7, "tool_response": [[[[[[1]]]]]]}',
        b'{"hook_event_name": "UserPromptSubmit", "session_id": "\\ud800", "cwd": "/\\u0000", "prompt": "\\udfff"}',
        b'{"hook_event_name": "UserPromptSubmit", "session_id": "../../../etc", "cwd": "relative", "prompt": "x"}',
    ],
)
def test_input_that_makes_no_sense_is_silence(program: HookProgram, data: bytes) -> None:
    assert program.call(data) == ""


def test_a_prompt_of_360_kb_is_read_whole_and_its_beginning_and_end_count(program: HookProgram) -> None:
    assert "Prices are Decimal" in program.ask("filler words " * 30_000 + ABOUT_PRICES)
    assert program.ask("filler " * 30_000 + ABOUT_PRICES + "filler words " * 30_000, "s2") == ""


def test_strange_letters_in_a_prompt_do_no_harm(program: HookProgram) -> None:
    for number, text in enumerate(
        ("\ud800 prices decimal float", "\0prices decimal float", "価格は decimal float 価格")
    ):
        payload = {"session_id": f"s{number}", "cwd": str(program.project.root), "prompt": text}
        out = program.call(payload | {"hook_event_name": "UserPromptSubmit"}, environ={"CLAUDECODE": "1"})
        assert (not out) or "Prices are Decimal" in out
    assert program.log() == ""


def test_with_its_streams_closed_it_ends_and_writes_nothing_elsewhere(program: HookProgram) -> None:
    before = program.index.read_bytes()
    hook = program.home.root / "bin" / "hook"
    payload = json.dumps({"cwd": str(program.project.root), "hook_event_name": "SessionStart", "session_id": "s"})
    for closed in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
        command = f"printf %s '{payload}' | {{ '{hook}' claude {closed}; }}"
        done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, check=False, env=program.environ({}))
        assert done.returncode == 0 and done.stderr == b""
    assert program.index.read_bytes() == before


def test_a_reader_that_went_away_is_no_error_and_nothing_counts_as_given(program: HookProgram) -> None:
    process = program.start()
    assert process.stdin is not None and process.stdout is not None and process.stderr is not None
    process.stdout.close()
    payload = {"session_id": "s", "cwd": str(program.project.root), "hook_event_name": "SessionStart"}
    process.stdin.write(json.dumps(payload).encode())
    process.stdin.close()
    assert process.wait() == 0
    assert process.stderr.read() == b""
    process.stderr.close()
    assert not (program.home.project(program.project.key) / "servings.jsonl").exists()


def test_input_that_never_ends_is_given_up(program: HookProgram) -> None:
    starter = program.home.root / "bin" / "hook.py"
    starter.write_text(starter.read_text().replace("main(__file__, 60)", "main(__file__, 0.3)"))
    process = program.start()
    assert process.wait() == 0
    assert process.stdin is not None and process.stdout is not None and process.stderr is not None
    assert process.stdout.read() == process.stderr.read() == b""
    for stream in (process.stdin, process.stdout, process.stderr):
        stream.close()


def test_a_disk_that_does_not_answer_is_given_up(program: HookProgram) -> None:
    starter = program.home.root / "bin" / "hook.py"
    starter.write_text(starter.read_text().replace("main(__file__, 60)", "main(__file__, 0.3)"))
    program.index.unlink()
    os.mkfifo(program.index)  # opening it waits for ever
    assert program.ask(ABOUT_PRICES) == ""


def test_killed_at_any_moment_it_leaves_nothing_that_the_next_call_stumbles_over(program: HookProgram) -> None:
    root = program.project.root
    payload = {"cwd": str(root), "hook_event_name": "UserPromptSubmit", "prompt": ABOUT_PRICES}
    for number in range(12):
        process = program.start()
        assert process.stdin is not None
        process.stdin.write(json.dumps(payload | {"session_id": f"k{number}"}).encode())
        if number % 2:
            process.stdin.close()
        process.send_signal(signal.SIGKILL)
        process.communicate() if number % 2 == 0 else process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            assert stream is not None
            stream.close()
    assert "Prices are Decimal" in program.ask(ABOUT_PRICES, "after")
    assert program.log() == ""


def test_a_folder_that_cannot_be_written_is_silence(program: HookProgram) -> None:
    shutil.rmtree(program.folder / "calls", ignore_errors=True)
    (program.folder / "calls").write_text("")  # where a folder must be
    assert program.ask(ABOUT_PRICES) == ""
    (program.folder / "calls").unlink()
    assert "Prices are Decimal" in program.ask(ABOUT_PRICES)


def test_the_log_stays_small_and_holds_no_prompt(program: HookProgram) -> None:
    program.index.write_bytes(b"not a database" * 1_000)
    (program.folder / "hook.log").write_text("x" * 70_000)
    assert program.ask("my secret prompt about prices decimal") == ""
    assert len(program.log()) < 1_000 and "secret" not in program.log()
    assert program.log().startswith("20") and program.log().count("\n") == 1


def test_a_repository_cannot_plant_an_index_or_a_memory_from_elsewhere(program: HookProgram, tmp_path: Path) -> None:
    repo = program.project.root
    (repo / "src" / "link.py").symlink_to("/etc/passwd")
    secret = tmp_path / "secret.md"
    secret.write_text((next(program.project.memory_dir.rglob("*prices*.md"))).read_text().replace("Prices", "Leaked"))
    (program.project.memory_dir / "decisions" / "20260302-leaked.md").symlink_to(secret)
    program.refresh_as_a_process(repo)
    assert "Leaked" not in program.ask("Leaked are Decimal, never float src/link.py /etc/passwd")
    assert program.read("src/link.py", "s2") == ""
    assert program.read("../../etc/passwd", "s3") == ""
