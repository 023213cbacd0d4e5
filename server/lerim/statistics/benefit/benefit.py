"""Computes the outcomes of the memories that agents were given, from the record of servings and the sessions since.

Everything is computed again each time. An outcome that code cannot determine is reported as unknown, never guessed.
The known outcomes are stored with the uses of the memories: they change how a memory's confidence counts, but never
its file.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import msgspec

from lerim.errors import LerimError, Problem
from lerim.memory import MemoryRecord, ServedOutcomes, Serving, Store, Uses, load_servings
from lerim.paths import Home
from lerim.project import Project
from lerim.sessions import Catalog, SessionFilters, Turn, convert_sqlite_errors, read_session
from lerim.statistics.benefit.figures import Benefit, BenefitFigures, Outcome, UnknownSessions
from lerim.statistics.benefit.practices import AgentAction, Practice, find_practice, judge_actions, list_actions
from lerim.statistics.benefit.repetitions import KnownClaim, make_known_claim, says_again
from lerim.statistics.benefit.served_sessions import ServedSession, find_served_sessions
from lerim.times import format_utc

MAX_SESSIONS, MAX_SESSION_BYTES = 300, 400_000_000
"""Maximum number of sessions that are read, the newest ones, and maximum number of bytes in total; older sessions
are only counted."""
LATEST_SECONDS = 32_503_680_000.0
"""The year 3000 in seconds since 1970: no serving can be later."""
MAX_SEARCHED = 50
"""Maximum number of memories, the most often served ones, for which sessions are searched for the same correction."""
MAX_FOUND_TURNS = 20
SAME_PROMPT_SECONDS = 30.0
"""A prompt within this many seconds of what a hook gave for a prompt is considered to be that prompt."""


@dataclass(frozen=True, slots=True)
class _Subject:
    """A memory that still exists, and what to look for in sessions."""

    record: MemoryRecord
    practice: Practice | None
    claim: KnownClaim


@dataclass(frozen=True, slots=True)
class _GivenTo:
    """The first serving of a memory in a session."""

    memory: str
    session: ServedSession
    serving: Serving


def compute_benefit(project: Project, home: Home, is_cancelled: Callable[[], bool] = lambda: False) -> Benefit:
    """Computes the figures of a project's memories, or of the personal ones, and stores the outcomes of each memory
    with its uses (`RecordedUse.outcomes`). Sessions that cannot be read are in the problems. Raises MemoryError_,
    CatalogError."""
    private = home.project(project.key)
    recorded, serving_problems = load_servings(private)
    servings = [one for one in recorded if 0 <= one.at <= LATEST_SECONDS]
    stored, store_problems = Store(project.memory_dir, private).load_all()
    subjects = {one.record.id: _make_subject(one.record) for one in stored}
    problems = [*serving_problems, *store_problems]
    if len(servings) < len(recorded):
        message = f"{len(recorded) - len(servings)} of its lines have an impossible time."
        problems.append(Problem("servings", str(private), message))
    given: list[_GivenTo] = []
    missed: Counter[str] = Counter()
    without_session = len(servings)
    judged = _Judged({})
    if servings and home.catalog.exists():
        with Catalog.open(home) as catalog:
            key = None if project.is_personal else project.key
            with convert_sqlite_errors(catalog.path):
                sessions = find_served_sessions(catalog.db, key, servings)
            given = _first_servings(servings, sessions)
            without_session = sum(one is None for one in sessions)
            judged = _judge_sessions(given, subjects, problems, is_cancelled)
            missed = _count_missed(catalog, key, servings, given, subjects)
    memories = _make_figures(servings, given, judged.outcomes, missed, subjects)
    nothing_to_see = sum(one.unknown for one in memories) - judged.not_read - judged.older
    unknown = UnknownSessions(without_session, judged.not_read, judged.older, nothing_to_see)
    if not is_cancelled():
        uses = Uses(private)
        uses.replace_outcomes(
            {one.id: ServedOutcomes(one.corrected + one.missed, one.followed, one.contradicted) for one in memories}
        )
        problems += uses.problems
    return Benefit(memories, _sum_figures(memories, given), len(servings), unknown, problems)


def _make_subject(record: MemoryRecord) -> _Subject:
    practice = find_practice(record)
    return _Subject(record, practice, make_known_claim(record, practice))


def _first_servings(servings: Sequence[Serving], sessions: Sequence[ServedSession | None]) -> list[_GivenTo]:
    """Returns the first serving of each memory in each session, in order of time."""
    first: dict[tuple[str, str], _GivenTo] = {}
    for serving, session in zip(servings, sessions, strict=True):
        if session is not None:
            for memory in serving.ids:
                first.setdefault((memory, session.transcript.place), _GivenTo(memory, session, serving))
    return list(first.values())


@dataclass(frozen=True, slots=True)
class _Judged:
    """The outcome of each memory in each session, by memory and place, and the number that could not be examined."""

    outcomes: dict[tuple[str, str], Outcome]
    not_read: int = 0
    older: int = 0


def _judge_sessions(
    given: Sequence[_GivenTo],
    subjects: Mapping[str, _Subject],
    problems: list[Problem],
    is_cancelled: Callable[[], bool],
) -> _Judged:
    by_place: dict[str, list[_GivenTo]] = defaultdict(list)
    for one in given:
        by_place[one.session.transcript.place].append(one)
    outcomes: dict[tuple[str, str], Outcome] = {}
    not_read = older = read = size = 0
    for place, there in sorted(by_place.items(), key=lambda item: (-item[1][0].serving.at, item[0])):
        outcomes |= {(one.memory, place): "unknown" for one in there}
        looked_for = [(one, subject) for one in there if (subject := subjects.get(one.memory)) is not None]
        if not looked_for:
            continue
        session = there[0].session
        if read >= MAX_SESSIONS or size >= MAX_SESSION_BYTES or is_cancelled():
            older += len(looked_for)
            continue
        read, size = read + 1, size + session.transcript.size
        turns = _read_turns(session, problems)
        if turns is None:
            not_read += len(looked_for)
            continue
        timed = [(turn.time.timestamp(), turn, tuple(list_actions([turn]))) for turn in turns if turn.time is not None]
        for one, subject in looked_for:
            outcomes[one.memory, place] = _judge(subject, one.serving, timed)
    return _Judged(outcomes, not_read, older)


def _read_turns(session: ServedSession, problems: list[Problem]) -> list[Turn] | None:
    """Returns the turns of a session; None if its transcript is gone or cannot be read, which is a problem."""
    if session.is_gone:
        return None
    try:
        return list(read_session(session.transcript))
    except LerimError as error:
        problems.append(error.problem(session.transcript.place))
        return None


def _judge(subject: _Subject, serving: Serving, turns: Sequence[tuple[float, Turn, Sequence[AgentAction]]]) -> Outcome:
    """Returns the outcome of a memory in a session after a serving. Each turn is given with its time and actions."""
    after = [(turn, actions) for at, turn, actions in turns if at > serving.at]
    if any(says_again(subject.claim, text) for text in _list_later_words([turn for turn, _ in after], serving)):
        return "corrected"
    if subject.practice is None:
        return "unknown"
    return judge_actions(subject.practice, [one for _, actions in after for one in actions]) or "not_seen"


def _list_later_words(after: Sequence[Turn], serving: Serving) -> list[str]:
    """Returns what the person said after a serving: their prompts, and their words when they refused a call."""
    texts = [call.feedback for turn in after for call in turn.tool_calls if call.feedback]
    for turn in after:
        if turn.kind != "prompt" or turn.unattended or turn.sidechain or turn.time is None:
            continue
        is_cause = serving.event == "prompt" and turn.time.timestamp() - serving.at <= SAME_PROMPT_SECONDS
        if not is_cause:
            texts.append(turn.text)
    return texts


def _count_missed(
    catalog: Catalog,
    project: str | None,
    servings: Sequence[Serving],
    given: Sequence[_GivenTo],
    subjects: Mapping[str, _Subject],
) -> Counter[str]:
    """Counts, for each memory, the sessions since its first serving in which a person said the same although the
    memory had not been served there before."""
    counts = Counter(memory for serving in servings for memory in serving.ids)
    first: dict[str, float] = {}
    for serving in servings:
        for memory in serving.ids:
            first.setdefault(memory, serving.at)
    served_at = {(one.memory, one.session.transcript.session_id): one.serving.at for one in given}
    missed: Counter[str] = Counter()
    for memory, _ in counts.most_common(MAX_SEARCHED):
        subject = subjects.get(memory)
        if subject is None:
            continue
        filters = SessionFilters((project,) if project else None, since=datetime.fromtimestamp(first[memory], UTC))
        found = catalog.search_turns(subject.record.title, MAX_FOUND_TURNS, filters)
        sessions = {
            turn.session
            for turn in found
            if turn.kind == "prompt"
            and turn.time is not None
            and turn.time.timestamp() < served_at.get((memory, turn.session), float("inf")) + SAME_PROMPT_SECONDS
            and says_again(subject.claim, turn.text)
        }
        missed[memory] = len(sessions)
    return missed


def _make_figures(
    servings: Sequence[Serving],
    given: Sequence[_GivenTo],
    outcomes: Mapping[tuple[str, str], Outcome],
    missed: Counter[str],
    subjects: Mapping[str, _Subject],
) -> list[BenefitFigures]:
    channels: dict[str, Counter[str]] = defaultdict(Counter)
    last: dict[str, datetime] = {}
    for serving in servings:
        for memory in serving.ids:
            channels[memory][serving.channel] += 1
            last[memory] = serving.time
    by_memory: dict[str, Counter[Outcome]] = defaultdict(Counter)
    for one in given:
        by_memory[one.memory][outcomes[one.memory, one.session.transcript.place]] += 1
    figures = []
    for memory, channel in channels.items():
        record = subjects[memory].record if memory in subjects else None
        became = by_memory[memory]
        figures.append(
            BenefitFigures(
                id=memory,
                title=record.title if record else "",
                kind=(record.kind or record.primitive) if record else "",
                served=channel.total(),
                mcp=channel["mcp"],
                hook=channel["hook"],
                editor=channel["editor"],
                sessions=became.total(),
                followed=became["followed"],
                contradicted=became["contradicted"],
                corrected=became["corrected"],
                not_seen=became["not_seen"],
                unknown=became["unknown"],
                missed=missed[memory],
                last=format_utc(last[memory]),
            )
        )
    return sorted(figures, key=lambda one: (-one.served, one.id))


_SUMMED = ["served", "mcp", "hook", "editor", "followed", "contradicted", "corrected", "not_seen", "unknown", "missed"]


def _sum_figures(memories: Sequence[BenefitFigures], given: Sequence[_GivenTo]) -> BenefitFigures:
    sessions = len({one.session.transcript.place for one in given})
    total = BenefitFigures("", "", "", sessions=sessions, last=max((one.last for one in memories), default=""))
    return msgspec.structs.replace(total, **{name: sum(getattr(one, name) for one in memories) for name in _SUMMED})
