"""Goes through a project's sessions in date order, and says which repeats its memories would have prevented."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from lerim.memory.record import MemoryRecord
from lerim.statistics.benefit import find_practice, judge_actions, list_actions
from lerim_evals.replay.channels import Channels, Serving
from lerim_evals.replay.projects import ReplaySession
from lerim_evals.replay.remembered import Variant, remember_proposals, remember_written
from lerim_evals.replay.repeats import LabelledRepeat, Repeat, find_repeats


@dataclass(frozen=True, slots=True)
class RepeatOutcome:
    """A repeat, whether a memory of it was there, and the channels that gave one before it came (`in_time`), or with
    the prompt itself (`late`)."""

    repeat: Repeat
    is_remembered: bool
    in_time: frozenset[str]
    late: frozenset[str]


@dataclass(frozen=True, slots=True)
class ServedMemory:
    """A serving, and whether the memory was needed in that session: the person said the same there, the same failed
    there, or what was done there follows or contradicts it."""

    serving: Serving
    title: str
    was_needed: bool


@dataclass(frozen=True, slots=True)
class ProjectReplay:
    """The result of one project. `sessions` counts those that were replayed, `memories` what was known at the end."""

    project: str
    variant: Variant
    sessions: int
    prompts: int
    memories: int
    repeats: tuple[RepeatOutcome, ...]
    servings: tuple[ServedMemory, ...]


def replay_project(
    project: str, sessions: Sequence[ReplaySession], labelled: Iterable[LabelledRepeat], variant: Variant
) -> ProjectReplay:
    """Replays the sessions of a project, which are in date order. The memories in a session are those of all sessions
    that had ended when it began. Raises RankerError."""
    labels = [one for one in labelled if one.project == project]
    repeats = find_repeats(sessions, labels)
    remember = _make_remember(variant, labels)
    waiting = sorted(sessions, key=lambda one: (one.ended, one.id))
    outcomes: list[RepeatOutcome] = []
    served: list[ServedMemory] = []
    with Channels() as channels:
        for session in sessions:
            while waiting and waiting[0].ended <= session.started:
                channels.add(remember(waiting.pop(0)))
            records = channels.records
            servings = list(channels.serve(session))
            here = [one for one in repeats if one.session == session.id]
            outcomes += [_judge_repeat(one, session, records, servings) for one in here]
            served += _judge_servings(session, records, servings, here)
        memories = len(channels.records)
    prompts = sum(len(list(session.prompts)) for session in sessions)
    return ProjectReplay(project, variant, len(sessions), prompts, memories, tuple(outcomes), tuple(served))


def _make_remember(variant: Variant, labels: Sequence[LabelledRepeat]) -> Callable[[ReplaySession], list[MemoryRecord]]:
    return remember_proposals if variant == "proposed" else lambda session: remember_written(session, labels)


def _judge_repeat(
    repeat: Repeat, session: ReplaySession, records: Sequence[MemoryRecord], servings: Sequence[Serving]
) -> RepeatOutcome:
    about = {record.id for record in records if _is_about(record, repeat)}
    at = next(position for position, turn in enumerate(session.turns) if turn.id == repeat.turn)
    hits = [one for one in servings if one.memory in about]
    in_time = {one.channel for one in hits if one.position < at or _answers_failure(one, repeat, at)}
    late = {one.channel for one in hits if one.position == at} - in_time
    return RepeatOutcome(repeat, bool(about), frozenset(in_time), frozenset(late))


def _answers_failure(serving: Serving, repeat: Repeat, at: int) -> bool:
    """Returns whether a serving gives the fix of a failure as it comes again: that is in time."""
    return repeat.kind == "failed again" and serving.channel == "failure" and serving.position == at


def _is_about(record: MemoryRecord, repeat: Repeat) -> bool:
    """Returns whether a memory rests on a turn that said it before."""
    return bool({item.turn for item in record.evidence} & repeat.before)


def _judge_servings(
    session: ReplaySession, records: Sequence[MemoryRecord], servings: Sequence[Serving], repeats: Sequence[Repeat]
) -> list[ServedMemory]:
    known = {record.id: record for record in records}
    needed: dict[str, bool] = {}
    actions = list(list_actions(session.turns))
    for name in {one.memory for one in servings}:
        practice = find_practice(known[name])
        came_up = practice is not None and judge_actions(practice, actions) is not None
        needed[name] = came_up or any(_is_about(known[name], repeat) for repeat in repeats)
    return [ServedMemory(one, known[one.memory].title, needed[one.memory]) for one in servings]
