"""Measures search with questions about real sessions, each labelled with the turns that answer it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, get_args

import msgspec

from lerim.errors import Problem, SettingsError
from lerim.sessions import discovery
from lerim.sessions.catalog.catalog import Catalog
from lerim.sessions.model import PLATFORM_NAMES, Platform, Readable, Transcript
from lerim.sessions.reader_problems import UNREPORTED_CODES
from lerim.sessions.readers import platform_readers

SEARCH_LIMIT = 50
"""Results searched per question; a turn further down counts as not found."""

QuestionKind = Literal["command", "decision", "error", "explanation", "file", "request"]


class Store(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A store of one agent's sessions. `path` is relative to the folder of sessions."""

    platform: Platform
    path: str


class Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A question that a person might ask weeks later.

    Each turn in `turns` (ids) answers it alone; most of them are in `session`.
    """

    question: str
    platform: Platform
    session: str
    turns: tuple[str, ...]
    about: QuestionKind


class Questions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file of questions, and the stores they are about."""

    stores: tuple[Store, ...]
    questions: tuple[Question, ...]


class QuestionResult(msgspec.Struct, frozen=True):
    """The rank of the first turn that answers a question, from 1; 0 if it is not among the first `SEARCH_LIMIT`.
    `first` is the id of the turn at rank 1, "" if nothing was found."""

    question: str
    platform: Platform
    about: QuestionKind
    rank: int
    first: str


class Recall(msgspec.Struct, frozen=True):
    """The shares of questions answered by the first turn, the first 5 and the first 10, and the mean of 1 / rank."""

    questions: int
    at_1: float
    at_5: float
    at_10: float
    mrr: float


class SearchEvaluation(msgspec.Struct, frozen=True):
    """One run: the figures of all questions, by agent and by kind of question, and the result of each question."""

    total: Recall
    platforms: dict[Platform, Recall]
    kinds: dict[QuestionKind, Recall]
    answers: list[QuestionResult]


def read_questions(path: Path) -> Questions:
    """Reads a file of questions. Raises SettingsError if it cannot be read or has the wrong format."""
    try:
        return msgspec.toml.decode(path.read_bytes(), type=Questions)
    except (ValueError, OSError) as error:
        raise SettingsError(
            f"The questions cannot be read: {error}.", where=str(path), todo="Correct the file, or name another."
        ) from error


def index_stores(catalog: Catalog, sessions: Path, stores: Sequence[Store]) -> list[Problem]:
    """Indexes every session of the existing stores into the catalog. Returns what could not be read."""
    roots: dict[Platform, list[Path]] = {}
    for store in stores:
        roots.setdefault(store.platform, []).append(sessions / store.path)
    found = discovery.discover_stores(roots)
    discovery.open_databases(found, {}, ())
    transcripts, _ = discovery.deduplicate_transcripts(found, {})
    problems = [one for one in found.problems if one.code not in UNREPORTED_CODES]
    for indexed in catalog.index_transcripts(_read_transcripts(transcripts), _NoOwners()):
        problems += indexed.problems
    return problems


def search_questions(catalog: Catalog, questions: Sequence[Question]) -> tuple[SearchEvaluation, list[Problem]]:
    """Searches the whole catalog for each question, word for word.

    A question whose turns are not in the catalog is left out and becomes a Problem.
    """
    answers: list[QuestionResult] = []
    problems: list[Problem] = []
    for one in questions:
        if not any(catalog.load_turn(turn) for turn in one.turns):
            problems.append(
                Problem("question", one.session, f"Nothing that answers “{one.question}” is there; left out.")
            )
            continue
        ids = [row.id for row in catalog.search_turns(one.question, limit=SEARCH_LIMIT)]
        rank = next((place for place, turn in enumerate(ids, 1) if turn in one.turns), 0)
        answers.append(QuestionResult(one.question, one.platform, one.about, rank, ids[0] if ids else ""))
    platforms = {name: _compute_recall([one for one in answers if one.platform == name]) for name in PLATFORM_NAMES}
    kinds: dict[QuestionKind, Recall] = {
        name: _compute_recall([one for one in answers if one.about == name]) for name in get_args(QuestionKind)
    }
    return SearchEvaluation(_compute_recall(answers), platforms, kinds, answers), problems


def recall_rows(found: SearchEvaluation) -> Iterator[tuple[str, ...]]:
    """Rows of formatted figures: of all questions, by agent, by kind of question."""
    for name, recall in [("all", found.total), *found.platforms.items(), *found.kinds.items()]:
        if recall.questions:
            shares = (f"{share * 100:.1f} %" for share in (recall.at_1, recall.at_5, recall.at_10))
            yield name, str(recall.questions), *shares, f"{recall.mrr:.3f}"


def _compute_recall(answers: Sequence[QuestionResult]) -> Recall:
    count = len(answers)
    within = [sum(0 < one.rank <= most for one in answers) for most in (1, 5, 10)]
    ranks = sum(1 / one.rank for one in answers if one.rank)
    at_1, at_5, at_10, mrr = (round(part / count, 4) if count else 0.0 for part in (*within, ranks))
    return Recall(count, at_1, at_5, at_10, mrr)


def _read_transcripts(transcripts: Sequence[Transcript]) -> Iterator[tuple[Transcript, Readable]]:
    for transcript in transcripts:
        yield transcript, platform_readers.read_session(transcript, brief=True)


class _NoOwners:
    """Assigns no folder to a project, since questions search everything."""

    def find_owner(self, cwd: str) -> str:
        return ""
