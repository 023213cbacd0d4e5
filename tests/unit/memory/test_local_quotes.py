"""Quotes kept on this machine come back to their memories, every one of them."""

import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lerim.memory.local_quotes import Quotes, merge_evidence, strip_quotes
from lerim.memory.record import Evidence, MemoryRecord, render_record
from lerim.memory.store import Store

NOW = datetime(2026, 8, 1, tzinfo=UTC)
ONE = Evidence("no, use uv", "t1", "user")
TWO = Evidence("and never pip", "t1", "user")
THREE = Evidence("as I said: uv", "t2", "user")
RECORD = MemoryRecord("20260801-use-uv", "decision", "Use uv", NOW, NOW, "manual", 0.9, ("a",), "Because.")


@pytest.fixture
def quotes(tmp_path: Path) -> Quotes:
    return Quotes(tmp_path / "private")


def put(quotes: Quotes, text: str | None) -> None:
    assert text is not None
    quotes.folder.mkdir(parents=True, exist_ok=True)
    quotes.path_for(RECORD.id).write_text(text, encoding="utf-8")


def test_two_quotes_of_one_speaker_in_one_turn_both_come_back(quotes: Quotes) -> None:
    whole = replace(RECORD, evidence=(ONE, TWO, THREE))
    put(quotes, quotes.text_with_quotes(RECORD.id, whole.evidence))
    bare = replace(RECORD, evidence=strip_quotes(whole.evidence))
    assert quotes.join_quotes(bare) == (whole, [])


def test_a_second_quote_of_a_turn_is_gained_and_the_same_one_is_not(quotes: Quotes) -> None:
    record = replace(RECORD, evidence=(ONE,))
    assert quotes.text_with_evidence(record, (ONE,)) is None
    put(quotes, quotes.text_with_evidence(record, (ONE, TWO, TWO)))
    assert quotes.join_quotes(record)[0].evidence == (ONE, TWO)


def test_words_that_are_not_known_here_are_filled_in_by_the_same_turn(quotes: Quotes) -> None:
    """A memory of a teammate who keeps quotes private: the same session, met here, has the words."""
    record = replace(RECORD, evidence=strip_quotes((ONE, THREE)))
    put(quotes, quotes.text_with_evidence(record, (THREE,)))
    assert quotes.join_quotes(record)[0].evidence == (replace(ONE, quote=""), THREE)


def test_a_memory_gains_no_more_than_three(quotes: Quotes) -> None:
    three = (ONE, TWO, THREE)
    assert quotes.text_with_evidence(replace(RECORD, evidence=three), (Evidence("more", "t3", "user"),)) is None
    four = (*three, Evidence("by hand", "t4", "user"))
    assert merge_evidence(four, (Evidence("more", "t3", "user"),)) == four


def test_private_quotes_do_not_outgrow_what_can_be_read(quotes: Quotes) -> None:
    for number in range(200):
        new = tuple(Evidence(f"{number} {part} " + "ü" * 190, f"t{number}", "user") for part in "abc")
        put(quotes, quotes.text_with_quotes(RECORD.id, new))
    assert quotes.join_quotes(replace(RECORD, evidence=strip_quotes(new)))[0].evidence == new


def test_reading_one_memory_lists_no_folder_of_quotes(tmp_path: Path) -> None:
    store = Store(tmp_path / "repo/.lerim/memory", tmp_path / "private")
    path = store.path_for(RECORD)
    path.parent.mkdir(parents=True)
    path.write_text(render_record(replace(RECORD, evidence=(replace(ONE, quote=""),))))
    put(store.quotes, store.quotes.text_with_quotes(RECORD.id, (ONE,)))
    listed: list[str] = []
    watching = True
    sys.addaudithook(
        lambda event, given: (
            listed.append(str(given[0])) if watching and event in ("os.listdir", "os.scandir") else None
        )
    )
    assert store.load(path)[0].record.evidence == (ONE,)
    watching = False
    assert listed == []
