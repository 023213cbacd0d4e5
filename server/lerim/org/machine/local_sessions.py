"""The sessions on this machine, each with the project it belongs to."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from lerim.errors import LerimError, Problem, TranscriptError, error_reason
from lerim.paths import Home
from lerim.project import FolderOwners, Project, list_projects, locate_project
from lerim.sessions import (
    Transcript,
    deduplicate_transcripts,
    discover_stores,
    find_platform_roots,
    find_working_folder,
    open_databases,
    read_session,
)


@dataclass(slots=True)
class LocalSessions:
    """The sessions that are on this machine now. The project of a working folder is looked up until it is found."""

    home: Home
    environ: Mapping[str, str]
    problems: list[Problem] = field(default_factory=list)
    _projects: dict[str, Project] = field(default_factory=dict, init=False)

    def list_transcripts(self) -> list[Transcript]:
        """Lists every agent's sessions, each once. What cannot be listed is added to the problems."""
        registered, _ = list_projects(self.home)
        folders = [str(project.root) for project in registered]
        stores = discover_stores(find_platform_roots(self.environ, self.home), folders)
        open_databases(stores, {}, folders)
        self.problems += stores.problems
        return deduplicate_transcripts(stores, {})[0]

    def find_project(self, transcript: Transcript) -> Project | None:
        """Returns the repository that the session began in; None if it is in none of this machine now."""
        cwd = find_working_folder(transcript)
        if cwd and cwd not in self._projects:
            try:
                project = locate_project(Path(cwd), self.home)
            except LerimError as error:
                self.problems.append(error.problem(cwd))
                return None
            if project is None:
                return None  # a worker runs for long: the repository may come back
            self._projects[cwd] = project
        return self._projects.get(cwd)

    def owners_for(self, project: Project) -> FolderOwners:
        """Returns the owners of working folders. This project takes precedence over the registered ones."""
        registered, _ = list_projects(self.home)
        return FolderOwners([project, *(one for one in registered if one.key != project.key)], home=self.home)

    def index_places(self) -> dict[str, Transcript]:
        """Maps the hash of each transcript's place to the transcript."""
        return {hash_place(one): one for one in self.list_transcripts()}


def hash_place(transcript: Transcript) -> str:
    """Returns a hash of a transcript's place: the database must not contain paths."""
    return hashlib.sha256(transcript.place.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def hash_content(transcript: Transcript) -> str:
    """Returns a hash of what a transcript holds: of a file its bytes, of a session in a database its turns. Raises
    TranscriptError."""
    if transcript.store_key:
        digest = hashlib.sha256()
        for turn in read_session(transcript):
            digest.update(msgspec.json.encode(turn))
        return digest.hexdigest()
    try:
        with transcript.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise TranscriptError(f"It cannot be read: {error_reason(error)}.", where=transcript.place) from error
