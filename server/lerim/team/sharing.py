"""Puts the reviewed memories of a repository, as they are committed, into the team's store."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath

import msgspec
import psycopg

from lerim.errors import LerimError, OrgError, Problem
from lerim.memory import (
    LIVE_FOLDERS,
    ReportProgress,
    StoredMemory,
    parse_record,
    redact_record,
    status_of,
    with_current_status,
)
from lerim.project import Addition, History, Project, open_git, read_head_commit
from lerim.team.database import TeamDatabase, make_storable, name_project
from lerim.team.meaning import store_vectors
from lerim.team.reviewers import assign_reviewers

_SAVE = """
INSERT INTO memories (team, project, id, kind, title, body, places, commit, approved_in, approved_by, approved_at)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s) ON CONFLICT (team, project, id) DO UPDATE SET
    (kind, title, body, places, commit, approved_in, approved_by, approved_at) = (excluded.kind, excluded.title,
    excluded.body, excluded.places, excluded.commit, excluded.approved_in, excluded.approved_by, excluded.approved_at)
"""

_ACCEPT = """
UPDATE candidates AS own SET accepted = true
FROM extractions AS sent, unnest(%(sources)s::text[], %(titles)s::text[]) AS memory (source, title)
WHERE (own.team, own.key) = (sent.team, sent.key) AND own.team = %(team)s AND own.project = %(project)s
    AND NOT own.accepted AND memory.source = sent.session || '#' || (own.candidate->>'turn')
    AND (own.candidate->>'title' = memory.title OR NOT EXISTS (
        SELECT 1 FROM candidates AS other WHERE (other.team, other.key) = (own.team, own.key)
            AND other.ordinal <> own.ordinal AND other.candidate->>'turn' = own.candidate->>'turn'))
"""
"""A memory may have got another title in the review: then it is told from the others only if its turn has one."""


class ShareResult(msgspec.Struct, frozen=True):
    """How many memories of which project and commit the team's store now has, how many it had before and this commit
    does not, how many of them are found by their meaning (`note` says why not all, "" if all are), and the files that
    could not be read."""

    project: str
    commit: str
    shared: int
    removed: int
    by_meaning: int
    note: str
    problems: list[Problem]


def share_memories(
    database: TeamDatabase,
    project: Project,
    environ: Mapping[str, str],
    report: ReportProgress = lambda done, total: None,
) -> ShareResult:
    """Makes the team's store hold exactly the project's active memories, as its checked out commit has them, each with
    who approved it: the author of the commit that added its file.

    Doing it again changes nothing; two at once take turns, and it is done whole or not at all. An older commit than the
    one that was shared last, as far as git knows, is refused. Then the meaning of new ones is read, if the database and
    this machine can; `report` is called meanwhile. Raises OrgError.
    """
    commit = read_head_commit(project.root, project.common_dir)
    if not commit:
        raise OrgError("This repository has no commit yet.", where=str(project.root), todo="Commit the memories first.")
    additions = History(project.root, environ).find_additions(project.memory_folder)
    if additions is None:
        todo = "Fetch all of it (`git fetch --unshallow`; in CI a fetch depth of 0), and see that git is installed."
        message = "Git does not say who approved the memories: this clone does not have the whole history."
        raise OrgError(message, where=str(project.root), todo=todo)
    committed, problems = _read_committed(project, commit, environ)
    memories = [one for one in committed if one.status == "active"]
    name = name_project(project)
    rows = [_make_row(database.team, project, commit, one, additions) for one in memories]
    with database.open() as connection, connection.transaction():
        connection.execute(
            "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (f"memories {database.team} {name}",)
        )
        _require_no_later(connection, database.team, project, commit, environ)
        removed = connection.execute(
            "DELETE FROM memories WHERE team = %s AND project = %s AND id <> ALL(%s)",
            (database.team, name, [one.record.id for one in memories]),
        ).rowcount
        connection.cursor().executemany(_SAVE.encode(), rows)
        records = [one.record for one in committed]
        sources, titles = [make_storable(one.source) for one in records], [make_storable(one.title) for one in records]
        values = {"team": database.team, "project": name, "sources": sources, "titles": titles}
        connection.execute(_ACCEPT.encode(), values)
    assign_reviewers(database, project)
    meaning = store_vectors(database, name, report)
    return ShareResult(name, commit, len(rows), removed, meaning.by_meaning, meaning.note, problems)


def _require_no_later(
    connection: psycopg.Connection, team: str, project: Project, commit: str, environ: Mapping[str, str]
) -> None:
    """Raises OrgError if the store has a commit that follows this one: a job of CI that ran late, or once more, would
    bring back what was changed since."""
    statement = "SELECT DISTINCT commit FROM memories WHERE team = %s AND project = %s AND commit <> %s"
    git = open_git(project.root, environ)
    for (shared,) in connection.execute(statement, (team, name_project(project), commit)).fetchall():
        if git is not None and git.find_fork_point(shared) == commit:
            message = f"The team's store has the memories of a later commit, {shared[:10]}. Nothing was changed."
            raise OrgError(message, where=str(project.root), todo="Check out the latest commit, then share again.")


def _read_committed(
    project: Project, commit: str, environ: Mapping[str, str]
) -> tuple[list[StoredMemory], list[Problem]]:
    """Returns the memories of a commit that are not archived, each id once, and a problem for each file that is none.
    Raises OrgError."""
    git, folder = open_git(project.root, environ), project.memory_folder
    paths = git.list_files(commit, folder) if git else None
    if git is None or paths is None:
        raise OrgError("Git cannot list the memories of the commit.", where=str(project.root))
    wanted = [path for path in paths if str(PurePosixPath(path).parent.relative_to(folder)) in LIVE_FOLDERS]
    texts = git.read_texts([(commit, path) for path in wanted if path.endswith(".md")])
    found: dict[str, StoredMemory] = {}
    problems = []
    for path in wanted:
        try:
            record = parse_record(texts.get((commit, path), ""), project.root / path)
        except LerimError as error:
            problems.append(error.problem(path))
        else:
            stored = StoredMemory(record, project.root / path, (0, 0, 0), "", status_of(record, archived=False))
            found.setdefault(record.id, stored)
    return sorted(with_current_status(list(found.values())), key=lambda one: one.record.id), problems


def _make_row(
    team: str, project: Project, commit: str, stored: StoredMemory, additions: Mapping[str, Addition]
) -> tuple[object, ...]:
    record = redact_record(stored.record)
    kind = record.kind if record.primitive == "learning" and record.kind else record.primitive
    added = additions.get(stored.path.relative_to(project.root).as_posix())
    texts = (record.id, kind, record.title, record.body, "\n".join(record.references))
    approval = (added.commit, make_storable(added.author), added.time) if added else ("", "", None)
    return (team, name_project(project), *map(make_storable, texts), commit, *approval)
