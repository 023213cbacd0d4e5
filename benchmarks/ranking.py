"""How much processor time the ranker takes for a session: passages, features, scores and drafts (budget: 0.2 s).

    python benchmarks/ranking.py [folder of transcripts] [--json FILE]

Without a folder only a made-up session. The budget is for a usual session: the median of those
with at least one prompt.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from extraction import make_session, read_sessions
from lerim.extraction.ranking.rank_passages import rank_drafts
from lerim.extraction.signals.draft import Exchange, Scene
from lerim.extraction.state import condense_turn
from lerim.extraction.utterances import lighten_exchange
from lerim.sessions.model import Turn

BUDGET_S = 0.2
ROUNDS = 3


def make_scenes(turns: Sequence[Turn]) -> Iterator[Scene]:
    """The exchanges of a session as extraction judges them."""
    before, now = Exchange(), Exchange()
    for turn in map(condense_turn, turns):
        if turn.role == "user":
            if now.prompt or now.replies:
                yield Scene(before, now, turn, lambda path, _cwd: path)
                before = lighten_exchange(now)
            now = Exchange(prompt=turn)
        else:
            now = replace(now, replies=(*now.replies, turn)[-400:])
    yield Scene(before, now, None, lambda path, _cwd: path)


def time_session(turns: Sequence[Turn]) -> float:
    """How long one session takes, the best of three rounds."""
    told, times = list(make_scenes(turns)), []
    for _ in range(ROUNDS):
        start = time.process_time()
        for number, scene in enumerate(told):
            rank_drafts(scene, number)
        times.append(time.process_time() - start)
    return min(times)


def rows(transcripts: Path | None) -> list[tuple[str, float, float | None]]:
    """(what, seconds, budget)."""
    out: list[tuple[str, float, float | None]] = [
        ("a made-up session of 2,000 turns", time_session(make_session()), None)
    ]
    if transcripts is not None:
        told = [session for session in read_sessions(transcripts) if any(turn.kind == "prompt" for turn in session)]
        taken = sorted(time_session(session) for session in told)
        out += [
            (f"a usual session (median of {len(told)} real ones)", statistics.median(taken), BUDGET_S),
            ("the longest of them", taken[-1], None),
        ]
    return out


def main() -> None:
    arguments = argparse.ArgumentParser(description="Measures the ranker.")
    arguments.add_argument("transcripts", nargs="?", type=Path)
    arguments.add_argument("--json", type=Path)
    options = arguments.parse_args()
    found = rows(options.transcripts)
    print(f"| {'what':48} | seconds | budget |")
    print(f"|{'-' * 50}|{'-' * 9}|{'-' * 8}|")
    for what, taken, budget in found:
        told = "" if budget is None else "met" if taken <= budget else "MISSED"
        print(f"| {what:48} | {taken:7.3f} | {told:6} |")
    if options.json:
        named = [{"what": what, "measured": taken, "unit": "s", "budget": budget} for what, taken, budget in found]
        options.json.write_text(json.dumps(named, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
