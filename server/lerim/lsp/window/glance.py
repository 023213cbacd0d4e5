"""The hover that was answered last, until it counts as read."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from lerim.errors import Problem


@dataclass(slots=True)
class HoverGlance:
    """The hover that was answered last, until it counts or the person does something else."""

    timer: asyncio.TimerHandle | None = None
    told: set[Problem] = field(default_factory=set)

    def over(self) -> None:
        """The person does something else: what is shown does not count."""
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None
