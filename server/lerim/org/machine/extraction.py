"""The work of one job, as a pure function: (session, content, extractor's version, model) → candidates."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import msgspec

from lerim.extraction import Candidate
from lerim.jobs import ExtractionRequest, ReadingScope, extract_session
from lerim.project import FolderOwners, Project
from lerim.sessions import Transcript
from lerim.team import make_storable_json

EXTRACTOR_VERSION = "1"
"""Raise this when the same session yields other candidates, so that a backfill extracts it again."""


@dataclass(frozen=True, slots=True)
class ExtractionKey:
    """What the candidates of a job depend on. `session` is platform:id, `model` its label or "" for none."""

    session: str
    content_hash: str
    project: str
    model: str = ""

    def digest(self) -> str:
        """Returns the key as 32 hex digits: the job's name in the database."""
        parts = (self.session, self.content_hash, self.project, self.model, EXTRACTOR_VERSION)
        return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def make_whole_scope(project: Project, owners: FolderOwners) -> ReadingScope:
    """Returns a scope in which a session counts as finished."""
    return ReadingScope(project, owners, math.inf)


def extract_by_rules(transcript: Transcript, scope: ReadingScope) -> list[Candidate]:
    """Returns what the rules propose from a session, in the order of its turns and redacted.

    What ranks candidates for one person is left out: it stays on that person's machine.
    Raises TranscriptError if the session cannot be read.
    """
    found = extract_session(ExtractionRequest(transcript, scope)).results
    return order_candidates(one for one in found if isinstance(one, Candidate))


def order_candidates(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Returns candidates in the order in which they were said, without what ranks them for one person."""
    plain = [replace(one, score=None, features=()) for one in candidates]
    return sorted(plain, key=lambda one: (one.time, one.turn, one.title))


def encode_candidate(candidate: Candidate) -> str:
    """Returns a candidate as the JSON that the database holds. Its text is redacted already."""
    return make_storable_json(msgspec.json.encode(candidate).decode())
