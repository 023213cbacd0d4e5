"""Finds turns by words in two steps: the index returns the best candidates, ranking.py ranks them.

The index weighs the text of a turn highest, its tool calls less, and neighbouring turns least. A turn is found only if
it contains a word itself.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from lerim.sessions.search import query as queries
from lerim.sessions.search import ranking
from lerim.sessions.search.query import NO_FILTERS, SearchQuery, SessionFilters
from lerim.sessions.search.ranking import TOOL_WEIGHT, TurnMatch
from lerim.sessions.tables import (
    IS_MAIN_SESSION,
    OVERLAPS_BOUNDS,
    replace_surrogates,
    session_rows,
    time_bounds,
    to_json_list,
    touched_files,
    unpack_turn_text,
)

RANKED_TURNS = 100
"""How many turns are ranked, unless more are requested."""
MOST_COUNTED = 5_000
"""The maximum number of turns counted for each word, and about how many turns the index is asked to rank."""
MOST_LISTED = 20_000
"""The most turns of projects that are listed before a search; of more, each turn with a word is looked up."""
NEAR_WEIGHT = 0.35
"""The index's weight of a word in a neighbouring turn."""


_OWN_COLUMNS = "{text tools}"
_PROJECTS_WHERE = (
    " AND turns.folder IN (SELECT id FROM folders WHERE project IN (SELECT value FROM json_each(:projects)))"
)
_IN_FILES = " IN (SELECT turn FROM touched WHERE file IN (SELECT value FROM json_each(:files)))"


@dataclass(frozen=True, slots=True)
class _SqlConditions:
    """Conditions on `turns` in SQL and their parameters: on their projects, on the files they touched, and others."""

    project_where: str
    file_where: str
    other_where: str
    values: dict[str, str | float | None]

    @property
    def where(self) -> str:
        return f"{self.project_where}{self.file_where}{self.other_where}"


def search_turns(db: sqlite3.Connection, text: str, filters: SessionFilters, limit: int) -> list[tuple[int, float]]:
    """Returns the rows of the turns that contain words of `text`, best first, with a score. If `text` has no words but
    filters are set, returns the newest turns that pass them. Any text is a valid query."""
    query = queries.parse_query(text)
    conditions = _make_conditions(db, filters)
    if not query.terms:
        return [] if filters == NO_FILTERS else _list_newest(db, conditions, limit)
    found = ranking.demote_copies(_rank_candidates(db, query, conditions, limit))
    return [(one.row, one.score) for one in found[:limit]]


def search_sessions(db: sqlite3.Connection, text: str, filters: SessionFilters, limit: int) -> list[tuple[int, float]]:
    """Returns the best turn of each session that matches `text`, with the session's score, best first; nothing if
    `text` has no words. Any text is a valid query."""
    query = queries.parse_query(text)
    if not query.terms:
        return []
    found = ranking.rank_sessions(_rank_candidates(db, query, _make_conditions(db, filters), limit))
    return [(best.row, score) for best, score in found[:limit]]


def _rank_candidates(
    db: sqlite3.Connection, query: SearchQuery, conditions: _SqlConditions, limit: int
) -> list[TurnMatch]:
    if conditions.file_where and conditions.values["files"] == "[]":
        return []
    restriction = _restrict_to_projects(db, conditions)
    project_counts, machine_counts = _count_words(db, query, conditions, restriction)
    expression = _choose_expression(db, query, machine_counts)
    most = max(limit, RANKED_TURNS)
    candidates = _find_candidates(db, expression, conditions, restriction, most)
    if not candidates and expression != query.fts_expression:  # the rarest words do not occur in these projects
        candidates = _find_candidates(db, query.fts_expression, conditions, restriction, most)
    return ranking.rank_turns(query, candidates, project_counts, _count_turns(db, conditions))


def count_matching_turns(db: sqlite3.Connection, query: SearchQuery, filters: SessionFilters) -> tuple[list[int], int]:
    """Returns how many of the projects' turns contain each word of a query (at most MOST_COUNTED), and how many there
    are."""
    conditions = _make_conditions(db, filters)
    restriction = _restrict_to_projects(db, conditions)
    return _count_words(db, query, conditions, restriction)[0], _count_turns(db, conditions)


def filter_places(db: sqlite3.Connection, filters: SessionFilters, limit: int) -> list[str]:
    """Returns the places of the sessions with turns that pass the filters, the most recently ended first.

    A session whose turns were all copied from another is judged by its totals. Totals do not say which turn read a
    file or failed, so the filters `file` and `failed` exclude such a session. A subagent's session counts as part of
    its parent's, if that was read: a session of the projects is also found by what its subagents did.
    """
    conditions = _make_conditions(db, filters)
    matching = f"SELECT transcript FROM turns WHERE 1{conditions.where}"
    is_matching = f"t.id IN ({matching})"
    if conditions.where != conditions.project_where:
        is_matching += (
            f" OR (t.platform, t.session) IN (SELECT platform, parent FROM transcripts WHERE id IN ({matching}))"
            f" AND t.id IN (SELECT transcript FROM turns WHERE 1{conditions.project_where})"
        )
    copies: set[int] = set()
    if not filters.file and not filters.failed:
        for project in (None,) if filters.projects is None else filters.projects:
            copies |= session_rows.find_copied_transcripts(db, project)
    rows = db.execute(
        "SELECT t.place FROM transcripts t JOIN sessions s ON s.transcript = t.id"
        f" WHERE {IS_MAIN_SESSION} AND s.turns > 0 AND (:agent IS NULL OR t.platform = :agent)"
        f" AND ({is_matching}"
        f"  OR t.id IN (SELECT value FROM json_each(:copies)){_COPY_CONDITIONS})"
        " ORDER BY coalesce(s.ended, s.started) DESC, t.id DESC LIMIT :limit",
        {**conditions.values, "copies": to_json_list(sorted(copies)), "limit": limit},
    )
    return [place for (place,) in rows]


_COPY_CONDITIONS = (
    " AND (:branch = '' OR instr(char(10) || s.branches || char(10), char(10) || :branch || char(10)))"
    " AND (:model = '' OR instr(char(10) || lower(s.models), char(10) || lower(:model)))"
    f" AND {OVERLAPS_BOUNDS}"
)
"""The conditions of the filters for a session that has no turns of its own."""


def _make_conditions(db: sqlite3.Connection, filters: SessionFilters) -> _SqlConditions:
    turn_where = ""
    if filters.agent is not None:
        turn_where += " AND turns.transcript IN (SELECT id FROM transcripts WHERE platform = :agent)"
    if filters.branch:
        turn_where += " AND turns.branch = :branch"
    if filters.model:
        turn_where += " AND substr(turns.model, 1, length(:model)) = :model COLLATE NOCASE"
    if filters.failed:
        turn_where += " AND turns.failed"
    if filters.since is not None:
        turn_where += " AND turns.time >= :since"
    if filters.until is not None:
        turn_where += " AND turns.time <= :until"
    values: dict[str, str | float | None] = {
        "projects": to_json_list(filters.projects or ()),
        "agent": filters.agent,
        "branch": replace_surrogates(filters.branch),
        "model": replace_surrogates(filters.model),
        **time_bounds(filters.since, filters.until),
        "files": to_json_list(touched_files.find_touched_files(db, filters.file)) if filters.file else "[]",
    }
    project_where = "" if filters.projects is None else _PROJECTS_WHERE
    file_where = f" AND turns.id{_IN_FILES}" if filters.file else ""
    return _SqlConditions(project_where, file_where, turn_where, values)


def _restrict_to_projects(db: sqlite3.Connection, conditions: _SqlConditions) -> str:
    """Returns the condition that a row `words` of the index is a turn of the projects.

    Looking up the turn of each row takes longer than all else in a search, so the turns of the projects are listed
    first, unless there are too many."""
    if not conditions.project_where:
        return ""
    of_projects = f"FROM turns WHERE 1{conditions.project_where}"
    bound = f"SELECT count(*) FROM (SELECT 1 {of_projects} LIMIT {MOST_LISTED + 1})"
    if db.execute(bound, conditions.values).fetchone()[0] > MOST_LISTED:
        return f" AND EXISTS (SELECT 1 {of_projects} AND turns.id = words.rowid)"
    db.execute("CREATE TEMP TABLE IF NOT EXISTS searched_turns (id INTEGER PRIMARY KEY)")
    db.execute("DELETE FROM temp.searched_turns")
    db.execute(f"INSERT INTO temp.searched_turns SELECT id {of_projects}", conditions.values)
    return " AND +words.rowid IN (SELECT id FROM temp.searched_turns)"


def _count_words(
    db: sqlite3.Connection, query: SearchQuery, conditions: _SqlConditions, restriction: str
) -> tuple[list[int], list[int]]:
    """Returns how many turns of the projects contain each word, and how many turns do so overall, among the first
    MOST_COUNTED found."""
    rows = f"SELECT rowid FROM words WHERE words MATCH :match LIMIT {MOST_COUNTED}"
    in_projects = f"count(CASE WHEN 1{restriction} THEN 1 END)" if restriction else "count(*)"
    count_query = f"SELECT {in_projects}, count(*) FROM ({rows}) AS words"
    matches = (f"{_OWN_COLUMNS} : {term.fts_expression}" for term in query.terms)
    counts = [db.execute(count_query, {**conditions.values, "match": match}).fetchone() for match in matches]
    return [own for own, _ in counts], [machine for _, machine in counts]


def _count_turns(db: sqlite3.Connection, conditions: _SqlConditions) -> int:
    """Returns how many turns there are; for all projects an estimate from the highest row id."""
    count_query = (
        f"SELECT count(*) FROM turns WHERE 1{conditions.project_where}"
        if conditions.project_where
        else "SELECT max(id) FROM turns"
    )
    return int(db.execute(count_query, conditions.values).fetchone()[0] or 0)


def _choose_expression(db: sqlite3.Connection, query: SearchQuery, turns_with_word: Sequence[int]) -> str:
    """Returns the expression to query the index with: any of the words, or only the rarest ones if too many turns
    match."""
    if sum(turns_with_word) <= MOST_COUNTED:
        return query.fts_expression
    rarest = sorted(zip(turns_with_word, (term.fts_expression for term in query.terms), strict=True))
    if rarest[0][0] >= MOST_COUNTED:
        all_words = f"{_OWN_COLUMNS} : ({' AND '.join(match for _, match in rarest)})"
        if db.execute("SELECT 1 FROM words WHERE words MATCH ? LIMIT 1", (all_words,)).fetchone():
            return all_words
    chosen = [rarest[0][1]]
    remaining = MOST_COUNTED - rarest[0][0]
    for number, match in rarest[1:]:
        remaining -= number
        if remaining < 0:
            break
        chosen.append(match)
    return f"{_OWN_COLUMNS} : ({' OR '.join(chosen)})"


def _find_candidates(
    db: sqlite3.Connection, match: str, conditions: _SqlConditions, restriction: str, limit: int
) -> list[TurnMatch]:
    where = restriction
    if not (restriction or conditions.file_where or match.startswith(_OWN_COLUMNS)):
        # two thirds of the rows have words in the turns around them only, and scoring takes longer than all else
        where = " AND +words.rowid IN (SELECT rowid FROM words WHERE words MATCH :own_match)"
    if conditions.file_where:
        where += f" AND +words.rowid{_IN_FILES}"
    if conditions.other_where:
        where += f" AND EXISTS (SELECT 1 FROM turns WHERE turns.id = words.rowid{conditions.other_where})"
    rows = db.execute(
        "SELECT turns.id, turns.transcript, turns.ordinal, turns.role, turns.prose, turns.time, turns.body, own, score"
        f" FROM (SELECT words.rowid AS row, -bm25(words, 1, {TOOL_WEIGHT}, 0) AS own,"
        f"  -bm25(words, 1, {TOOL_WEIGHT}, {NEAR_WEIGHT}) AS score FROM words"
        f"  WHERE words MATCH :match{where} ORDER BY score DESC LIMIT :limit)"
        " JOIN turns ON turns.id = row",
        {**conditions.values, "match": match, "own_match": f"{_OWN_COLUMNS} : ({match})", "limit": limit},
    )
    return [
        TurnMatch(number, transcript, ordinal, role == "user", bool(prose), time, *unpack_turn_text(body), score)
        for number, transcript, ordinal, role, prose, time, body, own, score in rows
        if own > 0
    ]


def _list_newest(db: sqlite3.Connection, conditions: _SqlConditions, limit: int) -> list[tuple[int, float]]:
    rows = db.execute(
        f"SELECT turns.id FROM turns WHERE 1{conditions.where} ORDER BY turns.time DESC, turns.id DESC LIMIT :limit",
        {**conditions.values, "limit": limit},
    )
    return [(row, 0.0) for (row,) in rows]
