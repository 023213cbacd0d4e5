"""The same error in several sessions of a project: remembered with the catalog, proposed once, with quotes of each."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

import scripted
from claude_lines import Fields, answer, call, prompt, reply, text
from desk import Desk
from lerim.extraction.friction import error_fingerprint
from lerim.extraction.state import MAX_REPLIES
from lerim.review import queue
from lerim.sessions.catalog.catalog import Catalog
from lerim.sessions.tables import frictions
from lerim.sessions.tables.frictions import Friction
from lerim.sqlite import transaction
from scripted import agent, extraction, numbered, you

REFUSED = "Exit code 1\nError: connect ECONNREFUSED 127.0.0.1:{port} (database of the shop)"


def ran(name: str, output: str, command: str = "npm test") -> list[Fields]:
    return [
        prompt(f"Run the tests, {name}"),
        reply(f"a-{name}", text("Running them."), call(f"t-{name}", "Bash", command=command)),
        answer(f"t-{name}", output, is_error=True),
        reply(f"b-{name}", text("They do not run.")),
        prompt("leave it for today"),
        reply(f"c-{name}", text("Fine.")),
    ]


def rows(desk: Desk) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(desk.home.catalog)) as db:
        return db.execute("SELECT session, quote FROM frictions ORDER BY session").fetchall()


def test_an_error_at_the_beginning_of_a_very_long_exchange_is_kept() -> None:
    pass_ = extraction()
    failed = agent("", scripted.ran("npm test", REFUSED.format(port=5432), 1))
    for turn in numbered([you("Run the tests"), failed, *[agent("On it.")] * MAX_REPLIES]):
        pass_.feed(turn)
    pass_.finish(settled=True)
    assert [friction.message for friction in pass_.frictions.values()] == [
        "connect ECONNREFUSED 127.0.0.1:5432 (database of the shop)"
    ]


def test_an_error_that_several_sessions_met_is_one_friction_that_comes_back_with_its_catalog_and_not_once_rejected(
    desk: Desk,
) -> None:
    desk.session("s1", *ran("one", REFUSED.format(port=5432)))
    assert desk.sync().candidates == []
    desk.session("s2", *ran("two", REFUSED.format(port=5433)))
    [found] = desk.sync().candidates
    assert found.title == "`npm test` fails in session after session: connect ECONNREFUSED … (database of the shop)"
    assert found.signal == "friction"
    assert [(item.who, item.quote) for item in found.evidence] == [
        ("tool", "connect ECONNREFUSED 127.0.0.1:5432 (database of the shop)"),
        ("tool", "connect ECONNREFUSED 127.0.0.1:5433 (database of the shop)"),
    ]
    assert found.confidence == 0.6

    before = rows(desk)
    for file in desk.home.catalog.parent.glob("sessions.sqlite3*"):
        file.unlink()
    desk.sync()  # reads both sessions at once
    assert rows(desk) == before
    assert len(desk.waiting()) == 1

    desk.session("s3", *ran("three", REFUSED.format(port=3)))
    desk.sync()
    assert len(desk.waiting()) == 1
    assert [session for session, _ in rows(desk)] == ["s1", "s2", "s3"]

    queue.reject_candidate(desk.place, found.id)
    desk.session("s4", *ran("four", REFUSED.format(port=4)))
    assert desk.sync().candidates == []


def test_a_command_that_is_missing_in_many_sessions_is_one_friction_whatever_it_was_called_with(desk: Desk) -> None:
    shells = ("bash: line 1: rg: command not found", "zsh:1: command not found: uv", "zsh:1: command not found: nvm")
    for shell, name in zip(shells, ("rg", "uv", "nvm"), strict=True):
        for number in range(2 if name == "nvm" else 4):
            desk.session(f"{name}{number}", *ran(f"{name} {number}", shell, f"{name} --look-{number} src/{number}"))
    assert sorted(one.title for one in desk.sync().candidates) == [
        "`nvm` fails in session after session: command not found: nvm",
        "`rg` fails in session after session: rg: command not found",
        "`uv` fails in session after session: command not found: uv",
    ]


def test_one_session_that_meets_an_error_again_and_again_and_wrong_code_in_several_are_no_friction(desk: Desk) -> None:
    desk.session("s1", *ran("one", REFUSED.format(port=1)), *ran("again", REFUSED.format(port=2)))
    desk.sync()
    desk.session("s1", *ran("later", REFUSED.format(port=3)))
    desk.sync()
    wrong = ("AssertionError: expected 3 to equal 4", "error TS2304: Cannot find name 'total'.", "2 tests failed")
    for number, output in enumerate(wrong):
        for name in ("one", "two"):
            desk.session(f"w{number}{name}", *ran(f"{name}{number}", f"Exit code 1\n{output}"))
    desk.sync()
    assert desk.waiting() == []
    assert len(rows(desk)) == 1


def test_a_secret_in_an_error_is_cut_before_it_is_kept(desk: Desk) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    output = f"Exit code 1\nfatal: Permission denied for https://kim:{token}@example.org/shop of this repository"
    desk.session("s1", *ran("one", output, "git fetch"))
    desk.session("s2", *ran("two", output, "git fetch"))
    desk.sync()
    assert len(rows(desk)) == 2
    assert not any(token in quote for _, quote in rows(desk))


def test_a_kill_between_the_proposal_and_the_position_loses_and_doubles_nothing(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.session("s1", *ran("one", REFUSED.format(port=1)))
    desk.sync()
    desk.session("s2", *ran("two", REFUSED.format(port=2)))

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Catalog, "finish_job", killed)
        with pytest.raises(KeyboardInterrupt):
            desk.sync()
    assert len(desk.waiting()) == 1
    desk.sync()
    assert len(desk.waiting()) == 1
    assert [session for session, _ in rows(desk)] == ["s1", "s2"]


def test_a_project_keeps_a_bounded_number_of_errors_the_newest(desk: Desk) -> None:
    with Catalog.open(desk.home) as catalog:
        many = [Friction(f"{n:x}", "no such table: x", "npm test", "s1", f"{n:x}", float(n)) for n in range(2_010)]
        with transaction(catalog.db):
            frictions.keep_frictions(catalog.db, "shop", many)
            frictions.keep_frictions(catalog.db, "other", many[:3])
        [(kept, oldest)] = catalog.db.execute("SELECT count(*), min(time) FROM frictions WHERE project = 'shop'")
        assert (kept, oldest) == (2_000, 10.0)
        [(others,)] = catalog.db.execute("SELECT count(*) FROM frictions WHERE project = 'other'")
        assert others == 3


def test_fingerprints_see_through_numbers_folders_and_hashes_and_tell_errors_apart() -> None:
    one = error_fingerprint("ENOENT: no such table: carts at /home/kim/shop/db.py:12 (a1b2c3d4e5)")
    assert one == error_fingerprint("ENOENT: no such table: carts at /srv/ana/work/db.py:371 (ffee012345)")
    assert one != error_fingerprint("ENOENT: no such table: orders at /home/kim/shop/db.py:12 (a1b2c3d4e5)")
    assert error_fingerprint("Error: 1 2 3") == ""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("after 1.5s", "after 950ms"),
        ("after 1m 30s", "after 12 seconds"),
        ("after 1,204 ms", "after 98 ms"),
        ("at 10.0.0.1:5432", "at 127.0.0.1:65000"),
        ("at 0x7fff12", "at 0x1"),
        ("since 2025-03-01T10:00:00Z", "since 2025-03-02T11:30:00.25Z"),
        ("with code -1", "with code 5"),
    ],
)
def test_an_error_that_differs_only_by_numbers_is_proposed_once(desk: Desk, one: str, other: str) -> None:
    for number, value in enumerate((one, other, one, other)):
        output = f"Exit code 1\nError: connect ECONNREFUSED by the database of the shop {value}"
        desk.session(f"s{number}", *ran(f"number {number}", output))
    assert [found.signal for found in desk.sync().candidates] == ["friction"]
