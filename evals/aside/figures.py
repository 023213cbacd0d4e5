"""Prints the figures of the sessions set aside: `python evals/aside/figures.py` (of the `first` set: add `first`).

The sessions of the first set are among those that the ranker learned from since. In each set `judged.jsonl` has a line
for each session: what was proposed and by what, how a reader judged it who did not see by what, and for each memory
that must come which of the items state it. `answers.jsonl` has what was answered to the model's prompts.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

DRAWS = 2_000
WHO = ("ranker", "ranker before", "twelve words", "rules before", "model")


class Counts(NamedTuple):
    """Of one session or of several: proposals, right ones, wrong ones, right speakers, verbatim quotes; memories that
    must come, and those found; sessions in which none must come, and those left empty."""

    proposals: int = 0
    right: int = 0
    wrong: int = 0
    speaker: int = 0
    verbatim: int = 0
    must: int = 0
    found: int = 0
    nothing: int = 0
    empty: int = 0


def counts(line: str, who: str) -> Counts:
    """The counts of one session for one source of proposals."""
    session = json.loads(line)
    mine = {at: item for at, item in enumerate(session["items"]) if who in item["by"]}
    verdicts = [item["verdict"] for item in mine.values()]
    return Counts(
        len(mine),
        verdicts.count("right"),
        verdicts.count("wrong"),
        sum(item["speaker"] for item in mine.values()),
        sum(item["verbatim"] for item in mine.values()),
        len(session["must"]),
        sum(any(at in mine for at in stated) for stated in session["must"]),
        int(not session["must"]),
        int(not session["must"] and not mine),
    )


def total(sessions: Sequence[Counts]) -> Counts:
    """The sum of the counts."""
    return Counts(*map(sum, zip(*sessions, strict=True)))


def interval(sessions: Sequence[Counts], share: Callable[[Counts], float]) -> str:
    """Where 95 % of the shares lie when sessions are drawn anew."""
    drawn = sorted(share(total(random.choices(sessions, k=len(sessions)))) for _ in range(DRAWS))
    return f"{100 * drawn[DRAWS // 40]:.0f} to {100 * drawn[-DRAWS // 40]:.0f} %"


def right(of: Counts) -> float:
    """The share of the proposals that are right."""
    return of.right / max(1, of.proposals)


def found(of: Counts) -> float:
    """The share of what must come that was proposed."""
    return of.found / max(1, of.must)


def main() -> None:
    """Prints all figures."""
    random.seed(1)
    folder = Path(__file__).with_name(sys.argv[1] if len(sys.argv) > 1 else "second")
    lines = (folder / "judged.jsonl").read_text("utf-8").splitlines()
    for who in WHO:
        sessions = [counts(line, who) for line in lines]
        all_of = total(sessions)
        if not all_of.proposals:
            continue
        print(f"{who}: {all_of.proposals} proposals in {len(sessions)} sessions")
        print(f"  right              {right(all_of):6.1%}  ({interval(sessions, right)})")
        print(f"  of must, found     {found(all_of):6.1%}  ({interval(sessions, found)})")
        print(f"  wrong              {all_of.wrong / max(1, all_of.proposals):6.1%}")
        print(f"  left empty         {all_of.empty} of {all_of.nothing}")
        print(f"  speaker, verbatim  {all_of.speaker / all_of.proposals:.1%}, {all_of.verbatim / all_of.proposals:.1%}")
    items = [item for line in lines for item in json.loads(line)["items"]]
    ranked = [item for item in items if "ranker" in item["by"]]
    shares = []
    for _ in range(DRAWS):  # many rank alike: chance says which of them are in the upper third
        top = sorted(random.sample(ranked, len(ranked)), key=lambda item: -item["rank"])[: len(ranked) // 3]
        shares.append(sum(item["verdict"] == "right" for item in top) / len(top))
    print(f"ranker, upper third: {sum(shares) / DRAWS:.1%} right")
    answered = [item for item in items if item["verdict"] == "right" and any("model" in by for by in item["by"])]
    kept = sum("model" in item["by"] for item in answered)
    print(f"model: {kept} of {len(answered)} right answers survive the gates")


if __name__ == "__main__":
    main()
