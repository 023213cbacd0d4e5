"""How well sessions are found again: questions about real sessions, each with the turns that answer it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, get_args

import msgspec

from lerim.errors import Problem, SettingsError
from lerim.sessions import discovery
from lerim.sessions.catalog.catalog import Catalog
from lerim.sessions.model import PLATFORM_NAMES, Platform, Readable, Transcript
from lerim.sessions.reader_problems import SKIPPED_CODE
from lerim.sessions.readers import agents

LOOKED_AT = 50
"""A turn further down counts as not found."""

About = Literal["command", "decision", "error", "explanation", "file", "request"]


class Store(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where sessions of an agent lie, from the folder of sessions."""

    platform: Platform
    path: str


class Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a person asks weeks later. `turns` are the ids of those that answer it, each of them alone; most are of
    `session`."""

    question: str
    platform: Platform
    session: str
    turns: tuple[str, ...]
    about: About


class Questions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file of questions, and the stores they are about."""

    stores: tuple[Store, ...]
    questions: tuple[Question, ...]


class Answered(msgspec.Struct, frozen=True):
    """At which place the first turn that answers a question was found, from 1; 0 if not among the first `LOOKED_AT`.
    `first` is the id of the turn at place 1, "" where nothing was found."""

    question: str
    platform: Platform
    about: About
    rank: int
    first: str


class Recall(msgspec.Struct, frozen=True):
    """The share of questions answered by the first turn, the first 5 and the first 10; and the mean of 1 / rank."""

    questions: int
    at_1: float
    at_5: float
    at_10: float
    mrr: float


class Found(msgspec.Struct, frozen=True):
    """One run: the figures over all questions, of each agent and each kind of question, and every question's answer."""

    total: Recall
    platforms: dict[Platform, Recall]
    kinds: dict[About, Recall]
    answers: list[Answered]


def read_questions(path: Path) -> Questions:
    """A file of questions. Raises SettingsError where it cannot be read as one."""
    try:
        return msgspec.toml.decode(path.read_bytes(), type=Questions)
    except (ValueError, OSError) as error:
        raise SettingsError(
            f"The questions cannot be read: {error}.", where=str(path), todo="Correct the file, or name another."
        ) from error


def index(catalog: Catalog, sessions: Path, stores: Sequence[Store]) -> list[Problem]:
    """Takes every session of the stores that are there into the catalog; what could not be read."""
    roots: dict[Platform, list[Path]] = {}
    for store in stores:
        roots.setdefault(store.platform, []).append(sessions / store.path)
    found = discovery.discover_stores(roots)
    discovery.open_databases(found, {}, ())
    here, _ = discovery.deduplicate_transcripts(found, {})
    problems = [one for one in found.problems if one.code != SKIPPED_CODE]
    for indexed in catalog.index_transcripts(_readings(here), _Nobody()):
        problems += indexed.problems
    return problems


def ask(catalog: Catalog, questions: Sequence[Question]) -> tuple[Found, list[Problem]]:
    """Searches each question as it stands, in everything. One whose turns are not in the catalog is a Problem, and
    left out."""
    answers: list[Answered] = []
    problems: list[Problem] = []
    for one in questions:
        if not any(catalog.load_turn(turn) for turn in one.turns):
            problems.append(
                Problem("question", one.session, f"Nothing that answers “{one.question}” is there; left out.")
            )
            continue
        ids = [row.id for row in catalog.search_turns(one.question, limit=LOOKED_AT)]
        rank = next((place for place, turn in enumerate(ids, 1) if turn in one.turns), 0)
        answers.append(Answered(one.question, one.platform, one.about, rank, ids[0] if ids else ""))
    platforms = {name: _recall([one for one in answers if one.platform == name]) for name in PLATFORM_NAMES}
    kinds: dict[About, Recall] = {
        name: _recall([one for one in answers if one.about == name]) for name in get_args(About)
    }
    return Found(_recall(answers), platforms, kinds, answers), problems


def rows(found: Found) -> Iterator[tuple[str, ...]]:
    """The figures as a person reads them: all, by agent, by what is asked about."""
    for name, recall in [("all", found.total), *found.platforms.items(), *found.kinds.items()]:
        if recall.questions:
            shares = (f"{share * 100:.1f} %" for share in (recall.at_1, recall.at_5, recall.at_10))
            yield name, str(recall.questions), *shares, f"{recall.mrr:.3f}"


def _recall(answers: Sequence[Answered]) -> Recall:
    asked = len(answers)
    within = [sum(0 < one.rank <= most for one in answers) for most in (1, 5, 10)]
    ranks = sum(1 / one.rank for one in answers if one.rank)
    at_1, at_5, at_10, mrr = (round(part / asked, 4) if asked else 0.0 for part in (*within, ranks))
    return Recall(asked, at_1, at_5, at_10, mrr)


def _readings(transcripts: Sequence[Transcript]) -> Iterator[tuple[Transcript, Readable]]:
    for transcript in transcripts:
        yield transcript, agents.read_session(transcript, brief=True)


class _Nobody:
    """All folders are of no project: what is asked is asked of everything."""

    def find_owner(self, cwd: str) -> str:
        return ""
