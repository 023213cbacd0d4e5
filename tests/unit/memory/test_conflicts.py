"""Both sides of a merge that git left in a file, and what makes one memory of two texts."""

import textwrap
from pathlib import Path

import pytest

from lerim.errors import MemoryError_
from lerim.memory.claims.merge_text import merge_file_texts
from lerim.memory.merge_conflicts import split_conflict
from lerim.memory.record import parse_record

PATH = Path("/r/.lerim/memory/decisions/20260801-use-uv.md")


def memory(
    title: str = "Use uv", updated: str = "2026-08-01T10:00:00Z", body: str = "It is fast.", more: str = ""
) -> str:
    head = f"id: 20260801-use-uv\ntitle: {title}\ncreated: 2026-08-01T10:00:00Z\nupdated: {updated}\n"
    return f"---\n{head}source: manual\nconfidence: 0.8\ntags: [a]\n{more}---\n\n{body}\n"


CONFLICTED = textwrap.dedent("""\
    ---
    title: Use uv
    <<<<<<< HEAD
    updated: 2026-08-01
    ||||||| base
    updated: 2026-07-01
    =======
    updated: 2026-08-02
    >>>>>>> theirs
    ---

    <<<<<<< HEAD
    ours
    =======
    theirs
    >>>>>>> theirs
    end
    """)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_each_side_is_what_its_branch_had(newline: str) -> None:
    found = split_conflict(CONFLICTED.replace("\n", newline))
    assert found is not None
    ours, theirs = (side.replace("\r\n", "\n") for side in found)
    assert ours == "---\ntitle: Use uv\nupdated: 2026-08-01\n---\n\nours\nend\n"
    assert theirs == "---\ntitle: Use uv\nupdated: 2026-08-02\n---\n\ntheirs\nend\n"


@pytest.mark.parametrize(
    "text",
    [
        memory(body="<<<<<<< is how a conflict begins"),
        memory(body="```\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n```"),
        memory(body="Title\n=======\n\n>>>>>>> quoted"),
        memory(body="  <<<<<<< HEAD\n=======\n>>>>>>> x"),
        "",
    ],
)
def test_text_about_conflicts_is_no_conflict(text: str) -> None:
    assert split_conflict(text) is None


def test_the_later_side_wins_and_nothing_either_says_is_lost() -> None:
    one = memory(body="It is fast.\nWe measured `uv pip sync` at 4 s.", more="references:\n  - a.py\nmine: yes\n")
    other = memory(
        "Use uv, never pip", "2026-08-02T10:00:00Z", "It is very fast. Caches lie in `/ci`.", "reviewer: Ada  # her\n"
    )
    for text in (merge_file_texts(one, other, PATH), merge_file_texts(other, one, PATH)):
        record = parse_record(text, PATH)
        assert (record.title, record.updated.day) == ("Use uv, never pip", 2)
        assert record.body.startswith("It is very fast. Caches lie in `/ci`.")
        assert "We measured `uv pip sync` at 4 s." in record.body
        assert record.references == ("a.py",)
        assert "reviewer: Ada  # her\n" in text and "mine: yes\n" in text


def test_a_side_that_is_no_memory_is_not_guessed_at() -> None:
    with pytest.raises(MemoryError_):
        merge_file_texts(memory(), "no header", PATH)
