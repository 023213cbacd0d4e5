"""The boundary around every reader: whatever goes wrong inside is the problem of one session, and what Lerim gave an
agent is not read again as something the session found out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import claude_lines
import gemini_files
from lerim.errors import LerimError, Problem, ReaderError, TranscriptError
from lerim.memory import fence_items
from lerim.sessions.model import Session, Transcript, Turn
from lerim.sessions.readers.engine import ASKS_MARK, MEMORIES_TAG
from lerim.sessions.readers.platform_readers import GuardedReading, read_session

TRANSCRIPT = Transcript("codex", Path("/store/rollout.jsonl"), "s", 1, 1, 1)
SECRET = "what the person said"


class Failing:
    """A reading whose reader has a fault."""

    session = Session("s", "codex", TRANSCRIPT.path)
    resume = b""
    restarted = False
    ids = None

    def __init__(self, error: BaseException | None, problems: list[Problem] | None = None) -> None:
        self.error = error
        self.problems = problems or []

    def __iter__(self) -> Iterator[Turn]:
        yield from ()
        if self.error:
            raise self.error

    def checkpoint(self) -> bool:
        if self.error:
            raise self.error
        return False


@pytest.mark.parametrize("error", [KeyError(SECRET), MemoryError(), UnicodeDecodeError("utf-8", b"x", 0, 1, SECRET)])
def test_a_fault_of_a_reader_is_told_with_agent_place_and_line_and_without_words_of_the_session(
    error: Exception,
) -> None:
    with pytest.raises(ReaderError) as raised:
        list(GuardedReading(TRANSCRIPT, Failing(error)))
    told = str(raised.value)
    assert "Codex" in told
    assert str(TRANSCRIPT.path) in told
    assert SECRET not in told
    assert ("memory" if isinstance(error, MemoryError) else f"{type(error).__name__} in ") in told


def test_an_error_of_the_system_is_one_that_is_tried_again_also_while_the_position_is_saved() -> None:
    reading = GuardedReading(TRANSCRIPT, Failing(OSError(5, "Input/output error")))
    for act in (lambda: list(reading), reading.checkpoint):
        with pytest.raises(TranscriptError, match="Input/output error") as raised:
            act()
        assert type(raised.value) is TranscriptError
        assert isinstance(raised.value.__cause__, OSError)


@pytest.mark.parametrize("code", ["bad-line", "bad-row", "bad-record", "unreadable"])
def test_a_session_of_which_nothing_could_be_read_is_an_error_that_says_why(code: str) -> None:
    problems = [Problem("broken-log", "/store", "A log was ignored."), Problem(code, "/store", "It is torn")]
    with pytest.raises(TranscriptError) as raised:
        list(GuardedReading(TRANSCRIPT, Failing(None, problems)))
    assert raised.value.message == "Nothing of this session of Codex could be read. It is torn."


@pytest.mark.parametrize("error", [KeyboardInterrupt(), LerimError("said so"), TranscriptError("gone")])
def test_an_interrupt_and_our_own_errors_pass_as_they_are(error: BaseException) -> None:
    with pytest.raises(type(error)) as raised:
        list(GuardedReading(TRANSCRIPT, Failing(error)))
    assert raised.value is error


def written(folder: Path, *prompts: str) -> Iterator[Transcript]:
    """The same short session as two agents keep it, in lines and as a whole."""
    claude = folder / "claude.jsonl"
    replies = [claude_lines.reply(f"a{number}", claude_lines.text("We keep cents.")) for number in range(len(prompts))]
    spoken = [one for pair in zip(map(claude_lines.prompt, prompts), replies, strict=True) for one in pair]
    claude.write_bytes(claude_lines.encoded(*spoken))
    yield claude_lines.transcript(claude)
    chat = gemini_files.chats(folder) / "session-2026-05-04T09-00-abcdef12.json"
    messages = [one for words in prompts for one in (gemini_files.prompt(words), gemini_files.reply("We keep cents."))]
    yield gemini_files.transcript(gemini_files.whole(chat, *messages))


def test_a_session_in_which_lerim_asked_an_agent_is_passed_over(tmp_path: Path) -> None:
    asked = f"{ASKS_MARK}\nWhat was decided here? No, always use pathlib."
    for transcript in written(tmp_path, asked, "and that?"):
        assert [turn.text for turn in read_session(transcript)] == [], transcript.platform
    for transcript in written(tmp_path, "Keep cents.", f"{ASKS_MARK} is in the log, why?"):
        assert len(list(read_session(transcript))) == 4, "later in a session it hides nothing"


# --- what Lerim gave an agent ----------------------------------------------------------------------------------------

FENCED = "<lerim-memories>\n[1] decision: Use uv\n</lerim-memories>"


def output_of(tmp_path: Path, output: str, name: str = "Read", **asked: str) -> str:
    path = tmp_path / f"{claude_lines.SESSION}.jsonl"
    path.write_bytes(
        claude_lines.encoded(
            claude_lines.prompt("Add a test"),
            claude_lines.reply("m1", claude_lines.call("c1", name, **asked)),
            claude_lines.answer("c1", output),
            claude_lines.reply("m2", claude_lines.text("Done.")),
        )
    )
    turn = list(read_session(claude_lines.transcript(path)))[1]
    [call] = turn.tool_calls
    return call.output


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("mcp__lerim__recall", ""),
        ("mcp__plugin_lerim_lerim__why", ""),
        ("lerim-sessions", ""),
        ("mcp_lerim_x", ""),
        ("mcp__galerim__search", "\nOne more."),
    ],
)
def test_the_answer_of_our_tool_is_left_out_under_every_name_an_agent_gives_it(
    tmp_path: Path, name: str, kept: str
) -> None:
    assert output_of(tmp_path, f"{FENCED}\nOne more.", name) == kept


@pytest.mark.parametrize(
    ("command", "is_left_out"),
    [
        ("lerim memory search uv", True),
        ("/home/ana/.venv/bin/lerim ask why", True),
        ("pytest tests/lerim", False),
        ("lerim memory search uv && pytest", False),
        ("pytest; lerim memory search uv", False),
        ("git add .lerim/memory && git commit -m x && pytest", False),
        ("lerim sync\npytest | tail -3", False),
        ("cd /home/ana/shop && lerim ask 'why; and && how' | head -3", True),
        ("export CI=1; FOLDER=/tmp\n# what is known\nlerim status || lerim sync", True),
        ('lerim memory add --title "Use uv; pytest" --body "a && b"', True),
    ],
)
def test_what_our_commands_printed_is_left_out_unless_other_programs_printed_too(
    tmp_path: Path, command: str, is_left_out: bool
) -> None:
    assert output_of(tmp_path, "3 passed", "Bash", command=command) == ("" if is_left_out else "3 passed")


@pytest.mark.parametrize("fenced", [FENCED, FENCED.replace("<", "&lt;").replace(">", "&gt;")])
def test_memories_that_stand_in_another_result_or_in_a_rules_file_are_cut_out(tmp_path: Path, fenced: str) -> None:
    assert output_of(tmp_path, f"x = 1\n{fenced}\ny = 2") == "x = 1\n\ny = 2"
    assert output_of(tmp_path, f"x = 1\n{fenced[:30]}") == "x = 1\n"  # an end that was cut off takes the rest along
    block = "<!-- lerim:begin v1 sha=0 -->\n- decision: Use uv\n<!-- lerim:end -->"
    assert output_of(tmp_path, f"# Rules\n{block}\nBe kind.", file_path="AGENTS.md") == "# Rules\n\nBe kind."
    assert output_of(tmp_path, f"# Rules\n{block[:45]}", file_path="AGENTS.md") == "# Rules\n"


@pytest.mark.parametrize(
    ("path", "kept"),
    [
        (".lerim/memory/decisions/20260101-use-uv.md", ""),
        ("/home/ana/shop/.lerim/review/20260101-use-uv.md", ""),
        (".claude/rules/lerim-src.md", ""),
        (".cursor/rules/lerim-src.mdc", ""),
        (".agents/skills/lerim/SKILL.md", ""),
        ("docs/lerim-notes.md", "Use uv"),
        ("src/rules/own.md", "Use uv"),
        ("lerim/memory/store.py", "Use uv"),
    ],
)
def test_what_was_read_from_our_own_files_is_left_out(tmp_path: Path, path: str, kept: str) -> None:
    assert output_of(tmp_path, "Use uv", file_path=path) == kept
    assert output_of(tmp_path, "Use uv", "Bash", command=f"cat {path}") == kept


def test_the_marks_that_memories_are_given_in_are_the_ones_that_are_cut_out() -> None:
    assert fence_items(["x"]) == f"<{MEMORIES_TAG}>\nx\n</{MEMORIES_TAG}>"
