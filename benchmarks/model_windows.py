"""Measures how fast a session is cut into windows for a model, compared with tiktoken on the same text."""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "server"))

from lerim.extraction.model.windows import cut_windows
from lerim.extraction.transcript import ShownPiece, ShownTurn
from lerim.models import tokens

MB = 8
TEXT = "the parser fails when src/app.py opens a file; use `pnpm test` instead, as 42 of these 日本語 Привет {x: 1}"


def main() -> int:
    """Measure, print, and write the rows where `--json` says."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", type=Path)
    target = parser.parse_args().json
    turns = session(MB * 1_000_000)
    texts = [turn.header + turn.body() for turn in turns]
    encoding = tokens.load_encoding()
    rendering = cpu(lambda: [turn.header + turn.body() for turn in turns])
    counting = cpu(lambda: [len(encoding.encode_ordinary(text)) for text in texts])
    cutting = cpu(lambda: cut_windows(turns, 100_000, 10_000)) - rendering
    small = cpu(lambda: cut_windows(turns[:100], 10_000_000, 30_000))
    rows = [
        {"what": "speed beside tiktoken", "measured": counting / cutting, "unit": "×", "budget": "≥ 0.8 ×"},
        {"what": "rendering, secrets cut out", "measured": MB / rendering, "unit": "MB/s", "budget": "≥ 5 MB/s"},
        {"what": "a session whose bytes fit, 100 turns", "measured": small * 1e3, "unit": "ms", "budget": None},
    ]
    rows[0]["ok"], rows[1]["ok"] = counting / cutting >= 0.8, MB / rendering >= 5
    for row in rows:
        print(f"{row['what']}: {row['measured']:.2f} {row['unit']}")
    if target:
        target.write_text(json.dumps(rows), encoding="utf-8")
    return 0


def session(size: int) -> list[ShownTurn]:
    """Turns of a few hundred words, `size` bytes of them."""
    chosen, words = random.Random(7), TEXT.split(" ")
    turns: list[ShownTurn] = []
    while size > 0:
        text = " ".join(chosen.choices(words, k=chosen.randrange(20, 900)))
        turns.append(ShownTurn(f"{len(turns):012x}", len(turns), "user", None, "", (ShownPiece("user", text),)))
        size -= len(text.encode())
    return turns


def cpu(work: Callable[[], object]) -> float:
    """Seconds of processor time, the least of three runs."""
    times = []
    for _ in range(3):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return min(times)


if __name__ == "__main__":
    raise SystemExit(main())
