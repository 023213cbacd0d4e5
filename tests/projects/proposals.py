"""Candidates that wait for review, proposed as a sync does."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lerim.extraction.candidate import Candidate
from lerim.memory.record import Evidence
from lerim.paths import Home
from lerim.project.project import locate_project
from lerim.review import queue
from lerim.review.review_paths import ReviewPaths

CANDIDATE = Candidate(
    primitive="learning",
    kind="preference",
    title="Use uv, not pip",
    body="Use uv, not pip. It concerns `src/app.py`.",
    confidence=0.8,
    tags=("tooling",),
    references=("src/app.py",),
    evidence=(Evidence("no, Use uv, not pip", "aaaaaaaaaaaa", "user"),),
    platform="claude",
    session="11111111-2222-4333-8444-555555555555",
    turn="aaaaaaaaaaaa",
    time=datetime(2026, 7, 3, 10, 0, tzinfo=UTC),
    signal="prompt",
)


def review_paths(repo: Path, home: Home | None = None) -> ReviewPaths:
    """Where the review of this repository is, in a home: that of the environment, if none is given."""
    home = home or Home.from_environ(os.environ)
    project = locate_project(repo, home)
    assert project
    return ReviewPaths(project, home)


def propose(paths: ReviewPaths, title: str = CANDIDATE.title, **changes: Any) -> str:
    """Proposes `CANDIDATE` under this title, with these changes; returns its id."""
    turn = changes.get("turn", CANDIDATE.turn)
    said = {"body": f"{title}. It concerns `src/app.py`.", "evidence": (Evidence(f"no, {title}", turn, "user"),)}
    done = queue.propose_candidate(paths, replace(CANDIDATE, title=title, **(said | changes)))
    assert isinstance(done, queue.CandidateProposed)
    return done.proposal.id
