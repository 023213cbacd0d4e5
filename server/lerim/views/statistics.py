"""Figures over sessions, and what became of what each signal proposed."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

import msgspec

from lerim.errors import Problem
from lerim.paths import Home
from lerim.project import Project, list_projects
from lerim.review import SignalOutcome, count_judgments, find_ledgers, outcomes_by_signal, sum_outcomes
from lerim.sessions import Catalog
from lerim.statistics import NO_FIGURES, GroupBy, Statistics, compute_statistics


class SignalStatisticsOutput(msgspec.Struct, frozen=True):
    """What `stats --by signal --json` prints. `learned_from` counts the decisions, in all repositories, that
    the ranking has learned from; `problems` names the ledgers that could not be read."""

    by: Literal["signal"]
    groups: list[SignalOutcome]
    total: SignalOutcome
    learned_from: int
    problems: list[Problem]


def load_statistics(
    home: Home, by: GroupBy, project: Project | None, since: datetime | None, until: datetime | None
) -> Statistics:
    """Returns the figures of one project or, without one, of all; repositories are named by their folders."""
    if not home.catalog.exists():
        return Statistics(by, [], NO_FIGURES)
    with Catalog.open(home) as catalog:
        statistics = compute_statistics(catalog, by, project.key if project else None, since, until)
    if by != "repo":
        return statistics
    roots = {known.key: str(known.main_worktree or known.root) for known in list_projects(home)[0]}
    groups_with_roots = [
        msgspec.structs.replace(group, key=roots.get(group.key or "", group.key)) for group in statistics.groups
    ]
    return msgspec.structs.replace(statistics, groups=groups_with_roots)


def load_signal_statistics(
    home: Home, project: Project | None, since: datetime | None, until: datetime | None
) -> SignalStatisticsOutput:
    """Returns what each signal proposed and what was decided about it, in one project or in all."""
    project_folder = home.project(project.key) if project else None
    ledgers = [path for path in find_ledgers(home) if project_folder is None or path.parent == project_folder]
    groups, problems = outcomes_by_signal(ledgers, since, until)
    return SignalStatisticsOutput("signal", groups, sum_outcomes(groups), count_judgments(home), problems)
