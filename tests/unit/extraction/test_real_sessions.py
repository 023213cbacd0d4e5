"""Over real sessions: every proposal quotes what was said by who said it, word for word, and they are few."""

import re
from pathlib import Path

import pytest

from lerim.extraction.candidate import Candidate, DroppedSignal
from lerim.extraction.facts.title import MAX_TITLE_CHARS
from lerim.extraction.pipeline import MAX_REPORTED_BELOW_CUT, Extraction
from lerim.extraction.ranking.ranker import max_proposals
from lerim.memory.record import Speaker
from lerim.redaction.hidden import show_hidden
from lerim.sessions.model import Platform, Turn
from lerim.sessions.readers.platform_readers import find_sessions, read_session
from long import LONG

RANKED = ("prompt", "answer", "feedback", "plan", "reply")
MARKS = re.compile(r"\*\*|__")
LINK = re.compile(r"!?\[([^\[\]\n]+)\]\([^()\s]+\)")


FOLDERS = {"claude": "claude", "codex": "codex", "copilot": "copilot/cli", "gemini": "gemini", "opencode": "opencode"}
"""Where the real sessions of each agent are."""


def said(turn: Turn, who: Speaker) -> str:
    """All that one speaker said in a turn, as its reader gives it."""
    calls = turn.tool_calls
    if who == "user":
        answers = [one.answer for call in calls for one in call.answers]
        return turn.text if turn.role == "user" else "\n".join([*(call.feedback for call in calls), *answers])
    if who == "assistant":
        asked = [f"{one.question}\n{one.chosen_descriptions}" for call in calls for one in call.answers]
        own = [f"{call.command}\n{call.plan}" for call in calls]
        made = [edit.new for call in calls for edit in call.edits]
        return "\n".join(["" if turn.role == "user" else turn.text, *own, *asked, *made])
    return "\n".join(call.output for call in calls)


def bare(text: str) -> str:
    """A text on one line, without emphasis and link targets and in lower case: as a title may differ from it."""
    return " ".join(MARKS.sub("", LINK.sub(r"\1", show_hidden(text))).split()).lower()


@pytest.mark.parametrize("agent", FOLDERS)
def test_every_proposal_is_said_in_its_turn_by_its_speaker_and_none_was_taken_back(
    sessions_folder: Path, agent: Platform
) -> None:
    sessions, seen, waiting = 0, 0, 0
    transcripts = find_sessions(agent, sessions_folder / FOLDERS[agent], ()).transcripts
    for transcript in transcripts[:: 1 if LONG else 2]:
        turns = list(read_session(transcript))
        extraction = Extraction(None, transcript.session_id, transcript.platform)
        for turn in turns:
            extraction.feed(turn)
        found = extraction.finish(True)
        told = {turn.id: turn for turn in turns}
        proposed = [one for one in found if isinstance(one, Candidate)]
        dropped = [one for one in found if isinstance(one, DroppedSignal)]
        below = [one for one in dropped if one.reason == "below-the-cut"]
        refuted = {(one.turn, one.title) for one in dropped if one.reason == "refuted"}
        for one in [*proposed, *(one.candidate for one in below if one.candidate)]:
            assert one.evidence and len(one.title) <= MAX_TITLE_CHARS
            assert (one.turn, one.title) not in refuted
            for quote in one.evidence:
                assert show_hidden(quote.quote) in show_hidden(said(told[quote.turn], quote.who)), (one.source, quote)
            if one.signal in RANKED and one.signal != "answer":
                whole = bare("\n".join(said(told[one.turn], who) for who in ("user", "assistant")))
                assert bare(one.title).strip(" .,;:!?…") in whole, one.source
            if one.signal in RANKED and one.evidence[0].who != "user":
                assert one.kind != "preference", one.source
            if one.signal in ("prompt", "answer", "feedback"):
                assert one.evidence[0].who == "user", one.source
                assert not told[one.turn].sidechain and not told[one.turn].unattended, one.source
        prompts = sum(turn.role == "user" for turn in turns)
        assert len([one for one in proposed if one.signal in RANKED]) <= max_proposals(prompts)
        assert len(below) <= MAX_REPORTED_BELOW_CUT
        sessions, seen, waiting = sessions + 1, seen + len(proposed) + len(below), waiting + len(proposed)
    assert seen > 0
    assert waiting <= 5 * sessions
