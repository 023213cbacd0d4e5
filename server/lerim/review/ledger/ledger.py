"""The review ledger of a project: the claims proposed here, what was decided about them, and how to undo every action.

It is a database in the private folder. It therefore survives when `review/` or run folders are deleted, and no
repository can bring its own. Claims are recognised by salted hashes of their text and words. The ledger also stores
each session's claim as it was proposed, and the file texts that an action replaced.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

import msgspec

from lerim import sqlite
from lerim.errors import MemoryError_, Problem
from lerim.extraction import Candidate, decode_candidate
from lerim.files import hash_text
from lerim.review.compare import ChoiceTable, Fingerprint, fingerprint, pack_hashes, unpack_hashes
from lerim.review.ledger.judgments import JudgmentTable
from lerim.review.ledger.left_out import LeftOutTable
from lerim.review.ledger.schema import LEDGER_VERSION, TooOldLedgerError, migrate_ledger

ClaimState = Literal["pending", "accepted", "rejected", "withdrawn", "known", "outdated"]
"""The state of a claim. `known`: a memory already says the same. `outdated`: a later claim took its place; only
ledgers of version 5 and older contain it."""
CandidateActionKind = Literal["accept", "settle", "edit", "reject", "withdraw", "propose"]
"""An action on a candidate. `settle`: it was accepted automatically, without a person looking at it. `propose`: it
was proposed because a person wanted it, although it had been left out."""
HandActionKind = Literal[
    "add", "change", "archive", "restore", "kind", "delete", "promote", "globalize", "verify", "join"
]
ActionKind = Literal[CandidateActionKind, HandActionKind, "feedback", "repair"]
"""The kind of an action. `repair` corrects links between memories; no person triggers it."""
ActionStage = Literal["started", "reverting", "done", "undoing", "undone"]
_PERSON_ACTIONS: tuple[ActionKind, ...] = (
    *("accept", "add", "change", "kind", "promote", "globalize", "verify", "restore"),
)
"""The actions by which a person takes responsibility for a memory's text."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICRO = timedelta(microseconds=1)
_KEPT_ACTIONS = 2_000
_SCHEMA = sqlite.Schema(
    name="The review ledger",
    version=LEDGER_VERSION,
    upgrade=migrate_ledger,
    settings=("synchronous = FULL",),
    wait=10.0,
    error=MemoryError_,
    failure="The review ledger cannot be used",
    todo="Free some space or make its folder writable, then try again; nothing was changed.",
    damage_errors=(TooOldLedgerError,),
    todo_damaged="Move it away. Rejections are then forgotten; memories and candidates stay.",
)


@dataclass(frozen=True, slots=True)
class LedgerClaim:
    """A claim that this installation proposed.

    `memory` is the id of the memory it became; for an outdated claim, the memory or candidate that took its place.
    `note` says why it was withdrawn, and `blocked` counts how often it came up again after being rejected. `written` is
    the hash of the candidate file as Lerim last wrote it; if the file has another hash, a person edited it. `last_said`
    is the time of the latest turn that states the claim, 1970 if unknown.
    """

    id: str
    source: str
    fingerprint: Fingerprint
    state: ClaimState
    memory: str
    note: str
    blocked: int
    written: str
    last_said: datetime


@dataclass(frozen=True, slots=True)
class FileChange:
    """The text of one file before and after an action; None if the file does not exist. `home` says which folder
    `path` is in. `path` and `anchor` are absolute; nothing between them may be a symbolic link."""

    home: Literal["memory", "review", "private", "global"]
    anchor: str
    path: str
    before: str | None
    after: str | None

    def inverse(self) -> FileChange:
        return FileChange(self.home, self.anchor, self.path, self.after, self.before)


@dataclass(frozen=True, slots=True)
class Action:
    """An action in the review.

    `stage` goes from started to done, undoing and undone; if the process is killed, it stays at an intermediate
    stage. An action whose files could not all be written is `reverting` until they are restored, and is then
    deleted. `state_before` and `state_after` are the states of the candidate's claim.
    """

    id: str
    kind: ActionKind
    label: str
    candidate: str
    memory: str
    state_before: ClaimState
    state_after: ClaimState
    stage: ActionStage
    time: str
    changes: tuple[FileChange, ...]


class Ledger:
    """An open ledger. Its methods only execute statements; `commit` ends the transaction."""

    def __init__(self, connection: sqlite3.Connection, salt: bytes, moves: Sequence[tuple[str, str]]) -> None:
        self._sql = connection
        self._salt = salt
        self._moves = moves
        self.left_out = LeftOutTable(connection)
        self.judgments = JudgmentTable(connection)
        self.choices = ChoiceTable(connection)

    def fingerprint(self, title: str, body: str) -> Fingerprint:
        """Returns the salted hashes of a claim's text and words."""
        return fingerprint(self._salt, title, body)

    def claims(self, *states: ClaimState) -> list[LedgerClaim]:
        """Returns the claims in these states; all claims if no state is given."""
        return self._claims(f" WHERE state IN ({','.join('?' * len(states))})" if states else "", *states)

    def is_claim_of(self, claim: LedgerClaim, turn: str, title: str = "") -> bool:
        """Returns whether a claim comes from this turn (its id) and, if a title is given, has about the same title."""
        one, other = claim.fingerprint.title, self.fingerprint(title, "").title
        return claim.source.rpartition("#")[2] == turn and (not title or one <= other or other <= one)

    def claims_like(self, source: str, fingerprint: Fingerprint) -> list[LedgerClaim]:
        """Returns the claims of this source, and those with the same text."""
        return self._claims(" WHERE source=? OR (text=? AND text!=x'')", source, fingerprint.text)

    def claims_about(self, memory_ids: Collection[str]) -> list[LedgerClaim]:
        """Returns the claims that became one of these memories, and the claims that say the same as one of them."""
        return self._claims(f" WHERE memory IN ({','.join('?' * len(memory_ids))})", *memory_ids)

    def find_claim(self, claim_id: str) -> LedgerClaim | None:
        return next(iter(self._claims(" WHERE id=?", claim_id)), None)

    def _claims(self, where: str, *values: str | bytes) -> list[LedgerClaim]:
        query = "SELECT id, source, text, title, words, state, memory, note, blocked, written, said FROM claims"
        rows = self._sql.execute(query + where, values)
        return [
            LedgerClaim(
                *(name, source, Fingerprint(text, unpack_hashes(title), unpack_hashes(words))),
                *(state, memory, note, blocked, written, _EPOCH + said * _MICRO),
            )
            for name, source, text, title, words, state, memory, note, blocked, written, said in rows
        ]

    def states(self) -> dict[str, ClaimState]:
        """Returns the state of every claim, by its id."""
        return dict(self._sql.execute("SELECT id, state FROM claims"))

    def register(
        self,
        claim_id: str,
        source: str,
        fingerprint: Fingerprint,
        state: ClaimState,
        memory: str = "",
        written: str = "",
        last_said: datetime | None = None,
        proposed: Candidate | None = None,
    ) -> None:
        """Saves a claim, replacing one with the same id. `proposed` is the candidate as it was proposed, if any."""
        words = b"" if proposed is None else msgspec.json.encode(proposed)
        self._sql.execute(
            "INSERT OR REPLACE INTO claims (id, source, text, title, words, state, memory, written, said, told)"
            " VALUES (?,?,?,?,?,?,?,?,?,?)",
            (
                *(claim_id, source, fingerprint.text, pack_hashes(fingerprint.title), pack_hashes(fingerprint.words)),
                *(state, memory, written, _micros(last_said) if last_said else 0, words),
            ),
        )

    def load_proposed(self, claim_id: str) -> Candidate | None:
        """Returns the claim as it was proposed; None if an earlier version of Lerim proposed it."""
        row = self._sql.execute("SELECT told FROM claims WHERE id=?", (claim_id,)).fetchone()
        return decode_candidate(row[0]) if row and row[0] else None

    def update_said_time(self, claim_id: str, said: datetime) -> None:
        """Records that a turn at this time also states the claim."""
        self._sql.execute("UPDATE claims SET said=max(said, ?) WHERE id=?", (_micros(said), claim_id))

    def forget_left_out(self, reason: str) -> None:
        """Deletes the claims that were withdrawn and left out for this reason, so that they can be proposed again."""
        self._sql.execute(
            "DELETE FROM claims WHERE state='withdrawn' AND id IN (SELECT proposed FROM left_out WHERE reason=?)",
            (reason,),
        )

    def is_ours(self, text_hash: str) -> bool:
        """Returns whether Lerim wrote all of the memory file text with this hash, without any edit by a person."""
        return self._sql.execute("SELECT 1 FROM ours WHERE hash=?", (text_hash,)).fetchone() is not None

    def record_our_text(self, text: str) -> None:
        """Records that Lerim wrote all of this memory file's text."""
        self._sql.execute("INSERT OR IGNORE INTO ours VALUES (?)", (hash_text(text),))

    def record_rewrite(self, candidate: str, path: str, before: str, after: str) -> None:
        """Records that Lerim changed a candidate's file. The file then does not count as edited by a person, and
        earlier edits of it can still be undone."""
        self._sql.execute(
            "UPDATE claims SET written=? WHERE id=? AND written=?", (hash_text(after), candidate, hash_text(before))
        )
        for action in list(self._actions("WHERE candidate=? AND stage='done'", candidate)):
            if any((change.path, change.after) == (path, before) for change in action.changes):
                changes = [
                    replace(change, after=after) if (change.path, change.after) == (path, before) else change
                    for change in action.changes
                ]
                self._sql.execute("UPDATE actions SET changes=? WHERE id=?", (_packed(changes), action.id))

    def set_state(self, claim_id: str, state: ClaimState, memory: str = "", note: str = "") -> None:
        self._sql.execute("UPDATE claims SET state=?, memory=?, note=? WHERE id=?", (state, memory, note, claim_id))

    def record_blocked(self, claim_id: str) -> int:
        """Counts that a rejected claim came up again; returns the new count."""
        self._sql.execute("UPDATE claims SET blocked=blocked+1 WHERE id=?", (claim_id,))
        row = self._sql.execute("SELECT blocked FROM claims WHERE id=?", (claim_id,)).fetchone()
        return int(row[0]) if row else 0

    def count_blocked(self) -> int:
        """Returns how often rejected claims came up again, in total."""
        found = self._sql.execute("SELECT coalesce(sum(blocked), 0) FROM claims WHERE state='rejected'")
        return int(found.fetchone()[0])

    def record_start(self, action: Action) -> None:
        """Records an action before it is performed, and deletes the oldest finished ones."""
        columns = (action.id, action.kind, action.label, action.candidate, action.memory)
        self._sql.execute(
            "INSERT INTO actions (id, kind, label, candidate, memory, was, becomes, stage, time, changes) "
            "VALUES (?,?,?,?,?,?,?,?,?,?)",
            (*columns, action.state_before, action.state_after, action.stage, action.time, _packed(action.changes)),
        )
        self._sql.execute(
            "DELETE FROM actions WHERE number <= (SELECT max(number) FROM actions) - ? AND stage IN ('done', 'undone')",
            (_KEPT_ACTIONS,),
        )

    def set_stage(self, action: Action, stage: ActionStage) -> None:
        self._sql.execute("UPDATE actions SET stage=? WHERE id=?", (stage, action.id))

    def discard_action(self, action: Action) -> None:
        """Deletes an action that could not be performed, with the decision and the answers recorded for it."""
        self.judgments.delete(action.id)
        self.choices.delete(action.id)
        self._sql.execute("DELETE FROM actions WHERE id=?", (action.id,))

    def find_action(self, action_id: str) -> Action | None:
        return next(self._actions("WHERE id=?", action_id), None)

    def complete_action_id(self, beginning: str) -> str:
        """Returns the id of the only action, or the only bulk, whose id has this prefix; the prefix itself if none
        or several have it."""
        bulk = "instr(id, '.')>length(:given)"
        query = (
            f"SELECT DISTINCT iif({bulk}, substr(id, 1, instr(id, '.') - 1), id) FROM actions "
            "WHERE substr(id, 1, length(:given))=:given LIMIT 2"
        )
        found = self._sql.execute(query, {"given": beginning}).fetchall()
        return str(found[0][0]) if len(found) == 1 and beginning else beginning

    def list_actions(self, *stages: ActionStage, repairs: bool = False) -> Iterator[Action]:
        """Returns the actions at one of these stages, the newest first, without withdrawals and, by default, link
        repairs."""
        marks, others = ", ".join("?" * len(stages)), "'withdraw'" if repairs else "'withdraw', 'repair'"
        return self._actions(f"WHERE stage IN ({marks}) AND kind NOT IN ({others}) ORDER BY number DESC", *stages)

    def list_bulk(self, bulk: str) -> list[Action]:
        """Returns the actions of a bulk that are done or undone, the newest first."""
        where = "WHERE stage IN ('done', 'undone') AND instr(id, ? || '.')=1 ORDER BY number DESC"
        return list(self._actions(where, bulk))

    def ids_acted_on(self, kind: ActionKind, stage: ActionStage) -> set[str]:
        """Returns the ids of the candidates and memories of all actions of this kind at this stage."""
        found = self._sql.execute("SELECT candidate, memory FROM actions WHERE kind=? AND stage=?", (kind, stage))
        return {name for row in found for name in row}

    def was_written_by_person(self, memory_id: str, text_hash: str) -> bool:
        """Returns whether an action of a person gave this memory's file exactly the text with this hash."""
        marks = ", ".join("?" * len(_PERSON_ACTIONS))
        found = self._actions(f"WHERE memory=? AND stage='done' AND kind IN ({marks})", memory_id, *_PERSON_ACTIONS)
        return any(
            change.after is not None and hash_text(change.after) == text_hash
            for action in found
            for change in action.changes
        )

    def acceptances(self) -> dict[str, tuple[datetime, str]]:
        """Returns when each memory was last accepted or added here, and its claim's source ("" if a person wrote
        it), by its id. Suggestions do not count."""
        found = self._sql.execute(
            "SELECT a.memory, max(time), coalesce(source, '') FROM actions AS a LEFT JOIN claims ON claims.id=candidate"
            " WHERE stage='done' AND kind IN ('accept', 'settle', 'add') AND coalesce(source, '') NOT LIKE"
            " 'suggestion:%' GROUP BY 1"  # with max(), SQLite takes the source from the row that has it
        )
        return {memory: (datetime.fromisoformat(at), source) for memory, at, source in found}

    def list_own_memories(self) -> set[str]:
        """Returns the ids of the memories that were accepted or added here and had no file before."""
        found = self._sql.execute(
            "SELECT memory FROM actions WHERE stage='done' AND kind IN ('accept', 'settle', 'add') AND ("
            " SELECT min(json_extract(value, '$[3]') IS NULL) FROM json_each(changes)"
            " WHERE json_extract(value, '$[0]') = 'memory' AND instr(json_extract(value, '$[2]'), memory || '.md'))"
        )
        return {memory for (memory,) in found}

    def has_actions(self) -> bool:
        """Returns whether anything was ever done in this project's review."""
        return next(self.list_actions("done", "undone", "undoing", "started", "reverting"), None) is not None

    def save_stuck_problems(self, problems: Sequence[Problem]) -> None:
        """Saves the problems that keep unfinished actions from being finished, for callers that only read."""
        if problems != self.stuck_problems():
            self._set_meta("stuck", problems)

    def stuck_problems(self) -> list[Problem]:
        return msgspec.json.decode(self._get_meta("stuck"), type=list[Problem])

    def pass_over(self, action: Action) -> None:
        """Makes undo without an id skip this action, because a person changed its files."""
        passed = dict.fromkeys((*self.passed_over_ids(), action.id))
        self._set_meta("passed", list(passed)[-_KEPT_ACTIONS:])

    def passed_over_ids(self) -> list[str]:
        return msgspec.json.decode(self._get_meta("passed"), type=list[str])

    def _set_meta(self, key: str, value: object) -> None:
        self._sql.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, msgspec.json.encode(value)))

    def _get_meta(self, key: str) -> bytes:
        row = self._sql.execute("SELECT value FROM meta WHERE key=?", (key,)).fetchone()
        return row[0] if row else b"[]"

    def unfinished_actions(self) -> list[Action]:
        return list(self._actions("WHERE stage NOT IN ('done', 'undone') ORDER BY number"))

    def _actions(self, where: str, *values: str) -> Iterator[Action]:
        query = "SELECT id, kind, label, candidate, memory, was, becomes, stage, time, changes FROM actions "
        for *columns, packed in self._sql.execute(query + where, values):
            changes = tuple(self._at_current_folder(FileChange(*one)) for one in json.loads(packed))
            yield Action(*(*columns, changes))

    def _at_current_folder(self, change: FileChange) -> FileChange:
        path = Path(change.path)
        for before, now in self._moves:
            if path.is_relative_to(Path(before, ".lerim")) and not path.is_relative_to(Path(now, ".lerim")):
                anchor = Path(now, Path(change.anchor).relative_to(before))
                return replace(change, anchor=str(anchor), path=str(Path(now, path.relative_to(before))))
        return change

    def commit(self) -> None:
        self._sql.commit()


@contextmanager
def open_ledger(private: Path, moves: Sequence[tuple[str, str]] = ()) -> Iterator[Ledger]:
    """Opens the ledger in this private folder, creating it if necessary. `moves` are pairs of a folder the project was
    in and the folder it is in now. Raises MemoryError_."""
    path = private / "review.sqlite3"
    with sqlite.convert_errors(path, _SCHEMA), closing(sqlite.open_database(path, _SCHEMA)) as connection:
        connection.isolation_level = "DEFERRED"  # a write begins a transaction
        salt = connection.execute("SELECT value FROM meta WHERE key='salt'").fetchone()
        yield Ledger(connection, salt[0], moves)
        connection.commit()


def _micros(time: datetime) -> int:
    return (time - _EPOCH) // _MICRO


def _packed(changes: Sequence[FileChange]) -> str:
    return json.dumps([[c.home, c.anchor, c.path, c.before, c.after] for c in changes])
