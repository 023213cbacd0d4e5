"""What stands under the cursor."""

from __future__ import annotations

import pytest

from lerim.lsp.features.memories.editor_requests import path_at, possible_paths, word_at


@pytest.mark.parametrize(
    ("line", "index", "word"),
    [
        ("    store.save(x)", 11, "save"),
        ("    store.save(x)", 14, "save"),
        ("größe = 1", 2, "größe"),
        ("a  b", 2, ""),
        ("abc", 99, "abc"),
        ("x" * 5000, 2500, ""),
    ],
)
def test_a_word_is_found_around_the_cursor(line: str, index: int, word: str) -> None:
    assert word_at(line, index) == word


@pytest.mark.parametrize(
    ("line", "index", "path"),
    [
        ("see src/app.py, then", 8, "src/app.py"),
        ('from "./store.ts"', 9, "./store.ts"),
        ("open(src\\app.py)", 8, "src/app.py"),
        ("src/app.py:12", 3, "src/app.py"),
        ("word", 2, ""),
        ("...", 1, ""),
        ("a/" * 3000, 100, ""),
    ],
)
def test_a_path_is_found_around_the_cursor(line: str, index: int, path: str) -> None:
    assert path_at(line, index) == path


def test_a_path_is_looked_for_beside_the_file_and_from_the_root_and_never_outside() -> None:
    assert possible_paths("./store.ts", "src/ui") == ("src/ui/store.ts", "store.ts")
    assert possible_paths("../lib/a.py", "src") == ("lib/a.py",)
    assert possible_paths("../../../etc/passwd", "src") == ()
    assert possible_paths("/src/app.py", "docs") == ("src/app.py",)
    assert possible_paths("", "src") == ("src",)
