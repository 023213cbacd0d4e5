"""Extracts from sessions of this machine, in a process of a worker."""

from __future__ import annotations

import time
from collections.abc import Mapping

from lerim.errors import LerimError, TranscriptError
from lerim.org.database import TeamDatabase
from lerim.org.extraction import extract_by_rules
from lerim.org.sessions_here import SessionsHere, hash_content, name_project
from lerim.org.work import Extraction, ExtractionResult
from lerim.paths import Home
from lerim.sessions import Transcript

LOOK_AGAIN_SECONDS = 10.0
"""How long a list of this machine's sessions is good for if one is missing from it."""


class ExtractorHere:
    """Finds the session of an extraction on this machine, checks that it is the one that was sent, and extracts.

    Only what the agents' own stores list is ever read: the database cannot name a file.
    """

    def __init__(self, database: TeamDatabase, environ: Mapping[str, str]) -> None:
        self._database = database
        self._here = SessionsHere(Home.from_environ(environ), environ)
        self._places: dict[str, Transcript] = {}
        self._looked_at = float("-inf")

    def extract(self, extraction: Extraction) -> ExtractionResult:
        """Return the candidates of a session, or why there are none. Raises nothing: one session that cannot be read,
        or a bug met on it, must not end the others."""
        try:
            return self._extract(extraction)
        except TranscriptError as error:
            return ExtractionResult("failed", problem=error.safe_message)
        except LerimError as error:
            return ExtractionResult("failed", problem=error.explanation)
        except Exception as error:  # the text of the error may quote the session
            return ExtractionResult("failed", problem=f"Extracting from it failed with a {type(error).__name__}.")

    def _extract(self, extraction: Extraction) -> ExtractionResult:
        transcript = self._find(extraction.place_hash)
        if transcript is None or not transcript.path.exists():
            return ExtractionResult("gone", problem="The session is not on this machine any more.")
        project = self._here.find_project(transcript)
        if project is None or name_project(project) != extraction.project:
            return ExtractionResult("gone", problem="The repository of the session is not on this machine any more.")
        if hash_content(transcript) != extraction.content_hash:
            why = "The session has changed since it was sent; the next backfill sends it again."
            return ExtractionResult("changed", problem=why)
        candidates = extract_by_rules(transcript, project, self._here.owners_for(project))
        return ExtractionResult("done", tuple(candidates))

    def _find(self, place_hash: str) -> Transcript | None:
        if place_hash not in self._places and time.monotonic() - self._looked_at > LOOK_AGAIN_SECONDS:
            self._places, self._looked_at = self._here.index_places(), time.monotonic()
        return self._places.get(place_hash)
