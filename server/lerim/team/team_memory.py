"""Finds memories across a team's repositories, and says who approved what."""

from __future__ import annotations

from datetime import datetime

import msgspec

from lerim.memory import MODEL_SHA256, SentenceModel
from lerim.team.database import TeamDatabase
from lerim.team.meaning import embed_question

MOST_BY_MEANING = 10

_FOUND_BY_WORDS = """
    SELECT memories.*, ts_rank_cd(words, query) AS rank, query FROM memories, asked WHERE words @@ query
"""
_FOUND_BY_MEANING = """
    SELECT memories.*, near.rank, query FROM memories JOIN (
        WITH compared AS MATERIALIZED ( -- so that vectors are not sorted together with their nearness
            SELECT project, id, nearness(meaning, %(question)s::real[]) AS one FROM memory_vectors
            WHERE team = %(team)s AND model = %(model)s
        )
        SELECT project, id, max(one) AS rank FROM compared GROUP BY project, id
    ) AS near USING (project, id), asked WHERE rank > 0
"""
_SEARCH = """
WITH asked AS (
    SELECT CASE WHEN numnode(stemmed) > 0 THEN stemmed ELSE exact END AS query FROM (
        SELECT websearch_to_tsquery('english', typed) AS stemmed, websearch_to_tsquery('simple', typed) AS exact
        FROM (SELECT translate(%(words)s, './#_:', '     ') AS typed) AS one -- as `find_words` does with texts
    ) AS both_forms
), found AS (
    {found}
        AND team = %(team)s AND %(kind)s IN ('', kind)
        AND (%(repo)s = '' OR project = %(repo)s OR project LIKE '%%/' || %(like)s)
    ORDER BY rank DESC, approved_at DESC NULLS LAST, project, id LIMIT %(limit)s
)
SELECT project, id, kind, title,
    ts_headline('english', body, query, 'StartSel="", StopSel="", MinWords={least}, MaxWords=40'),
    string_to_array(places, E'\\n'), approved_by, approved_at, approved_in
FROM found ORDER BY rank DESC, approved_at DESC NULLS LAST, project, id
"""
_APPROVALS = """
SELECT project, approved_by, count(*), max(approved_at) FROM memories WHERE team = %s
GROUP BY project, approved_by ORDER BY project, count(*) DESC, approved_by
"""


class TeamHit(msgspec.Struct, frozen=True):
    """One memory of a repository, the passage that fits the question best, and who approved it when, in which commit
    (None and "" if git does not say). `by_meaning` says that its meaning found it, whatever words it has."""

    project: str
    id: str
    kind: str
    title: str
    passage: str
    references: list[str]
    approved_by: str
    approved_at: datetime | None
    approved_in: str
    by_meaning: bool = False


class Approvals(msgspec.Struct, frozen=True):
    """How many memories of a repository a person approved ("" if git does not say who), and the last time."""

    project: str
    approved_by: str
    memories: int
    last_at: datetime | None


def search_team(
    database: TeamDatabase, words: str, repo: str, kind: str, limit: int, model: SentenceModel | None = None
) -> list[TeamHit]:
    """Finds memories with these words in all repositories of the team, the best first; with a `model`, up to
    MOST_BY_MEANING whose meaning is nearest to the words' come after them, nearest first.

    `words` may have "phrases", OR and -excluded words. `repo` is a repository's name, as org/name or whole; `kind` a
    kind of memory; "" for all. Raises OrgError, also if there is a model, but the database has no vectors.
    """
    words = words.replace("\0", " ")
    escaped = repo.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    values = {"team": database.team, "words": words, "kind": kind, "limit": limit, "repo": repo, "like": escaped}
    question = embed_question(database, words, model) if model and words.strip() else None
    by_words = _SEARCH.format(found=_FOUND_BY_WORDS, least=10).encode()
    by_meaning = _SEARCH.format(found=_FOUND_BY_MEANING, least=30).encode()
    with database.open() as connection:
        hits = [TeamHit(*row) for row in connection.execute(by_words, values)]
        if question is None:
            return hits
        most = {"question": question, "model": MODEL_SHA256, "limit": MOST_BY_MEANING + len(hits)}
        rows = connection.execute(
            by_meaning, values | most, prepare=False
        )  # a generic plan casts the question each time
        near = [msgspec.structs.replace(TeamHit(*row), by_meaning=True) for row in rows]
    known = {(one.project, one.id) for one in hits}
    others = [one for one in near if (one.project, one.id) not in known]
    return [*hits, *others[:MOST_BY_MEANING]][:limit]


def count_approvals(database: TeamDatabase) -> list[Approvals]:
    """Counts the memories by repository and by who approved them. Raises OrgError."""
    with database.open() as connection:
        return [Approvals(*row) for row in connection.execute(_APPROVALS, (database.team,))]
