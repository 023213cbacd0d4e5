"""What the rules learn from one session, as a function of what is given: it opens no database, takes no lock and writes
nothing. A sync runs it in its own process or in others, and an organisation's workers run it on other machines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from lerim import extraction
from lerim.errors import Problem
from lerim.extraction import Candidate, Correction, DroppedSignal, Withdrawal
from lerim.jobs.extracting.session_reading import (
    FROM_START,
    EarlierProgress,
    ReadingScope,
    SessionReading,
    make_extraction,
)
from lerim.jobs.extracting.turn_facts import FactCollector
from lerim.redaction import collect_redactions
from lerim.sessions import Friction, Transcript


@dataclass(frozen=True, slots=True)
class SessionToExtract:
    """One session, how far it was read before, and how the person's decisions correct the ranking."""

    transcript: Transcript
    earlier: EarlierProgress = FROM_START
    correction: Correction = extraction.NO_CORRECTION


@dataclass(frozen=True, slots=True)
class ExtractedSession:
    """What was learned from the new turns of one session.

    `results` are in the order in which they must be handled, and redacted. `frictions` are the environment errors met,
    none for a subagent. `facts` are encoded, by turn id, and `model_turns` are the turns worth a model's time.
    `resume`, `state` and `redactions` are for the next extraction, which is due in `due_in` seconds; None: when the
    session grows.
    """

    results: tuple[Candidate | DroppedSignal | Withdrawal, ...]
    frictions: tuple[Friction, ...]
    facts: Mapping[str, bytes]
    model_turns: tuple[str, ...]
    problems: tuple[Problem, ...]
    resume: bytes
    state: bytes
    redactions: int
    due_in: float | None


def extract_session(
    session: SessionToExtract, scope: ReadingScope, cancelled: Callable[[], bool] = lambda: False
) -> ExtractedSession:
    """Read, redact and rank the new turns of one session. The same transcript gives the same result on any machine,
    except that references to files are kept only if they exist in the project's folder.

    Raises StoppedError once `cancelled`, TranscriptError if the file cannot be read.
    """
    transcript = session.transcript
    reading = SessionReading(transcript, session.earlier, scope, cancelled)
    rules = make_extraction(scope.project, transcript, session.correction, reading.state, scope.exists)
    facts = FactCollector(scope.project, transcript)
    with collect_redactions() as secrets:
        for turn in reading:
            with reading.faults_as_errors():
                facts.take(rules.feed(turn))
        with reading.faults_as_errors():
            results = tuple(rules.finish(reading.is_settled))
    return ExtractedSession(
        results=results,
        frictions=() if transcript.parent else tuple(rules.frictions.values()),
        facts=facts.by_turn,
        model_turns=tuple(facts.model_turns),
        problems=reading.problems,
        resume=reading.resume,
        state=rules.state(),
        redactions=reading.redactions + len(secrets),
        due_in=reading.due_in,
    )
