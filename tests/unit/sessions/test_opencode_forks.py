"""Forks of OpenCode: what they copied is the turn it was copied from, and stands once."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from catalog_dump import ByName
from lerim.paths import Home
from lerim.sessions.catalog.catalog import Catalog
from lerim.sessions.model import Session, Turn
from lerim.sessions.readers.opencode import store as opencode
from lerim.statistics import compute_statistics
from opencode_store import Store, taken, text, tool
from opencode_store import of_rows as list_rows

Read = Callable[..., dict[str, tuple[Session, list[Turn]]]]


@pytest.fixture(params=["rows", "files"])
def read(request: pytest.FixtureRequest, tmp_path: Path) -> Read:
    def go(*stores: Store) -> dict[str, tuple[Session, list[Turn]]]:
        path = tmp_path / "opencode.db"
        for store in stores:
            if request.param == "rows":
                store.rows(path)
            else:
                store.files(tmp_path / "storage")
        return of_rows(path) if request.param == "rows" else of_files(tmp_path)

    return go


def of_rows(path: Path) -> dict[str, tuple[Session, list[Turn]]]:
    return {one.session_id: taken(one) for one in list_rows(path)}


def of_files(root: Path) -> dict[str, tuple[Session, list[Turn]]]:
    return {one.session_id: taken(one) for one in opencode.scan_root(root, ()).transcripts}


def ids(found: tuple[Session, list[Turn]]) -> list[str]:
    return [turn.id for turn in found[1]]


def first() -> Store:
    store = Store("ses_a", title="Parser")
    store.say("user", text("fix the parser"))
    reasoning = {"type": "reasoning", "text": "hm"}
    store.say("assistant", reasoning, tool("bash", {"command": "make"}), text("Done."), parentID="msg_0000")
    store.say("user", text("and the lexer"))
    store.say("assistant", text("Done, too."), parentID="msg_0002")
    return store


@pytest.mark.parametrize("fork_first", [True, False])
def test_the_tokens_of_a_copied_message_count_once_in_the_statistics(tmp_path: Path, *, fork_first: bool) -> None:
    store = first()
    store.say("assistant", text("A summary."), parentID="msg_0002", summary=True)  # no turn, but it cost tokens
    fork = store.fork("ses_b")
    fork.say("user", text("shorter"))
    fork.say("assistant", text("ok"))
    path = store.rows(tmp_path / "opencode.db")
    fork.rows(path)
    transcripts = sorted(list_rows(path), key=lambda one: one.session_id, reverse=fork_first)
    with Catalog.open(Home(tmp_path / "home")) as catalog:
        readings = [(one, opencode.open_session(one)) for one in transcripts]
        list(catalog.index_transcripts(readings, ByName()))
        total = compute_statistics(catalog, "day").total
    assert (total.input, total.output) == (4 * 10, 4 * 7)
    assert total.cost == 4 * 0.25


def test_in_a_fork_of_a_fork_the_first_original_wins(read: Read) -> None:
    store = first()
    fork = store.fork("ses_b", until=2)
    fork.say("user", text("no, rewrite it"))
    again = fork.fork("ses_c")
    again.say("user", text("shorter"))
    other = again.fork("ses_0", until=3)
    found = read(store, fork, again, other)
    assert [turn.text for turn in found["ses_b"][1]] == ["fix the parser", "Done.", "no, rewrite it"]
    assert ids(found["ses_c"])[:3] == ids(found["ses_b"])
    assert ids(found["ses_0"]) == ids(found["ses_b"])
    assert ids(found["ses_c"])[:2] == ids(found["ses_a"])[:2]
    assert len({one for some in found.values() for one in ids(some)}) == 6


def test_where_the_original_is_gone_the_oldest_copy_stands(read: Read) -> None:
    fork = first().fork("ses_b")
    found = read(fork, fork.fork("ses_c"))
    assert ids(found["ses_c"]) == ids(found["ses_b"])
    assert len({*ids(found["ses_b"])}) == 4


def test_a_message_of_another_moment_or_role_is_no_original(read: Read) -> None:
    store, other = first(), first()
    other.info |= {"id": "ses_0"}
    for one in other.messages:
        one["info"] |= {"id": one["info"]["id"] + "_0"}
        one["parts"] = [part | {"id": part["id"] + "_0"} for part in one["parts"]]
    other.messages[0]["info"]["time"]["created"] += 1
    other.messages[1]["info"]["role"] = "user"
    other.messages[2]["info"]["time"]["created"] -= 1
    fork = store.fork("ses_b", until=3)
    found = read(store, other, fork)
    assert ids(found["ses_b"]) == ids(found["ses_a"])[:3]


def test_two_copies_never_stand_for_one_message(read: Read) -> None:
    store = Store("ses_a")
    for _ in range(2):
        store.say("user", text("go on"))
        store.clock -= 1000
    fork = store.fork("ses_b")
    found = read(store, fork)
    assert len(set(ids(found["ses_a"]))) == 2
    assert ids(found["ses_b"]) == ids(found["ses_a"])


def test_a_session_of_another_project_holds_no_original(read: Read) -> None:
    store = first()
    store.info["projectID"] = "p2"
    found = read(store, first().fork("ses_b"))
    assert not {*ids(found["ses_a"])} & {*ids(found["ses_b"])}


def test_what_an_agent_asked_its_subagent_is_no_persons_word_in_a_fork_of_that(read: Read) -> None:
    child = first()
    child.info["parentID"] = "ses_0"
    fork = child.fork("ses_b", until=2)
    fork.say("user", text("go on"))
    found = read(child, fork)
    assert [turn.text for turn in found["ses_b"][1] if turn.kind == "prompt"] == ["go on"]
    assert found["ses_b"][0].prompts == 1


def test_a_fork_that_was_taken_back_still_says_what_it_copied(read: Read) -> None:
    store = first()
    fork = store.fork("ses_b")
    fork.info["revert"] = {"messageID": "msg_0001_ses_b", "partID": "prt_0001_ses_b_002"}
    found = read(store, fork)
    assert ids(found["ses_b"]) == ids(found["ses_a"])[:2]


def test_databases_without_the_index_on_times_and_with_fewer_columns_are_searched_too(tmp_path: Path) -> None:
    store = first()
    path = store.rows(tmp_path / "opencode.db")
    store.fork("ses_b").rows(path)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("DROP INDEX message_session_time_created_id_idx")
        db.execute("ALTER TABLE session DROP COLUMN parent_id")
    found = of_rows(path)
    assert ids(found["ses_b"]) == ids(found["ses_a"])
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("ALTER TABLE session DROP COLUMN project_id")
    found = of_rows(path)
    assert not {*ids(found["ses_b"])} & {*ids(found["ses_a"])}
