"""Tries a model on one session before it reads the others, and compares what it finds with what the rules find.

Nothing is proposed. Only the model's answer is saved, so that the next sync need not ask again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

import msgspec

from lerim import extraction, models, review
from lerim.config import load
from lerim.errors import NotFoundError, SettingsError
from lerim.jobs.extracting import make_extraction, make_material
from lerim.jobs.model_session import ModelSession, make_session_extraction
from lerim.models import DayBudget, EditorBridge, Model, ModelStep, Usage, consent
from lerim.paths import Home
from lerim.project import FolderOwners, Project, hold_project_lock
from lerim.project import project as projects
from lerim.review import ReviewPaths
from lerim.sessions import MODEL_JOB, Catalog, QueueJob, Transcript, Turn, read_session

MAX_SESSIONS_EXAMINED = 6
"""How many of the newest sessions are considered."""
MIN_TURNS = 4
"""The minimum number of turns of a session worth trying; if none has as many, the longest is taken."""


class TrialProposal(msgspec.Struct, frozen=True):
    """One proposal, by the rules or by the model."""

    primitive: str
    title: str
    quote: str


class SessionTrial(msgspec.Struct, frozen=True):
    """What the rules and a model find in one session. `other_waiting` sessions of the project wait for the
    model besides this one."""

    session: str
    model: str
    rules: list[TrialProposal]
    found: list[TrialProposal]
    usage: Usage
    steps: list[ModelStep]
    other_waiting: int = msgspec.field(name="again")


@dataclass(frozen=True, slots=True)
class SessionTrialRequest:
    """The inputs of a trial. `bridge` leads to the editor's own models."""

    project: Project
    home: Home
    environ: Mapping[str, str]
    cancelled: Callable[[], bool]
    bridge: EditorBridge | None = None


def run_session_trial(
    trial: SessionTrialRequest, provider: str = "", name: str = "", base_url: str = "", *, paid: bool = False
) -> SessionTrial:
    """Asks the model of the settings, or another `provider`'s, about one session. `paid`: the person agreed to
    pay for it this once.

    Raises SettingsError, ModelKeyError or ModelGoneError if no model can be asked, NotFoundError if no session waits,
    StoppedError if the person cancels, BusyError, CatalogError, TranscriptError, ModelError.
    """
    project, home = trial.project, trial.home
    settings, _ = load.load_settings(trial.environ, home, project.root)
    if provider:
        role = replace(settings.roles["extract"], provider=provider, model=name, base_url=base_url, fallback_models=())
        settings = replace(settings, roles={**settings.roles, "extract": role})
    model = models.find_extraction_model(settings, trial.environ)
    _check_consent(model, trial, paid=paid)
    transcript, turns, other_waiting = _choose_session(trial)
    rules = _extract_by_rules(transcript, turns, ReviewPaths(project, home))
    material = make_material(project, transcript)
    for turn in turns:
        material.add(turn)
    budget = DayBudget(home, settings.daily_budget_usd, lambda: datetime.now().astimezone())
    session = ModelSession(model, home, trial.cancelled, budget, trial.bridge, trial.environ)
    known = extraction.Guidance(tuple(one.title for one in rules), person=settings.guidance)
    earlier = [extraction.make_earlier_claim(one) for one in rules]
    gate = settings.window_gate == "signal"
    questions = make_session_extraction(session, material, ReviewPaths(project, home), known, earlier, gate=gate)
    results = list(questions.run())
    joined_away = [one.withdrawn for one in results if isinstance(one, extraction.JoinedCandidates)]
    found = [one for one in results if isinstance(one, extraction.Candidate) and one not in joined_away]
    return SessionTrial(
        transcript.session_id,
        model.label,
        [_to_proposal(one) for one in rules],
        [_to_proposal(one) for one in found],
        session.usage,
        [*session.steps, *(one for one in results if isinstance(one, ModelStep))],
        other_waiting,
    )


def _check_consent(model: Model, trial: SessionTrialRequest, *, paid: bool) -> None:
    if not (paid or consent.load_known_models(trial.home)[0].allows(model)):
        message = f"{model.label} costs money, and you have not approved it."
        raise SettingsError(message, where="roles.extract", todo="To approve it, use `lerim model allow`.")


def _choose_session(trial: SessionTrialRequest) -> tuple[Transcript, list[Turn], int]:
    """Returns the newest session that waits for a model and has enough turns (else the longest of the newest), its
    turns of this project, and how many other sessions wait."""
    key = trial.project.key
    jobs: list[QueueJob] = []
    with hold_project_lock(trial.home, key, "trying a model"), Catalog.open(trial.home) as catalog:
        waiting_count = catalog.count_due_jobs(key, MODEL_JOB)
        while len(jobs) < MAX_SESSIONS_EXAMINED and (
            job := catalog.claim_job(key, kind=MODEL_JOB, started=time.time())
        ):
            jobs.append(job)
        for job in jobs:
            catalog.put_back_job(job)
    owners = FolderOwners([trial.project, *projects.list_projects(trial.home)[0]], home=trial.home)
    longest: tuple[Transcript, list[Turn]] | None = None
    for job in jobs:
        turns = [turn for turn in read_session(job.transcript) if owners.find_owner(turn.cwd) == key]
        if longest is None or len(turns) > len(longest[1]):
            longest = job.transcript, turns
        if len(turns) >= MIN_TURNS:
            break
    if longest is None or not longest[1]:
        raise NotFoundError("No session of this repository waits for a model.", todo="Run `lerim sync` first.")
    return (*longest, max(waiting_count, len(jobs)) - 1)  # some of them are due later


def _extract_by_rules(transcript: Transcript, turns: list[Turn], place: ReviewPaths) -> list[extraction.Candidate]:
    rules = make_extraction(place.project, transcript, review.load_adjustment(place.home))
    for turn in turns:
        rules.feed(turn)
    return [one for one in rules.finish(True) if isinstance(one, extraction.Candidate)]


def _to_proposal(candidate: extraction.Candidate) -> TrialProposal:
    quote = candidate.evidence[0].quote if candidate.evidence else ""
    return TrialProposal(candidate.primitive, candidate.title, quote)
