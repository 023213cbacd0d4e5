"""Records become turns and totals; a bad line costs that line and nothing else."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

import claude_lines as lines
from claude_lines import answer, call, encoded, envelope, prompt, read, reading, reply, text
from lerim.errors import TranscriptError
from lerim.sessions.model import NO_TOKENS, Tokens, make_turn_id
from lerim.sessions.readers import read_session
from lerim.sessions.readers.engine.line_stream import LineStream


def texts(turns):
    return [turn.text for turn in turns]


# --- messages and totals -----------------------------------------------------------------------------------------


def test_the_records_of_one_api_message_are_one_turn(tmp_path):
    first = reply("m1", {"type": "thinking", "thinking": "Hm.", "signature": "x"})
    records = [
        prompt("Go"),
        first,
        reply("m1", text("I look.")),
        reply("m1", call("t1", "Read", file_path="/a")),
        answer("t1", "aaa"),
        reply("m1", call("t2", "Read", file_path="/b")),
        answer("t2", "bbb"),
        reply("m2", text("Done.")),
    ]
    turns, done = read(tmp_path, *records)
    assert [turn.ordinal for turn in turns] == [0, 1, 2]
    assert (turns[1].id, turns[1].kind) == (make_turn_id("claude", first["uuid"]), "reply")
    assert (turns[1].reasoning, turns[1].text) == ("Hm.", "I look.")
    assert [one.output for one in turns[1].tool_calls] == ["aaa", "bbb"]
    assert done.session.turns == 3


def test_tokens_are_counted_once_for_each_message_at_their_last_plausible_value(tmp_path):
    def said(message, output, read_before=7):
        usage = {"input_tokens": 2, "output_tokens": output, "cache_creation_input_tokens": 9}
        return reply(message, text("a"), usage={**usage, "cache_read_input_tokens": read_before})

    records = [said("m1", 1), said("m1", 40), said("m2", 5), said("m1", 40), said("m3", 10**30, -5)]
    turns, done = read(tmp_path, *records)
    assert [turn.tokens for turn in turns] == [Tokens(2, 40, 7, 9), Tokens(2, 5, 7, 9), Tokens(2, 0, 0, 9)]
    assert done.session.tokens == Tokens(6, 45, 14, 27)


OUR_OWN = "<lerim-memories>\n- Use uv\n</lerim-memories>"
INTERLEAVED = [reply("m1", text("a")), reply("m2", text("b")), reply("m1", text("c")), reply("m3", text("d"))]
ASKED = [reply("m1", call(f"t{n}", "Bash", command=str(n))) for n in range(3)]
COPIED = [prompt("Use uv"), reply("m1", call("t1", "Bash", command="x")), answer("t1", "no", is_error=True)]
SYNTHETIC = [
    reply("m1", text("No response requested."), model="<synthetic>"),
    reply("m2", text("API Error: 529"), isApiErrorMessage=True, error="overloaded"),
]
FILES: dict[str, tuple[list[Any], list[str], list[str], int]] = {
    "messages interleaved by old versions stay whole": (INTERLEAVED, ["a\n\nc", "b", "d"], [], 0),
    "results find their calls in any order": (
        [*ASKED, answer("t2", "two"), reply("m2", text("x")), answer("t0", "zero"), answer("t1", "one")],
        ["", "x"],
        ["zero", "one", "two"],
        0,
    ),
    "a result whose call is not here counts": ([prompt("Go"), answer("t9", "no", is_error=True)], ["Go"], [], 1),
    "what the agent itself says in the model's place is no turn": ([prompt("Go"), *SYNTHETIC], ["Go"], [], 0),
    "a record copied within one file counts once": ([*COPIED, *COPIED, *COPIED], ["Use uv", ""], ["no"], 1),
    "our own memories are cut out of answers and results": (
        [
            reply("m1", text(f"I was told:{OUR_OWN}"), call("t1", "Bash", command="x")),
            answer("t1", f"a{OUR_OWN}b"),
        ],
        ["I was told:"],
        ["ab"],
        0,
    ),
}


@pytest.mark.parametrize(("records", "said", "outputs", "errors"), FILES.values(), ids=FILES)
def test_records_become_turns_and_calls_with_their_results(tmp_path, records, said, outputs, errors):
    turns, done = read(tmp_path, *records)
    assert texts(turns) == said
    assert [one.output for turn in turns for one in turn.tool_calls] == outputs
    session = done.session
    assert (session.prompts, session.tool_calls, session.tool_errors) == (
        sum(turn.role == "user" for turn in turns),
        len(outputs),
        errors,
    )
    assert ("<synthetic>" in session.models, done.problems) == (False, [])


def test_a_session_knows_when_where_and_on_what_it_ran(tmp_path):
    records = [
        prompt("Go", timestamp="2026-03-01T10:00:00.000Z"),
        reply("m1", text("a"), timestamp="2026-03-01T09:00:00Z", cwd=r"C:\app", gitBranch="dev", version="2.1.101"),
        reply("m2", text("b"), timestamp="2026-03-01T13:00:00+02:00", model="claude-sonnet-4-5"),
        reply("m3", text("c"), timestamp="yesterday"),
        reply("m4", text("d"), timestamp="0001-01-01T00:00:00+14:00"),
    ]
    turns, done = read(tmp_path, *records)
    session = done.session
    assert (session.started, session.ended) == (
        datetime(2026, 3, 1, 9, tzinfo=UTC),
        datetime(2026, 3, 1, 11, tzinfo=UTC),
    )
    assert session.cwds == ("/home/ana/app", r"C:\app")
    assert session.branches == ("main", "dev")
    assert session.models == ("claude-opus-4-6", "claude-sonnet-4-5")
    assert (session.id, session.platform, session.parent) == (lines.SESSION, "claude", "")
    assert (turns[1].cwd, turns[1].branch) == (r"C:\app", "dev")
    assert turns[3].time is None


def test_the_title_is_the_last_custom_one_then_the_last_of_the_model_then_a_summary_then_the_prompt(tmp_path):
    first = prompt("Move   the project\nto uv")
    records = [first]

    def title():
        return read(tmp_path, *records)[1].session.title

    assert title() == "Move the project to uv"
    records.append({"type": "summary", "summary": "Elsewhere", "leafUuid": "11111111-0000-4000-8000-000000000000"})
    assert title() == "Move the project to uv"
    records.insert(0, {"type": "summary", "summary": "Here", "leafUuid": first["uuid"]})
    assert title() == "Here"
    records += [{"type": "ai-title", "aiTitle": "One"}, {"type": "ai-title", "aiTitle": "Two"}]
    assert title() == "Two"
    records += [{"type": "custom-title", "customTitle": "Mine"}, {"type": "ai-title", "aiTitle": "Three"}]
    assert title() == "Mine"


CLEARED = "<command-name>/clear</command-name>\n<command-message>clear</command-message>\n<command-args></command-args>"
SKILL = "<command-message>review</command-message>\n<command-name>/review</command-name>"
TEAM = '<teammate-message teammate_id="lead">\nYou are the tester.\n</teammate-message>'


@pytest.mark.parametrize(
    ("records", "title"),
    [
        ([prompt("Implement the following plan:\n\n# Plan: Sort the imports\n\n## Context")], "Plan: Sort the imports"),
        ([prompt("## Sort the imports ##\nAll of them.")], "Sort the imports"),
        ([prompt("Fix these:\n- one\n- two")], "Fix these: - one - two"),
        ([prompt("#12 is broken")], "#12 is broken"),
        ([prompt("# ")], "#"),
        ([prompt(CLEARED), prompt(SKILL), prompt("y")], "/review"),
        ([prompt(f"{SKILL}\n<command-args>the parser</command-args>"), prompt("y")], "/review the parser"),
        ([prompt(CLEARED), prompt("y"), prompt(SKILL)], "y"),
        ([prompt(TEAM), prompt("y")], "You are the tester."),
        ([prompt(TEAM.replace("You are the tester.", '{"type":"a","subject":"Test it"}'))], "Test it"),
        ([prompt(TEAM.replace("You are the tester.", '{"type":"idle"}')), prompt(TEAM)], "You are the tester."),
        ([prompt("Make a team"), prompt(TEAM)], "Make a team"),
        (
            [prompt("[$review](/home/ana/skills/review/SKILL.md) the [parser](a.py), not x[0](y z)")],
            "$review the parser, not x[0](y z)",
        ),
        (
            [prompt("Why do handlers[name](event) and `f()[0](x)` fail in ![shot](a.png)?")],
            "Why do handlers[name](event) and `f()[0](x)` fail in shot?",
        ),
        ([prompt(CLEARED), reply("m1", text("Hi"))], ""),
        ([prompt("."), prompt("ok"), prompt("Move the cart to a worker")], "Move the cart to a worker"),
        ([prompt("привет"), prompt("Переведи файл на русский")], "Переведи файл на русский"),
        ([prompt(SKILL), prompt("Look at the parser first")], "Look at the parser first"),
        ([prompt("[Image #1]"), prompt("Why is this button red?")], "Why is this button red?"),
        ([prompt("hi"), prompt("修复登录")], "修复登录"),
        ([prompt("Fix it"), prompt("and then the parser of dates")], "Fix it"),
        ([prompt("hi"), prompt("B"), prompt("yes")], "hi"),
        ([prompt("hi"), prompt("❯ npm test\n3 tests failed"), prompt("Why do they fail?")], "Why do they fail?"),
    ],
)
def test_the_first_thing_that_was_asked_gives_the_title(tmp_path, records, title):
    assert read(tmp_path, *records)[1].session.title == title


@pytest.mark.parametrize("tag", ["system-reminder", "lerim-memories", "fork-boilerplate"])
def test_what_a_subagent_was_asked_gives_its_title_without_what_is_injected_beside_it(tmp_path, tag):
    injected = f"<{tag}>\nUse uv.\n</{tag}>"
    more = prompt("Go on", isSidechain=True)
    for content in ("Find the parser", f"{injected}\n\nFind the parser", [text(injected), text("Find the parser")]):
        records = [prompt("[Request interrupted by user]", isSidechain=True), prompt(content, isSidechain=True), more]
        assert read(tmp_path, *records, name="agent-a1")[1].session.title == "Find the parser"
        assert read(tmp_path, *records)[1].session.title == ""  # within the parent's own file


def test_records_whose_ids_are_missing_or_were_replaced_by_a_redactor_are_turns_of_their_own(tmp_path):
    asked = [reply(f"m{n}", call("REDACTED", "Bash", command=str(n))) for n in range(2)]
    results = [answer("REDACTED", str(n)) for n in range(2)]
    bare = [{"type": "user", "message": {"content": said}} for said in ("a", "b")]
    bare += [{"type": "assistant", "message": {"content": said}} for said in ("c", "d")]
    redacted = [prompt(said, uuid="REDACTED") for said in ("e", "f")]
    turns, done = read(tmp_path, *bare, *redacted, asked[0], results[0], asked[1], results[1])
    assert texts(turns) == ["a", "b", "c", "d", "e", "f", "", ""]
    assert len({turn.id for turn in turns[:4]}) == 4
    assert [one.output for turn in turns for one in turn.tool_calls] == ["0", "1"]
    assert done.session.tool_calls == 2


def test_a_subagents_own_transcript_names_its_parent_and_holds_no_prompt(tmp_path):
    records = [prompt("Search", isSidechain=True, agentId="a1"), reply("m1", text("Found"), isSidechain=True)]
    path = tmp_path / lines.SESSION / "subagents" / "agent-a1.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(encoded(*records))
    turns, done = reading(path, parent=lines.SESSION)
    assert [(turn.role, turn.sidechain) for turn in turns] == [("assistant", True)]
    assert (done.session.id, done.session.parent, done.session.prompts) == ("agent-a1", lines.SESSION, 0)
    old, done = read(tmp_path, *records, name="agent-a1.jsonl")
    assert (len(old), done.session.parent) == (1, lines.SESSION)
    asked = [prompt("Go"), reply("m0", call("t1", "Task", prompt="Search", description="Find it"))]
    result = answer("t1", [text("Found it")], outcome={"status": "completed", "agentId": "a1", "content": []})
    turns, done = read(tmp_path, *asked, *records, result)  # within the parent's own file
    assert [(turn.role, turn.sidechain) for turn in turns] == [
        ("user", False),
        ("assistant", False),
        ("assistant", True),
    ]
    assert (turns[1].tool_calls[0].output, done.session.prompts) == ("Found it", 1)


def test_a_subagent_that_summarizes_the_session_for_the_program_makes_no_turns_but_its_tokens_count(tmp_path):
    asked = prompt("Summarize the conversation so far", isSidechain=True, agentId="acompact-1")
    turns, done = read(tmp_path, asked, reply("m1", text("We use uv"), isSidechain=True), name="agent-acompact-1")
    assert turns == []
    assert done.session.tokens != NO_TOKENS


# --- bad input -------------------------------------------------------------------------------------------------------

BROKEN = [
    b"not json\n",
    b'{"type":"user",\n',
    b"[1,2]\n",
    b'{"type":"user"}}\n',
    b'{"a":' + b"[" * 200_000 + b"]" * 200_000 + b"}\n",
    b"9" * 5000 + b"\n",
    b'{"x":"' + b"y" * (9 << 20) + b"\xff\n",  # too long to be repaired
    encoded(prompt("kept"))[:-1] + b"{broken\n",
]


@pytest.mark.parametrize("bad", BROKEN, ids=range(len(BROKEN)))
def test_a_bad_line_is_a_problem_that_says_where_and_the_rest_is_read(tmp_path, bad):
    turns, done = read(tmp_path, prompt("before"), bad, prompt("after"))
    assert texts(turns) == ["before", *(["kept"] if b"kept" in bad else []), "after"]
    assert [one.code for one in done.problems] == ["bad-line"]
    assert done.problems[0].path.startswith(str(tmp_path))
    assert "@" in done.problems[0].path


def test_empty_lines_unknown_records_and_several_records_on_a_line_are_no_problem(tmp_path):
    empty = [b"\n", b"  \r\n", b"\0\0\0\0\n", b'{"type":"unknown-to-us","x":[1]}\n', b"{}\n"]
    line = encoded(prompt("one"))[:-1] + encoded(reply("m1", text("two")))[:-1] + b"  " + encoded(prompt("three"))
    turns, done = read(tmp_path, prompt("before"), *empty, line)
    assert (texts(turns), done.problems) == (["before", "one", "two", "three"], [])


def test_invalid_utf8_lone_surrogates_and_nul_become_replacement_characters(tmp_path):
    odd = [b"\xff", b"\\ud83d", b"\\u0000", b"\0"]
    prompts = [encoded(prompt("a?b")).replace(b"?", character) for character in odd]
    asked = encoded(reply("m1", call("t1", "Bash", command="i?j"))).replace(b"?", b"\xff")
    result = encoded(answer("t1", "k?l", outcome={"x": "?"})).replace(b"?", b"\xff")
    turns, done = read(tmp_path, *prompts, asked, result)
    assert done.problems == []
    assert [turn.text for turn in turns[:4]] == ["a\ufffdb"] * 4
    made = turns[4].tool_calls[0]
    assert (made.command, made.output) == ("i\ufffdj", "k\ufffdl")


def test_line_separators_of_unicode_do_not_split_lines_and_crlf_ends_them(tmp_path):
    said = "a\u2028b\u2029c\x85d"
    turns, done = read(tmp_path, encoded(prompt(said))[:-1] + b"\r\n", prompt("x\r\ny"))
    assert texts(turns) == [said, "x\r\ny"]
    assert done.problems == []


def test_fields_of_a_wrong_type_are_left_out_and_the_rest_of_the_record_is_read(tmp_path):
    odd = prompt("Use uv", cwd=["/x"], gitBranch=7, timestamp=1700000000, isMeta="no", origin="human", version=None)
    blocks = reply("m1", text("Ok"), {"type": 5}, usage={"input_tokens": "many", "output_tokens": 4})
    blocks["message"]["content"].append("loose text")
    turns, done = read(tmp_path, odd, blocks, prompt({"text": "x"}), envelope("assistant", message="hello"))
    assert texts(turns)[:2] == ["Use uv", "Ok"]
    assert done.session.tokens.output == 4
    assert done.problems == []


def test_a_line_over_the_limit_is_skipped_as_a_problem(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"a\n" + b"b" * 50 + b"\n" + b"c\n" + b"d" * 30)
    with path.open("rb") as file:
        assert list(LineStream(file, 0, limit=20)) == [
            (0, 2, b"a\n", True),
            (2, 53, None, True),
            (53, 55, b"c\n", True),
            (55, 85, None, False),
        ]
    long = "word " * 600_000
    turns, done = read(tmp_path, prompt(long), b'{"x":"' + b"y" * (33 << 20) + b'"}\n', prompt("after"))
    assert texts(turns) == [long.strip(), "after"]
    assert "it is too long" in done.problems[0].message


@pytest.mark.parametrize("make", ["nothing", "folder"])
def test_a_transcript_that_cannot_be_opened_is_an_error_that_says_so(tmp_path, make):
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"")
    known = lines.transcript(path)
    path.unlink()
    if make == "folder":
        path.mkdir()
    with pytest.raises(TranscriptError, match=r"s\.jsonl"):
        list(read_session(known))
