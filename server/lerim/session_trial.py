"""A model tried on one session before it reads the rest: what it finds there, beside what the rules find.

Nothing is proposed or written but the model's answer, which the next sync takes instead of asking again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

import msgspec

from lerim import config
from lerim import project as projects
from lerim.errors import NotFoundError, SettingsError
from lerim.lock import project_lock
from lerim.model_session import ModelSession
from lerim.models import consent
from lerim.models.editor import Bridge
from lerim.models.model import Model
from lerim.models.spending import Purse
from lerim.models.usage import Step, Usage
from lerim.paths import Home
from lerim.project import Owners, Project
from lerim.review.place import Place
from lerim.session_reading import exists_in
from lerim.sessions.catalog import Catalog
from lerim.sessions.model import Transcript, Turn
from lerim.sessions.queue import MODEL, Job
from lerim.sessions.readers import reading

if TYPE_CHECKING:
    from lerim.extraction.candidate import Candidate

LOOKED_AT = 6
"""The newest sessions among which one is taken."""
FEWEST = 4
"""Turns of a session that tells something."""


class Found(msgspec.Struct, frozen=True):
    """One proposal of either."""

    primitive: str
    title: str
    quote: str


class SessionTrial(msgspec.Struct, frozen=True):
    """What the rules and a model find in one session. `again` sessions of the project wait for the model besides."""

    session: str
    model: str
    rules: list[Found]
    found: list[Found]
    usage: Usage
    steps: list[Step]
    again: int


@dataclass(frozen=True, slots=True)
class Trial:
    """What a trial needs: whose session, which settings, who cancels, and the way to the editor's models."""

    project: Project
    home: Home
    environ: Mapping[str, str]
    cancelled: Callable[[], bool]
    bridge: Bridge | None = None


def run(trial: Trial, provider: str = "", name: str = "", base_url: str = "", *, paid: bool = False) -> SessionTrial:
    """Asks the model of the settings, or another `provider`'s, about one session. `paid`: the person agreed to what
    it costs this once.

    Raises SettingsError, ModelKeyError or ModelGoneError where no model can be asked, NotFoundError where no session
    waits, StoppedError where the person cancelled, BusyError, CatalogError, TranscriptError, ModelError.
    """
    from lerim.extraction import candidate
    from lerim.extraction.answered import Answered
    from lerim.extraction.grounding import said
    from lerim.extraction.guidance import Guidance, metadata, metrics, told
    from lerim.extraction.material import Material
    from lerim.extraction.merge import Joined
    from lerim.extraction.model import Brief, extract
    from lerim.models.trial import model_of

    project, home = trial.project, trial.home
    settings, _ = config.load(trial.environ, home, project.root)
    if provider:
        role = replace(settings.roles["extract"], provider=provider, model=name, base_url=base_url, fallback_models=())
        roles, faults = {**settings.roles, "extract": role}, {**settings.faults, "extract": []}
        settings = replace(settings, roles=roles, faults=faults)
    model = model_of(settings, trial.environ)
    _agreed(model, trial, paid=paid)
    transcript, turns, again = _session(trial)
    rules = _by_rules(transcript, turns, Place(project, home))
    material = Material(
        None if project.is_personal else project.root,
        transcript.session_id,
        transcript.platform,
        exists=exists_in(project),
        roots=project.folders,
    )
    for turn in turns:
        material.add(turn)
    purse = Purse(home, settings.budget, lambda: datetime.now().astimezone())
    session = ModelSession(model, home, trial.cancelled, purse, trial.bridge, trial.environ)
    known = Guidance(tuple(one.title for one in rules), person=settings.guidance)
    answers = Answered(Place(project, home).private / "windows", "\n".join((model.label, settings.guidance)).strip())
    results = list(
        extract(
            session.lm,
            material,
            Brief(metadata(material.facts, project.root.name), metrics(material.facts), told(known)),
            [said(one) for one in rules],
            max_tokens=model.max_window_tokens,
            overlap_tokens=model.window_overlap_tokens,
            answered=answers,
            gate=settings.gate == "signal",
            model=model.label,
        )
    )
    gone = [one.gone for one in results if isinstance(one, Joined)]
    found = [one for one in results if isinstance(one, candidate.Candidate) and one not in gone]
    shown = [_found(one) for one in found]
    return SessionTrial(
        transcript.session_id, model.label, [_found(one) for one in rules], shown, session.usage, session.steps, again
    )


def _agreed(model: Model, trial: Trial, *, paid: bool) -> None:
    """Raises SettingsError where the model is paid for and the person has not agreed to it."""
    if not (paid or consent.load(trial.home)[0].allows(model)):
        message = f"{model.label} is paid for, and you have not agreed to it."
        raise SettingsError(message, where="roles.extract", todo="`lerim model allow` agrees to it.")


def _session(trial: Trial) -> tuple[Transcript, list[Turn], int]:
    """The newest session that waits for a model and is long enough to tell something, else the longest of the newest;
    its turns of this project; and how many wait besides."""
    key = trial.project.key
    jobs: list[Job] = []
    with project_lock(trial.home, key, "trying a model"), Catalog.open(trial.home) as catalog:
        again = catalog.pending(key, MODEL)
        while len(jobs) < LOOKED_AT and (job := catalog.claim(key, kind=MODEL, started=time.time())):
            jobs.append(job)
        for job in jobs:
            catalog.put_back(job)
    owners = Owners([trial.project, *projects.listed(trial.home)[0]], home=trial.home)
    longest: tuple[Transcript, list[Turn]] | None = None
    for job in jobs:
        turns = [turn for turn in reading(job.transcript) if owners.owner(turn.cwd) == key]
        if longest is None or len(turns) > len(longest[1]):
            longest = job.transcript, turns
        if len(turns) >= FEWEST:
            break
    if longest is None or not longest[1]:
        raise NotFoundError("No session of this repository waits for a model.", todo="Sync first: `lerim sync`.")
    return (*longest, again - 1)


def _by_rules(transcript: Transcript, turns: list[Turn], place: Place) -> list[Candidate]:
    """What the rules propose from a whole session."""
    from lerim.extraction.candidate import Candidate
    from lerim.extraction.pipeline import Extraction
    from lerim.review.judgments import correction

    project = place.project
    extraction = Extraction(
        None if project.is_personal else project.root,
        transcript.session_id,
        transcript.platform,
        exists=exists_in(project),
        roots=project.folders,
        correction=correction(place.home),
    )
    results = [result for turn in turns for result in extraction.feed(turn)]
    return [one for one in (*results, *extraction.finish(True)) if isinstance(one, Candidate)]


def _found(candidate: Candidate) -> Found:
    quote = candidate.evidence[0].quote if candidate.evidence else ""
    return Found(candidate.primitive, candidate.title, quote)
