"""Extracts from sessions of this machine, or from copies of others, in a process of a worker."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace

from lerim.config import load
from lerim.errors import LerimError, ModelGoneError, ModelKeyError, OrgError, SpendingError, TranscriptError
from lerim.jobs import ReadingScope
from lerim.models import Model, choose_allowed
from lerim.org.machine import (
    COPY_MARK,
    CopyFolder,
    LocalSessions,
    extract_by_rules,
    hash_content,
    make_whole_scope,
    open_copies,
)
from lerim.org.paying import FleetBudget, FleetBusyError
from lerim.org.workers.results import BegunExtraction, ExtractionResult
from lerim.paths import Home
from lerim.sessions import Transcript
from lerim.team import TeamDatabase, name_project

LOOK_AGAIN_SECONDS = 10.0
"""How many seconds a list of this machine's sessions is used before it is made again because a session is missing
from it."""
WAIT_FOR_PERSON_SECONDS = 300.0
"""How many seconds a session waits that needs something from a person: a key, a price, a model in the settings."""
WAIT_FOR_DATABASE_SECONDS = 5.0
"""How many seconds a session waits if the database could not be asked about it."""


class LocalExtractor:
    """Finds the session of an extraction on this machine, checks that it is the one that was sent, and extracts.

    Only what the agents' own stores list, and copies at `copies`, are ever read: the database cannot name a file.
    """

    def __init__(self, database: TeamDatabase, environ: Mapping[str, str], copies: str = "") -> None:
        self._database, self._environ, self._copies = database, environ, copies
        self._copy_folder: CopyFolder | None = None
        self._home = Home.from_environ(environ)
        self._here = LocalSessions(self._home, environ)
        self._places: dict[str, Transcript] = {}
        self._looked_at = float("-inf")

    def extract(self, extraction: BegunExtraction) -> ExtractionResult:
        """Returns the candidates of a session, or why there are none. Raises nothing: a session that cannot be read,
        or that reveals a bug, must not end the others."""
        try:
            return self._extract(extraction)
        except TranscriptError as error:
            return ExtractionResult("failed", problem=error.safe_message)
        except FleetBusyError as error:
            return ExtractionResult("waiting", problem=error.message, again_at=error.at, is_try=error.is_try)
        except (ModelKeyError, ModelGoneError, SpendingError) as error:  # every session waits for a person
            return ExtractionResult("waiting", problem=error.safe_message, again_in=WAIT_FOR_PERSON_SECONDS)
        except OrgError as error:
            return ExtractionResult("waiting", problem=error.message, again_in=WAIT_FOR_DATABASE_SECONDS, is_try=True)
        except LerimError as error:
            return ExtractionResult("failed", problem=error.safe_message)
        except Exception as error:  # the text of the error may quote the session
            return ExtractionResult("failed", problem=f"Extracting from it failed with a {type(error).__name__}.")

    def _extract(self, extraction: BegunExtraction) -> ExtractionResult:
        is_copy = extraction.place_hash.startswith(COPY_MARK)
        found = self._load_copy(extraction) if is_copy else self._find_session(extraction)
        if isinstance(found, ExtractionResult):
            return found
        transcript, scope = found
        if not extraction.model:
            return ExtractionResult("done", tuple(extract_by_rules(transcript, scope)))
        from lerim.org.paying import extract_with_model, make_paying_model

        model = self._choose_model(extraction.model)
        lm = make_paying_model(model, FleetBudget(self._database, extraction.key), self._home, self._environ)
        answers = extract_with_model(transcript, scope, lm, model)
        return ExtractionResult("done", tuple(answers.candidates), " ".join(one.message for one in answers.problems))

    def _find_session(self, extraction: BegunExtraction) -> tuple[Transcript, ReadingScope] | ExtractionResult:
        """Returns a session of this machine and how it is read, or why it cannot be."""
        transcript = self._find(extraction.place_hash)
        if transcript is None or not transcript.path.exists():
            return ExtractionResult("gone", problem="The session is not on this machine any more.")
        project = self._here.find_project(transcript)
        if project is None or name_project(project) != extraction.project:
            return ExtractionResult("gone", problem="The repository of the session is not on this machine any more.")
        if hash_content(transcript) != extraction.content_hash:
            why = "The session has changed since it was sent; the next backfill sends it again."
            return ExtractionResult("changed", problem=why)
        return transcript, make_whole_scope(project, self._here.owners_for(project))

    def _load_copy(self, extraction: BegunExtraction) -> tuple[Transcript, ReadingScope] | ExtractionResult:
        """Returns the copy of a session and how it is read, or why it cannot be."""
        if self._copy_folder is None:
            self._copy_folder = open_copies(self._copies)
        copy = self._copy_folder.load_copy(extraction.place_hash)
        if copy is None or copy.project != extraction.project:
            return ExtractionResult("gone", problem="The copy of the session is not there any more.")
        return copy.transcript, copy.scope

    def _choose_model(self, label: str) -> Model:
        """Returns the model of the settings, which are read anew each time: a model that somebody takes out of them is
        not asked again. Raises ModelGoneError if it is not the one that the session was sent for, or if nobody has
        agreed to pay for it here."""
        settings, _ = load.load_settings(self._environ, self._home)
        choice = choose_allowed("extract", settings, self._home, self._environ, explicit=False)
        if choice.model is None or choice.why or choice.model.label != label:
            todo = "Choose it in the settings of this machine, and allow it: `lerim model allow`."
            raise ModelGoneError(f"This worker may not ask {label}.", todo=todo)
        return replace(choice.model, fallbacks=())

    def _find(self, place_hash: str) -> Transcript | None:
        if place_hash not in self._places and time.monotonic() - self._looked_at > LOOK_AGAIN_SECONDS:
            self._places, self._looked_at = self._here.index_places(), time.monotonic()
        return self._places.get(place_hash)
