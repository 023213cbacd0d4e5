"""A cycle over all stores: what did not change is not opened, what is gone is kept, what grew is carried on."""

from __future__ import annotations

from pathlib import Path

import pytest

from catalog_dump import ByName
from claude_lines import encoded, prompt
from lerim.paths import Home
from lerim.sessions.catalog.catalog import Catalog
from lerim.sessions.discovery import (
    DiscoveredStores,
    TranscriptChanges,
    compare_stamps,
    discover_stores,
    open_databases,
)
from lerim.sessions.model import Platform
from lerim.sessions.readers.platform_readers import read_session
from opencode_store import Store, text


@pytest.fixture
def catalog(tmp_path):
    with Catalog.open(Home(tmp_path / "home")) as opened:
        yield opened


@pytest.fixture
def roots(tmp_path) -> dict[Platform, list[Path]]:
    return {"claude": [tmp_path / "claude"], "opencode": [tmp_path / "opencode"]}


def cycle(catalog: Catalog, roots: dict[Platform, list[Path]]) -> tuple[DiscoveredStores, TranscriptChanges]:
    stores = discover_stores(roots)
    open_databases(stores, catalog.load_store_stamps())
    found = compare_stamps(stores, catalog.load_stamps())
    catalog.mark_vanished(found.vanished)
    stale = (*found.new, *found.changed)
    list(
        catalog.index_transcripts(
            ((one, read_session(one, catalog.load_resume(one.place), brief=True)) for one in stale), ByName()
        )
    )
    catalog.keep_store_stamps(stores.opened_databases)
    return stores, found


def chat(folder: Path, native: str, *words: str) -> None:
    folder.mkdir(exist_ok=True)
    store = Store(native)
    for word in words:
        store.say("user", text(word))
    store.rows(folder / "opencode.db")


def session(roots: dict[Platform, list[Path]], words: str) -> Path:
    path = roots["claude"][0] / "projects" / "-home-ana-app" / "s1.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.write(encoded(prompt(words)))
    return path


def test_only_the_chat_that_grew_is_read_again_and_a_database_that_did_not_change_is_not_opened(catalog, roots):
    folder = roots["opencode"][0]
    chat(folder, "ses_1", "Hello")
    chat(folder, "ses_2", "Other")
    cycle(catalog, roots)
    grown = Store("ses_2")
    grown.info["time"]["updated"] += 5000
    grown.say("user", text("Other"))
    grown.say("user", text("More of it"))
    grown.rows(folder / "opencode.db")
    _, found = cycle(catalog, roots)
    assert [one.store_key for one in found.changed] == ["ses_2"]
    stores, found = cycle(catalog, roots)
    assert (stores.opened_databases, found.new, found.changed, found.vanished) == ([], (), (), ())
    assert [turn.text for turn in catalog.search_turns("More")] == ["More of it"]


def test_a_store_that_is_not_read_any_more_is_not_gone(catalog, roots):
    session(roots, "Keep this")
    chat(roots["opencode"][0], "ses_1", "And that")
    cycle(catalog, roots)
    platforms: tuple[Platform, ...] = ("claude", "opencode")
    for platform in platforms:
        one = {platform: roots[platform]}
        assert cycle(catalog, one)[1].vanished == ()
