"""What a backfill will take: the time to read its sessions, and the calls, tokens and price of its model."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from lerim.errors import LerimError
from lerim.models import ANSWER_TOKENS, PROMPT_TOKENS, Model, Usage, compute_cost, count_tokens
from lerim.org.machine import LocalSessions, extract_by_rules, make_whole_scope
from lerim.org.paying.fleet import Limits, load_limits
from lerim.project import Project
from lerim.sessions import Transcript
from lerim.team import TeamDatabase

SAMPLE = 24
"""How many sessions are read for an estimate. The others are assumed to be like them, in proportion to their size."""
LEAST_ANSWERS = 10
"""Once the team has this many answers of the model, their mean size is used instead of a general one."""
DAY_SECONDS = 86_400

_ANSWERS = """
SELECT count(*), avg(output_tokens)::float8, (
    SELECT coalesce(sum(seconds), 0)::float8 FROM extractions
    WHERE team = %(team)s AND model = %(model)s AND state = 'done')
FROM calls WHERE team = %(team)s AND model = %(model)s AND output_tokens > 0
"""
"""The answers of a model to a team, and the time in which workers got them."""


class Estimate(msgspec.Struct, frozen=True):
    """What the work is likely to take: `seconds` for one reader, not counting the model's own time; calls, tokens in
    and out, and their price in US dollars, None if it is not known or nothing is paid. `answer_seconds` is the model's
    own time if it is asked one call after another, None if the team has too few answers of it to tell. All workers
    together need `least_seconds` because of the team's limits, 0 without any. `sampled` sessions were read for it."""

    seconds: float
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    answer_seconds: float | None = None
    least_seconds: float = 0.0
    sampled: int = 0


@dataclass(slots=True)
class _Sample:
    sessions: int = 0
    bytes: int = 0
    seconds: float = 0.0
    calls: int = 0
    tokens: int = 0

    def measure_session(
        self, transcript: Transcript, project: Project, here: LocalSessions, model: Model | None
    ) -> None:
        scope, began = make_whole_scope(project, here.owners_for(project)), time.perf_counter()
        extract_by_rules(transcript, scope)
        self.seconds += time.perf_counter() - began
        if model is not None:
            from lerim.extraction import cut_windows
            from lerim.org.paying.asking import read_material  # DSPy takes two seconds

            turns = read_material(transcript, scope).window_turns(True)
            windows = cut_windows(turns, model.max_window_tokens, model.window_overlap_tokens, -1, count_tokens)
            self.calls += len(windows)
            self.tokens += sum(count_tokens(one.text) + PROMPT_TOKENS for one in windows)
        self.sessions += 1
        self.bytes += transcript.size


def estimate_work(
    sessions: Sequence[tuple[Transcript, Project]], here: LocalSessions, model: Model | None, database: TeamDatabase
) -> Estimate:
    """Reads a sample of the sessions, evenly among all, and estimates the whole. Raises OrgError."""
    sample, total = _Sample(), sum(one.size for one, _ in sessions)
    for transcript, project in sessions[:: max(1, -(-len(sessions) // SAMPLE))]:
        try:
            sample.measure_session(transcript, project, here, model)
        except LerimError:
            continue  # told when it is extracted
    if not sample.bytes:
        return Estimate(0.0)
    share = total / sample.bytes
    seconds, calls, tokens = sample.seconds * share, round(sample.calls * share), round(sample.tokens * share)
    if model is None:
        return Estimate(seconds, sampled=sample.sessions)
    answer_tokens, answer_seconds = _mean_answer(database, model)
    output = round(calls * answer_tokens)
    cost = compute_cost(model.name, Usage(calls, tokens, output)) if model.billed else None
    return Estimate(
        seconds=seconds,
        calls=calls,
        input_tokens=tokens,
        output_tokens=output,
        cost=cost,
        answer_seconds=None if answer_seconds is None else calls * answer_seconds,
        least_seconds=_least_seconds(load_limits(database), calls, cost or 0.0),
        sampled=sample.sessions,
    )


def _mean_answer(database: TeamDatabase, model: Model) -> tuple[float, float | None]:
    """Returns how many tokens an answer of the model has, and how many seconds it takes, None if that is not known."""
    values = {"team": database.team, "model": model.label}
    with database.open() as connection:
        row = connection.execute(_ANSWERS.encode(), values).fetchone()
    if row is None or row[0] < LEAST_ANSWERS:
        return float(ANSWER_TOKENS), None
    return float(row[1]), float(row[2]) / row[0]


def _least_seconds(limits: Limits, calls: int, cost: float) -> float:
    """Returns how long a team's limits make calls of this cost take. What one day pays for may be spent at once."""
    by_rate = calls / limits.calls_per_minute * 60 if limits.calls_per_minute else 0.0
    days = math.ceil(round(cost / limits.dollars_per_day, 6)) if limits.dollars_per_day else 0
    by_budget = max(0, days - 1) * DAY_SECONDS
    return max(by_rate, by_budget)
