"""Kills at random instants while databases are taken in, and two syncs at once: nothing is lost, nothing is twice."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

import cursor_store
import opencode_store
from desk import Desk
from killer import Killer
from lerim.errors import BusyError
from lerim.sessions.catalog.catalog import Catalog
from lerim.sessions.discovery import DiscoveredStores, compare_stamps, discover_stores, open_databases
from lerim.sessions.platforms import find_platform_roots
from long import at_most, times

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
KILLS = 4
ROUND = 6
"""Sessions that come to each database between kills."""


class Talk:
    """Cursor and OpenCode, in which more is said in every round; `said` is all of it."""

    def __init__(self, home: Path, repo: Path) -> None:
        self.repo = repo
        self.editor = cursor_store.Editor(home / ".config" / "Cursor" / "User")
        self.database = home / ".local" / "share" / "opencode" / "opencode.db"
        self.database.parent.mkdir(parents=True)
        self.said: list[str] = []
        self.round = 0

    def go_on(self) -> None:
        """New sessions, and one more prompt in those of the round before."""
        self.round += 1
        for number in range(ROUND):
            for begun in (self.round - 1, self.round):
                if begun:
                    self._cursor(begun, number, self.round - begun + 1)
                    self._opencode(begun, number, self.round - begun + 1)

    def _words(self, agent: str, begun: int, number: int, prompts: int) -> list[str]:
        words = [f"{agent} {begun} {number} {at}" for at in range(prompts)]
        self.said.append(words[-1])
        return words

    def _cursor(self, begun: int, number: int, prompts: int) -> None:
        native = f"{begun:08}-0000-4000-8000-{number:012}"
        words = self._words("cursor", begun, number, prompts)
        bubbles = [cursor_store.prompt(text, f"{native}-{at}") for at, text in enumerate(words)]
        where = {"id": "w", "uri": {"fsPath": str(self.repo), "scheme": "file"}}
        self.editor.chat(bubbles, native, workspaceIdentifier=where, lastUpdatedAt=1771742091550 + self.round)

    def _opencode(self, begun: int, number: int, prompts: int) -> None:
        store = opencode_store.Store(f"ses_{begun}_{number}", directory=str(self.repo))
        store.mark = f"_{begun}_{number}"
        for text in self._words("opencode", begun, number, prompts):
            store.say("user", opencode_store.text(text))
        store.rows(self.database)


def look(desk: Desk, *, all_of_them: bool) -> DiscoveredStores:
    """The databases, of which those that the catalog says it has taken in are listed, or all of them."""
    stores = discover_stores(find_platform_roots(os.environ, desk.home))
    with Catalog.open(desk.home) as catalog:
        known = catalog.load_store_stamps()
    if not all_of_them:
        stores.databases = [one for one in stores.databases if known.get(one.path) == one.stamp]
    open_databases(stores, {})
    return stores


def check_honest(desk: Desk) -> None:
    """What the catalog says it has taken in, it has."""
    stores = look(desk, all_of_them=False)
    with Catalog.open(desk.home) as catalog:
        found = compare_stamps(stores, catalog.load_stamps())
    assert (found.new, found.changed) == ((), ())


def everything(desk: Desk) -> Counter[str]:
    with Catalog.open(desk.home) as catalog:
        places = [place for (place,) in catalog.db.execute("SELECT place FROM transcripts")]
        return Counter(turn.text for place in places for turn in catalog.load_turns(place))


@pytest.mark.parametrize("seed", range(at_most(2, 1)))
def test_kills_while_databases_are_taken_in_lose_and_double_nothing(desk: Desk, isolated: Path, seed: int) -> None:
    killer = Killer(seed)
    talk = Talk(isolated, desk.repo)
    while killer.killed < times(KILLS):
        talk.go_on()
        for _ in range(4):
            killer.run("sync", desk.sync)
            check_honest(desk)
    report = desk.sync()
    assert report.problems == []
    assert everything(desk) == Counter(talk.said)
    assert report.sessions.found == 2 * ROUND * talk.round
    check_honest(desk)
    assert len(look(desk, all_of_them=False).databases) == len(look(desk, all_of_them=True).databases) == 2


def test_two_syncs_at_once_while_more_is_said_take_everything_in_once(desk: Desk, isolated: Path) -> None:
    talk = Talk(isolated, desk.repo)
    desk.sync()
    for _ in range(times(2)):
        talk.go_on()
        children = []
        for _ in range(2):
            child = os.fork()
            if not child:
                try:
                    desk.sync()
                except BusyError:
                    os._exit(4)
                except BaseException:
                    os._exit(1)
                os._exit(0)
            children.append(child)
        talk.go_on()
        codes = {os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children}
        assert codes <= {0, 4}
        check_honest(desk)
    report = desk.sync()
    assert report.problems == []
    assert everything(desk) == Counter(talk.said)
    assert desk.sync().sessions.unchanged == 2 * ROUND * talk.round
