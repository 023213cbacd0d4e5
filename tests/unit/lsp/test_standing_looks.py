"""In which order it is looked at what may stand otherwise."""

from __future__ import annotations

from pathlib import Path

from lerim.lsp.standing import SLICE, coming
from lerim.lsp.standings import Standings


def test_the_file_asked_for_last_comes_first_then_some_memories_then_all() -> None:
    known = Standings(whole=True, others=True)
    known.files.update(dict.fromkeys(("a.py", "b.py")))
    known.memories.update(dict.fromkeys(map(Path, "12345")))
    assert coming(known) == (["b.py"], [], False)
    assert coming(known) == (["a.py"], [], False)
    assert coming(known) == ([], [Path(one) for one in "1234"[:SLICE]], False)
    assert coming(known) == ([], [Path("5")], False)
    assert coming(known) == ([], [], True)
    assert not known.waiting
