"""The sentences from sessions about a day: what was asked, done, decided and learned, and what still failed at the end.

They are read from the catalog, which has the whole text of a turn but only the first lines of its tool calls. The
catalog is kept longer than the transcripts, which agents delete after weeks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from lerim import extraction
from lerim.extraction import Candidate, Summary, SummaryFacts
from lerim.journal.entry import DraftSentence, JournalSource, Section
from lerim.project import Project
from lerim.redaction import find_flags
from lerim.review import ReviewPaths, drop_rejected
from lerim.sessions import (
    PLATFORM_NAMES,
    StoredCall,
    SummaryTurn,
    ToolCall,
    ToolKind,
    Turn,
    WorkedSession,
    faults_as_errors,
)
from lerim.times import format_utc

MAX_SESSION_SENTENCES = 60
"""Maximum number of sentences in an entry about what was done in sessions, divided among its sessions."""
MAX_SENTENCES_PER_SESSION = 6
MAX_ERROR_CHARS = 200
MAX_TURNS_READ = 4_000
"""Maximum number of turns of one session, the latest ones, that are searched for what was decided and learned."""
MAX_QUESTION_CHARS = 300
_ASKS_WHAT_TO_DO = re.compile(
    r"\b(?:should|shall|do|would|could|can) (?:we|i)\b[^.!?\n]{3,200}\?"
    r"|\b(?:whether|what|which|how|where|when|if) (?:we|i) (?:should|shall|want|need)\b",
    re.IGNORECASE,
)
_SAYS_UNDECIDED = re.compile(
    r"\b(?:i(?:['’]m| am)|we(?:['’]re| are)) (?:still )?(?:not sure|unsure|undecided)\b"
    r"|\b(?:i|we) (?:do not|don['’]t) know yet\b|\b(?:i|we) (?:have not|haven['’]t) decided\b"
    r"|\bnot (?:been )?decided yet\b|\b(?:still )?undecided\b|\bstill an? open question\b",
    re.IGNORECASE,
)
_SECTIONS: Mapping[str, Section] = {"decision": "decided", "learning": "learned", "question": "open"}


def turn_source(session: WorkedSession, turn: SummaryTurn, title: str) -> JournalSource:
    """Returns a turn as a source; `title` is that of its session."""
    return JournalSource(
        number=0,
        ref=f"t:{session.session_id}#{turn.number}",
        kind="turn",
        title=title,
        time=format_utc(turn.time),
        session=session.session_id,
        turn=turn.id,
        turn_number=turn.number,
    )


def describe_session(
    session: WorkedSession, review: ReviewPaths, session_count: int, errors: Mapping[str, str]
) -> Iterator[DraftSentence]:
    """Yields the sentences about one of `session_count` sessions. `errors` are the errors of commands and tools, by
    turn. Only what was said in the span is included; earlier turns are read to understand it. Raises
    TranscriptError."""
    with faults_as_errors(session.platform, session.place):
        yield from _tell_session(session, review, session_count, errors)


def _tell_session(
    session: WorkedSession, review: ReviewPaths, session_count: int, errors: Mapping[str, str]
) -> Iterator[DraftSentence]:
    share = max(2, min(MAX_SENTENCES_PER_SESSION, MAX_SESSION_SENTENCES // max(1, session_count)))
    locate = extraction.Locator(review.project.all_folders)
    for turn in session.turns:
        locate.record_cwd(turn.cwd)
    facts = SummaryFacts(session.platform, PLATFORM_NAMES[session.platform], session.title)
    summary = extraction.summarize_by_rules(session.new_turns, facts, locate)
    title = summary.title if summary else f"Session {session.session_id[:8]}"
    sources = {turn.id: turn_source(session, turn, title) for turn in session.turns}
    if summary is not None:
        yield from _tell_summary(summary, session, sources, share)
    yield from _tell_claims(session, review, sources, title)
    yield from _tell_open_questions(session, sources, title)
    exchanges = extraction.split_exchanges(session.new_turns, locate)
    for run in extraction.find_last_runs([one for one in exchanges if one.runs][-2:]):
        if run.outcome == "failed":
            error = extraction.shorten(" ".join(errors.get(run.turn, "").split()), MAX_ERROR_CHARS)
            why = f": “{error}”" if error and not find_flags(error) else "."
            text = f"`{run.name}` failed the last time it was run{why}"
            yield DraftSentence("open", text, (sources[run.turn],), "session", title)


def _tell_summary(
    summary: Summary, session: WorkedSession, sources: Mapping[str, JournalSource], share: int
) -> Iterator[DraftSentence]:
    ends = (sources[session.new_turns[0].id], sources[session.new_turns[-1].id])
    yield DraftSentence("done", summary.description, tuple(dict.fromkeys(ends)), "session", summary.title)
    statements = (*summary.intent[:1], *summary.happened)
    for statement in statements[:share]:
        found = tuple(sources[turn] for turn in dict.fromkeys(statement.turns) if turn in sources)
        if found and not find_flags(statement.text):
            yield DraftSentence("done", statement.text, found, "session", summary.title)


def _tell_claims(
    session: WorkedSession, review: ReviewPaths, sources: Mapping[str, JournalSource], title: str
) -> Iterator[DraftSentence]:
    new = {turn.id for turn in session.new_turns}
    for claim in drop_rejected(review, _find_claims(session, review.project)):
        section = _SECTIONS.get(claim.primitive)
        turns = dict.fromkeys((claim.turn, *(item.turn for item in claim.evidence)))
        found = tuple(sources[turn] for turn in turns if turn in sources)
        if section is not None and claim.turn in new and found and not claim.flags:
            yield DraftSentence(section, _quote_claim(claim), found, "session", title)


def _tell_open_questions(
    session: WorkedSession, sources: Mapping[str, JournalSource], title: str
) -> Iterator[DraftSentence]:
    """Yields the prompts that ask what to do and state that it is undecided."""
    for turn in session.new_turns:
        if turn.role != "user" or turn.kind != "prompt":
            continue
        asked = " ".join(extraction.summarize_request(turn.text, MAX_QUESTION_CHARS).split())
        if _ASKS_WHAT_TO_DO.search(asked) and _SAYS_UNDECIDED.search(asked) and not find_flags(asked):
            yield DraftSentence("open", f"The user asked: “{asked}”", (sources[turn.id],), "session", title)


def _find_claims(session: WorkedSession, project: Project) -> list[Candidate]:
    """Returns the claims that the rules find worth keeping in a session as it was at the end of the span. Whether a
    path exists today does not matter."""
    root = None if project.is_personal else Path(project.root)
    found = extraction.Extraction(root, session.session_id, session.platform, roots=project.all_folders)
    for turn in session.turns[-MAX_TURNS_READ:]:
        found.feed(to_turn(turn))
    return [one for one in found.finish(settled=True) if isinstance(one, Candidate)]


def _quote_claim(claim: Candidate) -> str:
    """Returns the words of a claim as they were said; for a claim from the commands of a session, its title."""
    quote = claim.evidence[0]
    if claim.signal not in extraction.RANKED_SIGNALS:
        return f"{claim.title.rstrip('.')}."
    speaker = "The user" if quote.who == "user" else "The agent"
    return f"{speaker} said: “{' '.join(quote.quote.split())}”"


def to_turn(turn: SummaryTurn) -> Turn:
    """Returns a turn of the catalog in the form in which a reader would have read it, as far as the catalog has it."""
    calls = tuple(_to_call(call, turn, f"{turn.id}-{number}") for number, call in enumerate(turn.calls))
    return Turn(
        id=turn.id,
        ordinal=turn.number,
        role=turn.role,
        kind=turn.kind,
        text=turn.text,
        time=turn.time,
        cwd=turn.cwd,
        branch=turn.branch,
        tool_calls=calls,
    )


def _to_call(call: StoredCall, turn: SummaryTurn, call_id: str) -> ToolCall:
    first, _, rest = call.text.partition("\n")
    if first.startswith("$ "):
        return ToolCall(
            call_id,
            "shell",
            "shell",
            call.status,
            command=first[2:],
            output=rest if call.status == "error" else "",
            exit_code=_exit_code(call),
        )
    paths, answers = tuple(call.find_named_paths(turn.paths)), call.answers
    kind: ToolKind = "ask" if answers else "edit" if call.changes_files else "other"
    return ToolCall(call_id, first.partition(" ")[0], kind, call.status, paths=paths, answers=answers)


def _exit_code(call: StoredCall) -> int | None:
    """Returns the exit code. The catalog does not distinguish 0 from an unknown code; for a command that passed, this
    is 0."""
    return 0 if call.exit_code is None and call.status == "ok" else call.exit_code
