"""Fit the weights of `lerim.memory.stance` anew and print them as `stance_weights.py` holds them.

    PYTHONPATH=server:evals python scripts/fit_stance.py > server/lerim/memory/stance_weights.py

Uses the labelled pairs of `evals/` that are not set aside, and for each claim six memories it has nothing to do with,
which count a tenth. Multinomial logistic regression: gradient descent on standardised cues with Nesterov's momentum,
L2 penalty. Takes about a minute; the same pairs give the same weights.
"""

from __future__ import annotations

import hashlib
import math
from pathlib import Path

from lerim.memory.contrast import read
from lerim.memory.stance import CUES, cues
from lerim_evals.labelled import Known, read_pairs  # noqa: TID251 - a developer's script

PAIRS = Path(__file__).resolve().parents[1] / "evals"
CLASSES = ("replaces", "updates", "same", "different")
"""In the order of `Stance`."""
OLD = 1.0
"""What a pair of pairs.toml counts for."""
FOREIGN = 6
FOREIGN_WEIGHT = 0.1
PENALTY = 5.0
STEPS = 600

Row = tuple[tuple[float, ...], int, float]


def rows_of(memories: list[Known], weight: float) -> list[Row]:
    """Cues, class and weight of each pair, and of pairs of what has nothing to do with each other."""
    rows: list[Row] = []
    for at, known in enumerate(memories):
        mine = read(known.title, known.body)
        for later in known.later:
            said = read(later.title, later.body)
            rows.append((cues(mine, said), CLASSES.index(later.what), weight))
            for step in range(1, FOREIGN + 1):
                draw = int.from_bytes(hashlib.sha256(f"{later.title}{step}".encode()).digest()[:4], "big")
                other = memories[(at + 1 + draw % (len(memories) - 1)) % len(memories)]
                foreign = cues(read(other.title, other.body), said)
                rows.append((foreign, CLASSES.index("different"), FOREIGN_WEIGHT))
    return rows


def fit(rows: list[Row]) -> tuple[list[float], list[list[float]]]:
    """Biases and weights of each class, for cues as they are."""
    wide, count = len(CUES), len(rows)
    mean = [sum(row[0][at] for row in rows) / count for at in range(wide)]
    spread = [math.sqrt(sum((row[0][at] - mean[at]) ** 2 for row in rows) / count) or 1.0 for at in range(wide)]
    scaled = [
        ([1.0, *((cue - mean[at]) / spread[at] for at, cue in enumerate(row[0]))], row[1], row[2]) for row in rows
    ]
    total = sum(row[2] for row in rows)
    now = [[0.0] * (wide + 1) for _ in CLASSES]
    ahead = [list(line) for line in now]
    rate = 1.0 / (0.25 * (wide + 1))
    for step in range(STEPS):
        slope = [[0.0] + [PENALTY / total * one for one in line[1:]] for line in ahead]
        for values, wanted, weight in scaled:
            sums = [sum(map(float.__mul__, line, values)) for line in ahead]
            top = max(sums)
            powers = [math.exp(one - top) for one in sums]
            whole = sum(powers)
            for at, line in enumerate(slope):
                off = weight / total * (powers[at] / whole - (at == wanted))
                for place, value in enumerate(values):
                    line[place] += off * value
        then, push = now, step / (step + 3)
        now = [[a - rate * s for a, s in zip(*lines, strict=True)] for lines in zip(ahead, slope, strict=True)]
        ahead = [[a + push * (a - b) for a, b in zip(*lines, strict=True)] for lines in zip(now, then, strict=True)]
    weights = [[line[at + 1] / spread[at] for at in range(wide)] for line in now]
    bias = [line[0] - sum(w * m for w, m in zip(ws, mean, strict=True)) for line, ws in zip(now, weights, strict=True)]
    return bias, weights


def main() -> None:
    """Print the module."""
    near, far = (
        [one for one in read_pairs(PAIRS / name) if not one.held] for name in ("pairs.toml", "pairs-reworded.toml")
    )
    bias, weights = fit([*rows_of(near, OLD), *rows_of(far, 1.0)])
    print('"""Weights of the cues of `stance.py`, as `scripts/fit_stance.py` fitted them; a line for each cue."""\n')
    print(f"BIAS = ({', '.join(f'{one:.3f}' for one in bias)})")
    print('"""Of ended, changed, same and apart, as the columns below."""')
    print("_BY_CUE = (")
    for at, cue in enumerate(CUES):
        print(f"    ({', '.join(f'{line[at]:.3f}' for line in weights)}),  # {cue}")
    print(")\nWEIGHTS = tuple(zip(*_BY_CUE, strict=True))")


if __name__ == "__main__":
    main()
