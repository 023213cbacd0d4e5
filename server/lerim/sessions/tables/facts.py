"""Stores facts that single turns show, such as a command that failed, a decision, or a file that was written.

Each turn has one packed row, written in the same transaction as the position of the job that read it, so both are
kept or rolled back. Facts are derived: reading a session again writes the same rows. The facts that a model found in
a turn are stored in a separate row, which is NULL while the turn waits for a model.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Literal, get_args

import msgspec

from lerim.sessions.model import Platform
from lerim.sessions.tables.column_values import seconds_to_time, time_bounds, to_json_list
from lerim.sessions.tables.turn_text import replace_surrogates

Relation = Literal[
    "decided",
    "produced_error",
    "succeeded",
    "wrote",
    "read",
    "mentions",
    "prefers",
    "depends_on",
    "fixed_by",
    "remembered",
]
"""What a fact says about its entity:

- decided: the person or the agent (`entity`) decides `value`
- produced_error, succeeded: the command or tool gave the error, or the line of success, in `value`
- wrote, read: the tool wrote or read the file in `value`
- mentions: the reply names the file in `value`
- prefers: the person wants `value`
- depends_on: the entity needs `value`
- fixed_by: the entity's failure ended with `value`
- remembered: the agent stored `value` in a memory of its own
"""
RELATIONS: tuple[Relation, ...] = get_args(Relation)


class Fact(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The statement that `entity` is in `relation` to `value`, both redacted, with a `confidence` from 0 to 1.

    `source_turn` is the ordinal of the turn in its session. `supersedes` lists earlier values that this one
    replaces.
    """

    entity: str
    relation: Relation
    value: str
    confidence: float
    source_turn: int
    supersedes: tuple[str, ...] = ()


class SessionFact(msgspec.Struct, frozen=True):
    """A fact with its turn (id and time) and session."""

    fact: Fact
    turn: str
    time: datetime | None
    session: str
    platform: Platform


_FACTS = msgspec.json.Decoder(list[Fact])
_FIND = (  # two outer joins, because a join with a UNION of both tables would read all of both
    "SELECT facts.facts, model_facts.facts, turns.turn, turns.time, transcripts.session, transcripts.platform"
    " FROM turns JOIN transcripts ON transcripts.id = turns.transcript"
    " LEFT JOIN facts ON facts.turn = turns.turn LEFT JOIN model_facts ON model_facts.turn = turns.turn"
)


def encode_facts(facts: Sequence[Fact]) -> bytes:
    """Encodes the facts of one turn for storage."""
    return replace_surrogates(msgspec.json.encode(facts).decode()).encode()


def keep_facts(db: sqlite3.Connection, facts: Mapping[str, bytes], model_turns: Iterable[str] = ()) -> None:
    """Saves the encoded facts of turns, by turn id; call it inside a transaction. A turn without facts loses those
    it had. `model_turns` wait for a model from now on, unless a model was asked about them before."""
    db.executemany("INSERT OR IGNORE INTO model_facts VALUES (?, NULL)", [(turn,) for turn in model_turns])
    db.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?)", [(turn, text) for turn, text in facts.items() if text])
    db.executemany("DELETE FROM facts WHERE turn = ?", [(turn,) for turn, text in facts.items() if not text])


def delete_facts(db: sqlite3.Connection, turns: Iterable[str]) -> None:
    """Deletes the facts of turns, by turn id; call it inside a transaction."""
    gone = [(turn,) for turn in turns]
    db.executemany("DELETE FROM facts WHERE turn = ?", gone)
    db.executemany("DELETE FROM model_facts WHERE turn = ?", gone)


def list_model_turns(
    db: sqlite3.Connection, project: str, since: datetime | None, until: datetime | None, most: int
) -> list[str]:
    """Returns the ids of a project's turns that wait for a model to find facts in them, the newest `most`."""
    rows = db.execute(
        "SELECT model_facts.turn FROM model_facts JOIN turns ON turns.turn = model_facts.turn"
        " JOIN folders ON folders.id = turns.folder WHERE model_facts.facts IS NULL AND folders.project = :project"
        " AND (:since IS NULL OR turns.time >= :since) AND (:until IS NULL OR turns.time < :until)"
        " ORDER BY turns.time DESC, turns.id LIMIT :most",
        {"project": project, "most": most, **time_bounds(since, until)},
    )
    return [turn for (turn,) in rows]


def keep_model_facts(db: sqlite3.Connection, turn: str, facts: Sequence[Fact]) -> None:
    """Saves the facts that a model found in a turn; there may be none."""
    db.execute("UPDATE model_facts SET facts = ? WHERE turn = ?", (encode_facts(facts) if facts else b"", turn))


def list_facts(db: sqlite3.Connection, place: str) -> list[SessionFact]:
    """Returns the facts of the session at a place, in order."""
    query = f"{_FIND} WHERE transcripts.place = ? ORDER BY turns.ordinal, turns.id"
    return _make_facts(db.execute(query, (replace_surrogates(place),)))


def list_facts_between(
    db: sqlite3.Connection, project: str, since: datetime | None, until: datetime | None
) -> list[SessionFact]:
    """Returns the facts of a project's turns from `since` on and before `until`, in the order of time."""
    folders = [row for (row,) in db.execute("SELECT id FROM folders WHERE project = ?", (project,))]
    query = (
        f"{_FIND} WHERE turns.folder IN (SELECT value FROM json_each(:folders))"
        " AND (:since IS NULL OR turns.time >= :since) AND (:until IS NULL OR turns.time < :until)"
        " ORDER BY turns.time, transcripts.id, turns.ordinal"
    )
    return _make_facts(db.execute(query, {"folders": to_json_list(folders), **time_bounds(since, until)}))


def _make_facts(rows: sqlite3.Cursor) -> list[SessionFact]:
    return [
        SessionFact(fact, turn, seconds_to_time(time), session, platform)
        for by_rules, by_model, turn, time, session, platform in rows
        for facts in (by_rules, by_model)
        if facts
        for fact in _FACTS.decode(facts)
    ]
