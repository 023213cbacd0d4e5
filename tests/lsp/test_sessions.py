"""Sessions over the wire: days, lists, search, a transcript by pages, the agents and the queue."""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from claude_lines import Fields, answer, call, prompt, reply, text
from desk import desk_in
from lerim.lsp.protocol import core
from lerim.sessions.catalog.catalog import Catalog
from proposals import review_paths
from terminal import answer as cli
from window import Editor, JsonRpcException

pytestmark = pytest.mark.asyncio

SECRET = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
FIRST = "11111111-2222-3333-4444-555555555555"
SECOND = "22222222-2222-3333-4444-555555555555"
THIRD = "33333333-2222-3333-4444-555555555555"


def talk(repo: Path) -> list[Fields]:
    path = str(repo / "src" / "app.py")
    return [
        prompt(f"Use the key {SECRET} for src/app.py \u202eplease"),
        reply("a", text("I run the tests."), call("t1", "Bash", command="pytest -q")),
        answer("t1", "Exit code 2\n1 failed, 3 passed", is_error=True),
        reply(
            "b",
            text("Now `getUserName` is mended."),
            call("t2", "Edit", file_path=path, old_string="a", new_string="b"),
        ),
        answer("t2", "The file was updated."),
        prompt("thanks"),
    ]


def synced(editor: Editor) -> None:
    assert cli("sync", "--repo", str(editor.repo))["state"] == "done"


async def the_session(editor: Editor) -> Any:
    [day] = (await editor.ask(core.SESSIONS_DAYS, {"everywhere": False})).days
    listed = await editor.ask(core.SESSIONS_LIST, {"day": day.day, "everywhere": False, "start": 0})
    assert listed.total == day.sessions == len(listed.sessions) == 1
    return listed.sessions[0]


async def test_the_title_of_a_call_says_what_the_agent_asked_of_the_tool(editor: Editor, isolated: Path) -> None:
    folder = str(editor.repo / "src")
    asked = [
        (call("t1", "Grep", pattern="def total", path=folder), "1 file"),
        (call("t2", "WebFetch", url="https://example.org/a", prompt="What is it?"), "A page."),
        (call("t3", "Task", description="Find the tests", prompt="Look everywhere."), "None."),
        (call("t4", "Read", file_path=f"{folder}/app.py"), "a = 1"),
        (call("t5", "Glob", pattern="*.py"), "No such folder."),
        (call("t6", "TodoWrite", todos=[{"content": "Round once", "status": "pending"}]), "Saved."),
        (call("t7", "mcp__docs__ask", repo="a/b", question="Where is it?"), "In src."),
    ]
    lines = [reply(f"m{number}", block) for number, (block, _) in enumerate(asked)]
    results = [answer(f"t{number + 1}", text, is_error=number == 4) for number, (_, text) in enumerate(asked)]
    desk_in(isolated, editor.repo).session(FIRST, prompt("Look at it"), *lines, *results, prompt("thanks"))
    synced(editor)
    await editor.start()
    session = await the_session(editor)
    turns = (await editor.ask(core.SESSION_TURNS, {"id": session.place, "start": 0, "count": 10})).turns
    assert [(done.title, done.text) for turn in turns for done in turn.calls] == [
        (f"Grep {folder} · def total", ""),
        ("WebFetch · https://example.org/a", ""),
        ("Task · Find the tests", ""),
        (f"Read {folder}/app.py", ""),
        ("Glob · *.py", "*.py\nNo such folder."),
        ("TodoWrite · Round once", ""),
        ("mcp__docs__ask · repo: a/b, question: Where is it?", ""),
    ]


async def test_a_session_that_repeats_turns_of_another_says_where_they_are(editor: Editor, isolated: Path) -> None:
    lines = [prompt("Round once"), reply("a", text("Done.")), prompt("thanks")]
    desk = desk_in(isolated, editor.repo)
    for session in (FIRST, SECOND):
        desk.session(session, *lines)
    desk.session(THIRD, lines[0], reply("b", text("Why?")))
    synced(editor)
    await editor.start()
    [day] = (await editor.ask(core.SESSIONS_DAYS, {"everywhere": False})).days
    listed = await editor.ask(core.SESSIONS_LIST, {"day": day.day, "everywhere": False, "start": 0})
    opened = [await editor.ask(core.SESSION_OPEN, {"id": one.place, "turn": ""}) for one in listed.sessions]
    assert sorted(one.note for one in opened) == [
        "",
        "1 of its turns was copied from the session that it continues or was forked from, and is shown there.",
        "All of its turns were copied from the session that it continues or was forked from, and are shown there.",
    ]


async def test_sessions_are_listed_by_day_with_what_they_are_made_of_and_without_secrets(
    editor: Editor, isolated: Path, tmp_path: Path
) -> None:
    desk_in(isolated, editor.repo).session(FIRST, *talk(editor.repo))
    desk_in(isolated, tmp_path / "elsewhere").session(SECOND, prompt("hello"), reply("z", text("Hi.")))
    await editor.start()
    assert (await editor.ask(core.SESSIONS_DAYS, {"everywhere": True})).days == []
    assert not (isolated / ".lerim").exists(), "asking makes no catalog"
    synced(editor)
    one = await the_session(editor)
    assert (one.id, one.platform, one.agent, one.gone) == (FIRST, "claude", "Claude Code", False)
    assert (one.prompts, one.toolCalls, one.toolErrors) == (2, 2, 1)
    assert one.title.startswith("Use the key [redacted:") and "\u202e" not in one.title
    assert SECRET not in str(one)
    everywhere = (await editor.ask(core.SESSIONS_DAYS, {"everywhere": True})).days
    assert sum(day.sessions for day in everywhere) == 2


async def test_a_subagent_s_session_whose_parent_is_missing_is_listed_and_says_so(
    editor: Editor, isolated: Path
) -> None:
    path = desk_in(isolated, editor.repo).session(FIRST, reply("a", text("It is a shop."), isSidechain=True))
    subagent = path.with_suffix("") / "subagents" / "agent-a1.jsonl"
    subagent.parent.mkdir(parents=True)
    path.rename(subagent)
    await editor.start()
    synced(editor)
    one = await the_session(editor)
    assert (one.id, one.parent, one.parentMissing) == ("agent-a1", FIRST, True)


async def test_a_transcript_comes_by_pages_clean_and_with_how_each_call_ended(editor: Editor, isolated: Path) -> None:
    desk_in(isolated, editor.repo).session(FIRST, *talk(editor.repo))
    (editor.repo / ".lerim").mkdir()
    await editor.start()
    synced(editor)
    one = await the_session(editor)
    opened = await editor.ask(core.SESSION_OPEN, {"id": one.place, "turn": ""})
    assert (opened.kinds, opened.at, opened.session.place) == ("prrp", -1, one.place)
    assert len(opened.sizes) == 4
    lines = opened.summary.splitlines()
    assert lines[0].startswith("A Claude Code session of 2 prompts"), "the title of the session is not said twice"
    assert "- Your last words: “thanks”" in lines
    assert not any(re.search(r"\[[0-9a-f]{12}", line) for line in lines), "ids of turns mean nothing to a person"
    assert SECRET not in opened.summary and "\u202e" not in opened.summary
    page = await editor.ask(core.SESSION_TURNS, {"id": one.place, "start": 0, "count": 3})
    first, second, third = page.turns
    assert first.text.startswith("Use the key [redacted:") and "U+202E" in first.text
    assert [(done.title, done.status, done.exitCode) for done in second.calls] == [("$ pytest -q", "error", 2)]
    assert "1 failed" in second.calls[0].text
    assert [(done.title, done.status) for done in third.calls] == [(f"Edit {editor.repo}/src/app.py", "ok")]
    last = await editor.ask(core.SESSION_TURNS, {"id": one.place, "start": 3, "count": 3})
    assert [turn.text for turn in last.turns] == ["thanks"]
    at = await editor.ask(core.SESSION_OPEN, {"id": one.place, "turn": third.turn})
    assert at.at == 2
    found = await editor.ask(core.SESSION_FIND, {"id": one.place, "text": "GETusername"})
    assert found.positions == [2]
    assert [done.edits for done in (*second.calls, *third.calls)] == [False, True]
    unknown = await editor.refused(core.SESSION_OPEN, {"id": "nowhere", "turn": ""})
    assert unknown.data["kind"] == "not-found"


async def test_the_edits_and_the_output_of_a_call_are_read_from_its_transcript_without_secrets(
    editor: Editor, isolated: Path
) -> None:
    path = str(editor.repo / "src" / "app.py")
    edits = [{"old_string": "a = 1\n", "new_string": f"key = '{SECRET}'\n"}, {"old_string": "b", "new_string": "c"}]
    made = call("t1", "MultiEdit", file_path=path, edits=edits)
    path_of_session = desk_in(isolated, editor.repo).session(
        FIRST,
        prompt("change it"),
        reply("a", call("t0", "Read", file_path=path), made),
        answer("t0", f"a = 1\nkey = {SECRET}\n"),
        answer("t1", "The file was updated."),
        prompt("thanks"),
    )
    (editor.repo / ".lerim").mkdir()
    await editor.start()
    synced(editor)
    one = await the_session(editor)
    turn = (await editor.ask(core.SESSION_TURNS, {"id": one.place, "start": 1, "count": 1})).turns[0]
    assert [done.edits for done in turn.calls] == [False, True]
    [edit] = (await editor.ask(core.SESSION_CALL, {"id": one.place, "turn": turn.turn, "call": 1})).edits
    assert (edit.path, edit.old) == (path, "a = 1\n\n⋯\nb")
    assert edit.new.startswith("key = '[redacted:") and edit.new.endswith("⋯\nc")
    read = await editor.ask(core.SESSION_CALL, {"id": one.place, "turn": turn.turn, "call": 0})
    assert (read.edits, read.outputCut) == ([], 0)
    assert read.output.startswith("a = 1\nkey = [redacted:")
    for asked in ({"turn": turn.turn, "call": 7}, {"turn": "0" * 12, "call": 1}):
        refused = await editor.refused(core.SESSION_CALL, {"id": one.place, **asked})
        assert "not in the transcript" in refused.message
    message = await killed(editor, core.SESSION_CALL, {"id": one.place, "turn": turn.turn, "call": 0})
    assert message.startswith("The reading ended without an answer")
    assert await editor.ask(core.SESSION_CALL, {"id": one.place, "turn": turn.turn, "call": 0}) == read
    path_of_session.unlink()
    refused = await editor.refused(core.SESSION_CALL, {"id": one.place, "turn": turn.turn, "call": 1})
    assert "not in the transcript" in refused.message or "cannot be read" in refused.message, refused.message


async def killed(editor: Editor, method: str, params: object) -> str:
    """Asks, and kills the process that answers; returns the message. One that was quicker is asked again."""
    while True:
        asked = asyncio.create_task(editor.ask(method, params))
        await editor.until(lambda: asked.done() or editor.jobs())  # noqa: B023
        for job in editor.jobs():
            with suppress(psutil.NoSuchProcess):
                job.kill()
        try:
            await asked
        except JsonRpcException as error:
            return error.message


async def test_a_long_turn_is_cut_and_had_whole_when_asked_for(editor: Editor, isolated: Path) -> None:
    desk_in(isolated, editor.repo).session(FIRST, prompt("word " * 30_000), reply("a", text("Read.")))
    await editor.start()
    synced(editor)
    one = await the_session(editor)
    [cut, _] = (await editor.ask(core.SESSION_TURNS, {"id": one.place, "start": 0, "count": 9})).turns
    assert len(cut.text) == 20_000
    assert cut.left > 100_000
    [whole] = (await editor.ask(core.SESSION_TURNS, {"id": one.place, "start": 0, "count": 1, "whole": True})).turns
    assert len(whole.text) == len(cut.text) + cut.left
    assert whole.left == 0


async def test_an_answer_is_bounded_however_many_turns_are_asked_for(editor: Editor, isolated: Path) -> None:
    exchanges = [(prompt(f"part {n}"), reply(f"m{n}", text(f"{n} " + "words and words " * 600))) for n in range(60)]
    desk_in(isolated, editor.repo).session(FIRST, *(record for pair in exchanges for record in pair))
    await editor.start()
    synced(editor)
    one = await the_session(editor)
    start, seen = 0, []
    while turns := (await editor.ask(core.SESSION_TURNS, {"id": one.place, "start": start, "count": 500})).turns:
        assert sum(len(turn.text) for turn in turns) <= 210_000
        seen += [turn.turn for turn in turns]
        start += len(turns)
    assert len(seen) == len(set(seen)) == 120


async def test_search_finds_turns_with_filters_and_any_text_is_safe(editor: Editor, isolated: Path) -> None:
    desk_in(isolated, editor.repo).session(FIRST, *talk(editor.repo))
    await editor.start()
    ask = {"everywhere": False, "limit": 10}
    assert (await editor.ask(core.SESSIONS_SEARCH, {**ask, "query": "mended"})).hits == []
    synced(editor)
    hits = (await editor.ask(core.SESSIONS_SEARCH, {**ask, "query": "agent:claude mended"})).hits
    [hit] = [one for one in hits if "`getUserName` is mended" in one.snippet]
    assert (hit.platform, hit.role) == ("claude", "assistant")
    assert hit.id == (await the_session(editor)).place
    key = (await editor.ask(core.SESSIONS_SEARCH, {**ask, "query": "key please"})).hits[0]
    assert SECRET not in str(key) and "[redacted:" in key.snippet
    assert (await editor.ask(core.SESSIONS_SEARCH, {**ask, "query": "agent:codex mended"})).hits == []
    assert (await editor.ask(core.SESSIONS_SEARCH, {**ask, "query": "since:2d mended"})).problems == []
    refused = await editor.ask(core.SESSIONS_SEARCH, {**ask, "query": "agent:nobody since:never mended"})
    assert [problem.partition(":")[0] for problem in refused.problems] == ["agent", "since"]
    for odd in ('"', "C++ OR", "* NEAR(", "\x00", "路径", "'); DROP TABLE words; --", "file:", "🦉" * 5000):
        await editor.ask(core.SESSIONS_SEARCH, {**ask, "query": odd})


async def test_the_agents_say_what_was_found_and_can_be_connected_and_disconnected(
    editor: Editor, isolated: Path
) -> None:
    desk_in(isolated, editor.repo).session(FIRST, *talk(editor.repo))
    await editor.start()
    told = await editor.ask(core.AGENTS, {"root": None})
    claude = next(agent for agent in told.agents if agent.platform == "claude")
    assert (claude.name, claude.state, claude.sessions, claude.found, claude.waiting) == (
        "Claude Code",
        "connected",
        1,
        1,
        1,
    )
    synced(editor)
    told = await editor.ask(core.AGENTS, {"root": editor.root})
    claude = next(agent for agent in told.agents if agent.platform == "claude")
    assert (told.project, claude.parsed, claude.waiting) == (editor.repo.name, 1, 0)
    assert told.jobs == []
    step = {"platform": "claude", "action": "disconnect", "path": None}
    assert (await editor.ask(core.CONNECT, step)).ok
    told = await editor.ask(core.AGENTS, {"root": None})
    assert next(agent for agent in told.agents if agent.platform == "claude").state == "removed"
    assert (await editor.ask(core.CONNECT, {**step, "action": "connect"})).ok
    nowhere = {**step, "action": "connect", "path": str(isolated / "nowhere")}
    assert (await editor.refused(core.CONNECT, nowhere)).data["kind"] == "settings"
    assert (await editor.refused(core.CONNECT, {**step, "platform": "emacs"})).data["kind"] == "usage"


async def test_a_job_that_failed_is_shown_with_its_reason_retried_and_skipped(editor: Editor, isolated: Path) -> None:
    desk_in(isolated, editor.repo).session(FIRST, *talk(editor.repo))
    await editor.start()
    synced(editor)
    place = review_paths(editor.repo)
    with Catalog.open(place.home) as catalog:
        catalog.db.execute("UPDATE jobs SET state = 'pending', not_before = 0")
        job = catalog.claim_job(place.project.key)
        assert job
        catalog.fail_job(job, f"The reader stopped at {SECRET}.")
    [failed] = (await editor.ask(core.AGENTS, {"root": None})).jobs
    assert (failed.state, failed.tries) == ("failed", 1)
    assert failed.error.startswith("The reader stopped at [redacted:")
    assert failed.id == (await the_session(editor)).place
    assert (await editor.ask(core.QUEUE_ACT, {"job": failed.job, "action": "skip"})).ok
    assert (await editor.ask(core.AGENTS, {"root": None})).jobs == []
    assert (await editor.ask(core.QUEUE_ACT, {"job": failed.job, "action": "retry"})).ok
    assert not (await editor.ask(core.QUEUE_ACT, {"job": 999, "action": "retry"})).ok
