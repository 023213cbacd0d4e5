"""A transcript that grew, or was rewritten, is taken up where it was left."""

from __future__ import annotations

import json

import pytest

from claude_lines import answer, call, encoded, prompt, read, reading, reply, text
from lerim.sessions.readers.engine.turn_drafts import RESULT_PATIENCE


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
    grow(done.path, reply("m20", text("20")))
    again, more = reading(done.path, done.resume)
    assert texts(again) == ["18", "19", "20"]
    assert [turn.id for turn in again[:2]] == [turn.id for turn in first[-2:]]
    assert [turn.ordinal for turn in again] == [19, 20, 21]
    assert (more.session.turns, more.session.prompts, more.session.title) == (22, 1, "Go")
    assert not more.restarted


def test_an_unchanged_file_gives_the_same_session_again(tmp_path):
    _, done = read(tmp_path, prompt("Go"), reply("m1", text("Ok")))
    _, again = reading(done.path, done.resume)
    assert again.session == done.session
    assert again.resume == done.resume


def test_a_half_written_last_line_is_left_for_the_next_pass_without_a_problem(tmp_path):
    whole = encoded(reply("m1", text("Ok")))
    for half in (whole[:10], whole[: len(whole) // 2], whole[:-2]):
        turns, done = read(tmp_path, prompt("Go"), half)
        assert (texts(turns), done.problems) == (["Go"], [])
        grow(done.path, whole[len(half) :])
        again, more = reading(done.path, done.resume)
        assert (texts(again), more.problems) == (["Ok"], [])


def test_a_last_line_that_only_lacks_its_end_of_line_is_read(tmp_path):
    turns, done = read(tmp_path, prompt("Go"), encoded(prompt("on"))[:-1])
    assert texts(turns) == ["Go", "on"]
    grow(done.path, b"\n", prompt("more"))
    again, more = reading(done.path, done.resume)
    assert texts(again) == ["more"]
    assert more.problems == []


def test_a_call_gets_the_result_that_was_written_after_the_first_pass(tmp_path):
    _, done = read(tmp_path, prompt("Go"), reply("m1", call("t1", "Bash", command="pytest")))
    grow(done.path, answer("t1", "Exit code 1\nno", is_error=True))
    turns, more = reading(done.path, done.resume)
    assert [one.exit_code for one in turns[0].tool_calls] == [1]
    assert (more.session.tool_calls, more.session.tool_errors) == (1, 1)


def test_a_block_that_came_after_the_next_message_began_is_not_torn_from_its_turn(tmp_path):
    records = [
        reply("m1", text("a")),
        reply("m2", call("t2", "Bash", command="x")),
        reply("m1", text("late")),
        reply("m3", text("c")),
        reply("m4", text("d")),
    ]
    first, done = read(tmp_path, *records)
    grow(done.path, answer("t2", "ok"))
    again, _ = reading(done.path, done.resume)
    merged = {turn.id: turn for turn in first} | {turn.id: turn for turn in again}
    assert texts(sorted(merged.values(), key=lambda turn: turn.ordinal)) == ["a\n\nlate", "", "c", "d"]


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


def test_a_rewritten_or_truncated_file_is_noticed_and_read_from_the_start(tmp_path):
    old = [prompt("Go"), *(reply(f"m{n}", text("old")) for n in range(5))]
    _, done = read(tmp_path, *old)
    for content in (encoded(prompt("New")), encoded(prompt("New"), *old[1:], *old), b""):
        done.path.write_bytes(content)
        turns, again = reading(done.path, done.resume)
        assert again.restarted
        assert turns == reading(done.path)[0]


@pytest.mark.parametrize("state", [b"x", b"{}", b"[]", b'{"format":0}', b"\xff", b"[" * 100_000])
def test_a_resume_state_that_makes_no_sense_means_reading_from_the_start(tmp_path, state):
    _, done = read(tmp_path, prompt("Go"))
    turns, again = reading(done.path, state)
    assert again.restarted
    assert texts(turns) == ["Go"]
