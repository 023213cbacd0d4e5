"""Finds memories across a team's repositories, and says who approved what."""

from __future__ import annotations

from datetime import datetime

import msgspec

from lerim.org.database import TeamDatabase

NO_SEARCH_BY_MEANING = "Search by meaning is not available: the team's store finds words and their inflected forms."

_SEARCH = """
WITH asked AS (
    SELECT CASE WHEN numnode(stemmed) > 0 THEN stemmed ELSE exact END AS query FROM (
        SELECT websearch_to_tsquery('english', typed) AS stemmed, websearch_to_tsquery('simple', typed) AS exact
        FROM (SELECT translate(%(words)s, './#_:', '     ') AS typed) AS one -- as `find_words` does with texts
    ) AS both_forms
), found AS (
    SELECT memories.*, ts_rank_cd(words, query) AS rank, query FROM memories, asked
    WHERE team = %(team)s AND words @@ query AND %(kind)s IN ('', kind)
        AND (%(repo)s = '' OR project = %(repo)s OR project LIKE '%%/' || %(like)s)
    ORDER BY rank DESC, approved_at DESC NULLS LAST, project, id LIMIT %(limit)s
)
SELECT project, id, kind, title,
    ts_headline('english', body, query, 'StartSel="", StopSel="", MinWords=10, MaxWords=40'),
    string_to_array(places, E'\\n'), approved_by, approved_at, approved_in
FROM found ORDER BY rank DESC, approved_at DESC NULLS LAST, project, id
"""
_APPROVALS = """
SELECT project, approved_by, count(*), max(approved_at) FROM memories WHERE team = %s
GROUP BY project, approved_by ORDER BY project, count(*) DESC, approved_by
"""


class TeamHit(msgspec.Struct, frozen=True):
    """One memory of a repository, the passage that fits the question best, and who approved it when, in which commit
    (None and "" if git does not say)."""

    project: str
    id: str
    kind: str
    title: str
    passage: str
    references: list[str]
    approved_by: str
    approved_at: datetime | None
    approved_in: str


class Approvals(msgspec.Struct, frozen=True):
    """How many memories of a repository a person approved ("" if git does not say who), and the last time."""

    project: str
    approved_by: str
    memories: int
    last_at: datetime | None


def search_team(database: TeamDatabase, words: str, repo: str, kind: str, limit: int) -> list[TeamHit]:
    """Find memories with these words in all repositories of the team, the best first.

    `words` may have "phrases", OR and -excluded words. `repo` is a repository's name, as org/name or whole; `kind` a
    kind of memory; "" for all. Raises OrgError.
    """
    escaped = repo.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    values = {"team": database.team, "words": words.replace("\0", " "), "kind": kind, "limit": limit}
    with database.open() as connection:
        rows = connection.execute(_SEARCH.encode(), {**values, "repo": repo, "like": escaped}).fetchall()
    return [TeamHit(*row) for row in rows]


def count_approvals(database: TeamDatabase) -> list[Approvals]:
    """Count the memories by repository and by who approved them. Raises OrgError."""
    with database.open() as connection:
        return [Approvals(*row) for row in connection.execute(_APPROVALS, (database.team,))]
