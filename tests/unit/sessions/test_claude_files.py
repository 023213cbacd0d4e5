"""Transcripts are found by looking, not by opening them; one that grew or was rewritten is taken up where it was left.

`tests/properties/test_line_readers.py` has what must be true however a file grew."""

from __future__ import annotations

import json

from claude_lines import call, encoded, envelope, prompt, read, reading, reply, text
from lerim.sessions.model import StoreContents, Transcript
from lerim.sessions.readers import find_working_folder
from lerim.sessions.readers.claude.store import scan_root
from lerim.sessions.readers.engine.turn_drafts import RESULT_PATIENCE


def first_cwd(path):
    return find_working_folder(Transcript("claude", path, "s", 1, 1, 1))


def touch(path, content=b"x"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def test_sessions_and_subagents_of_every_layout_are_found(tmp_path):
    assert scan_root(tmp_path / "nowhere") == StoreContents()
    project = tmp_path / "projects" / "-home-ana-app"
    touch(project / "s1.jsonl", b"1234")
    touch(project / "agent-old.jsonl")
    touch(project / "s1" / "subagents" / "agent-a1.jsonl")
    touch(project / "s1" / "subagents" / "workflows" / "wf_1" / "agent-a2.jsonl")
    for other in ("s1/subagents/agent-a1.meta.json", "s1/tool-results/x.txt", "sessions-index.json", "memory/a.md"):
        touch(project / other)
    touch(tmp_path / "projects" / "stray.jsonl")
    touch(tmp_path / "history.jsonl")
    store = scan_root(tmp_path)
    found = {(one.session_id, one.parent): one.stamp for one in store.transcripts}
    assert store.problems == []
    assert set(found) == {("s1", ""), ("agent-old", ""), ("agent-a1", "s1"), ("agent-a2", "s1")}
    known = (project / "s1.jsonl").stat()
    assert found["s1", ""] == (4, known.st_mtime_ns, known.st_ino)


def test_the_first_working_directory_is_that_of_the_first_turn_that_names_one(tmp_path):
    path = touch(
        tmp_path / "s.jsonl", b'bad\n{"type":"summary","summary":"x"}\n' + encoded(prompt("Go", cwd="/a"), prompt("x"))
    )
    assert first_cwd(path) == "/a"
    far = encoded(envelope("system", cwd="", content="x" * 300_000), prompt("Go", cwd="/b"))
    assert first_cwd(touch(tmp_path / "far.jsonl", far)) == "/b"
    assert first_cwd(tmp_path / "gone.jsonl") == ""
    assert first_cwd(touch(tmp_path / "empty.jsonl", b"")) == ""


# --- files that grow ------------------------------------------------------------------------------------------


def texts(turns):
    return [turn.text for turn in turns]


def grow(path, *records):
    with path.open("ab") as file:
        file.write(b"".join(one if isinstance(one, bytes) else encoded(one) for one in records))


def offset(done):
    return json.loads(done.resume)["offset"]


def test_only_what_is_new_and_what_was_open_is_read_again(tmp_path):
    records = [prompt("Go"), *(reply(f"m{n}", text(str(n))) for n in range(20))]
    first, done = read(tmp_path, *records)
    _, same = reading(done.path, done.resume)
    assert (same.session, same.resume) == (done.session, done.resume)
    grow(done.path, reply("m20", text("20")))
    again, more = reading(done.path, done.resume)
    assert texts(again) == ["18", "19", "20"]
    assert [turn.id for turn in again[:2]] == [turn.id for turn in first[-2:]]
    assert [turn.ordinal for turn in again] == [19, 20, 21]
    assert (more.session.turns, more.session.prompts, more.session.title) == (22, 1, "Go")
    assert not more.restarted


def test_a_session_whose_position_an_earlier_version_stored_keeps_its_title(tmp_path):
    _, done = read(tmp_path, prompt("Fix the cart"), *(reply(f"m{n}", text(str(n))) for n in range(20)))
    position = json.loads(done.resume)
    position["tally"] |= {"first_request": "", "first_prompt": "Fix the cart"}
    grow(done.path, prompt("Commit it"))
    _, more = reading(done.path, json.dumps(position).encode())
    assert (more.session.title, more.restarted) == ("Fix the cart", False)


def test_a_call_that_never_gets_a_result_does_not_hold_the_offset_for_ever(tmp_path):
    stuck = [prompt("Go"), reply("lost", call("t0", "Bash", command="x"))]
    waiting = [reply(f"m{n}", text("a")) for n in range(RESULT_PATIENCE + 5)]
    _, done = read(tmp_path, *stuck, *waiting)
    held = offset(done)
    assert held == len(encoded(stuck[0]))
    grow(done.path, prompt("What now?"), reply("m98", text("b")), reply("m99", text("c")))
    turns, more = reading(done.path, done.resume)
    assert turns[0].tool_calls[0].status == "pending"
    assert offset(more) > held + len(encoded(*waiting)) - 1


def test_a_rewritten_file_or_an_unknown_resume_state_means_reading_from_the_start(tmp_path):
    old = [prompt("Go"), *(reply(f"m{n}", text("old")) for n in range(5))]
    _, done = read(tmp_path, *old)
    for content in (encoded(prompt("New")), encoded(prompt("New"), *old[1:], *old), b""):
        done.path.write_bytes(content)
        turns, again = reading(done.path, done.resume)
        assert again.restarted
        assert turns == reading(done.path)[0]
    _, done = read(tmp_path, prompt("Go"))
    for state in (b"x", b"{}", b'{"format":0}', b"\xff", b"[" * 100_000):
        turns, again = reading(done.path, state)
        assert (texts(turns), again.restarted) == (["Go"], True)
