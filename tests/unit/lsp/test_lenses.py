"""Lenses: counts on the first line, symbols only where they were found."""

from __future__ import annotations

from lerim.lsp.features.memories.lenses import MAX_SYMBOLS, Lens, lens_title, place_lenses


def test_counts_name_the_weightier_kinds_first() -> None:
    assert lens_title(["pitfall", "decision", "decision"]) == "Lerim: 2 decisions · 1 pitfall"
    assert lens_title(["summary", "summary", "learning"]) == "Lerim: 1 learning · 2 summaries"


def test_a_symbol_not_found_is_left_to_the_editor() -> None:
    assert place_lenses("symbols", ["decision"], {"load": ["decision"]}, lambda _: None)[1] == Lens(
        None, "Lerim: 1 decision", "load"
    )


def test_no_more_symbols_than_an_editor_can_show() -> None:
    symbols = {f"name{number}": ["decision"] for number in range(500)}
    assert len(place_lenses("symbols", ["decision"], symbols, lambda _: 1)) == MAX_SYMBOLS + 1
