"""The meaning of a team's memories, as vectors in the database: with pgvector, and the sentence model of
`lerim[meaning]` on the machine that shares or asks."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import msgspec
import psycopg

from lerim.errors import OrgError
from lerim.memory import (
    INSTALL_SENTENCE_MODEL,
    MODEL_SHA256,
    ReportProgress,
    SentenceModel,
    is_sentence_model_installed,
    load_sentence_model,
)
from lerim.team.database import TeamDatabase, describe_address

NO_PGVECTOR = "Memories are found by their words only: the database's server has no pgvector."
NOT_SET_UP = (
    "Memories are found by their words only: pgvector is not enabled in this database. A superuser does that with"
    " `lerim org init`."
)
BATCH = 16
"""How many memories are embedded at once; their vectors are stored before the next are."""

_STATE = """
SELECT to_regclass('memory_vectors') IS NOT NULL,
    EXISTS (SELECT 1 FROM pg_available_extensions WHERE name = 'vector')
"""
_COUNT = """
SELECT count(*), count(*) FILTER (WHERE EXISTS (
    SELECT 1 FROM memory_vectors AS own WHERE (own.team, own.project, own.id, own.model)
        = (memories.team, memories.project, memories.id, %(model)s)))
FROM memories WHERE team = %(team)s AND %(project)s IN ('', project)
"""
_MISSING = """
SELECT id, title, body FROM memories WHERE team = %(team)s AND project = %(project)s AND NOT EXISTS (
    SELECT 1 FROM memory_vectors AS own WHERE (own.team, own.project, own.id, own.model)
        = (memories.team, memories.project, memories.id, %(model)s))
ORDER BY id
"""
_SAVE = """
INSERT INTO memory_vectors (team, project, id, part, model, meaning)
SELECT team, project, id, %(part)s, %(model)s, %(meaning)s::real[] FROM memories
WHERE team = %(team)s AND project = %(project)s AND id = %(id)s AND title = %(title)s AND body = %(body)s FOR SHARE
ON CONFLICT (team, project, id, part) DO UPDATE SET (model, meaning) = (excluded.model, excluded.meaning)
"""
"""Saves nothing for a memory that has been deleted or changed meanwhile."""


class SharedMemories(msgspec.Struct, frozen=True):
    """How many memories a team's store has, and how many of them are found by their meaning. `note` says why not all,
    "" if all are."""

    memories: int
    by_meaning: int
    note: str


def describe_missing_vectors(connection: psycopg.Connection) -> str:
    """Returns why the database cannot find memories by their meaning, or "" if it can."""
    row = connection.execute(_STATE).fetchone()
    is_ready, is_available = row or (False, False)
    return "" if is_ready else NOT_SET_UP if is_available else NO_PGVECTOR


def count_shared(connection: psycopg.Connection, team: str, project: str = "") -> SharedMemories:
    """Counts the memories of a team, or of one of its projects, and those that are found by their meaning."""
    values = {"team": team, "project": project, "model": MODEL_SHA256}
    if note := describe_missing_vectors(connection):
        query = "SELECT count(*) FROM memories WHERE team = %(team)s AND %(project)s IN ('', project)"
        row = connection.execute(query, values).fetchone()
        return SharedMemories(row[0] if row else 0, 0, note)
    memories, read = connection.execute(_COUNT.encode(), values).fetchone() or (0, 0)
    if left := memories - read:
        which = "1 memory is" if left == 1 else f"{left:,} memories are"
        note = f"{which} found by words only, until `lerim org share` runs there with {INSTALL_SENTENCE_MODEL}."
    return SharedMemories(memories, read, note)


def count_shared_memories(database: TeamDatabase) -> SharedMemories:
    """Returns how many memories the team's store has, and how many of them can be found by meaning. Raises OrgError."""
    with database.open() as connection:
        return count_shared(connection, database.team)


def store_vectors(database: TeamDatabase, project: str, report: ReportProgress) -> SharedMemories:
    """Embeds the memories of a project that have no vectors yet, in about 35 ms of processor time each, if the
    database and this machine support it. Returns the counts. Calling it again embeds nothing. Raises OrgError."""
    with database.open() as connection:
        values = {"team": database.team, "project": project, "model": MODEL_SHA256}
        if not describe_missing_vectors(connection) and is_sentence_model_installed():
            missing: list[tuple[str, str, str]] = connection.execute(_MISSING.encode(), values).fetchall()
            model = load_sentence_model() if missing else None
            for start in range(0, len(missing), BATCH):
                report(start, len(missing))
                rows = [values | row for row in _embed(missing[start : start + BATCH], model)] if model else []
                with connection.transaction():
                    connection.cursor().executemany(_SAVE.encode(), rows)
        return count_shared(connection, database.team, project)


def embed_question(database: TeamDatabase, question: str, model: SentenceModel) -> list[float]:
    """Returns the vector of a question. Raises OrgError if the database has no vectors to compare it with."""
    with database.open() as connection:
        note = describe_missing_vectors(connection)
    if note:
        raise OrgError(note, where=describe_address(database.url), todo="Search without --meaning.")
    return _numbers(model.embed([question])[0])


def _embed(memories: Sequence[tuple[str, str, str]], model: SentenceModel) -> list[dict[str, object]]:
    """Returns the rows of the vectors of memories, each given as its id, title and body."""
    texts = [
        (part, one, text)
        for one in memories
        for part, text in (("title", one[1]), ("body", one[2].strip()))
        if text or part == "title"
    ]
    vectors = model.embed([text for _, _, text in texts])
    return [
        {"part": part, "id": one[0], "title": one[1], "body": one[2], "meaning": _numbers(vector)}
        for (part, one, _), vector in zip(texts, vectors, strict=True)
    ]


def _numbers(vector: bytes) -> list[float]:
    """Returns the numbers of a vector, which are half-precision floats."""
    return list(struct.unpack(f"<{len(vector) // 2}e", vector))
