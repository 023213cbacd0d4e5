"""What a backfill will take: the time to read its sessions, and the calls, tokens and price of its model."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from lerim.errors import LerimError
from lerim.models import ANSWER_TOKENS, PROMPT_TOKENS, Model, Usage, compute_cost, count_tokens
from lerim.org.machine import LocalSessions, extract_by_rules, make_whole_scope
from lerim.project import Project
from lerim.sessions import Transcript
from lerim.team import TeamDatabase

SAMPLE = 24
"""How many sessions are read for an estimate. The others are assumed to be like them, in proportion to their size."""
LEAST_ANSWERS = 10
"""Once the team has this many answers of the model, their mean size is used instead of a general one."""


class Estimate(msgspec.Struct, frozen=True):
    """What the work is likely to take: `seconds` for one reader, not counting the model's own time; calls, tokens in
    and out, and their price in US dollars, None if it is not known or nothing is paid. `sampled` sessions were read for
    it."""

    seconds: float
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
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
    calls, tokens = round(sample.calls * share), round(sample.tokens * share)
    output = round(calls * _mean_answer_tokens(database, model)) if model else 0
    cost = compute_cost(model.name, Usage(calls, tokens, output)) if model and model.billed else None
    return Estimate(sample.seconds * share, calls, tokens, output, cost, sample.sessions)


def _mean_answer_tokens(database: TeamDatabase, model: Model) -> float:
    with database.open() as connection:
        row = connection.execute(
            "SELECT count(*), avg(output_tokens)::float8 FROM calls"
            " WHERE team = %s AND model = %s AND output_tokens > 0",
            (database.team, model.label),
        ).fetchone()
    return float(row[1]) if row and row[0] >= LEAST_ANSWERS else float(ANSWER_TOKENS)
