"""In which order it is looked at what may stand otherwise."""

from __future__ import annotations

from pathlib import Path

from lerim.lsp.window.drift import MEMORIES_PER_CHECK, take_next_check
from lerim.lsp.window.repo_state import RepoDrift


def test_the_file_asked_for_last_comes_first_then_some_memories_then_all() -> None:
    known = RepoDrift(is_full_check_queued=True, is_database_check_queued=True)
    known.queued_files.update(dict.fromkeys(("a.py", "b.py")))
    known.queued_memories.update(dict.fromkeys(map(Path, "12345")))
    assert take_next_check(known) == (["b.py"], [], False)
    assert take_next_check(known) == (["a.py"], [], False)
    assert take_next_check(known) == ([], [Path(one) for one in "1234"[:MEMORIES_PER_CHECK]], False)
    assert take_next_check(known) == ([], [Path("5")], False)
    assert take_next_check(known) == ([], [], True)
    assert not known.has_work
