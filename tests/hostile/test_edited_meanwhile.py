"""A person saves a memory at the very moment it is archived, restored or changed: no line they wrote is lost."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from desk import Desk
from lerim.errors import LerimError
from lerim.review import acts, queue
from long import times

ROUNDS = 5
EDITOR = """
import os, random, sys, time
from pathlib import Path

folder, log, way = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
written = log.open("a", buffering=1)
number = 0
while not (log.parent / "stop").exists():
    for path in [*folder.rglob("*.md")]:
        line = f"line-{os.getpid()}-{number}-end"
        number += 1
        try:
            if way == "append":
                handle = os.open(path, os.O_WRONLY | os.O_APPEND)
                os.write(handle, f"{line}\\n".encode())
                os.close(handle)
            else:
                text = path.read_text() + line + "\\n"
                if way == "truncate":
                    handle = os.open(path, os.O_WRONLY | os.O_TRUNC)
                    os.write(handle, text.encode())
                    os.close(handle)
                else:
                    beside = path.with_name(f"{path.name}.tmp")
                    beside.write_text(text)
                    if not path.exists():  # an editor saves the file it opened
                        beside.unlink()
                        continue
                    os.replace(beside, path)
        except FileNotFoundError:
            continue
        written.write(line + "\\n")
        time.sleep(random.random() * 0.01)
"""


@contextmanager
def editor(folder: Path, desk: Path, way: str) -> Iterator[Path]:
    """A process that saves the memories in a folder again and again, each time with one line more; gives the file in
    which it lists the lines it saved."""
    desk.mkdir()
    log = desk / "lines"
    log.touch()
    process = subprocess.Popen([sys.executable, "-c", EDITOR, str(folder), str(log), way])
    try:
        yield log
    finally:
        (desk / "stop").touch()
        assert process.wait(60) == 0


def everything(folder: Path) -> str:
    return "\n".join(path.read_text() for path in folder.rglob("*") if path.is_file())


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells of a file that is open for writing")
@pytest.mark.parametrize("way", ["append", "rename", "truncate"])
def test_a_line_saved_while_a_memory_moves_is_not_lost(desk: Desk, tmp_path: Path, way: str) -> None:
    names = []
    for number in range(4):
        queue.add_memory(desk.place, "decision", f"Use library {number}", "Because it is small.")
        names.append(f"{time.strftime('%Y%m%d', time.gmtime())}-use-library-{number}")
    folder = desk.place.project.memory_dir
    done = 0
    with editor(folder, tmp_path / "editor", way) as log:
        for _ in range(times(ROUNDS)):
            for name in names:
                for act in (acts.archive_memory, acts.restore_memory):
                    try:
                        done += act(desk.place, name).ok
                    except LerimError:  # told, and nothing was done
                        continue
    text = everything(folder)
    saved = log.read_text().split()
    assert done and saved
    assert [line for line in saved if line not in text] == []
    assert not list(folder.rglob(".lerim-*"))
