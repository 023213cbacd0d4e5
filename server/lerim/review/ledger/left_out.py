"""The claims that were not proposed, and why. A person can look at them and have them proposed anyway.

The rows are part of the review ledger, in the private folder. They contain no secrets: candidates are redacted when
they are made.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import msgspec

from lerim.errors import NotFoundError, UsageError
from lerim.extraction import Candidate, DroppedSignal, DropReason, decode_candidate
from lerim.files import escape_surrogates

MAX_LEFT_OUT = 2_000
KEPT_FOR = timedelta(days=90)
DROP_REASON_TEXTS: dict[DropReason, str] = {
    "no-evidence": "no quote in the session supports it",
    "invalid": "it could not become a memory",
    "secret-only": "it contains a secret, which was removed",
    "injection": "it contains instructions to an agent, which were removed",
    "not-the-person": "neither you nor the agent said it",
    "refuted": "it was withdrawn later in the session",
    "duplicate": "the same claim was proposed from this session",
    "rejected-before": "you rejected it before",
    "already-known": "it is already a memory or candidate",
    "below-the-cut": "Lerim ranks it below what is usually worth keeping",
    "model-read": "a model has read its session since",
}
"""Each reason as it is shown to a person."""
DROP_REASON_FLAGS: dict[DropReason, str] = {
    "no-evidence": "no-quote",
    "secret-only": "held-a-secret",
    "injection": "commands-an-agent",
    "not-the-person": "not-the-person",
    "refuted": "taken-back",
}
"""The flag of a candidate that was left out for this reason and that a person had proposed anyway."""
_COLUMNS = "l.id, l.reason, l.detail, l.title, l.session, l.turn, l.said, l.score, l.candidate, l.proposed"
OPEN = (
    "FROM left_out AS l LEFT JOIN claims ON claims.id=l.proposed WHERE (claims.id IS NULL OR claims.state='withdrawn')"
)
"""Selects the claims that were never proposed, or were proposed and withdrawn since."""
_OF_SESSION = "AND substr(l.session, 1, length(:session))=:session"
_LAST_FIRST = "said, score, id DESC"


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A claim that was not proposed.

    `said` is the time of its turn, or of the sync if that is unknown. `candidate` is None if no candidate can be
    made from it. `proposed` is the id of the candidate that was made from it earlier, or "". `score` is its ranking
    score, if it was ranked.
    """

    id: str
    reason: DropReason
    detail: str
    title: str
    session: str
    turn: str
    said: datetime
    score: float | None
    candidate: Candidate | None
    proposed: str


class LeftOutTable:
    """The `left_out` table of an open ledger. The ledger commits."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._sql = connection

    def save(self, items: Iterable[DroppedSignal], now: datetime) -> None:
        """Saves these items in place of earlier rows of their claims, and deletes rows beyond `KEPT_FOR` and
        `MAX_LEFT_OUT`."""
        for item in items:
            body = None if item.candidate is None else msgspec.json.encode(item.candidate)
            said = now if item.candidate is None else item.candidate.time
            self._sql.execute(
                "INSERT INTO left_out (id, reason, detail, title, session, turn, at, said, score, candidate)"
                " VALUES (?,?,?,?,?,?,?,?,?,?) ON CONFLICT (id) DO UPDATE SET reason=excluded.reason,"
                " detail=excluded.detail, at=excluded.at, said=excluded.said, score=excluded.score,"
                " candidate=excluded.candidate",
                (
                    *(_id_of(item), item.reason, item.detail, item.title, item.session, item.turn),
                    *(now.timestamp(), said.timestamp(), item.score, body),
                ),
            )
        self._sql.execute("DELETE FROM left_out WHERE at < ?", ((now - KEPT_FOR).timestamp(),))
        count = self._sql.execute("SELECT count(*) FROM left_out").fetchone()[0]
        if count > MAX_LEFT_OUT:  # a sync saves hundreds of times, so avoid sorting all rows
            self._sql.execute(
                f"DELETE FROM left_out WHERE id IN (SELECT id FROM left_out ORDER BY {_LAST_FIRST} LIMIT ?)",
                (count - MAX_LEFT_OUT,),
            )

    def list_open(self, session: str = "", most: int = MAX_LEFT_OUT) -> list[LeftOut]:
        """Returns the claims that are not proposed, the latest turn first; optionally only those of sessions whose
        id has the prefix `session`."""
        query = f"SELECT {_COLUMNS} {OPEN} {_OF_SESSION} ORDER BY l.said DESC, l.score DESC, l.id LIMIT :most"
        return [_row(row) for row in self._sql.execute(query, {"session": escape_surrogates(session), "most": most})]

    def count(self, session: str = "") -> int:
        """Returns how many claims are not proposed; `session` as in `list_open`."""
        query = f"SELECT count(*) {OPEN} {_OF_SESSION}"
        return int(self._sql.execute(query, {"session": escape_surrogates(session)}).fetchone()[0])

    def find_by_prefix(self, beginning: str) -> LeftOut:
        """Returns the claim whose id has this prefix. Raises NotFoundError if none has it, UsageError if several
        have it."""
        query = f"SELECT {_COLUMNS} FROM left_out AS l WHERE substr(l.id, 1, length(:given))=:given LIMIT 2"
        given = {"given": escape_surrogates(beginning)}
        found = [_row(row) for row in self._sql.execute(query, given)] if beginning else []
        if len(found) > 1:
            raise UsageError(f"Several ids begin with {beginning[:80]!r}.", todo="Give more of the id.")
        if not found:
            raise NotFoundError(
                f"Nothing left out has the id {beginning[:80]!r}.", todo="`lerim review left-out` lists everything."
            )
        return found[0]

    def set_proposed(self, left_out_id: str, candidate_id: str) -> None:
        """Records the candidate that was made from this claim."""
        self._sql.execute("UPDATE left_out SET proposed=? WHERE id=?", (candidate_id, left_out_id))

    def mark_proposed(self, candidate: Candidate, candidate_id: str) -> None:
        """Records that a later sync proposed this claim after all, if it was left out before."""
        self.set_proposed(_id_of(candidate), candidate_id)


def _id_of(item: DroppedSignal | Candidate) -> str:
    words = f"{item.session}\n{item.turn}\n{item.title}"
    return hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()[:10]


def _row(row: tuple[str, str, str, str, str, str, float, float | None, bytes | None, str]) -> LeftOut:
    name, reason, detail, title, session, turn, said, score, body, proposed = row
    known: DropReason = next((one for one in DROP_REASON_TEXTS if one == reason), "invalid")
    time = datetime.fromtimestamp(said, UTC)
    return LeftOut(name, known, detail, title, session, turn, time, score, _candidate(body), proposed)


def _candidate(body: bytes | None) -> Candidate | None:
    try:
        return decode_candidate(body) if body else None
    except msgspec.MsgspecError:
        return None
