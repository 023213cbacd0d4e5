"""Reading lines in any pieces gives what reading them at once gives; no bytes whatever raise out of a reader."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import claude_lines
import codex_lines
import copilot_cli_lines
import reading_laws as laws
from lerim.errors import TranscriptError
from lerim.sessions.model import UNKNOWN_FORM, Readable, Transcript
from lerim.sessions.readers import copilot_family as copilot
from lerim.sessions.readers import find_working_folder
from lerim.sessions.readers.claude import store as claude
from lerim.sessions.readers.codex import store as codex
from lerim.sessions.readers.engine.line_stream import HEAD_BYTES
from reading_laws import SETTINGS

Record = dict[str, Any]


def claude_records() -> st.SearchStrategy[Record]:
    lines = claude_lines
    words = st.sampled_from(
        [
            "use uv, not pip",
            "ok",
            "",
            "<system-reminder>x</system-reminder>hi",
            "ünï \u2028 code",
            "/model",
            "<bash-input>ls</bash-input>",
            "<bash-stdout>a.py</bash-stdout><bash-stderr></bash-stderr>",
        ]
    )
    messages = st.sampled_from(["m1", "m2", "m3", "m4"])
    natives = st.sampled_from(["t1", "t2", "t3", "t4", "REDACTED"])
    usages = st.builds(lambda i, o: {"input_tokens": i, "output_tokens": o}, st.integers(0, 9), st.integers(0, 99))
    blocks = st.one_of(
        words.map(lines.text),
        natives.map(lambda native: lines.call(native, "Bash", command="pytest -q")),
        natives.map(lambda native: lines.call(native, "Edit", file_path="/a/b.py", old_string="a", new_string="b")),
        words.map(lambda said: {"type": "thinking", "thinking": said}),
    )
    operations = st.sampled_from(["enqueue", "dequeue", "remove", "popAll"])
    return st.one_of(
        st.builds(lines.prompt, words),
        st.builds(lambda said: lines.prompt([lines.text(said)], promptSource="queued"), words),
        st.builds(lambda message, block, usage: lines.reply(message, block, usage=usage), messages, blocks, usages),
        st.builds(lambda message, block: lines.reply(message, block, isSidechain=True), messages, blocks),
        st.builds(lambda native, said, bad: lines.answer(native, said, is_error=bad), natives, words, st.booleans()),
        natives.map(lambda native: lines.reply("m1", lines.call(native, "ExitPlanMode", plan="Cache it"))),
        natives.map(lambda native: lines.reply("m2", lines.call(native, "AskUserQuestion", question="Which?"))),
        st.builds(lambda native, said: lines.answer(native, said, toolDenialKind="user-rejected"), natives, words),
        st.builds(lines.queued, words),
        st.builds(lambda kind, said: lines.queue(kind, content=said), operations, words),
        st.just({"type": "summary", "summary": "A title", "leafUuid": "00000001-0000-4000-8000-000000000000"}),
        st.just(lines.prompt([lines.text("[Request interrupted by user]")])),
        st.just(lines.envelope("progress", data={"type": "bash_progress"})),
        st.just(lines.envelope("system", subtype="api_error", version="2.1.40")),
    )


def codex_records() -> st.SearchStrategy[Record | list[Record]]:
    lines = codex_lines
    words = st.sampled_from(
        [
            "use uv, not pip",
            "ok",
            "",
            "<environment_context><cwd>/elsewhere</cwd></environment_context>",
            "<user_shell_command><command>ls</command><result>Exit code: 1\nOutput:\nno</result></user_shell_command>",
            "ünï \u2028 code",
            "# Context from my IDE setup:\n## My request for Codex:\nuse uv, not pip",
        ]
    )
    natives = st.sampled_from(["c1", "c2", "c3", "c4", "REDACTED"])
    tasks = st.sampled_from(["0199aaaa-0000-7000-8000-000000000001", "0199ffff-0000-7000-8000-000000000002", None])
    question = [{"id": "q", "question": "Which?"}]
    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n-a\n+b\n*** End Patch"
    of_call: list[Callable[[str], Record]] = [
        lambda native: lines.run(native, "pytest -q"),
        lambda native: lines.patch(native, patch),
        lambda native: lines.call(native, "write_stdin", session_id=7, chars=""),
        lambda native: lines.call(native, "update_plan", plan=[{"step": "Test", "status": "pending"}]),
        lambda native: lines.call(native, "request_user_input", questions=question),
        lambda native: lines.item("web_search_call", id=native, action={"query": "uv"}),
        lambda native: lines.output(native, '{"answers":{"q":{"answers":["uv"]}}}'),
        lambda native: lines.output(native, "aborted by user after 2s"),
        lambda native: lines.event("exec_command_end", call_id=native, exit_code=3),
        lambda native: lines.event("patch_apply_end", call_id=native, changes={"/w/a.py": {}}, success=True),
        lambda native: lines.event("patch_apply_end", call_id=native, changes={}, success=False),
        lambda native: lines.event("mcp_tool_call_end", call_id=native, result={"Err": "no"}),
        lambda native: lines.event("mcp_tool_call_end", call_id=native, result={"Err": "user rejected it"}),
    ]
    return st.one_of(
        words.map(lines.prompt),
        words.map(lines.said),
        words.map(lambda text: lines.message("user", text)),
        words.map(lambda text: lines.event("user_message", message=text)),
        words.map(lambda text: lines.message("assistant", text)),
        words.map(lambda text: lines.event("agent_message", message=text)),
        words.map(lambda text: lines.item("reasoning", summary=[{"type": "summary_text", "text": text}])),
        *(natives.map(make) for make in of_call),
        st.builds(lines.ran, natives, st.sampled_from([0, 1, 124]), words),
        st.builds(lines.runs_on, natives, st.just(7), words),
        st.builds(lines.spent, st.integers(0, 99), st.integers(0, 9), st.integers(0, 9)),
        tasks.map(lambda task: lines.event("task_started", turn_id=task)),
        tasks.map(lambda task: lines.line("turn_context", turn_id=task, cwd="/home/ana/lib", model="gpt-5.5")),
        st.just(lines.event("task_complete")),
        st.just(lines.event("turn_aborted", reason="interrupted")),
        st.just(lines.event("error", message="overloaded")),
        st.just(lines.meta("0199bbbb-0000-7000-8000-00000000000b")),
        st.just(lines.line("compacted", message="", replacement_history=[])),
        st.just(lines.event("agent_reasoning", text="**Thinking**")),
    )


def copilot_records() -> st.SearchStrategy[Record]:
    lines = copilot_cli_lines
    words = st.sampled_from(
        ["use uv, not pip", "ok", "", "ünï \u2028 code", '<skill-context name="x">a</skill-context>']
    )
    natives = st.sampled_from(["t1", "t2", "t3", "t4", "REDACTED"])
    messages = st.sampled_from(["m1", "m2", "m3"])
    calls = st.one_of(
        natives.map(lambda native: lines.asked(native, "bash", {"command": "make"})),
        natives.map(lambda native: lines.asked(native, "read_bash", {"shellId": "7"})),
        natives.map(lambda native: lines.asked(native, "stop_bash", {"shellId": "7"})),
        natives.map(lambda native: lines.asked(native, "edit", {"path": "/a", "old_str": "a", "new_str": "b"})),
        natives.map(lambda native: lines.asked(native, "ask_user", {"question": "Which?", "choices": ["a"]})),
    )
    running = "<command with shellId: 7 is still running after 30 seconds.>"
    denied = {"kind": "denied-interactively-by-user", "feedback": "no"}
    return st.one_of(
        st.builds(lines.prompt, words),
        st.builds(lambda text: lines.prompt(text, source="system"), words),
        st.builds(
            lambda message, text, asked: lines.reply(message, text, *asked),
            messages,
            words,
            st.lists(calls, max_size=2),
        ),
        st.builds(lambda text: lines.reply("m9", text, parentToolCallId="t1"), words),
        st.builds(lambda native: lines.started(native, "bash", {"command": "ls"}), natives),
        st.builds(lines.ran, natives, st.sampled_from([0, 1]), words, st.just(7)),
        st.builds(lambda native: lines.done(native, running), natives),
        st.builds(lambda native: lines.done(native, "User selected: a"), natives),
        st.builds(lambda native: lines.done(native, "no", success=False), natives),
        st.builds(lambda native: lines.event("permission.completed", toolCallId=native, result=denied), natives),
        st.builds(
            lambda native: lines.event(
                "tool.user_requested", toolCallId=native, toolName="bash", arguments={"command": "ls"}
            ),
            natives,
        ),
        st.builds(lambda: lines.event("abort", reason="user")),
        st.builds(lambda: lines.event("session.error", message="x")),
        st.builds(lambda: lines.event("session.resume", context={"cwd": "/home/ana/lib", "branch": "dev"})),
        st.builds(lambda: lines.event("session.model_change", newModel="gpt-5.5")),
        st.builds(lambda: lines.event("hook.start", input={"x": [{}, {}]})),
        st.builds(lambda: lines.shut(inputTokens=9)),
    )


@dataclass(frozen=True, repr=False)
class Agent:
    """How sessions of an agent begin and go on, and what reads them."""

    starts: tuple[tuple[Record, ...], ...]
    records: st.SearchStrategy[Any]
    transcript: Callable[[Path], Transcript]
    reader: Any

    def opened(self, path: Path, resume: bytes | None = None, *, brief: bool = False) -> Readable:
        reading: Readable = self.reader.open_session(self.transcript(path), resume, brief=brief)
        return reading

    def draw(self, data: st.DataObject, most: int) -> list[Record]:
        """The records of a session."""
        parts = [
            *data.draw(st.sampled_from(self.starts)),
            *data.draw(st.lists(self.records, min_size=1, max_size=most)),
        ]
        return flat(parts)


def flat(parts: list[Any]) -> list[Record]:
    return [one for part in parts for one in (part if isinstance(part, list) else [part])]


CODEX_STARTS = (
    (codex_lines.meta(),),
    (codex_lines.meta(source={"subagent": {"thread_spawn": {"parent_thread_id": "p"}}}),),
    (codex_lines.meta(source={"subagent": {"other": "guardian"}}),),
    (codex_lines.meta(forked_from_id="0199bbbb-0000-7000-8000-00000000000b"),),
    ({"id": codex_lines.THREAD, "timestamp": "2025-08-01T00:00:00Z", "instructions": None},),
)
CLAUDE = Agent(((),), claude_records(), claude_lines.transcript, claude)
CODEX = Agent(CODEX_STARTS, codex_records(), codex_lines.transcript, codex)
COPILOT = Agent(((copilot_cli_lines.start(),),), copilot_records(), copilot_cli_lines.transcript, copilot)
AGENTS = pytest.mark.parametrize("agent", [CLAUDE, CODEX, COPILOT], ids=["claude", "codex", "copilot"])


def joined(records: list[Record], glue: list[bool]) -> bytes:
    """Lines, some of which hold two records or more."""
    pairs = zip(records, glue, strict=True)
    return b"".join(claude_lines.encoded(one)[:-1] + (b"" if glued else b"\n") for one, glued in pairs)


@AGENTS
@SETTINGS
@given(data=st.data())
def test_reading_in_any_pieces_or_in_brief_gives_what_reading_at_once_gives(
    agent: Agent, tmp_path: Path, data: st.DataObject
) -> None:
    records = agent.draw(data, 30)
    glue = st.lists(st.booleans(), min_size=len(records), max_size=len(records))
    whole = joined(records, data.draw(glue))
    at_once = laws.grows_to_the_same(
        agent.opened, tmp_path, whole, data.draw(st.lists(st.integers(0, len(whole)), max_size=6))
    )
    assert at_once.problems == []
    path = tmp_path / "whole.jsonl"
    laws.is_taken_up_after_any_turn(agent.opened, path)
    again, brief = agent.opened(path), agent.opened(path, brief=True)
    laws.is_brief_without_loss(brief, again)
    if agent is not CODEX:  # a brief reading of Codex leaves out reasoning, which a whole one would hold back
        assert brief.resume == again.resume


@AGENTS
@SETTINGS
@given(data=st.data(), change=st.integers(0, 10_000), byte=st.integers(1, 255))
def test_a_file_rewritten_at_its_head_is_read_from_the_start(
    agent: Agent, tmp_path: Path, data: st.DataObject, change: int, byte: int
) -> None:
    path = tmp_path / "one.jsonl"
    whole = claude_lines.encoded(*agent.draw(data, 20))
    path.write_bytes(whole)
    first = agent.opened(path)
    list(first)
    offset = json.loads(first.resume)["offset"]
    if offset == 0:
        return
    at = change % min(offset, HEAD_BYTES)
    path.write_bytes(whole[:at] + bytes([whole[at] ^ byte]) + whole[at + 1 :])
    second = agent.opened(path, first.resume)
    assert (list(second), second.restarted) == (list(agent.opened(path)), True)


@SETTINGS
@given(parts=st.lists(CODEX.records, max_size=20))
def test_a_fork_of_codex_gives_the_turns_it_copied_the_ids_they_have(tmp_path: Path, parts: list[Any]) -> None:
    lines = codex_lines
    records = [one for one in flat(parts) if one["type"] != "session_meta"]
    parent, _ = lines.turns_of(tmp_path, lines.meta(), *records)
    forked = lines.meta("0199cccc-0000-7000-8000-00000000000c", forked_from_id=lines.THREAD)
    fork, _ = lines.turns_of(tmp_path, forked, lines.meta(), *records, lines.prompt("and now?"))
    assert [turn.id for turn in fork][: len(parent)] == [turn.id for turn in parent]


JUNK = laws.junk("type", "text", "id", "input", "command", "usage", "x")


def with_junk(data: st.DataObject, record: Record) -> Record:
    """A record with some fields, at any depth, replaced by values of any type."""
    record = json.loads(json.dumps(record))
    for _ in range(data.draw(st.integers(0, 3))):
        place: Any = record
        while True:
            key = data.draw(st.sampled_from(list(place) if isinstance(place, dict) else list(range(len(place)))))
            if isinstance(place[key], dict | list) and place[key] and data.draw(st.booleans()):
                place = place[key]
                continue
            place[key] = data.draw(JUNK)
            break
    extra = ["toolUseResult", "origin", "attachment", "message", "content", "planContent", "toolDenialKind", "payload"]
    for key in data.draw(st.lists(st.sampled_from(extra), max_size=2)):
        record[key] = data.draw(JUNK)
    return record


@AGENTS
@SETTINGS
@given(data=st.data(), resume=st.none() | st.binary(max_size=40))
def test_fields_of_any_type_never_raise(
    agent: Agent, tmp_path: Path, data: st.DataObject, resume: bytes | None
) -> None:
    path = tmp_path / "odd.jsonl"
    odd = [with_junk(data, one) for one in agent.draw(data, 8)]
    path.write_bytes(b"".join(json.dumps(one).encode() + b"\n" for one in odd))
    done = laws.stands(agent.opened, path, resume)
    told = [one.message for one in done.problems if one.code != UNKNOWN_FORM]
    assert all("text" in one or "could not be read" in one for one in told)
    find_working_folder(agent.transcript(path))


@AGENTS
@SETTINGS
@given(data=st.data(), changes=laws.CHANGES, noise=st.binary(max_size=400))
def test_changed_and_random_bytes_never_raise(
    agent: Agent, tmp_path: Path, data: st.DataObject, changes: list[tuple[int, bytes, int]], noise: bytes
) -> None:
    changed = laws.changed(claude_lines.encoded(*agent.draw(data, 8)), changes)
    for name, content in (("a.jsonl", changed), ("b.jsonl", noise)):
        path = tmp_path / name
        path.write_bytes(content)
        laws.stands(agent.opened, path)
        find_working_folder(agent.transcript(path))
    assert list(agent.opened(tmp_path / "b.jsonl")) == []


@pytest.mark.parametrize(("agent", "ending"), [(CODEX, ".jsonl.zst"), (CODEX, ".json"), (COPILOT, ".json")])
@SETTINGS
@given(noise=st.binary(max_size=400))
def test_random_bytes_in_other_files_are_no_transcript(agent: Agent, ending: str, tmp_path: Path, noise: bytes) -> None:
    path = tmp_path / f"a{ending}"
    path.write_bytes(noise)
    assert find_working_folder(agent.transcript(path)) == ""
    with suppress(TranscriptError):
        assert list(agent.opened(path)) == []
