"""The sessions of every agent, with secrets removed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext

import msgspec

from lerim.errors import NotFoundError, UsageError
from lerim.paths import Home
from lerim.redaction import clean_text
from lerim.sessions import (
    Catalog,
    Platform,
    Relation,
    SessionFact,
    SessionFilters,
    SessionListItem,
    Tokens,
    TurnRow,
    agent_name,
    clean_line,
    list_facts,
    session_title,
)
from lerim.times import format_utc
from lerim.views.summaries import SummaryView, find_folder_projects, find_summary_view

MAX_NAMES = 100
"""Most branches or models listed for one session."""


class SessionView(msgspec.Struct, frozen=True):
    """A session as `--json`, the API and the editor show it. `place` identifies it on this machine. `files` is the
    number of files it touched. A number is None if the agent's store does not record it. `parent` is the session that
    started a subagent's session; `parent_missing`: that one was not read. `error`: why it could not be read last."""

    id: str
    platform: Platform
    agent: str
    title: str
    started: str
    ended: str
    folder: str
    branches: list[str]
    models: list[str]
    turns: int
    prompts: int
    tool_calls: int
    tool_errors: int
    denials: int
    files: int
    tokens: Tokens | None
    cost: float | None
    parent: str
    parent_missing: bool
    place: str
    gone: bool
    error: str


class TurnOutput(msgspec.Struct, frozen=True):
    """A turn as `--json` prints it; `number` is its place in its session."""

    id: str
    session: str
    number: int
    platform: Platform
    role: str
    kind: str
    time: str
    folder: str
    text: str
    tools: str
    score: float


class SessionListOutput(msgspec.Struct, frozen=True):
    """What `sessions list --json` prints."""

    sessions: list[SessionView]


class TurnSearchOutput(msgspec.Struct, frozen=True):
    """What `sessions search --json` prints."""

    turns: list[TurnOutput]


class ShownSessionOutput(msgspec.Struct, frozen=True):
    """What `sessions show --json` prints. `summary` is None if the session has none or if one turn was requested."""

    session: SessionView
    turns: list[TurnOutput]
    summary: SummaryView | None = None


class FactOutput(msgspec.Struct, frozen=True):
    """A fact as `--json` prints it; `number` is the place of its turn in the session."""

    turn: str
    number: int
    time: str
    entity: str
    relation: Relation
    value: str
    confidence: float
    supersedes: list[str]


class SessionFactsOutput(msgspec.Struct, frozen=True):
    """What `sessions facts --json` prints."""

    session: str
    platform: Platform
    facts: list[FactOutput]


def load_session_list(home: Home, filters: SessionFilters, limit: int) -> SessionListOutput:
    """Returns the sessions that match, most recently ended first."""
    with open_catalog_if_any(home) as catalog:
        sessions = catalog.list_filtered_sessions(filters, limit) if catalog else []
    return SessionListOutput([make_session_view(session) for session in sessions])


def search_turns(
    home: Home, query: str, filters: SessionFilters, limit: int, *, by_session: bool = False
) -> TurnSearchOutput:
    """Returns the turns that match, best first; with `by_session` only the best one of each session."""
    with open_catalog_if_any(home) as catalog:
        if catalog is None:
            return TurnSearchOutput([])
        search = catalog.search_sessions if by_session else catalog.search_turns
        return TurnSearchOutput([make_turn_output(turn) for turn in search(query, limit=limit, filters=filters)])


def load_session(home: Home, session: str, turn: str = "") -> ShownSessionOutput:
    """Returns a session with its turns and summary, or one of its turns. The first characters of the id are enough;
    `turn` is a turn's id or number.

    Raises NotFoundError, and UsageError if several ids begin with `session`.
    """
    with open_catalog_if_any(home) as catalog:
        found = find_one_session(catalog, session)
        all_rows = catalog.load_turns(found.place) if catalog else []
    rows = [row for row in all_rows if turn in ("", row.id, str(row.ordinal))]
    if turn and not rows:
        raise NotFoundError(
            f"The session has no turn {turn!r}.",
            todo="Give a turn's number, or an id that `lerim sessions search` printed.",
        )
    summary = (
        None
        if turn
        else find_summary_view(find_folder_projects(found.cwds, home), home, found.platform, found.session_id)
    )
    return ShownSessionOutput(make_session_view(found), [make_turn_output(row) for row in rows], summary)


def load_session_facts(home: Home, session: str, relations: Sequence[str] = ()) -> SessionFactsOutput:
    """Returns the facts of a session, or those with one of these relations. The first characters of the id are enough.

    Raises NotFoundError, UsageError.
    """
    with open_catalog_if_any(home) as catalog:
        found = find_one_session(catalog, session)
        facts = list_facts(catalog.db, found.place) if catalog else []
    return SessionFactsOutput(
        clean_text(found.session_id),
        found.platform,
        [_make_fact_output(one) for one in facts if not relations or one.fact.relation in relations],
    )


def find_one_session(catalog: Catalog | None, session: str) -> SessionListItem:
    """Returns the only session whose id begins with this text. Raises NotFoundError if there is none, UsageError if
    there are several."""
    matches = catalog.find_sessions_by_id(session) if catalog else []
    if not matches:
        raise NotFoundError(
            f"No session id begins with {session!r}.", todo="`lerim sessions list --all` shows the ids."
        )
    if len(matches) > 1:
        ids = ", ".join(session_item.session_id for session_item in matches[:5])
        raise UsageError(f"Several session ids begin with {session!r}: {ids}.", todo="Give more characters of the id.")
    return matches[0]


def open_catalog_if_any(home: Home) -> AbstractContextManager[Catalog | None]:
    """Opens the catalog, or gives None if there is none yet: reading does not create it."""
    return Catalog.open(home) if home.catalog.exists() else nullcontext()


def make_session_view(session: SessionListItem) -> SessionView:
    """Returns a session of the catalog for display, without secrets."""
    return SessionView(
        id=clean_line(session.session_id),
        platform=session.platform,
        agent=agent_name(session.platform),
        title=session_title(session),
        started=format_utc(session.started),
        ended=format_utc(session.ended),
        folder=clean_line(session.cwds[0]) if session.cwds else "",
        branches=[clean_line(name) for name in session.branches[:MAX_NAMES]],
        models=[clean_line(name) for name in session.models[:MAX_NAMES]],
        turns=session.turns,
        prompts=session.prompts,
        tool_calls=session.tool_calls,
        tool_errors=session.tool_errors,
        denials=session.denials,
        files=session.files,
        tokens=session.tokens,
        cost=session.cost,
        parent=clean_line(session.parent),
        parent_missing=session.parent_missing,
        place=session.place,
        gone=session.vanished,
        error=clean_line(session.error),
    )


def describe_copied_turns(copied: int, own: int) -> str:
    """Says how many turns of a session were copied from another one, "" for none; `own` counts the others."""
    if copied <= 0:
        return ""
    which = f"{copied:,} of its turns" if own else "All of its turns"
    were, are = ("was", "is") if copied == 1 and own else ("were", "are")
    return f"{which} {were} copied from the session that it continues or was forked from, and {are} shown there."


def make_turn_output(row: TurnRow) -> TurnOutput:
    """Returns a turn of the catalog for display, without secrets."""
    return TurnOutput(
        id=row.id,
        session=clean_text(row.session),
        number=row.ordinal,
        platform=row.platform,
        role=row.role,
        kind=row.kind,
        time=format_utc(row.time),
        folder=clean_text(row.cwd),
        text=clean_text(row.text),
        tools=clean_text(row.tools),
        score=round(row.score, 3),
    )


def _make_fact_output(one: SessionFact) -> FactOutput:
    fact = one.fact
    return FactOutput(
        turn=one.turn,
        number=fact.source_turn,
        time=format_utc(one.time),
        entity=clean_text(fact.entity),
        relation=fact.relation,
        value=clean_text(fact.value),
        confidence=fact.confidence,
        supersedes=_clean_texts(fact.supersedes),
    )


def _clean_texts(texts: Iterable[str]) -> list[str]:
    return [clean_text(text) for text in texts]
