"""Assigns candidates to reviewers: the owners of the files they are about, by the repository's CODEOWNERS file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec
import psycopg

from lerim.errors import OrgError
from lerim.extraction import Candidate
from lerim.memory import parse_reference
from lerim.project import CodeOwners, Project, load_code_owners, read_identity
from lerim.team.database import TeamDatabase, name_project

_LOAD = """
SELECT key, ordinal, candidate->'references' FROM candidates
WHERE team = %s AND project = %s AND outcome = 'proposed'
"""
_ASSIGN = """
UPDATE candidates SET owners = %s
WHERE team = %s AND key = %s AND ordinal = %s AND owners IS DISTINCT FROM %s::text[]
"""


class ReviewerView(msgspec.Struct, frozen=True):
    """How many candidates a reviewer has, in one repository; "" for those that nobody owns or that no checkout has
    assigned yet."""

    project: str
    reviewer: str
    candidates: int


def find_reviewers(owners: CodeOwners, references: Iterable[object], memory_folder: str) -> tuple[str, ...]:
    """Returns who owns a file that a memory is about; of one that is about no file, who owns the memories."""
    parsed = [parse_reference(one) for one in references if isinstance(one, str)]
    return owners.owners_of_any([one.path for one in parsed if one] or [f"{memory_folder}/decisions/memory.md"])


def is_for(reviewers: Sequence[str], candidate: Candidate, project: Project, owners: CodeOwners) -> bool:
    """Returns whether one of these reviewers owns what the candidate is about. Without reviewers, every candidate
    counts."""
    wanted = {one.lower() for one in reviewers}
    found = find_reviewers(owners, candidate.references, project.memory_folder)
    return not wanted or any(one.lower() in wanted for one in found)


def list_own_names(project: Project, environ: Mapping[str, str]) -> list[str]:
    """Returns the names that a CODEOWNERS file may call you by, from git's settings: your address, and your name at
    GitHub (`github.user`, or the address that GitHub gave you). Raises OrgError if there is none."""
    names = read_identity(project.root, environ)
    if not names:
        todo = "Set `git config github.user NAME`, or name a reviewer with --reviewer."
        raise OrgError("Git does not know who you are.", where=str(project.root), todo=todo)
    return names


def assign_reviewers(database: TeamDatabase, project: Project) -> None:
    """Stores who reviews each candidate that the team's workers found in the project, by its CODEOWNERS file as it is
    here now. A user who may only read changes nothing. Raises OrgError."""
    owners, name = load_code_owners(project.root), name_project(project)
    with database.open() as connection, connection.transaction():
        if not connection.execute("SELECT 1 WHERE %s = ANY (writable_teams())", (database.team,)).fetchone():
            return
        rows = connection.execute(_LOAD, (database.team, name)).fetchall()
        connection.cursor().executemany(_ASSIGN, [_make_row(database, project, owners, row) for row in rows])


def _make_row(
    database: TeamDatabase, project: Project, owners: CodeOwners, row: tuple[str, int, object]
) -> tuple[object, ...]:
    key, ordinal, references = row
    given = references if isinstance(references, list) else []
    found = list(find_reviewers(owners, given, project.memory_folder))
    return (found, database.team, key, ordinal, found)


def count_by_reviewer(connection: psycopg.Connection, team: str) -> list[ReviewerView]:
    """Counts the proposed candidates by repository and reviewer; one with several reviewers counts for each."""
    rows = connection.execute(
        "SELECT project, coalesce(owner, ''), count(*) FROM candidates"
        " LEFT JOIN LATERAL unnest(owners) AS owner ON true"
        " WHERE team = %s AND outcome = 'proposed' AND NOT accepted GROUP BY 1, 2 ORDER BY 1, 3 DESC, 2",
        (team,),
    )
    return [ReviewerView(*row) for row in rows]
