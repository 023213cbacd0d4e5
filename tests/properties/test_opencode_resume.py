"""Reading OpenCode in any pieces gives what reading at once gives; damage costs what it touched and nothing else."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from lerim.errors import TranscriptError
from lerim.sessions.model import Database, Transcript, Turn, make_turn_id
from lerim.sessions.readers.opencode import store as opencode
from opencode_store import Store, text, tool

words = st.sampled_from(["use uv", "", "ünï \u2028 code\r\n", "<system-reminder>x</system-reminder>hi", "\ud83d"])
parts = st.one_of(
    words.map(text),
    words.map(lambda said: text(said, synthetic=True)),
    words.map(lambda said: {"type": "reasoning", "text": said}),
    st.sampled_from([0, 2, None]).map(lambda code: tool("bash", {"command": "make"}, "out", metadata={"exit": code})),
    st.sampled_from(["running", "completed", "error"]).map(lambda how: tool("edit", {"filePath": "a"}, status=how)),
    st.just({"type": "compaction", "auto": True}),
    st.just({"type": "step-finish", "tokens": {"input": 9}}),
    st.just({"type": "unheard-of", "text": ["?"]}),
)
finishes = st.sampled_from(["stop", "tool-calls", None])
said = st.tuples(st.sampled_from(["user", "assistant"]), st.lists(parts, max_size=4), finishes)
sessions = st.lists(said, min_size=1, max_size=8)


def built(messages: list[Any], native: str = "ses_1") -> Store:
    store = Store(native)
    for role, some, finish in messages:
        store.say(role, *some, **({"finish": finish} if role == "assistant" else {}))
    if native != "ses_1":  # ids are of one store, not of one session
        for one in store.messages:
            one["info"]["id"] = f"{one['info']['id']}_{native}"
            one["parts"] = [{**part, "id": f"{part['id']}_{native}"} for part in one["parts"]]
    return store


@contextmanager
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def of_rows(path: Path) -> dict[str, Transcript]:
    transcripts, _ = opencode.list_database(Database("opencode", path, (0, 0, 0, 0)), ())
    return {one.session_id: one for one in transcripts}


def of_files(root: Path) -> dict[str, Transcript]:
    return {one.session_id: one for one in opencode.scan_root(root, ()).transcripts}


def turns(transcript: Transcript) -> list[Turn]:
    return list(opencode.open_session(transcript))


@given(messages=sessions, cuts=st.sets(st.integers(0, 8)))
def test_reading_a_session_as_it_grows_equals_reading_it_at_once(messages: list[Any], cuts: set[int]) -> None:
    with folder() as root:
        path = root / "opencode.db"
        kept: dict[int, Turn] = {}
        resume = None
        for cut in sorted({min(one, len(messages)) for one in cuts} | {len(messages)}):
            built(messages[:cut]).rows(path)
            reading = opencode.open_session(of_rows(path)["ses_1"], resume)
            for turn in reading:
                assert turn.ordinal not in kept or kept[turn.ordinal].id == turn.id
                kept[turn.ordinal] = turn
            assert not reading.restarted
            resume = reading.resume
        at_once = opencode.open_session(of_rows(path)["ses_1"])
        assert [kept[at] for at in sorted(kept)] == list(at_once)
        assert reading.session == at_once.session


@given(messages=sessions, data=st.data())
def test_the_order_in_which_rows_were_written_changes_nothing(messages: list[Any], data: st.DataObject) -> None:
    with folder() as root:
        store, other = built(messages), built(messages)
        path = store.rows(root / "opencode.db")
        other.messages = data.draw(st.permutations(other.messages))
        shuffled = root / "opencode-b.db"
        built(messages, "ses_2").rows(shuffled)
        other.rows(shuffled)
        assert turns(of_rows(shuffled)["ses_1"]) == turns(of_rows(path)["ses_1"])


@given(messages=sessions, at=st.integers(0, 99), cut=st.integers(0, 400), flip=st.integers(0, 255))
def test_a_damaged_cell_costs_its_record_and_no_other(messages: list[Any], at: int, cut: int, flip: int) -> None:
    with folder() as root:
        path = built(messages).rows(root / "opencode.db")
        built(messages, "ses_2").rows(path)
        before = {native: turns(one) for native, one in of_rows(path).items()}
        with closing(sqlite3.connect(path)) as db, db:
            db.text_factory = bytes
            there = db.execute("SELECT 1 FROM part WHERE session_id = 'ses_1'").fetchone()
            table = "part" if at % 2 and there else "message"
            rows = db.execute(f"SELECT id, data FROM {table} WHERE session_id = 'ses_1' ORDER BY id").fetchall()
            native, cell = rows[at % len(rows)]
            place = cut % max(1, len(cell))
            damaged = cell[:place] + bytes([flip]) + (cell[place + 1 :] if at % 3 else b"")
            db.execute(f"UPDATE {table} SET data = ? WHERE id = ?", (damaged, native.decode()))
            message = native.decode() if table == "message" else native.decode().replace("prt_", "msg_")[:8]
        after = {native: turns(one) for native, one in of_rows(path).items()}
        assert after["ses_2"] == before["ses_2"]
        ids = dict(zip(_ids(before["ses_1"]), before["ses_1"], strict=True))
        found = dict(zip(_ids(after["ses_1"]), after["ses_1"], strict=True))
        touched = {make_turn_id("opencode", message)}
        for one in set(ids) - touched:
            assert found[one].text == ids[one].text
            assert found[one].tool_calls == ids[one].tool_calls
        assert set(found) - touched == set(ids) - touched


def _ids(some: list[Turn]) -> list[str]:
    return [turn.id for turn in some]


@given(messages=sessions, at=st.integers(0, 99), cut=st.integers(0, 400), flip=st.integers(0, 255))
def test_a_damaged_old_file_costs_its_record_and_no_other(messages: list[Any], at: int, cut: int, flip: int) -> None:
    with folder() as root:
        built(messages).files(root / "storage")
        built(messages, "ses_2").files(root / "storage")
        before = {native: turns(one) for native, one in of_files(root).items()}
        files = sorted(one for one in (root / "storage").rglob("*.json") if "ses_2" not in str(one))
        file = files[at % len(files)]
        whole = file.read_bytes()
        place = cut % len(whole)
        file.write_bytes(whole[:place] + (bytes([flip]) + whole[place + 1 :] if at % 3 else b""))
        found = of_files(root)
        assert turns(found["ses_2"]) == before["ses_2"]
        try:
            after = {turn.id: turn.text for turn in turns(found["ses_1"])}
        except TranscriptError:
            assert file.parts[-3] == "session"
            return
        same = [turn for turn in before["ses_1"] if after.get(turn.id) == turn.text]
        assert len(same) >= len(before["ses_1"]) - (len(before["ses_1"]) if file.parts[-3] == "session" else 1)


@given(messages=sessions, place=st.integers(0, 5000), noise=st.binary(max_size=20))
def test_no_damage_to_an_export_raises_anything_but_the_error_that_names_it(
    messages: list[Any], place: int, noise: bytes
) -> None:
    with folder() as root:
        path = built(messages).export(root / "ses_1.json")
        whole = path.read_bytes()
        path.write_bytes(whole[: place % len(whole)] + noise + whole[place % len(whole) + len(noise) :])
        try:
            turns(Transcript("opencode", path, "ses_1", 1, 1, 1))
        except TranscriptError as error:
            assert str(path) in str(error)


forkings = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 8), st.lists(said, max_size=2)), min_size=1, max_size=4)


@given(messages=sessions, forks=forkings, as_rows=st.booleans(), at=st.integers(0, 99), cut=st.integers(0, 400))
def test_forks_change_no_other_session_and_stand_once(
    messages: list[Any], forks: list[Any], as_rows: bool, at: int, cut: int
) -> None:
    with folder() as root:

        def put(store: Store) -> None:
            if as_rows:
                store.rows(root / "opencode.db")
            else:
                store.files(root / "storage")

        def read() -> dict[str, list[Turn]]:
            found = of_rows(root / "opencode.db") if as_rows else of_files(root)
            return {native: turns(one) for native, one in found.items()}

        stores = [built(messages)]
        put(stores[0])
        once = {turn.id for turn in read()["ses_1"]}
        for number, (of, until, more) in enumerate(forks):
            before = read()
            source = stores[of % len(stores)]
            fork = source.fork(f"ses_{9 - number}", until)  # ids of sessions descend
            copied = {one["info"]["id"] for one in fork.messages}
            fork.clock += number  # what is said in two forks is not said in the same millisecond
            for role, some, finish in more:
                fork.say(role, *some, **({"finish": finish} if role == "assistant" else {}))
            put(fork)
            stores.append(fork)
            after = read()
            assert {native: after[native] for native in before} == before
            own = after[fork.info["id"]]
            assert len({turn.id for turn in own}) == len(own)
            assert not {turn.id for turn in own} & {make_turn_id("opencode", one) for one in copied}
            added = len(fork.messages) - len(copied)
            assert len({turn.id for turn in own} - once) <= added
            once |= {turn.id for turn in own}
        whole = read()
        files = sorted(one for one in (root / "storage").rglob("msg_*.json") if one.parent.name == "ses_1")
        if files:
            file = files[at % len(files)]
            file.write_bytes(file.read_bytes()[: cut % file.stat().st_size])
            damaged = read()
            for store in stores[1:]:
                native = store.info["id"]
                assert [turn.text for turn in damaged[native]] == [turn.text for turn in whole[native]]
                assert len({turn.id for turn in damaged[native]}) == len(damaged[native])
