"""A session that is rewritten whole, met in the middle of that; and one that stays damaged."""

from __future__ import annotations

import pytest

import gemini_files as files
from catalog_dump import ByName, listed
from gemini_files import call, prompt, reply
from lerim.errors import TranscriptError, UnfinishedError
from lerim.paths import Home
from lerim.sessions.catalog.catalog import Catalog
from lerim.sessions.discovery import DiscoveredStores, compare_stamps
from lerim.sessions.readers.gemini_family import open_session, scan_root


def sync(catalog, root):
    found = compare_stamps(DiscoveredStores(scan_root(root, [files.FOLDER]).transcripts), catalog.load_stamps())
    return list(catalog.index_transcripts(((one, open_session(one)) for one in (*found.new, *found.changed)), ByName()))


def test_a_session_met_half_written_is_told_to_nobody_and_read_by_the_next_sync(tmp_path):
    path = files.whole(files.chats(tmp_path) / "session-1.json", prompt("one"), reply("first"))
    with Catalog.open(Home(tmp_path / "lerim")) as catalog:
        sync(catalog, tmp_path)
        complete = files.whole(path, prompt("two"), reply("second"), prompt("three")).read_bytes()
        path.write_bytes(complete[: len(complete) // 2])
        (met,) = sync(catalog, tmp_path)
        assert (met.problems, met.failed, met.is_busy) == ((), False, True)
        assert "first" in [turn.text for turn in catalog.search_turns("first")]
        assert listed(catalog)[0].error == ""
        path.write_bytes(complete)
        (met,) = sync(catalog, tmp_path)
        assert (met.problems, met.failed, met.is_busy) == ((), False, False)
        assert "second" in [turn.text for turn in catalog.search_turns("second")]
        assert sync(catalog, tmp_path) == []


def test_a_session_resumed_in_a_log_beside_its_old_file_stays_one_session_of_the_catalog(tmp_path):
    told = [prompt("one"), reply("first")]
    path = files.whole(files.chats(tmp_path) / "session-1.json", *told)
    with Catalog.open(Home(tmp_path / "lerim")) as catalog:
        sync(catalog, tmp_path)
        files.log(path.with_suffix(".jsonl"), *told, prompt("two"), reply("second"))
        (met,) = sync(catalog, tmp_path)
        (row,) = listed(catalog)
        assert (met.new_turns, row.session_id, row.turns) == (2, files.SESSION, 4)


def test_a_session_that_nobody_writes_any_more_and_that_is_damaged_gives_what_is_whole_in_it_and_a_problem(tmp_path):
    path = files.whole(
        tmp_path / "session-1.json", prompt("one"), reply("first", call("glob", pattern="*")), prompt("two")
    )
    damaged = path.read_bytes().replace(b'"text": "one"', b'"text": one"')
    path.write_bytes(damaged)
    with pytest.raises(UnfinishedError):
        files.reading(path)
    files.long_ago(path)
    turns, done = files.reading(path)
    assert [turn.text for turn in turns] == ["first", "two"]
    assert [problem.code for problem in done.problems] == ["bad-line"]


def test_a_damaged_session_with_nothing_whole_in_it_is_an_error_that_is_told_once(tmp_path):
    path = files.chats(tmp_path) / "session-1.json"
    path.write_bytes(b"\0" * 1000)
    files.long_ago(path)
    with pytest.raises(TranscriptError, match="Nothing in this session's file can be read"):
        files.reading(path)
    with Catalog.open(Home(tmp_path / "lerim")) as catalog:
        (met,) = sync(catalog, tmp_path)
        assert (met.failed, len(met.problems)) == (True, 1)
        assert sync(catalog, tmp_path) == []
