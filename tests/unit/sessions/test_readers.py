"""The boundary around every reader: whatever goes wrong inside is the problem of one session."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import claude_lines
import gemini_files
from lerim.errors import LerimError, Problem, ReaderError, TranscriptError
from lerim.sessions.model import Session, Transcript, Turn
from lerim.sessions.readers.engine.typed_text import ASKS_MARK
from lerim.sessions.readers.platform_readers import GuardedReading, read_session

TRANSCRIPT = Transcript("codex", Path("/store/rollout.jsonl"), "s", 1, 1, 1)
SECRET = "what the person said"


class Failing:
    """A reading whose reader has a fault."""

    session = Session("s", "codex", TRANSCRIPT.path)
    resume = b""
    restarted = False
    ids = None

    def __init__(self, error: BaseException) -> None:
        self.error = error
        self.problems: list[Problem] = []

    def __iter__(self) -> Iterator[Turn]:
        yield from ()
        raise self.error

    def checkpoint(self) -> bool:
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


def test_an_error_of_the_system_keeps_being_one_that_is_tried_again() -> None:
    with pytest.raises(TranscriptError) as raised:
        list(GuardedReading(TRANSCRIPT, Failing(PermissionError(13, "Permission denied"))))
    assert type(raised.value) is TranscriptError
    assert isinstance(raised.value.__cause__, PermissionError)


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


def test_words_of_ours_later_in_a_session_hide_nothing_of_it(tmp_path: Path) -> None:
    for transcript in written(tmp_path, "Keep cents.", f"{ASKS_MARK} is in the log, why?"):
        assert len(list(read_session(transcript))) == 4, transcript.platform
