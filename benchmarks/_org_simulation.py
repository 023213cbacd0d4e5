"""Simulates an organisation's workers: machines with processors, one database, and a model that takes its time."""

from __future__ import annotations

import heapq
import random
from collections.abc import Sequence
from dataclasses import dataclass

SEED = 19
DATABASE_CORES = 2


@dataclass(frozen=True)
class SessionCost:
    """What a session takes, in seconds: of a worker's processor and the database's, of the team's lock, and of the
    model."""

    worker: float
    database: float
    lock: float
    model: float


def describe_assumptions(cost: SessionCost, cores: int) -> str:
    return f"""
Assumed in the simulation (seed {SEED}):
- a session takes {cost.worker:.3f} s of its worker's processor on average, exponentially distributed, half of it before
  the model is asked; {cost.database:.3f} s of the database's processor; one call of {cost.model:g} s
- reservations of the team take turns, {cost.lock * 1000:.1f} ms each
- a machine has {cores} processors and two workers; the database is on a machine of its own with {DATABASE_CORES}
  processors; "here" is one machine for all
- who waits for a processor gets it in the order of asking; no faults, no limits of rate or budget, and no network
"""


class Servers:
    """Some alike servers; who comes first is served first. Asked in the order of time."""

    def __init__(self, count: int) -> None:
        self._free = [0.0] * count

    def serve(self, now: float, seconds: float) -> float:
        """Returns when a service that is asked for now ends."""
        end = max(now, self._free[0]) + seconds
        heapq.heapreplace(self._free, end)
        return end


def simulate(cost: SessionCost, sessions: int, workers: Sequence[int], cores: int, *, shared: bool = False) -> float:
    """Returns the sessions a second of machines with so many workers each. `shared`: the database uses the processors
    of the first machine."""
    chance = random.Random(SEED)
    machines = [Servers(cores) for _ in workers]
    database = machines[0] if shared else Servers(DATABASE_CORES)
    lock = Servers(1)
    homes = [number for number, count in enumerate(workers) for _ in range(count)]
    left, ended = sessions, 0.0
    moments = [(0.0, worker, 0, 0.0) for worker in range(len(homes))]
    while moments:
        now, worker, stage, seconds = heapq.heappop(moments)
        ended = now
        processor = machines[homes[worker]]
        if stage == 0:
            if not left:
                continue
            left -= 1
            seconds = chance.expovariate(1 / cost.worker)
            end = processor.serve(now, seconds / 2)
        elif stage == 1:
            end = lock.serve(now, cost.lock)
        elif stage == 2:
            end = now + cost.model
        elif stage == 3:
            end = processor.serve(now, seconds / 2)
        else:
            end = database.serve(now, cost.database)
        heapq.heappush(moments, (end, worker, (stage + 1) % 5, seconds))
    return sessions / ended
