"""Measures session search: recall on the turns of LoCoMo, and speed among 10,000 sessions.

    python benchmarks/session_search.py [--sessions 10000] [--json FILE]

LoCoMo (conversations with questions and the turns that answer them) is read from `data/locomo10.json` next to the
folder of test sessions; it is not part of the project. A conversation becomes a project, its sessions become sessions,
and its first speaker is the person. Each question is searched word for word in its own conversation. The weights of the
search were tuned on conversations 0 to 4; conversations 5 to 9 are reported and have budgets. Recall@k is the share of
a question's evidence in the first k turns (or sessions), averaged over questions. Questions without existing evidence
are left out. For sessions, the share of questions that find some of their evidence is reported as well. Why recall over
sessions stays below its budget: docs/decisions/0102-how-many-sessions-words-can-find.md.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from lerim.errors import Problem
from lerim.paths import Home
from lerim.sessions.catalog.catalog import Catalog
from lerim.sessions.model import Session, ToolCall, Transcript, Turn
from lerim.sessions.search.query import SessionFilters
from lerim.sessions.tables import turn_words
from lerim.sessions.tables.turn_text import unpack_turn_text

SHARED = Path(os.environ.get("LERIM_TEST_SESSIONS") or Path(__file__).resolve().parents[2] / "shared" / "transcripts")
LOCOMO = SHARED.parent / "data" / "locomo10.json"
HELD = range(5, 10)
DEPTH = 60
"""Turns asked for, and sessions."""
_EVIDENCE = re.compile(r"D:?\s*(\d+)\s*:\s*0*(\d+)$")


class Message(msgspec.Struct):
    speaker: str
    dia_id: str
    text: str = ""
    blip_caption: str = ""


class LabelledQuestion(msgspec.Struct):
    question: str
    evidence: list[str] = []


class Sample(msgspec.Struct):
    conversation: dict[str, msgspec.Raw]
    qa: list[LabelledQuestion]


@dataclass(frozen=True)
class Question:
    conversation: int
    text: str
    turns: list[str]


@dataclass(frozen=True)
class Recall:
    """Shares of 1, and seconds of each search in order of size."""

    questions: int
    turns: dict[int, float]
    sessions: dict[int, float]
    hits: dict[int, float]
    """Share of questions with some of the evidence among the first so many sessions."""
    mrr: float
    seconds: list[float]

    def p95(self) -> float:
        """Milliseconds."""
        return self.seconds[int(len(self.seconds) * 0.95)] * 1000


class PreparedReading:
    """A reading of turns that are known."""

    resume = b""
    restarted = False
    ids = None

    def __init__(self, turns: Sequence[Turn], session: Session) -> None:
        self.turns, self.session = turns, session
        self.problems: list[Problem] = []

    def __iter__(self) -> Iterator[Turn]:
        return iter(self.turns)

    def checkpoint(self) -> bool:
        return False


class FolderNameOwners:
    """A folder's last part is its project."""

    def find_owner(self, cwd: str) -> str:
        return cwd.rpartition("/")[2]


def make_session(name: str, turns: Sequence[Turn]) -> tuple[Transcript, PreparedReading]:
    """A session of these turns, and its reading."""
    transcript = Transcript("claude", Path("/sessions") / name, name, 1, 1, 1)
    ended = turns[-1].time if turns else None
    return transcript, PreparedReading(turns, Session(name, "claude", transcript.path, turns=len(turns), ended=ended))


def make_conversations(samples: Sequence[Sample]) -> Iterator[tuple[Transcript, PreparedReading]]:
    """The sessions of all conversations."""
    for number, sample in enumerate(samples):
        first = msgspec.json.decode(sample.conversation["speaker_a"], type=str)
        for session in session_numbers(sample):
            when = msgspec.json.decode(sample.conversation[f"session_{session}_date_time"], type=str)
            moment = datetime.strptime(when.replace(" on ", " "), "%I:%M %p %d %B, %Y").replace(tzinfo=UTC)
            said = msgspec.json.decode(sample.conversation[f"session_{session}"], type=list[Message])
            turns = []
            for ordinal, one in enumerate(said):
                image = f" [image: {one.blip_caption}]" if one.blip_caption else ""
                person = one.speaker == first
                turn = Turn(
                    f"{number}/{one.dia_id}",
                    ordinal,
                    "user" if person else "assistant",
                    "prompt" if person else "reply",
                    f"{one.speaker}: {one.text}{image}",
                    moment,
                    f"/talk/c{number}",
                )
                turns.append(turn)
            yield make_session(f"{number}-{session}", turns)


def session_numbers(sample: Sample) -> Iterator[int]:
    """Their numbers."""
    number = 1
    while f"session_{number}" in sample.conversation:
        yield number
        number += 1


def make_questions(samples: Sequence[Sample]) -> Iterator[Question]:
    """All with evidence that exists."""
    for number, sample in enumerate(samples):
        known = {turn.id for _, reading in make_conversations([sample]) for turn in reading.turns}
        for asked in sample.qa:
            parts = [part for one in asked.evidence for part in re.split(r"[;,\s]+", one)]
            named = [f"0/D{found[1]}:{found[2]}" for part in parts if (found := _EVIDENCE.match(part))]
            turns = [f"{number}/{name[2:]}" for name in dict.fromkeys(named) if name in known]
            if turns:
                yield Question(number, asked.question, turns)


def index_sessions(home: Home, readings: Iterable[tuple[Transcript, PreparedReading]]) -> None:
    with Catalog.open(home) as catalog:
        for done in catalog.index_transcripts(readings, FolderNameOwners()):
            if done.failed:
                sys.exit(f"a session could not be taken in: {done.problems}")


def measure_recall(catalog: Catalog, asked: Iterable[Question]) -> Recall:
    """How much of the evidence is among the first turns and sessions that a search names."""
    turns: dict[int, list[float]] = {5: [], 10: []}
    whole: dict[int, list[float]] = {5: [], 10: []}
    some: dict[int, list[float]] = {5: [], 10: []}
    mrr: list[float] = []
    seconds: list[float] = []
    for question in asked:
        started = time.perf_counter()
        filters = SessionFilters((f"c{question.conversation}",))
        found = [turn.id for turn in catalog.search_turns(question.text, DEPTH, filters)]
        seconds.append(time.perf_counter() - started)
        sessions = catalog.search_sessions(question.text, DEPTH, filters)
        ranked = [turn.id.partition(":")[0] for turn in sessions]
        mrr.append(next((1 / (at + 1) for at, one in enumerate(found) if one in question.turns), 0.0))
        wanted = {one.partition(":")[0] for one in question.turns}
        for top, shares in turns.items():
            shares.append(sum(one in found[:top] for one in question.turns) / len(question.turns))
            among = wanted & set(ranked[:top])
            whole[top].append(len(among) / len(wanted))
            some[top].append(float(bool(among)))

    def mean(values: Sequence[float]) -> float:
        return sum(values) / len(values)

    means = {top: mean(values) for top, values in turns.items()}
    over = {top: mean(values) for top, values in whole.items()}
    hits = {top: mean(values) for top, values in some.items()}
    return Recall(len(mrr), means, over, hits, mean(mrr), sorted(seconds))


def load_locomo() -> list[Sample]:
    return msgspec.json.decode(LOCOMO.read_bytes(), type=list[Sample])


WORDS = 30_000
TURNS = 20
"""Of a made session."""


def make_random_sessions(number: int) -> Iterator[tuple[Transcript, PreparedReading]]:
    """Sessions of words as frequent as words are, on 50 projects; every other turn runs a command on a file,
    which fails in every fourth session."""
    chance = random.Random(7)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(chance.choices(letters, k=3 + at % 7)) for at in range(WORDS)]
    weights = [1 / (at + 10) for at in range(WORDS)]
    for session in range(number):
        turns = []
        spoken = chance.choices(words, weights, k=TURNS * 40)
        for ordinal in range(TURNS):
            text = " ".join(spoken[ordinal * 40 : ordinal * 40 + 40])
            calls: tuple[ToolCall, ...] = ()
            if ordinal % 2:
                command = f"run {words[session % WORDS]} --{spoken[ordinal]}"
                calls = (
                    ToolCall("c", "Bash", "shell", "ok" if session % 4 else "error", command=command),
                    ToolCall("e", "Edit", "edit", "ok", paths=(f"src/{spoken[ordinal]}.py",)),
                )
            moment = datetime.fromtimestamp(1_700_000_000 + session * 3600 + ordinal, UTC)
            person = ordinal % 2 == 0
            turns.append(
                Turn(
                    f"{session}:{ordinal}",
                    ordinal,
                    "user" if person else "assistant",
                    "prompt" if person else "reply",
                    text,
                    moment,
                    f"/work/p{session % 50}",
                    "main",
                    tool_calls=calls,
                )
            )
        yield make_session(str(session), turns)


def make_queries(catalog: Catalog, number: int) -> list[str]:
    """Two to five words each, that some turn has."""
    chance = random.Random(11)
    [(last,)] = catalog.db.execute("SELECT max(id) FROM turns")
    found = []
    for _ in range(number):
        [(body,)] = catalog.db.execute("SELECT body FROM turns WHERE id = ?", (chance.randint(1, last),))
        text, _ = unpack_turn_text(body)
        found.append(" ".join(chance.sample(text.split(), chance.randint(2, 5))))
    return found


def p95_ms(search: Callable[[str], object], asked: Sequence[str]) -> float:
    """Milliseconds."""
    spent = []
    for query in asked:
        started = time.perf_counter()
        search(query)
        spent.append(time.perf_counter() - started)
    return sorted(spent)[int(len(spent) * 0.95)] * 1000


def neighbour_column_cost(catalog: Catalog) -> float:
    """How many times longer the index takes to fill with the neighbours' column than without."""
    rows: list[tuple[int, str, str, str]] = []
    for (transcript,) in catalog.db.execute("SELECT id FROM transcripts LIMIT 1000"):
        standing = turn_words.load_indexed_turns(catalog.db, transcript, 0, 1_000_000)
        rows += [(row, *columns) for row, columns in turn_words.make_index_columns(standing).items()]
    spent = []
    for kept in (4, 3):
        with sqlite3.connect(":memory:") as db:
            names = ("text", "tools", "near")[: kept - 1]
            db.execute(
                f"CREATE VIRTUAL TABLE words USING fts5 ({', '.join(names)}, content = '',"
                " tokenize = 'porter unicode61 remove_diacritics 2')"
            )
            started = time.perf_counter()
            marks = ", ".join("?" * kept)
            taken = [row[:kept] for row in rows]
            db.executemany(f"INSERT INTO words (rowid, {', '.join(names)}) VALUES ({marks})", taken)
            spent.append(time.perf_counter() - started)
        db.close()
    return spent[0] / spent[1]


Row = dict[str, object]


def make_row(what: str, measured: float, unit: str, budget: str, ok: bool) -> Row:
    return {"what": what, "measured": measured, "unit": unit, "budget": budget, "ok": ok}


def measure_locomo(folder: Path) -> list[Row]:
    """LoCoMo's rows; nothing where it is absent."""
    if not LOCOMO.exists():
        print(f"LoCoMo is not at {LOCOMO}: recall is not measured")
        return []
    samples = load_locomo()
    home = Home(folder / "talk")
    index_sessions(home, make_conversations(samples))
    with Catalog.open(home) as catalog:
        asked = list(make_questions(samples))
        tuned = measure_recall(catalog, (one for one in asked if one.conversation not in HELD))
        held = measure_recall(catalog, (one for one in asked if one.conversation in HELD))
    print(f"{'conversations':<16} {'questions':>9}  turns R@5  R@10   MRR  sessions R@5  R@10  p95 ms")
    for name, one in (("0-4 (tuned on)", tuned), ("5-9 (held back)", held)):
        shares = [100 * one.turns[5], 100 * one.turns[10], 100 * one.mrr, 100 * one.sessions[5], 100 * one.sessions[10]]
        print(
            f"{name:<16} {one.questions:9}     {shares[0]:6.2f} {shares[1]:5.2f} {shares[2]:5.2f}"
            f"        {shares[3]:6.2f} {shares[4]:5.2f}  {one.p95():6.1f}"
        )
    floors = ((held.turns, 5, 68), (held.turns, 10, 76), (held.sessions, 5, 90), (held.sessions, 10, 96))
    rows = [
        make_row(
            f"LoCoMo 5-9, recall@{top} over {'turns' if kind is held.turns else 'sessions'}, %",
            100 * kind[top],
            "%",
            f">= {floor}",
            100 * kind[top] >= floor,
        )
        for kind, top, floor in floors
    ]
    rows += [
        make_row(
            f"LoCoMo 5-9, some evidence in the first {top} sessions, %",
            100 * share,
            "%",
            f">= {floor}",
            100 * share >= floor,
        )
        for (top, share), floor in zip(held.hits.items(), (90, 96), strict=True)
    ]
    return [*rows, make_row("LoCoMo 5-9, search p95", held.p95(), "ms", "<= 10", held.p95() <= 10)]


def measure_large_catalog(folder: Path, number: int) -> list[Row]:
    """What a large catalog weighs, and how long searches in it take."""
    home = Home(folder / "many")
    started = time.perf_counter()
    index_sessions(home, make_random_sessions(number))
    spent = time.perf_counter() - started
    with Catalog.open(home) as catalog:
        catalog.db.execute("PRAGMA wal_checkpoint (TRUNCATE)")
        bodies = catalog.db.execute("SELECT body FROM turns")
        text = sum(len(part.encode()) for (body,) in bodies for part in unpack_turn_text(body))
        ratio = home.catalog.stat().st_size / text
        asked = make_queries(catalog, 200)
        plain = p95_ms(catalog.search_turns, asked)
        own = p95_ms(lambda query: catalog.search_turns(query, filters=SessionFilters(("p7",))), asked)
        most_touched = "SELECT path FROM files JOIN touched ON file = files.id GROUP BY file ORDER BY count(*) DESC"
        narrow = SessionFilters(file=catalog.db.execute(most_touched).fetchone()[0], failed=True)
        narrowed = p95_ms(lambda query: catalog.search_turns(query, filters=narrow), asked)
        near = neighbour_column_cost(catalog)
    name = f"{number:,} sessions of {TURNS} turns"
    return [
        make_row(f"{name}: search p95", plain, "ms", "<= 10", plain <= 10),
        make_row(f"{name}: search p95 in one of 50 projects", own, "ms", "<= 10", own <= 10),
        make_row(f"{name}: search p95 by file and failure", narrowed, "ms", "<= 10", narrowed <= 10),
        make_row(f"{name}: catalog / text", ratio, "x", "", True),
        make_row(f"{name}: turns taken in each second", number * TURNS / spent, "", "", True),
        make_row("filling the index with / without the neighbours' column", near, "x", "", True),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description="Measures session search.")
    parser.add_argument("--sessions", type=int, default=10_000)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = [*measure_locomo(Path(folder)), *measure_large_catalog(Path(folder), options.sessions)]
    for one in found:
        verdict = "" if not one["budget"] else "yes" if one["ok"] else "NO"
        print(f"{one['what']:<66} {one['measured']:10.2f} {one['unit']:<3} {one['budget']:<7} {verdict}")
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")
    return 0 if all(one["ok"] for one in found) else 1


if __name__ == "__main__":
    sys.exit(main())
