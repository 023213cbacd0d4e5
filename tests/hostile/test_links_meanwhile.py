"""A folder that becomes a symbolic link at the very moment something is written: nothing outside is touched."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from desk import Desk, correction
from hang import HANG
from lerim.errors import LerimError
from lerim.review import acts, queue
from long import times
from rights import tree

ROUNDS = 12
SWAPPER = """
import ctypes, os, random, sys, time
from pathlib import Path

folder, link, stop = sys.argv[1:]
exchange = ctypes.CDLL(None).renameat2
swaps = 0
while not Path(stop).exists():
    for _ in range(2):
        assert exchange(-100, folder.encode(), -100, link.encode(), 2) == 0
        time.sleep(random.random() * 0.001)
    swaps += 1
    time.sleep(random.random() * 0.003)
print(swaps)
"""


@contextmanager
def swapper(folder: Path, outside: Path, stop: Path) -> Iterator[None]:
    """A process that puts a link to `outside` in place of a folder, and the folder back, again and again."""
    link = folder.with_name(f"{folder.name}-link")
    link.symlink_to(outside)
    command = [sys.executable, "-c", SWAPPER, *map(str, (folder, link, stop))]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield
    finally:
        stop.touch()
        said, _ = process.communicate(timeout=HANG)
    assert process.returncode == 0 and int(said)


@pytest.mark.skipif(sys.platform != "linux", reason="needs names that are exchanged in one step")
@pytest.mark.parametrize("which", [".lerim", ".lerim/memory", ".lerim/memory/decisions", ".lerim/review"])
def test_nothing_is_written_removed_or_read_through_a_link_that_comes_meanwhile(
    desk: Desk, tmp_path: Path, which: str
) -> None:
    outside = tmp_path / "outside"
    for name in ("memory/decisions", "memory/archived/decisions", "decisions", "archived/decisions", "review", "index"):
        (outside / name).mkdir(parents=True)
    secret = "---\ntitle: A secret of another folder\n---\nNever read this.\n"
    for folder in ("", "memory/decisions", "decisions"):
        (outside / folder / "20260801-a-secret.md").write_text(secret, encoding="utf-8")
    queue.add_memory(desk.place, "decision", "Use one library", "Because.")
    desk.session("s0", *correction(desk))
    desk.sync()
    before = tree(outside)
    done = 0
    with swapper(desk.repo / which, outside, tmp_path / "stop"):
        for number in range(times(ROUNDS)):
            try:
                result = queue.add_memory(desk.place, "decision", f"Use library {number}", "Because it is small.")
                done += result.ok
                if number % 10 == 0:
                    desk.session(f"s{number + 1}", *correction(desk, f"library{number}", over=f"module{number}"))
                    desk.sync()
                    for waiting in queue.list_pending(desk.place)[0]:
                        queue.accept_candidate(desk.place, waiting.id, quotes="shared")
                acts.archive_memory(desk.place, Path(result.path or "").stem)
                queue.undo_last(desk.place)
            except LerimError:  # told, and tried again by the next
                continue
    assert done
    assert tree(outside) == before
    for ours in (desk.repo / ".lerim", desk.home.root):
        for path in ours.rglob("*"):
            assert path.is_dir() or b"A secret of another folder" not in path.read_bytes(), path
