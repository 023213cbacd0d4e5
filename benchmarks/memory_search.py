"""Measures how fast memories are searched, indexed, mapped to files and compared with candidates, and the map's size.

    python benchmarks/memory_search.py [--memories 10000] [--json FILE]

The memories are made up from a vocabulary with a natural skew: a few words in most of them, most words in few.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import struct
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import islice
from pathlib import Path

from lerim.extraction.candidate import Candidate
from lerim.memory.meaning import (
    MODEL_SHA256,
    MemoryVectors,
    StoredVectors,
    is_sentence_model_installed,
    load_sentence_model,
)
from lerim.memory.record import Evidence, MemoryRecord, parse_record, render_record
from lerim.memory.references.reference_map import ReferenceMap
from lerim.memory.search.filters import STATUSES, MemoryFilters
from lerim.memory.search.index_rows import hash_claim
from lerim.memory.search.memory_search import Hit, MemorySearch, search_memories
from lerim.memory.store import Store
from lerim.paths import Home
from lerim.project.project import Project, locate_project
from lerim.review.compare import find_neighbours, suggest_from_words

START = datetime(2025, 1, 1, tzinfo=UTC)
QUERIES = 300
CANDIDATES = 500
BUDGETS = {10_000: 5.0, 100_000: 30.0}
BUILD_BUDGET_MS = 3_000.0
"""ms for the index of 10,000 files."""
NEIGHBOUR_BUDGET_MS = 3_000.0
"""ms for the neighbours of 500 candidates among 10,000 memories."""
FILTERS = (
    MemoryFilters(kinds=("pitfall",)),
    MemoryFilters(primitives=("decision",), statuses=STATUSES),
    MemoryFilters(files=("src/part7.py",)),
    MemoryFilters(files=("src",)),
    MemoryFilters(since=START + timedelta(days=2)),
    MemoryFilters(since=START, until=START + timedelta(days=30), kinds=("pitfall",)),
    MemoryFilters(session_prefix="session-22"),
)


def make_vocabulary(draw: random.Random) -> tuple[list[str], list[float]]:
    """Words and their weights, after Zipf."""
    syllables = [
        "ra",
        "to",
        "min",
        "lek",
        "sor",
        "vi",
        "pan",
        "du",
        "gel",
        "fo",
        "tik",
        "mar",
        "shu",
        "wen",
        "bo",
        "cal",
    ]
    words = list(dict.fromkeys("".join(draw.choices(syllables, k=draw.randint(2, 4))) for _ in range(30_000)))
    return words, [1 / (rank + 3) for rank in range(len(words))]


def write_memories(folder: Path, count: int, draw: random.Random) -> list[str]:
    """Write `count` memories below `folder`; some of their words."""
    words, weights = make_vocabulary(draw)
    for name in ("decisions", "learnings"):
        (folder / name).mkdir(parents=True)
    for number in range(count):
        take = partial(take_words, iter(draw.choices(words, weights, k=90)))
        time_ = START + timedelta(minutes=number)
        learning = number % 3 == 0
        record = MemoryRecord(
            id=f"{time_:%Y%m%d}-memory-{number}",
            primitive="learning" if learning else "decision",
            title=f"Use {take(6)}",
            created=time_,
            updated=time_,
            source=f"claude:session-{number // 20}#{number:012x}",
            confidence=0.8,
            tags=(take(1), take(1)),
            body=f"{take(50)}\n\nSee `get{take(1).title()}{take(1).title()}` and `max_{take(1)}`.",
            kind="pitfall" if learning else None,
            references=(
                f"src/{take(1)}/{take(1)}.py#get_{take(1)}",
                f"src/part{number % 500}.py",
            ),
            evidence=(Evidence(take(15), f"{number:012x}", "user"),),
        )
        (folder / ("learnings" if learning else "decisions") / f"{record.id}.md").write_text(
            render_record(record), "utf-8"
        )
    return draw.choices(words, weights, k=4 * QUERIES)


def take_words(words: Iterator[str], count: int) -> str:
    return " ".join(islice(words, count))


def time_ms(work: Callable[[], object]) -> float:
    """Milliseconds."""
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1000


def percentile(times: list[float], share: float) -> float:
    return sorted(times)[min(len(times) - 1, int(len(times) * share))]


def search_rows(
    project: Project, home: Home, words: list[str], count: int
) -> list[tuple[str, float, float | None, str]]:
    """(what, measured, budget, unit) of the search."""
    processor = time.process_time()
    built = time_ms(lambda: search_memories(project, home, "warm"))
    processor = (time.process_time() - processor) * 1000
    open_again = time_ms(lambda: search_memories(project, home, words[0]))
    limit = BUILD_BUDGET_MS if count <= 10_000 else None
    rows: list[tuple[str, float, float | None, str]] = [("index: first build of all files", built, limit, "ms")]
    rows.append(("index: time of the processor alone", processor, None, "ms"))
    rows.append(("search in a new process' first call (open, stat pass, query)", open_again, None, "ms"))
    budget = next((limit for size, limit in BUDGETS.items() if count <= size), None)
    with MemorySearch(project, home) as one:
        forms = {
            "two words": [f"{words[2 * at]} {words[2 * at + 1]}" for at in range(QUERIES)],
            "question": [f"why do we {' '.join(words[3 * at : 3 * at + 3])}?" for at in range(QUERIES)],
            "identifier": [f"get{words[at].title()}{words[at + 1].title()}" for at in range(QUERIES)],
        }
        for name, queries in forms.items():
            times = [time_ms(partial(one.search, query, 20)) for query in queries]
            rows.append((f"search, {name}: p50", percentile(times, 0.5), None, "ms"))
            rows.append((f"search, {name}: p95", percentile(times, 0.95), budget, "ms"))
        filtered_times = [
            time_ms(partial(one.search, query, 20, FILTERS[at % 7])) for at, query in enumerate(forms["two words"])
        ]
        rows.append(("search, two words and filters: p50", percentile(filtered_times, 0.5), None, "ms"))
        rows.append(("search, two words and filters: p95", percentile(filtered_times, 0.95), budget, "ms"))
        newest = [time_ms(partial(one.search, "", 20, FILTERS[at % 7])) for at in range(QUERIES)]
        rows.append(("search, filters alone: p95", percentile(newest, 0.95), budget, "ms"))
        rows.append(("stat pass, nothing changed", time_ms(one.refresh), None, "ms"))
        path = next((project.memory_dir / "decisions").glob("*.md"))
        edits = []

        def found(word: str) -> list[Hit]:
            one.update_file(path)
            return one.search(word)

        for number in range(20):
            path.write_text(path.read_text("utf-8") + f"\nzanzibar{number}\n", "utf-8")
            edits.append(time_ms(partial(found, f"zanzibar{number}")))
            assert one.search(f"zanzibar{number}")[0].stored.path == path
        rows.append(("an edited file is found: p95", percentile(edits, 0.95), 100.0, "ms"))
    return rows


def comparing_rows(project: Project, home: Home) -> list[tuple[str, float, float | None, str]]:
    """(what, measured, budget, unit) of comparing candidates with the memories: as they are, changed, denied, other."""
    paths = sorted((project.memory_dir / "decisions").glob("*.md"))[:CANDIDATES]
    candidates = [
        _make_candidate(parse_record(path.read_text("utf-8"), path), number) for number, path in enumerate(paths)
    ]
    store = Store(project.memory_dir, home.project(project.key))
    with MemorySearch(project, home) as memories:
        start = time.perf_counter()
        for candidate in candidates:
            near = find_neighbours(memories, store, candidate.title, candidate.body)
            suggest_from_words(candidate, [one.stored.record for one in near], {})
        took = (time.perf_counter() - start) * 1000
    return [(f"comparing: {len(candidates)} candidates with their neighbours", took, None, "ms")]


def neighbour_rows(project: Project, home: Home, count: int) -> list[tuple[str, float, float | None, str]]:
    """(what, measured, budget, unit) of finding the three nearest memories of each candidate."""
    paths = sorted((project.memory_dir / "decisions").glob("*.md"))[:CANDIDATES]
    claims = [_vary_claim(parse_record(path.read_text("utf-8"), path), number) for number, path in enumerate(paths)]
    with MemorySearch(project, home) as memories:
        processor = time.process_time()
        took = time_ms(lambda: [memories.nearest(title, body) for title, body in claims])
        processor = (time.process_time() - processor) * 1000
    limit = NEIGHBOUR_BUDGET_MS if count <= 10_000 else None
    return [
        (f"neighbours: {len(claims)} candidates", took, limit, "ms"),
        ("neighbours: time of the processor alone", processor, None, "ms"),
    ]


def meaning_rows(project: Project, home: Home) -> list[tuple[str, float, float | None, str]]:
    """(what, measured, budget, unit) of the search by meaning; none without `lerim[meaning]`. The vectors of the
    memories are drawn, because the model would need minutes for them."""
    if not is_sentence_model_installed():
        print("lerim[meaning] is not installed: the search by meaning is left out.", file=sys.stderr)
        return []
    start = time.perf_counter()
    model = load_sentence_model()
    rows: list[tuple[str, float, float | None, str]] = [
        ("meaning: load the model", (time.perf_counter() - start) * 1000, None, "ms")
    ]
    questions = [f"why do we restart the server after release {number}?" for number in range(20)]
    times = [time_ms(partial(model.embed, [question])) for question in questions]
    rows.append(("meaning: vector of a question: p50", percentile(times, 0.5), None, "ms"))
    draw = random.Random(1)
    samples = [struct.pack("<384e", *(draw.gauss(0, 0.05) for _ in range(384))) for _ in range(50)]
    with MemorySearch(project, home) as memories:
        store = Store(project.memory_dir, home.project(project.key))
        hashes = [hash_claim(one.record) for one in store.load_all()[0]]
        vectors = {name: MemoryVectors(draw.choice(samples), draw.choice(samples)) for name in hashes}
        StoredVectors(home.project(project.key), MODEL_SHA256).save(vectors)
        times = [
            time_ms(partial(memories.search_by_meaning, question, 10, MemoryFilters(), model)) for question in questions
        ]
    rows.append(("meaning: search with a loaded model: p50", percentile(times, 0.5), None, "ms"))
    return rows


def _vary_claim(memory: MemoryRecord, number: int) -> tuple[str, str]:
    """Title and body of a memory as a later session would say it: again, with a value, denied, or of its own."""
    words = memory.body.split()
    titles = (memory.title, f"{memory.title} 7", f"Never {memory.title.lower()}", " ".join(words[:6]))
    return titles[number % 4], memory.body


def _make_candidate(memory: MemoryRecord, number: int) -> Candidate:
    """A memory as a later session would say it: again, with a value, denied, or something of its own."""
    title, body = _vary_claim(memory, number)
    return Candidate(
        primitive="decision",
        kind=None,
        title=title,
        body=body,
        confidence=0.8,
        tags=(),
        references=(),
        evidence=memory.evidence,
        platform="claude",
        session="later",
        turn="later",
        time=memory.updated + timedelta(days=400),
        signal="reply",
    )


def map_rows(folder: Path) -> list[tuple[str, float, float | None, str]]:
    """(what, measured, budget, unit) of the reference map; memory in a process of its own."""
    found = ReferenceMap(folder)
    rows: list[tuple[str, float, float | None, str]] = [("map: first scan", time_ms(found.scan), None, "ms")]
    rows.append(("map: scan, nothing changed", time_ms(found.scan), None, "ms"))
    path = next((folder / "decisions").glob("*.md"))
    path.write_text(path.read_text("utf-8") + "\nmore\n", "utf-8")
    rows.append(("map: one changed file", time_ms(lambda: found.update(path)), 100.0, "ms"))
    lookups = time_ms(lambda: [found.for_file(f"src/part{number % 500}.py") for number in range(10_000)])
    rows.append(("map: 10,000 lookups", lookups, None, "ms"))
    done = subprocess.run(
        [sys.executable, __file__, "--weigh", str(folder)], capture_output=True, text=True, check=True
    )
    size, grown = json.loads(done.stdout)
    rows.append(("map: objects", size, 20.0 if len(found) <= 10_000 else None, "MB"))
    rows.append(("map: growth of the process that holds it", grown, None, "MB"))
    return rows


def print_map_size(folder: Path) -> None:
    """Print what the map adds to this process, in MB: its objects, and to the resident set."""
    before = resident_mb()
    found = ReferenceMap(folder)
    found.scan()
    grown = resident_mb() - before
    tracemalloc.start()
    again = ReferenceMap(folder)
    again.scan()
    print(json.dumps([tracemalloc.get_traced_memory()[0] / 1e6, grown]))
    assert len(found) == len(again)


def resident_mb() -> float:
    """MB of this process in memory; 0 where the system does not say."""
    pages = Path("/proc/self/statm")
    return int(pages.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6 if pages.exists() else 0.0


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--memories", type=int, default=10_000)
    arguments.add_argument("--json", type=Path)
    arguments.add_argument("--weigh", type=Path, help=argparse.SUPPRESS)
    options = arguments.parse_args()
    if options.weigh:
        print_map_size(options.weigh)
        return
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary).resolve() / "repo"
        root.mkdir()
        subprocess.run(["git", "init", "-q", str(root)], check=True)
        home = Home(Path(temporary) / "home")
        project = locate_project(root, home)
        assert project is not None
        words = write_memories(project.memory_dir, options.memories, random.Random(7))
        rows = [
            *search_rows(project, home, words, options.memories),
            *neighbour_rows(project, home, options.memories),
            *comparing_rows(project, home),
            *meaning_rows(project, home),
            *map_rows(project.memory_dir),
        ]
    print(f"{options.memories:,} memories\n")
    print(f"{'what':62} {'measured':>12} {'budget':>10}")
    for what, measured, budget, unit in rows:
        limit = "" if budget is None else f"{budget:.0f} {unit}"
        verdict = "" if budget is None else "ok" if measured <= budget else "NOT MET"
        print(f"{what:62} {measured:9.2f} {unit} {limit:>10} {verdict}")
    if options.json:
        options.json.write_text(
            json.dumps([dict(zip(("what", "measured", "budget", "unit"), row, strict=True)) for row in rows])
        )


if __name__ == "__main__":
    main()
