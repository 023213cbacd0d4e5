"""Takes what an organisation's workers found in a project into its review on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import msgspec

from lerim.errors import LerimError, Problem
from lerim.extraction import Candidate, decode_candidate
from lerim.jobs import SessionCounts, SyncContext, SyncReport
from lerim.memory import parse_references
from lerim.project import load_code_owners
from lerim.team import TeamDatabase, assign_reviewers, is_for, name_project

_LOAD = """
SELECT candidate::text FROM candidates WHERE team = %s AND project = %s AND outcome = 'proposed' AND NOT accepted
ORDER BY said_at, key, ordinal
"""


def pull_candidates(context: SyncContext, database: TeamDatabase, reviewers: Sequence[str] = ()) -> SyncReport:
    """Proposes every candidate that the team's workers found in the project and that nobody has accepted and shared, in
    the order in which they were said.

    A candidate that is already proposed, known or rejected here changes nothing, so it is safe to call this again. The
    database is not trusted: an invalid candidate, or one that refers to a file outside the repository, becomes a
    problem. With `reviewers`, only candidates about files that one of them owns according to the CODEOWNERS file here
    are taken. The owners are stored in the team's database, for its counts. Raises BusyError while another process
    works on the project, MemoryError_, OrgError.
    """
    name = name_project(context.project)
    with database.open() as connection:
        rows = connection.execute(_LOAD, (database.team, name)).fetchall()
    assign_reviewers(database, context.project)
    owners = load_code_owners(context.project.root)
    candidates, problems = [], []
    for (text,) in rows:
        try:
            candidate = _parse_candidate(text)
        except (msgspec.MsgspecError, LerimError):
            problems.append(Problem("org", name, "A candidate in the database is damaged, and is left out."))
        else:
            if is_for(reviewers, candidate, context.project, owners):
                candidates.append(candidate)
    with context.open_part("taking in candidates") as part:
        part.sink.handle_results(candidates)
        summary = f"{len(candidates)} candidates of the team {database.team}"
        return part.finish(SessionCounts(), "done", summary, problems=problems)


def _parse_candidate(text: str) -> Candidate:
    candidate = decode_candidate(text.encode())
    return replace(candidate, references=parse_references(candidate.references))
