"""Lenses: counts on the first line, symbols only where they are defined once."""

from __future__ import annotations

from lerim.lsp.lenses import MAX_SYMBOLS, Lens, definition, place, title


def test_counts_name_the_weightier_kinds_first() -> None:
    assert title(["pitfall", "decision", "decision"]) == "2 decisions · 1 pitfall"
    assert title(["summary", "summary", "learning"]) == "1 learning · 2 summaries"


def test_one_lens_at_the_top_by_default() -> None:
    assert place("file", ["decision"], {"load": ["decision"]}, ["x\n", "def load():\n"]) == [Lens(0, "1 decision")]


def test_symbols_get_theirs_when_asked_for() -> None:
    found = place("symbols", ["decision", "pitfall"], {"load": ["pitfall"]}, ["import x\n", "def load():\n"])
    assert found == [Lens(0, "1 decision · 1 pitfall"), Lens(1, "1 pitfall", "load")]


def test_a_symbol_not_found_is_left_to_the_editor() -> None:
    assert place("symbols", ["decision"], {"load": ["decision"]}, ["x\n"])[1] == Lens(None, "1 decision", "load")


def test_off_and_files_nothing_is_known_of_have_none() -> None:
    assert place("off", ["decision"], {}, []) == []
    assert place("file", [], {}, []) == []


def test_a_symbol_is_found_where_it_is_defined() -> None:
    assert definition("Store.save", ["class Store:\n", "    def save(self):\n", "x.save()\n"]) == 1
    assert definition("load", ["reload()\n", "export async function load() {\n"]) == 1
    assert definition("Run", ["func (s *Server) Run() {\n"]) == 0
    assert definition("loader", ["def load():\n"]) is None


def test_an_ambiguous_symbol_falls_back_to_the_file() -> None:
    assert (
        definition("save", ["class A:\n", "  def save(self): ...\n", "class B:\n", "  def save(self): ...\n"]) is None
    )


def test_the_search_is_bounded() -> None:
    lines = ["load load load\n"] * 5000 + ["def load():\n"]
    assert definition("load", lines) is None
    symbols = {f"name{number}": ["decision"] for number in range(500)}
    lines = [f"def name{number}():\n" for number in range(500)]
    assert len(place("symbols", ["decision"], symbols, ["\n", *lines])) == MAX_SYMBOLS + 1
