from pathlib import Path

from lerim.extraction.candidate import Candidate
from lerim.extraction.pipeline import Extraction
from lerim.facts.wording import title_fault
from lerim.sessions import claude


def test_over_real_sessions_proposals_are_few_and_every_quote_stands_in_its_turn(sessions_folder: Path) -> None:
    transcripts = claude.find(sessions_folder / "claude").transcripts
    assert transcripts
    found: list[Candidate] = []
    for transcript in transcripts:
        reading = claude.Reading(transcript)
        extraction = Extraction(None, transcript.session_id, "claude")
        said: dict[str, str] = {}
        for turn in reading:
            calls = turn.tool_calls
            said[turn.id] = "\n".join(
                [turn.text, *(f"{call.command}\n{call.output}\n{call.feedback}\n{call.plan}" for call in calls)]
                + [edit.new for call in calls for edit in call.edits]
            )
            list(extraction.feed(turn))
        for item in extraction.finish(True):
            if isinstance(item, Candidate):
                found.append(item)
                assert item.evidence
                assert all(quote.quote in said[quote.turn] for quote in item.evidence)
                assert item.signal == "fixed-command" or not title_fault(item.title.rstrip("?"))
    assert len(found) <= 2 * len(transcripts)
