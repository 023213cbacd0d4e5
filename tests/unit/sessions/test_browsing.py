"""Leafing through the catalog: days, sessions of a day, turns by position."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

import catalog_dump
from lerim.paths import Home
from lerim.sessions.catalog.catalog import Catalog
from lerim.sessions.display import session_title
from lerim.sessions.model import Session, ToolCall, Turn
from lerim.sessions.search import SessionFilters, browsing

BEGAN = datetime(2026, 3, 2, 12, tzinfo=UTC)
HERE = "/work/shop"


def said(name: str, number: int, text: str = "", calls: tuple[ToolCall, ...] = ()) -> Turn:
    asks = number % 2 == 0
    return Turn(
        f"{name}-{number}",
        number,
        "user" if asks else "assistant",
        "prompt" if asks else "reply",
        text or f"{name} {number}",
        BEGAN + timedelta(seconds=number),
        HERE,
        tool_calls=calls,
    )


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    with Catalog.open(Home(tmp_path / "home")) as one:
        yield one


def add(catalog: Catalog, name: str, turns: list[Turn], *, days: int = 0, parent: str = "", title: str = "") -> str:
    path = Path(f"/claude/{name}.jsonl")
    ended = BEGAN + timedelta(days=days, minutes=5)
    session = Session(name, "claude", path, title=title, started=BEGAN, ended=ended, turns=len(turns), parent=parent)
    assert not catalog_dump.add(catalog, replace(session, cwds=tuple({turn.cwd for turn in turns})), turns).failed
    return str(path)


def test_days_come_newest_first_and_hold_the_sessions_that_ended_on_them(catalog: Catalog) -> None:
    add(catalog, "a", [said("a", 0)], title="First")
    prompt = "Retries of the export must wait\nuntil the server" + " answers again" * 20
    edit = ToolCall("t", "Edit", "edit", "ok", paths=(f"{HERE}/src/cart.py",))
    place = add(
        catalog, "b", [said("b", 0, prompt), said("b", 1, calls=(edit, edit)), said("b", 3, calls=(edit,))], days=3
    )
    add(catalog, "c", [said("c", 0)], days=3)
    add(catalog, "sub", [said("sub", 0)], parent="a")
    add(catalog, "else", [msgspec.structs.replace(said("else", 0), cwd="/elsewhere")])
    found = browsing.list_days(catalog.db, ["shop"])
    assert [number for _, number in found] == [2, 1]
    assert found[0][0] > found[1][0]
    assert [number for _, number in browsing.list_days(catalog.db, None)] == [2, 2]
    listed, total = browsing.list_recent_sessions(catalog.db, ["shop"], 0, 1, found[0][0])
    assert (total, [one.session_id for one in listed]) == (2, ["c"])
    listed, _ = browsing.list_recent_sessions(catalog.db, ["shop"], 1, 1, found[0][0])
    repeated = " answers again" * 5
    title = f"Retries of the export must wait until the server{repeated}…"
    assert [(one.session_id, one.title, session_title(one), one.files) for one in listed] == [("b", "", title, 1)]
    assert browsing.find_list_item(catalog.db, place) == listed[0]
    assert browsing.find_list_item(catalog.db, "/nowhere") is None


def test_what_a_subagent_did_finds_the_session_it_worked_for(catalog: Catalog) -> None:
    run = ToolCall("t", "Edit", "edit", "ok", paths=(f"{HERE}/src/cart.py",))
    place = add(catalog, "a", [said("a", 0)])
    add(catalog, "sub", [said("sub", 0, calls=(run,))], parent="a")
    add(catalog, "other", [said("other", 0)])
    for filters in (SessionFilters(file="cart.py"), SessionFilters(("shop",), file="cart.py")):
        assert [one.place for one in catalog.list_filtered_sessions(filters, 9)] == [place]
    assert catalog.list_filtered_sessions(SessionFilters(("else",), file="cart.py"), 9) == []


def test_a_file_is_found_by_its_name_whatever_its_letters_and_their_case(catalog: Catalog) -> None:
    edit = ToolCall("t", "Edit", "edit", "ok", paths=(f"{HERE}/docs/Übersicht.md",))
    add(catalog, "a", [said("a", 0, calls=(edit,))])
    for name in ("Übersicht.md", "übersicht.MD", "docs/übersicht.md", f"{HERE}/docs/Übersicht.md"):
        assert len(catalog.search_turns("", filters=SessionFilters(file=name))) == 1, name
    assert catalog.search_turns("", filters=SessionFilters(file="bersicht.md")) == []


def test_positions_count_the_turns_that_stand_here_although_ordinals_have_gaps(catalog: Catalog) -> None:
    add(catalog, "a", [said("a", number) for number in range(4)])
    copied = [said("a", 0), said("a", 1), said("fork", 2), said("fork", 3)]
    place = add(catalog, "fork", copied)
    outline = browsing.load_outline(catalog.db, place, "fork-3")
    assert (outline.kinds, outline.position) == (("prompt", "reply"), 1)
    assert [leaf.turn for leaf in browsing.read_redacted_turns(catalog.db, place, 1, 5)] == ["fork-3"]
    assert browsing.load_outline(catalog.db, place, "a-0").position == -1
    assert browsing.locate_turn(catalog.db, "a-0") == ("/claude/a.jsonl", "a")
    assert browsing.locate_turn(catalog.db, "gone") is None


def test_a_text_is_found_to_the_letter_in_words_and_in_calls(catalog: Catalog) -> None:
    run = ToolCall("t", "Bash", "shell", "ok", command="make TEST")
    place = add(catalog, "a", [said("a", 0, "100 % sure_ly"), said("a", 1, calls=(run,)), said("a", 2, "1000 surely")])
    assert list(browsing.find_positions(catalog.db, place, "100 %")) == [0]
    assert list(browsing.find_positions(catalog.db, place, "SURE_LY")) == [0]
    assert list(browsing.find_positions(catalog.db, place, "$ make test")) == [1]
