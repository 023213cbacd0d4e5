"""Decides, in the order in which candidates were said, which of them a project proposes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from lerim.memory import claim_text
from lerim.team import TeamDatabase

_LOAD = """
SELECT candidates.key, ordinal, said_at, session, sent_at, candidate->>'title', candidate->>'body', outcome, same_as
FROM candidates JOIN extractions USING (team, key)
WHERE candidates.team = %s AND candidates.project = %s
"""


@dataclass(frozen=True, slots=True)
class _Said:
    """A stored candidate: its extraction, when and in which session it was said, and its earlier outcome."""

    key: str
    ordinal: int
    said_at: datetime
    session: str
    sent_at: datetime
    title: str
    body: str
    outcome: str
    same_as: str


def reconcile_project(database: TeamDatabase, project: str) -> None:
    """Decides for each of a project's candidates whether it is proposed, repeats an earlier one, or is outdated: its
    session was extracted again since.

    It depends on the candidates alone: in whichever order they were extracted, and however often this is done, the
    outcome is the same. Raises OrgError.
    """
    with database.open() as connection, connection.transaction():
        said = [_Said(*row) for row in connection.execute(_LOAD, (database.team, project))]
        connection.cursor().executemany(
            "UPDATE candidates SET outcome = %s, same_as = %s WHERE team = %s AND key = %s AND ordinal = %s",
            [(outcome, same_as, database.team, one.key, one.ordinal) for one, outcome, same_as in _find_changes(said)],
        )


def _find_changes(said: Sequence[_Said]) -> Iterable[tuple[_Said, str, str]]:
    """Yields the candidates whose outcome differs from the stored one, each with its new outcome and what it
    repeats."""
    newest = {one.session: (one.sent_at, one.key) for one in sorted(said, key=lambda one: (one.sent_at, one.key))}
    first: dict[str, str] = {}
    for one in sorted(said, key=lambda one: (one.said_at, one.session, one.ordinal, one.key)):
        name, same_as = f"{one.key}#{one.ordinal}", ""
        if newest[one.session] == (one.sent_at, one.key):
            earlier = first.setdefault(claim_text(one.title, one.body), name)
            outcome, same_as = ("proposed", "") if earlier == name else ("repeated", earlier)
        else:
            outcome = "outdated"
        if (outcome, same_as) != (one.outcome, one.same_as):
            yield one, outcome, same_as
