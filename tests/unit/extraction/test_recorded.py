"""What the agent writes down of the person's words, in its own notes and in the project's files of rules."""

import pytest

from lerim.sessions.model import Edit, ToolCall, Turn
from scripted import ROOT, agent, candidates, edited, you

NOTE = (
    "---\nname: real-database\ndescription: Integration tests run against a real database, never a stub - owner\n"
    "metadata:\n  type: feedback\n---\n\nTests run on the real thing.\n\n**Why:** a stubbed migration passed and the "
    "real one failed.\n"
)


def note(text: str, kind: str = "write") -> Turn:
    path = "/home/kim/.claude/projects/-home-kim-shop/memory/real-database.md"
    call = ToolCall("note", "Write", "write", "ok", paths=(path,), edits=(Edit(path, "", text),))
    return agent("Noted.", call)


def test_a_note_of_the_agent_is_a_memory_with_the_persons_words_as_evidence() -> None:
    [found] = candidates(
        you("look at tests/db"),
        agent("ok"),
        you("those integration tests hit a stub database, that burned us"),
        note(NOTE),
        you("ok"),
    )
    assert found.title == "Integration tests run against a real database, never a stub"
    assert (found.signal, found.primitive, found.kind) == ("rule", "learning", "preference")
    assert [quote.who for quote in found.evidence] == ["user", "assistant"]
    assert "A stubbed migration passed and the real one failed." in found.body
    assert found.confidence == 0.9


@pytest.mark.parametrize(
    "text",
    [
        NOTE.replace("feedback", "user"),
        NOTE.replace("feedback", "reference"),
        NOTE.replace("Integration tests run against a real database, never a stub - owner", "Where things stand"),
        NOTE.replace("---\n", "", 1),
    ],
)
def test_notes_on_other_things_give_nothing(text: str) -> None:
    turns = (you("those integration tests hit a stub database, that burned us"), note(text), you("ok"))
    assert candidates(you("look at tests/db"), agent("ok"), *turns) == []


def test_a_note_on_what_the_person_did_not_speak_of_gives_nothing() -> None:
    assert candidates(you("hello"), agent("ok"), you("is the kitchen open?"), note(NOTE), you("ok")) == []


def saved(name: str, fact: str) -> Turn:
    return agent("Saved.", ToolCall("m", name, "other", "ok", command=fact))


@pytest.mark.parametrize("name", ["save_memory", "store_memory", "update_memory"])
def test_a_fact_saved_with_a_tool_is_a_memory_where_the_person_spoke_of_it(name: str) -> None:
    said = "please keep in mind that pnpm installs the packages here, npm breaks the lockfile"
    fact = "The user prefers pnpm over npm for installing packages."
    [found] = candidates(you("hi"), agent("hello"), you(said), saved(name, fact), you("ok"))
    assert found.title == "Prefer pnpm over npm for installing packages"
    assert (found.signal, found.primitive, found.kind) == ("rule", "learning", "preference")
    assert [quote.who for quote in found.evidence] == ["user", "assistant"]
    unheard = (you("hi"), agent("hello"), you("is the kitchen open?"), saved(name, fact), you("ok"))
    assert candidates(*unheard) == []
    idle = (you("hi"), agent("ok"), you("my birthday is in May, remember"), saved(name, "The birthday is in May."))
    assert candidates(*idle, you("ok")) == []


@pytest.mark.parametrize(
    "file",
    [
        "CLAUDE.md",
        "AGENTS.md",
        "GEMINI.md",
        ".cursor/rules/db.mdc",
        ".cursor/commands/commit.md",
        ".github/copilot-instructions.md",
        ".github/instructions/db.instructions.md",
        ".opencode/agents/review.md",
        ".codex/prompts/release.md",
    ],
)
def test_the_line_added_to_a_file_of_rules_is_kept_where_the_person_asked_for_it(file: str) -> None:
    old = "# Rules\n\n- Run `make lint` before a commit\n"
    new = f"{old}- Migrations are never edited after a release; add a new file\n- Be kind\n"
    [found] = candidates(
        you("why was the migration edited after the release? that bit us, write it down"),
        agent("Writing it down.", edited(file, old, new)),
        you("thanks"),
    )
    assert found.title == "Migrations are never edited after a release; add a new file"
    assert found.references == (file,)
    assert found.evidence[1].quote == "Migrations are never edited after a release; add a new file"


def test_documentation_that_is_written_or_restored_gives_nothing() -> None:
    lines = "\n".join(f"- Step {number} of the release must always be done in order" for number in range(80))
    turns = (you("please restore the release steps in AGENTS.md"), agent("", edited("AGENTS.md", "", lines)), you("ok"))
    assert candidates(*turns) == []


def test_lines_that_stood_there_before_or_say_nothing_of_it_give_nothing() -> None:
    old = "- Migrations are never edited after a release\n"
    turns = (
        you("mention the mirror of the migration files after the release"),
        agent("", edited("AGENTS.md", old, f"{old}- Colours must never be mixed\n")),
    )
    assert candidates(*turns, you("ok")) == []


def test_a_rule_in_a_file_outside_the_repository_gives_nothing() -> None:
    path = "/home/kim/.claude/CLAUDE.md"
    call = ToolCall(
        "w", "Edit", "edit", "ok", paths=(path,), edits=(Edit(path, "", "- Always answer in German words\n"),)
    )
    assert not path.startswith(ROOT)
    assert candidates(you("the answer should come in German words"), agent("", call), you("ok")) == []


def test_a_rule_that_is_read_back_after_it_was_written_is_still_new() -> None:
    line = "- Migrations are never edited after a release\n"
    whole = f"{ROOT}/CLAUDE.md"
    shown = ToolCall("r", "Read", "read", "ok", paths=(whole,), output=f"1  # Rules\n2  {line}")
    written = edited("CLAUDE.md", "# Rules\n", f"# Rules\n{line}")
    told = ToolCall(written.id, "Edit", "edit", "ok", paths=written.paths, edits=written.edits, output=shown.output)
    turns = (you("why was the migration edited after the release? that bit us"), agent("", told), agent("", shown))
    assert [item.title for item in candidates(*turns, you("ok"))] == ["Migrations are never edited after a release"]


def test_a_note_that_was_there_before_and_is_written_again_is_not_new() -> None:
    path = "/home/kim/.claude/projects/-home-kim-shop/memory/real-database.md"
    read = ToolCall("r", "Read", "read", "ok", paths=(path,), output=NOTE)
    before = (you("look at tests/db"), agent("", read))
    asked = you("those integration tests hit a stub database, that burned us")
    assert candidates(*before, asked, note(NOTE), you("ok")) == []


def test_a_line_that_only_its_heading_ties_to_what_the_person_said_gives_nothing() -> None:
    old = "# Rules\n"
    new = f"{old}\n**No backfill of ticket numbers.** Code older than `a1b2c3d` must not be touched for it.\n"
    turns = (you("no backfill of the ticket numbers please"), agent("", edited("CLAUDE.md", old, new)), you("ok"))
    assert candidates(*turns) == []
