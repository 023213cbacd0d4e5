"""What the rules learn from one session, as a function of what is given: it opens no database, takes no lock and writes
nothing. A sync runs it in its own process or in others, and an organisation's workers run it on other machines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import msgspec

from lerim import extraction
from lerim.errors import Problem
from lerim.extraction import Candidate, DroppedSignal, PersonalAdjustment, Withdrawal
from lerim.jobs.extracting.session_reading import (
    FROM_START,
    EarlierProgress,
    ReadingScope,
    SessionReading,
    make_extraction,
    make_locator,
)
from lerim.project import Project
from lerim.redaction import collect_redactions
from lerim.sessions import Fact, Friction, Transcript, Turn, encode_facts

_PATH_RELATIONS = ("wrote", "read", "mentions")


@dataclass(frozen=True, slots=True)
class ExtractionRequest:
    """One session, which of its turns are extracted, how far it was read before, and what the person's decisions
    change in the ranking."""

    transcript: Transcript
    scope: ReadingScope
    earlier: EarlierProgress = FROM_START
    adjustment: PersonalAdjustment = extraction.NO_ADJUSTMENT


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


def extract_session(request: ExtractionRequest, cancelled: Callable[[], bool] = lambda: False) -> ExtractedSession:
    """Reads, redacts and ranks the new turns of one session. The same transcript gives the same result on any machine,
    except that references to files are kept only if they exist in the project's folder.

    Raises StoppedError once `cancelled`, TranscriptError if the file cannot be read.
    """
    transcript, scope = request.transcript, request.scope
    reading = SessionReading(transcript, scope, request.earlier, cancelled)
    rules = make_extraction(scope.project, transcript, request.adjustment, reading.state, scope.exists)
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


class FactCollector:
    """Collects the facts of one session's turns, encoded, by turn id, and the turns that are worth a model's time, for
    `Catalog.finish_job`."""

    def __init__(self, project: Project, transcript: Transcript) -> None:
        self.by_turn: dict[str, bytes] = {}
        self.model_turns: list[str] = []
        self._locate = make_locator(project)
        self._is_subagent = bool(transcript.parent)

    def take(self, turn: Turn | None) -> None:
        """Takes the next redacted turn; None is ignored."""
        if turn is None:
            return
        self._locate.record_cwd(turn.cwd)
        facts = list(self._with_relative_paths(extraction.extract_from_turn(turn), turn.cwd))
        self.by_turn[turn.id] = encode_facts(facts) if facts else b""
        names = [call.name for call in turn.tool_calls]
        is_reply = turn.role == "assistant" and bool(turn.text.strip()) and not self._is_subagent
        if is_reply and extraction.qualifies_for_llm_extraction(names, turn.text):
            self.model_turns.append(turn.id)

    def _with_relative_paths(self, facts: Iterable[Fact], cwd: str) -> Iterable[Fact]:
        for fact in facts:
            if fact.relation in _PATH_RELATIONS and (path := self._locate(fact.value, cwd)):
                yield msgspec.structs.replace(fact, value=path)
            else:
                yield fact
