"""Hostile memories, through every event of the hook program: none leaves its marks or adds a line."""

from __future__ import annotations

import json
import os
import random
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hook_program import DAY, HookProgram
from lerim.hook.program import match
from lerim.memory import Evidence, MemoryRecord, render_memory_line
from lerim.memory.serving.agent_text import MAX_LINE_CHARS
from lerim.paths import Home
from lerim.project import locate_project
from long import at_most
from test_agent_text import HOSTILE, check_harmless, texts

EVENTS = at_most(120, 8)
MEMORIES = 80 * EVENTS + 400
KINDS = ("decision", "pitfall", "friction", "question")


@given(texts, texts, texts, texts, texts)
def test_a_memory_is_one_harmless_line_within_its_limit(
    title: str, body: str, place: str, quote: str, detail: str
) -> None:
    record = MemoryRecord(
        *("20260302-x", "decision", title, DAY, DAY, "claude:s#t", 0.9, (), body),
        references=(place,),
        evidence=(Evidence(quote, "abc123", "user"),),
    )
    line = render_memory_line(record, detail)
    assert line.startswith("- decision: ") and line.endswith("id 20260302-x)") and len(line) <= MAX_LINE_CHARS
    check_harmless(line.removeprefix("- "))


def test_no_hostile_memory_leaves_its_marks_at_any_event(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The memories are given to the program's index as a person's own, so that none is left out for what it says."""
    home = Home.from_environ(os.environ)
    project = locate_project(repo, home)
    assert project is not None
    program = HookProgram(project, home)
    draw = random.Random(5)
    (project.memory_dir / "decisions").mkdir(parents=True)
    program.refresh()
    lines = [_hostile_line(draw, number) for number in range(MEMORIES)]
    _plant(program, lines)
    given_lines = 0
    for number in range(EVENTS):
        at = number * 80
        words = f"zq{at}x vw{at}y"
        session = f"s{number}"
        for text in (
            program.ask(words, session),
            program.read(f"src/f{at + 1}.py", session),
            program.tell(
                "PostToolUseFailure",
                session,
                tool_name="Bash",
                tool_input={"command": "x"},
                error=f"zq{at + 2}x vw{at + 2}y",
            ),
            program.edit(f"src/f{at + 5}.py", session),
            program.tell("SessionStart", session, source="startup") if number < 3 else "",
        ):
            given_lines += _check_fenced(text)
    assert given_lines > 2.5 * EVENTS


def _hostile_line(draw: random.Random, number: int) -> tuple[str, str]:
    """A line as the index has it, and the kind of its memory."""
    hostile = ["".join(draw.choices(HOSTILE, k=draw.randint(1, 5))) for _ in range(3)]
    kind = KINDS[number % 4]
    primitive = "learning" if kind in ("pitfall", "friction") else kind
    record = MemoryRecord(
        f"20260302-m{number}",
        primitive,  # type: ignore[arg-type]
        f"zq{number}x vw{number}y {hostile[0]}",
        DAY,
        DAY + timedelta(minutes=number),
        "manual",
        0.9,
        (),
        hostile[1],
        kind=kind if primitive == "learning" else None,  # type: ignore[arg-type]
        references=(f"src/f{number}.py", hostile[2]),
    )
    return render_memory_line(record), kind


def _plant(program: HookProgram, lines: list[tuple[str, str]]) -> None:
    """Fills the index with lines whose files are unchanged."""
    import sqlite3
    from contextlib import closing

    file = program.project.root / "README.md"
    state = file.stat()
    stamp = (str(file), state.st_mtime_ns, state.st_size)
    with closing(sqlite3.connect(program.index)) as db, db:
        db.execute("UPDATE meta SET value = '1' WHERE name = 'deny_once'")
        for number, (text, kind) in enumerate(lines):
            terms = match.list_terms(f"zq{number}x vw{number}y")
            db.execute(
                f"INSERT INTO memories VALUES ({','.join('?' * 15)})",
                (number, f"20260302-m{number}", "project", kind, number, text, *stamp, 1, 1, "", "", 2.0, 0.0),
            )
            db.execute("INSERT INTO places VALUES (?, ?, '', '', ?)", (f"src/f{number}.py", f"f{number}.py", number))
            for at, term in enumerate(terms):
                db.execute("INSERT INTO terms VALUES (?, ?, 1.0)", (number * 8 + at, term))
                db.execute("INSERT INTO postings VALUES (?, 0, ?)", (number * 8 + at, number))
        sections = {"decision": "decided", "question": "open", "pitfall": "drifted"}
        rows = [(sections[kind], row, "") for row, (_, kind) in enumerate(lines[:40]) if kind in sections]
        db.executemany("INSERT INTO start (section, row, since) VALUES (?, ?, ?)", sorted(rows))


def _check_fenced(text: str) -> int:
    """Checks one answer; returns how many memories it gives."""
    if not text:
        return 0
    lines = text.split("\n")
    if lines[0].startswith("Before this edit: "):
        lines = lines[1:]
    assert (lines[0], lines[-1]) == ("<lerim-memories>", "</lerim-memories>"), text
    given_lines = [line for line in lines[1:-1] if line.startswith("- ")]
    for line in given_lines:
        check_harmless(line.removeprefix("- "))
    heads = [line for line in lines[1:-1] if not line.startswith("- ")]
    assert all(head.endswith((":", ".")) and "‹" not in head and len(head) < 100 for head in heads), heads
    assert text.count("lerim-memories>") == 2
    return len(given_lines)


@given(
    st.lists(st.sampled_from(["alpha", "bravo", "carrot", "delta", "echoes", "foxtrot"]), max_size=8),
    st.integers(1, 100),
)
def test_the_score_is_the_share_of_rare_words_and_needs_two_of_them(words: list[str], memories: int) -> None:
    own = match.list_terms("alpha bravo carrot delta")
    weights = {term: match.weigh_term(1, memories) for term in own}
    found = set(match.list_terms(" ".join(words))) & set(own)
    score = match.share_found(sum(weights[term] for term in found), sum(weights.values()), len(found))
    assert score == pytest.approx(len(found) / 4 if len(found) >= 2 else 0.0)


@given(texts)
def test_any_text_has_terms_paths_and_symbols_in_time(text: str) -> None:
    assert json.dumps([match.list_terms(text), match.find_paths(text), match.find_symbols(text)])
