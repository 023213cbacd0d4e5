"""Measures how long maintenance takes with many memories: the plan alone, its similar pairs, and the whole job.

    python benchmarks/maintenance.py [--memories 10000] [--json FILE]

Every tenth memory is repeated in nearly the same words, every third is a learning, and half of these are long unused.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from dataclasses import replace
from datetime import UTC, timedelta
from functools import partial
from pathlib import Path

from lerim.config.schema import MaintenanceRules
from lerim.jobs import maintain
from lerim.jobs.maintain import MaintainReport
from lerim.maintenance.pairs import PairTally, find_near_pairs
from lerim.maintenance.plan import PlanInputs, plan_maintenance
from lerim.memory.claims.claim_words import claim_words
from lerim.memory.record import render_record
from lerim.memory.store import StoredMemory
from lerim.paths import Home
from lerim.project.project import locate_project
from lerim.review.review_paths import ReviewPaths
from memory_search import START, time_ms, write_memories

Row = tuple[str, float, float | None, str]


def repeat(memories: list[StoredMemory]) -> None:
    """Writes every tenth memory a second time, a month later and with one sentence more."""
    for one in memories[::10]:
        record = one.record
        time = record.updated + timedelta(days=30)
        again = replace(
            record,
            id=f"{time:%Y%m%d}-again-{record.id[9:]}",
            created=time,
            updated=time,
            body=f"{record.body} Mind it in CI, too.",
        )
        (one.path.parent / f"{again.id}.md").write_text(render_record(again), "utf-8")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--memories", type=int, default=10_000)
    arguments.add_argument("--json", type=Path)
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary).resolve() / "repo"
        root.mkdir()
        subprocess.run(["git", "init", "-q", str(root)], check=True)
        home = Home(Path(temporary) / "home")
        project = locate_project(root, home)
        assert project is not None
        write_memories(project.memory_dir, options.memories * 10 // 11, random.Random(7))
        store = ReviewPaths(project, home).store()
        repeat(store.load_all()[0])
        memories = store.load_all()[0]
        now = START.astimezone(UTC) + timedelta(days=200)
        claims = [claim_words(one.record.title, one.record.body) for one in memories]
        pairs: list[object] = []
        near_pairs = partial(find_near_pairs, claims, lambda: False, sys.maxsize, PairTally())
        rows: list[Row] = [
            ("near pairs", time_ms(lambda: pairs.extend(near_pairs())), None, "ms"),
            (
                "the plan, claims and pairs included",
                time_ms(partial(plan_maintenance, memories, PlanInputs(now, MaintenanceRules()))),
                None,
                "ms",
            ),
        ]
        reports: list[MaintainReport] = []

        def whole(*, dry_run: bool) -> None:
            reports.append(
                maintain.maintain_project(
                    project, home, os.environ, lambda _at: None, lambda: False, lambda: now, dry_run=dry_run
                )
            )

        rows.append(("the whole job, dry", time_ms(partial(whole, dry_run=True)), None, "ms"))
        rows.append(("the whole job, 50 proposals written", time_ms(partial(whole, dry_run=False)), 15_000.0, "ms"))
        rows.append(("the whole job again, nothing new", time_ms(partial(whole, dry_run=False)), None, "ms"))
        merged = reports[0].counts.get("merged", 0)
        rows.append(("repeated memories found, of those there are", merged / (len(memories) // 11), None, "share"))
        count = len(memories)
    print(f"{count:,} memories: {reports[0].counts}\n")
    print(f"{'what':46} {'measured':>12} {'budget':>10}")
    for what, measured, budget, unit in rows:
        limit = "" if budget is None else f"{budget:.0f} {unit}"
        verdict = "" if budget is None else "ok" if measured <= budget else "NOT MET"
        print(f"{what:46} {measured:9.2f} {unit} {limit:>10} {verdict}")
    if options.json:
        options.json.write_text(
            json.dumps([dict(zip(("what", "measured", "budget", "unit"), row, strict=True)) for row in rows])
        )


if __name__ == "__main__":
    main()
