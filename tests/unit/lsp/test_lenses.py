"""Lenses: counts on the first line, symbols only where they were found."""

from __future__ import annotations

from lerim.lsp.features.memories.lenses import MAX_SYMBOLS, Lens, lens_title, place_lenses


def test_counts_name_the_weightier_kinds_first() -> None:
    assert lens_title(["pitfall", "decision", "decision"]) == "2 decisions · 1 pitfall"
    assert lens_title(["summary", "summary", "learning"]) == "1 learning · 2 summaries"


def test_one_lens_at_the_top_by_default() -> None:
    assert place_lenses("file", ["decision"], {"load": ["decision"]}, lambda _: 1) == [Lens(0, "1 decision")]


def test_symbols_get_theirs_when_asked_for() -> None:
    found = place_lenses("symbols", ["decision", "pitfall"], {"load": ["pitfall"]}, {"load": 1}.get)
    assert found == [Lens(0, "1 decision · 1 pitfall"), Lens(1, "1 pitfall", "load")]


def test_a_symbol_not_found_is_left_to_the_editor() -> None:
    assert place_lenses("symbols", ["decision"], {"load": ["decision"]}, lambda _: None)[1] == Lens(
        None, "1 decision", "load"
    )


def test_off_and_files_nothing_is_known_of_have_none() -> None:
    assert place_lenses("off", ["decision"], {}, lambda _: 1) == []
    assert place_lenses("file", [], {}, lambda _: 1) == []


def test_no_more_symbols_than_an_editor_can_show() -> None:
    symbols = {f"name{number}": ["decision"] for number in range(500)}
    assert len(place_lenses("symbols", ["decision"], symbols, lambda _: 1)) == MAX_SYMBOLS + 1
