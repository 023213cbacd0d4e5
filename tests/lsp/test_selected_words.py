"""Words that the person selects in a transcript become the evidence of the memory they add."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from claude_lines import answer, call, prompt, reply, text
from desk import desk_in
from lerim.lsp.protocol import core
from lerim.memory import MemoryRecord, parse_record
from proposals import review_paths
from terminal import answer as cli
from window import Editor

pytestmark = pytest.mark.asyncio

NAME = "11111111-2222-3333-4444-555555555555"
SECRET = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"


async def open_session(editor: Editor, isolated: Path) -> tuple[str, list[Any]]:
    """The id of a synced session about two files, and its turns."""
    path = str(editor.repo / "src/app.py")
    lines = [
        prompt("First read README.md"),
        reply("a", text("It is short.")),
        prompt(f"Round **late** in src/app.py, with the key {SECRET}. Never in src/missing.py."),
        reply("b", text("`load` rounds late now:\n\n- it is one line"), call("t", "Edit", file_path=path)),
        answer("t", "The file was updated."),
    ]
    desk_in(isolated, editor.repo).session(NAME, *lines)
    (editor.repo / "README.md").write_text("Read me.\n", encoding="utf-8")
    (editor.repo / ".lerim").mkdir(exist_ok=True)
    await editor.start()
    assert cli("sync", "--repo", str(editor.repo))["state"] == "done"
    [day] = (await editor.ask(core.SESSIONS_DAYS, {"everywhere": False})).days
    listed = await editor.ask(core.SESSIONS_LIST, {"day": day.day, "everywhere": False, "start": 0})
    id_ = listed.sessions[0].place
    return id_, (await editor.ask(core.SESSION_TURNS, {"id": id_, "start": 0, "count": 9})).turns


async def add(editor: Editor, id_: str, turn: str, words: str, **more: object) -> Any:
    selected = {"session": id_, "turn": turn, "text": words}
    given = {"root": editor.root, "kind": "decision", "title": f"Title of {words[:9]}", "selected": selected, **more}
    return await editor.ask(core.MEMORY_ADD, given)


def record_at(path: str) -> MemoryRecord:
    return parse_record(Path(path).read_text(encoding="utf-8"), Path(path))


async def test_the_selection_is_kept_as_the_quote_with_its_turn_speaker_session_and_files(
    editor: Editor, isolated: Path
) -> None:
    id_, turns = await open_session(editor, isolated)
    asked = await add(editor, id_, turns[2].turn, "Round late in src/app.py")
    assert (asked.ok, asked.code, asked.path) == (False, "ask-quotes", None), (
        "the first quote asks where quotes are kept"
    )
    done = await add(editor, id_, turns[2].turn, "Round late in src/app.py", quotes="shared")
    memory = record_at(done.path)
    [quote] = memory.evidence
    assert (quote.quote, quote.turn, quote.who) == ("Round **late** in src/app.py", turns[2].turn, "user")
    assert memory.source == f"claude:{NAME}#{turns[2].turn}"
    assert memory.references == ("src/app.py",), "a file that does not exist is no reference"
    assert memory.confidence == 0.9 and memory.verified
    assert (await editor.ask(core.REVIEW_UNDO, {"root": editor.root, "action": done.action})).ok
    assert Path(done.path).stem not in review_paths(editor.repo).store().all_ids()


async def test_an_agents_words_and_a_tools_are_named_as_theirs_and_quotes_can_stay_on_this_machine(
    editor: Editor, isolated: Path
) -> None:
    id_, turns = await open_session(editor, isolated)
    said = await add(editor, id_, turns[3].turn, "load rounds late now:\nit is one line", quotes="local")
    [quote] = record_at(said.path).evidence
    assert (quote.quote, quote.who) == ("", "assistant"), "the file names the turn and the speaker only"
    kept = review_paths(editor.repo).store().load_by_id(Path(said.path).stem).record.evidence
    assert kept[0].quote == "`load` rounds late now:\n\n- it is one line"
    ran = await add(editor, id_, turns[3].turn, "Edit")
    assert record_at(ran.path).evidence[0].who == "tool"


async def test_words_that_are_not_in_the_turn_are_no_evidence_and_a_secret_is_never_quoted(
    editor: Editor, isolated: Path
) -> None:
    id_, turns = await open_session(editor, isolated)
    typed = await add(editor, id_, turns[0].turn, "Round late in src/app.py")
    memory = record_at(typed.path)
    assert (memory.source, memory.evidence, memory.confidence) == ("manual", (), 0.95)
    across = await add(editor, id_, turns[2].turn, f"{turns[2].text}\nClaude Code 10:20\nload rounds", quotes="shared")
    [quote] = record_at(across.path).evidence
    assert quote.quote.startswith("Round **late** in src/app.py") and SECRET not in quote.quote
    assert len(quote.quote) <= 200
