"""Sessions of OpenCode that a person exported to files, as `lerim sync` and `lerim sessions list` find them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from opencode_store import Store, text
from terminal import answer


@pytest.fixture
def data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """OpenCode's data folder with an empty folder for exports."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    folder = tmp_path / "share" / "opencode"
    (folder / "export").mkdir(parents=True)
    return folder


def told(directory: Path, native: str = "ses_1", **info: str) -> Store:
    store = Store(native, directory=str(directory), **info)
    store.say("user", text("Why is retry slow?"), path={"cwd": str(directory)})
    store.say("assistant", text("It waits."), path={"cwd": str(directory)})
    return store


def listed(*more: str) -> list[tuple[str, int]]:
    return [(one["id"], one["turns"]) for one in answer("sessions", "list", *more)["sessions"]]


def test_an_export_under_any_name_is_read_and_belongs_to_the_project_it_names(repo: Path, data: Path, tmp_path: Path):
    told(repo).export(data / "export" / "session.json")
    told(tmp_path / "elsewhere", "ses_2").export(data / "export" / "other.json")
    report = answer("sync", "--repo", str(repo))
    assert (report["sessions"]["found"], report["sessions"]["new"], report["problems"]) == (1, 1, [])
    assert listed("--repo", str(repo)) == [("ses_1", 2)]
    assert sorted(listed("--all")) == [("ses_1", 2), ("ses_2", 2)]
    assert answer("sync", "--repo", str(repo))["sessions"]["unchanged"] == 1


def test_exports_are_read_from_a_folder_that_is_named(repo: Path, tmp_path: Path):
    folder = tmp_path / "my exports"
    folder.mkdir()
    told(repo).export(folder / "session.json")
    (folder / "notes.json").write_text('{"info": "none", "messages": []}', encoding="utf-8")
    (folder / "list.json").write_text("[]", encoding="utf-8")
    (folder / "log").mkdir()
    [agent] = answer("connect", "opencode", "--path", str(folder))["agents"]
    assert agent["sessions"] == 1
    report = answer("sync", "--repo", str(repo))
    assert (report["sessions"]["new"], report["problems"]) == (1, [])
    assert listed("--repo", str(repo)) == [("ses_1", 2)]


def test_opencode_s_own_files_are_not_taken_for_exports(repo: Path, data: Path):
    Store().rows(data / "opencode.db")
    told(repo, "ses_9").export(data / "auth.json")
    told(repo, "ses_8").export(data / "state.json")
    assert answer("sync", "--repo", str(repo))["sessions"]["found"] == 0
    assert listed("--all") == []


def test_a_session_exported_again_is_listed_once_as_its_newest_export_has_it(repo: Path, data: Path):
    store = told(repo)
    first = store.export(data / "export" / "a.json")
    os.utime(first, (1_000_000, 1_000_000))
    answer("sync", "--repo", str(repo))
    store.say("user", text("And now?"), path={"cwd": str(repo)})
    second = store.export(data / "export" / "b.json")
    report = answer("sync", "--repo", str(repo))
    assert report["sessions"]["found"] == 1
    assert listed("--all") == [("ses_1", 3)]
    assert len(answer("sessions", "show", "ses_1")["turns"]) == 3
    second.unlink()
    answer("sync", "--repo", str(repo))
    [left] = [one for one in answer("sessions", "list", "--all")["sessions"] if not one["gone"]]
    assert (left["turns"], left["place"]) == (2, str(first))


@pytest.mark.parametrize("other", ["database", "old files"])
def test_a_session_that_opencode_still_has_is_read_from_there(repo: Path, data: Path, other: str):
    store = told(repo)
    export = store.export(data / "export" / "session.json")
    answer("sync", "--repo", str(repo))
    assert [one["place"] for one in answer("sessions", "list", "--all")["sessions"]] == [str(export)]
    place = f"{store.rows(data / 'opencode.db')}#ses_1" if other == "database" else store.files(data / "storage")
    assert answer("sync", "--repo", str(repo))["sessions"]["found"] == 1
    assert [one["place"] for one in answer("sessions", "list", "--all")["sessions"]] == [str(place)]
    assert len(answer("sessions", "show", "ses_1")["turns"]) == 2


@pytest.mark.parametrize(
    "encode",
    [lambda words: words.encode("utf-16"), lambda words: words.encode("utf-8-sig")],
    ids=["as PowerShell writes it", "with a mark at the beginning"],
)
def test_an_export_in_another_encoding_is_read(repo: Path, data: Path, encode: Callable[[str], bytes]):
    path = told(repo).export(data / "export" / "session.json")
    path.write_bytes(encode(path.read_text(encoding="utf-8")))
    report = answer("sync", "--repo", str(repo))
    assert (report["sessions"]["new"], report["problems"]) == (1, [])
    assert listed("--repo", str(repo)) == [("ses_1", 2)]


def test_messages_whose_ids_were_cut_out_of_an_export_keep_their_own_words(repo: Path, data: Path):
    path = told(repo).export(data / "export" / "session.json")
    kept = json.loads(path.read_text(encoding="utf-8"))
    for message in kept["messages"]:
        message["parts"].append({**message["parts"][0], "text": "And more."})
        for one in (message["info"], *message["parts"]):
            one["id"] = "REDACTED"
    path.write_text(json.dumps(kept), encoding="utf-8")
    answer("sync", "--repo", str(repo))
    turns = answer("sessions", "show", "ses_1")["turns"]
    assert [one["text"].split() for one in turns] == [
        ["Why", "is", "retry", "slow?", "And", "more."],
        ["It", "waits.", "And", "more."],
    ]
    assert len({one["id"] for one in turns}) == 2


def test_many_parts_whose_ids_were_cut_out_of_an_export_keep_their_order(repo: Path, data: Path):
    path = told(repo).export(data / "export" / "session.json")
    kept = json.loads(path.read_text(encoding="utf-8"))
    [part] = kept["messages"][0]["parts"]
    kept["messages"][0]["parts"] = [{**part, "id": "REDACTED", "text": f"word{number}"} for number in range(3_000)]
    path.write_text(json.dumps(kept), encoding="utf-8")
    answer("sync", "--repo", str(repo))
    first = answer("sessions", "show", "ses_1", "--turn", "0")["turns"][0]
    assert first["text"].split()[:3] == ["word0", "word1", "word2"]


def test_an_export_that_was_cut_short_is_reported_and_read_once_it_is_whole(repo: Path, data: Path):
    path = told(repo).export(data / "export" / "session.json")
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    report = answer("sync", "--repo", str(repo), code=3)
    assert [one["path"] for one in report["problems"]] == [str(path)]
    path.write_bytes(whole)
    assert answer("sync", "--repo", str(repo))["problems"] == []
    assert listed("--repo", str(repo)) == [("ses_1", 2)]


def test_an_export_without_messages_is_a_session_in_which_nothing_was_said(repo: Path, data: Path):
    path = data / "export" / "session.json"
    path.write_text(json.dumps({"info": told(repo).info}), encoding="utf-8")
    assert answer("sync", "--repo", str(repo))["problems"] == []
    assert listed("--all") == []
