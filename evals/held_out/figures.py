"""Prints the figures of the held-out sessions: `python evals/held_out/figures.py` (add `first` for the first set).

The ranker has since been trained on the sessions of the first set, too. In each set, `judged.jsonl` has a line per
session: each proposal with its sources, the verdict of a reader who did not see the sources, and for each memory with
weight "must" the proposals that state it. `answers.jsonl` has the answers to the model's prompts.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

RESAMPLES = 2_000
SOURCES = ("ranker", "ranker before", "twelve words", "rules before", "model")


class Counts(NamedTuple):
    """Counts of one or more sessions: proposals, and those that are right, wrong, with the right speaker, with a
    verbatim quote; memories with weight "must", and those found; sessions without such memories, and those of them
    in which nothing was proposed."""

    proposals: int = 0
    right: int = 0
    wrong: int = 0
    speaker: int = 0
    verbatim: int = 0
    must: int = 0
    found: int = 0
    nothing: int = 0
    empty: int = 0


def count_session(line: str, source: str) -> Counts:
    """Counts one session for one source of proposals. `line` is its line in `judged.jsonl`."""
    session = json.loads(line)
    proposed_items = {at: item for at, item in enumerate(session["items"]) if source in item["by"]}
    verdicts = [item["verdict"] for item in proposed_items.values()]
    return Counts(
        len(proposed_items),
        verdicts.count("right"),
        verdicts.count("wrong"),
        sum(item["speaker"] for item in proposed_items.values()),
        sum(item["verbatim"] for item in proposed_items.values()),
        len(session["must"]),
        sum(any(at in proposed_items for at in stated) for stated in session["must"]),
        int(not session["must"]),
        int(not session["must"] and not proposed_items),
    )


def sum_counts(sessions: Sequence[Counts]) -> Counts:
    """Adds up counts field by field."""
    return Counts(*map(sum, zip(*sessions, strict=True)))


def bootstrap_interval(sessions: Sequence[Counts], share: Callable[[Counts], float]) -> str:
    """The 95 % bootstrap interval of a share, by resampling sessions."""
    resampled_shares = sorted(share(sum_counts(random.choices(sessions, k=len(sessions)))) for _ in range(RESAMPLES))
    return f"{100 * resampled_shares[RESAMPLES // 40]:.0f} to {100 * resampled_shares[-RESAMPLES // 40]:.0f} %"


def precision(counts: Counts) -> float:
    """The share of the proposals that are right."""
    return counts.right / max(1, counts.proposals)


def recall(counts: Counts) -> float:
    """The share of the memories with weight "must" that were proposed."""
    return counts.found / max(1, counts.must)


def main() -> None:
    """Prints all figures."""
    random.seed(1)
    folder = Path(__file__).with_name(sys.argv[1] if len(sys.argv) > 1 else "second")
    session_lines = (folder / "judged.jsonl").read_text("utf-8").splitlines()
    for source in SOURCES:
        sessions = [count_session(line, source) for line in session_lines]
        totals = sum_counts(sessions)
        if not totals.proposals:
            continue
        print(f"{source}: {totals.proposals} proposals in {len(sessions)} sessions")
        print(f"  right              {precision(totals):6.1%}  ({bootstrap_interval(sessions, precision)})")
        print(f"  of must, found     {recall(totals):6.1%}  ({bootstrap_interval(sessions, recall)})")
        print(f"  wrong              {totals.wrong / max(1, totals.proposals):6.1%}")
        print(f"  left empty         {totals.empty} of {totals.nothing}")
        print(f"  speaker, verbatim  {totals.speaker / totals.proposals:.1%}, {totals.verbatim / totals.proposals:.1%}")
    items = [item for line in session_lines for item in json.loads(line)["items"]]
    ranker_items = [item for item in items if "ranker" in item["by"]]
    shares = []
    for _ in range(RESAMPLES):  # many have the same rank, so chance decides which of them are in the upper third
        top_third = sorted(random.sample(ranker_items, len(ranker_items)), key=lambda item: -item["rank"])[
            : len(ranker_items) // 3
        ]
        shares.append(sum(item["verdict"] == "right" for item in top_third) / len(top_third))
    print(f"ranker, upper third: {sum(shares) / RESAMPLES:.1%} right")
    right_model_items = [
        item for item in items if item["verdict"] == "right" and any("model" in by for by in item["by"])
    ]
    proposed_count = sum("model" in item["by"] for item in right_model_items)
    print(f"model: {proposed_count} of {len(right_model_items)} right answers survive the gates")


if __name__ == "__main__":
    main()
