"""Sessions of OpenCode that a person exported to files, as `lerim sync` and `lerim sessions list` find them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from lerim.errors import TranscriptError
from lerim.sessions.readers.opencode import store as opencode
from opencode_store import Store, taken, text
from terminal import answer


@pytest.fixture
def data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """OpenCode's data folder with an empty folder for exports."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    folder = tmp_path / "share" / "opencode"
    (folder / "export").mkdir(parents=True)
    return folder


def session_in(directory: Path, native: str = "ses_1") -> Store:
    store = Store(native, directory=str(directory))
    store.say("user", text("Why is retry slow?"), path={"cwd": str(directory)})
    store.say("assistant", text("It waits."), path={"cwd": str(directory)})
    return store


def listed(*more: str) -> list[tuple[str, int]]:
    return sorted((one["id"], one["turns"]) for one in answer("sessions", "list", *more)["sessions"])


def test_an_export_under_any_name_is_read_and_belongs_to_the_project_it_names(repo: Path, data: Path, tmp_path: Path):
    session_in(repo).export(data / "export" / "session.json")
    session_in(tmp_path / "elsewhere", "ses_2").export(data / "export" / "other.json")
    for native, encoding in (("ses_3", "utf-16"), ("ses_4", "utf-8-sig")):
        path = session_in(repo, native).export(data / "export" / f"{native}.json")
        path.write_bytes(path.read_text(encoding="utf-8").encode(encoding))
    (data / "export" / "empty.json").write_text(json.dumps({"info": session_in(repo, "ses_5").info}), encoding="utf-8")
    (data / "opencode.db").touch()
    for name in ("auth", "state"):  # OpenCode's own files are no exports
        session_in(repo, f"ses_{name}").export(data / f"{name}.json")
    report = answer("sync", "--repo", str(repo))
    assert (report["sessions"]["new"], report["problems"]) == (3, [])
    assert listed("--repo", str(repo)) == [("ses_1", 2), ("ses_3", 2), ("ses_4", 2)]
    assert listed("--all") == [("ses_1", 2), ("ses_2", 2), ("ses_3", 2), ("ses_4", 2)]
    folder = tmp_path / "my exports"  # which is named
    folder.mkdir()
    session_in(repo, "ses_6").export(folder / "session.json")
    (folder / "notes.json").write_text('{"info": "none", "messages": []}', encoding="utf-8")
    (folder / "list.json").write_text("[]", encoding="utf-8")
    (folder / "log").mkdir()
    [agent] = answer("connect", "opencode", "--path", str(folder))["agents"]
    assert agent["sessions"] == 1
    report = answer("sync", "--repo", str(repo))
    assert (report["sessions"]["new"], report["problems"]) == (1, [])


def test_a_session_is_listed_once_from_its_newest_export_and_from_opencode_once_it_is_there(repo: Path, data: Path):
    def synced() -> list[tuple[int, str]]:
        answer("sync", "--repo", str(repo))
        sessions = answer("sessions", "list", "--all")["sessions"]
        return [(one["turns"], one["place"]) for one in sessions if not one["gone"]]

    store = session_in(repo)
    first = store.export(data / "export" / "a.json")
    os.utime(first, (1_000_000, 1_000_000))
    synced()
    store.say("user", text("And now?"), path={"cwd": str(repo)})
    second = store.export(data / "export" / "b.json")
    assert synced() == [(3, str(second))]
    assert len(answer("sessions", "show", "ses_1")["turns"]) == 3
    second.unlink()
    assert synced() == [(2, str(first))]
    file = store.files(data / "storage")
    assert synced() == [(3, str(file))]
    database = store.rows(data / "opencode.db")
    assert synced() == [(3, f"{database}#ses_1")]


def test_messages_and_parts_whose_ids_were_cut_out_of_an_export_keep_their_words_in_order(tmp_path: Path):
    store = session_in(tmp_path)
    for message in store.messages:
        [part] = message["parts"]
        message["parts"] = [part | {"text": f"{part['text']} {number}", "id": "REDACTED"} for number in range(3_000)]
        message["info"]["id"] = "REDACTED"
    store.export(tmp_path / "session.json")
    [transcript] = opencode.scan_root(tmp_path, ()).transcripts
    turns = taken(transcript)[1]
    assert [turn.text.split("\n")[0] for turn in turns] == ["Why is retry slow? 0", "It waits. 0"]
    assert turns[0].text.split() == [word for at in range(3_000) for word in f"Why is retry slow? {at}".split()]
    assert len({turn.id for turn in turns}) == 2


def test_an_export_that_was_cut_short_is_reported_and_read_once_it_is_whole(tmp_path: Path):
    path = session_in(tmp_path).export(tmp_path / "session.json")
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    [transcript] = opencode.scan_root(tmp_path, ()).transcripts
    with pytest.raises(TranscriptError, match="damaged or incomplete"):
        list(opencode.open_session(transcript))
    path.write_bytes(whole)
    [again] = opencode.scan_root(tmp_path, ()).transcripts
    assert again.stamp != transcript.stamp
    assert len(taken(again)[1]) == 2
